"""The bPOE equation: which tail of the ranking errors has mean z, and how much weight it has."""

from __future__ import annotations

import math
from dataclasses import dataclass

from auclab.compiled.doubledouble import DoubleDouble
from auclab.metrics.buffer_level import buffer_level
from auclab.metrics.pair_errors import PairErrors, difference


@dataclass(frozen=True)
class BPOESolution:
    """Solution of ``bPOE_z(ξ) = min_{γ<z} E[ξ − γ]₊ / (z − γ)``.

    `share` is bPOE and `rest` is ``1 − bPOE``, computed apart so that neither is a rounded difference.
    `level` is γ* in working units, NaN where no minimiser exists; `above` and `atom` are the weights of the
    errors above γ* and of those at γ*, and `partial` is what the latter add to the tail, ``N · D(γ*)/(z − γ*)``.
    """

    share: float
    rest: float
    level: float = math.nan
    above: DoubleDouble = (math.nan, 0.0)
    atom: float = math.nan
    partial: float = math.nan


def solve_bpoe(errors: PairErrors, threshold: float, *, exact_level: bool = True) -> BPOESolution:
    """Solve the equation; the four cases are those of Norton & Uryasev 2018, Prop. 1.

    Raises `AuclabError` where scores are too far apart to be compared (`WorkingUnits.check_digits`).

    Without `exact_level` half of the sweeps are saved, the shares stay right, and `level` may exceed γ*.
    """
    errors.units.check_digits(threshold)
    z = errors.units.working(threshold)
    if z > errors.top:
        return BPOESolution(0.0, 1.0)
    if z == errors.top:
        count, _ = errors.tail(math.nextafter(z, -math.inf), z)
        return BPOESolution(count[0] / errors.pairs[0], difference(errors.pairs, count) / errors.pairs[0])
    if z < errors.bottom or errors.mean_excess(z) >= 0.0:
        return BPOESolution(1.0, 0.0)
    root = buffer_level(errors, z, exact=exact_level)
    just_below = math.nextafter(z, -math.inf)
    if root is None:
        at, (count, excess) = just_below, errors.tail(just_below, z)
    else:
        at, count, excess = root.value, root.count, root.excess
    gap, atom, close = z - at, math.nan, z - at < 0.25 * abs(at)
    if root is not None and (exact_level or close):
        at_or_above = root.at_or_above if exact_level else errors.rank_counts(math.nextafter(at, -math.inf))
        weight, shortfall = errors.between(root.above, at_or_above, z)
        atom = weight[0]
        if close:  # γ* is a rounded difference, which would show: take the mean of z − ξ over its pairs
            gap = -shortfall[0] / atom or gap
    partial = excess[0] / gap
    share = (count[0] + (count[1] + partial)) / errors.pairs[0]
    rest = (difference(errors.pairs, count) - partial) / errors.pairs[0]
    level = math.nan if root is None else at
    return BPOESolution(min(share, 1.0), max(rest, 0.0), level, count, atom, partial)
