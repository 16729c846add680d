"""Multipliers as integers over one unit, brought exactly into the bounds that do not depend on the features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from auclab.check.data import Data
from auclab.check.exact import Integers, integers
from auclab.check.program import Program
from auclab.check.transport import transport_factor

#: Multipliers are rounded down to multiples of 2^−_BITS, which any dual point may be; it costs as much of the bound.
_BITS = 160


@dataclass(frozen=True)
class Multipliers:
    """A dual point q = values / unit, ≥ 0, with equal sums over both classes.

    Attributes
    ----------
    values : array of integers of shape (n_samples,)
        Over points the weights q_k, over pairs the sums ``Σ_j q_ij`` and ``Σ_i q_ij``.
    unit : int
    share_neg : array of integers of shape (n_neg,)
        Proportional to the weights of the negatives: those of the data, or an r of partial AUC.
    """

    values: Integers
    unit: int
    share_neg: Integers

    def total(self, program: Program, data: Data) -> Fraction:
        """``Σ q`` over pairs or points."""
        one_class = Fraction(int(self.values[data.positive].sum()), self.unit)
        return one_class if program.over_pairs else 2 * one_class

    def scaled(self, factor: Fraction) -> Multipliers:
        """The multipliers times a rational in [0, 1]."""
        return replace(self, values=self.values * factor.numerator, unit=self.unit * factor.denominator)


def admissible(
    program: Program, data: Data, multipliers: NDArray[np.float64], share_neg: NDArray[np.float64] | None = None
) -> Multipliers | None:
    """The stored multipliers cut to their bounds and balanced; None if they are no finite numbers.

    Parameters
    ----------
    program : Program
    data : Data
    multipliers : array of shape (n_samples,)
    share_neg : array of shape (n_neg,), optional
        For the hardest negatives: an r near an admissible one.
    """
    if not np.isfinite(multipliers).all():
        return None
    shares = data.weight[~data.positive]
    if program.kind == "hardest" and program.max_fpr < 1:
        if share_neg is None or not np.isfinite(share_neg).all():
            return None
        shares = _admissible_shares(fixed_point(share_neg), shares, program.max_fpr)
    values = np.minimum(fixed_point(multipliers), upper_bounds(program, data, shares, 1 << _BITS))
    return Multipliers(balanced(np.maximum(values, 0), data.positive), 1 << _BITS, shares)


def upper_bounds(program: Program, data: Data, share_neg: Integers, unit: int) -> Integers:
    """The largest value of each multiplier alone, in units of ``1/unit``, rounded down."""
    if not program.over_pairs:
        return np.asarray(data.weight * unit // int(data.weight.sum()))
    bounds = data.weight.copy()
    bounds[data.positive] = bounds[data.positive] * unit // int(bounds[data.positive].sum())
    bounds[~data.positive] = share_neg * unit // int(share_neg.sum())
    return np.asarray(bounds)


def transportable(program: Program, data: Data, multipliers: Multipliers) -> Multipliers:
    """Over pairs: scaled down until they are the sums of some ``0 ≤ q_ij ≤ u_i v_j``; over points: as they are."""
    if not program.over_pairs:
        return multipliers
    pos, neg = multipliers.values[data.positive], multipliers.values[~data.positive]
    factor = transport_factor(pos, neg, data.weight[data.positive], multipliers.share_neg, multipliers.unit)
    return multipliers.scaled(factor) if factor < 1 else multipliers


def fixed_point(values: NDArray[np.float64]) -> Integers:
    """Floats in units of 2^−160, rounded down."""
    found, exponent = integers(values)
    return np.asarray(found << (_BITS - exponent) if exponent <= _BITS else found >> (exponent - _BITS))


def balanced(values: Integers, positive: NDArray[np.bool_]) -> Integers:
    """Both classes with the sum of the smaller one."""
    values = values.copy()
    sums = {side: int(values[positive == side].sum()) for side in (True, False)}
    target = min(sums.values())
    for side, total in sums.items():
        if total > target:
            values[positive == side] = values[positive == side] * target // total
    # Rounding down took a few units too much from one class: take them from the largest entries of the other one.
    surplus = int(values[positive].sum()) - int(values[~positive].sum())
    rows = np.flatnonzero(positive == (surplus > 0))
    for row in sorted(rows, key=lambda k: -values[k]) if surplus else []:
        step = min(abs(surplus), int(values[row]))
        values[row] -= step
        surplus -= step if surplus > 0 else -step
        if surplus == 0:
            break
    return values


def _admissible_shares(shares: Integers, weight: Integers, max_fpr: Fraction) -> Integers:
    """An r with ``0 ≤ r_j ≤ v_j/α`` and the sum 2^160, near the given one."""
    whole = 1 << _BITS
    bounds = weight * whole * max_fpr.denominator // (int(weight.sum()) * max_fpr.numerator)
    shares = np.minimum(np.maximum(shares, 0), bounds)
    total = int(shares.sum())
    if total > whole:
        shares = shares * whole // total
    missing = whole - int(shares.sum())
    room = bounds - shares
    shares = shares + room * missing // int(room.sum())
    # At most a unit per negative is still missing.
    missing = whole - int(shares.sum())
    for row in np.flatnonzero(shares < bounds):
        if missing == 0:
            break
        step = min(missing, int(bounds[row] - shares[row]))
        shares[row] += step
        missing -= step
    return np.asarray(shares)
