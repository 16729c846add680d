"""The bPOE equation: which tail of the ranking errors has mean z, and how much weight it has."""

from __future__ import annotations

import math
from dataclasses import dataclass

from auclab.compiled.doubledouble import DoubleDouble
from auclab.metrics.buffer_level import buffer_level
from auclab.metrics.pair_errors import PairErrors, difference


@dataclass(frozen=True)
class Buffer:
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


def buffer(errors: PairErrors, threshold: float, *, exact_level: bool = True) -> Buffer:
    """Solve the equation; the four cases are those of Norton & Uryasev 2018, Prop. 1.

    Without `exact_level` half of the sweeps are saved, the shares stay right, and `level` may exceed γ*.
    """
    z = errors.working(threshold)
    if z > errors.top:
        return Buffer(0.0, 1.0)
    if z == errors.top:
        count, _ = errors.tail(math.nextafter(z, -math.inf), z)
        return Buffer(count[0] / errors.pairs[0], difference(errors.pairs, count) / errors.pairs[0])
    if z < errors.bottom or errors.mean_excess(z) >= 0.0:
        return Buffer(1.0, 0.0)
    found = buffer_level(errors, z, exact=exact_level)
    just_below = math.nextafter(z, -math.inf)
    if found is None:
        at, (count, excess) = just_below, errors.tail(just_below, z)
    else:
        at, count, excess = found.value, found.count, found.excess
    gap, atom, close = z - at, math.nan, z - at < 0.25 * abs(at)
    if found is not None and (exact_level or close):
        from_there = found.from_there if exact_level else errors.partners(math.nextafter(at, -math.inf))
        weight, shortfall = errors.between(found.above, from_there, z)
        atom = weight[0]
        if close:  # γ* is a rounded difference, which would show: take the mean of z − ξ over the pairs it stands for
            gap = -shortfall[0] / atom or gap
    partial = excess[0] / gap
    share = (count[0] + (count[1] + partial)) / errors.pairs[0]
    rest = (difference(errors.pairs, count) - partial) / errors.pairs[0]
    level = math.nan if found is None else at
    return Buffer(min(share, 1.0), max(rest, 0.0), level, count, atom, partial)
