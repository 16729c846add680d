"""The bPOE equation: which tail of the ranking errors has mean z, and how much weight it has."""

from __future__ import annotations

import math
from dataclasses import dataclass

from auclab.metrics._errors import PairErrors, difference


@dataclass(frozen=True)
class Buffer:
    """Solution of ``bPOE_z(ξ) = min_{γ<z} E[ξ − γ]₊ / (z − γ)``.

    `share` is bPOE and `rest` is ``1 − bPOE``, computed apart so that neither is a rounded difference.
    `level` is γ* in working units, NaN where no minimiser exists, and `partial` the weight that the pairs
    with ``ξ = γ*`` add to that of the tail ``ξ > γ*``, ``N · D(γ*)/(z − γ*)``.
    """

    share: float
    rest: float
    level: float = math.nan
    partial: float = math.nan


def buffer(errors: PairErrors, threshold: float, *, exact_level: bool = True) -> Buffer:
    """Solve the equation; the four cases are those of Norton & Uryasev 2018, Prop. 1.

    Without `exact_level` half of the sweeps are saved, the shares stay right, and `level` may exceed γ*.
    """
    z = errors.working(threshold)
    if z > errors.top:
        return Buffer(0.0, 1.0)
    just_below = math.nextafter(z, -math.inf)
    if z == errors.top:
        count, _ = errors.tail(just_below, z)
        return Buffer(count[0] / errors.pairs[0], difference(errors.pairs, count) / errors.pairs[0])
    if z < errors.bottom or errors.mean_excess(z) >= 0.0:
        return Buffer(1.0, 0.0)
    level = errors.buffer_level(z, exact=exact_level)
    at = just_below if math.isnan(level) else level
    count, excess = errors.tail(at, z)
    gap = z - at
    if gap < 0.25 * abs(at) and not math.isnan(level):
        # γ* is a rounded difference, which would show: take the mean of z − ξ over the pairs it stands for
        count_from, excess_from = errors.tail(math.nextafter(at, -math.inf), z)
        gap = difference(excess, excess_from) / difference(count_from, count)
    partial = excess[0] / gap
    share = (count[0] + (count[1] + partial)) / errors.pairs[0]
    rest = (difference(errors.pairs, count) - partial) / errors.pairs[0]
    return Buffer(min(share, 1.0), max(rest, 0.0), level, partial)
