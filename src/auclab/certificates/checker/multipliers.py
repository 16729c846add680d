"""Multipliers as integers over one unit, brought exactly into the bounds that do not depend on the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from auclab.certificates.checker.constraints import UNIT, Integers, fixed_point, in_units
from auclab.certificates.checker.data import Data, fractions
from auclab.certificates.checker.margins import DualScorer, RankedPairs
from auclab.certificates.checker.program import Program


@dataclass(frozen=True)
class Multipliers:
    """A dual point q = values / unit, ≥ 0, with equal sums over both classes.

    `values` (n_samples,): over points the weights q_k, over pairs the sums ``Σ_j q_ij`` and ``Σ_i q_ij``. `share_neg`
    (n_neg,): proportional to the weights of the negatives: those of the data, or an r of partial AUC. `conjugate`: what
    ``Σ q ℓ*(α)`` takes from the bound; 0 for the hinge.
    """

    values: Integers
    unit: int
    share_neg: Integers
    conjugate: Fraction = Fraction(0)

    def total(self, program: Program, data: Data) -> Fraction:
        """``Σ q`` over pairs or points."""
        return program.comparison.total(Fraction(int(self.values[data.positive].sum()), self.unit))

    def scaled(self, factor: Fraction) -> Multipliers:
        """The multipliers times a rational in [0, 1]."""
        return replace(self, values=self.values * factor.numerator, unit=self.unit * factor.denominator)


def admissible(
    program: Program, data: Data, multipliers: NDArray[np.float64], share_neg: NDArray[np.float64] | None = None
) -> Multipliers | None:
    """The stored multipliers cut to their bounds and balanced; None if they are not finite numbers.

    `share_neg` (n_neg,): for the hardest negatives: an r near an admissible one.
    """
    if not np.isfinite(multipliers).all():
        return None
    shares = program.comparison.shares(data, share_neg)
    if shares is None:
        return None
    limits = program.comparison.upper_bounds(data, shares, UNIT)
    values = np.minimum(fixed_point(multipliers), limits)
    return Multipliers(balanced(np.maximum(values, 0), data.positive), UNIT, shares)


def at_scorer(program: Program, data: Data, coef: NDArray[np.float64], intercept: float) -> Multipliers:
    """The dual point ``α = ℓ'(1 − m − z‖w‖)`` of a scorer, exactly; over points with the larger class scaled down.

    ℓ*(sα) ≤ ℓ*(α) for s ≤ 1 and an ℓ that is 0 at 0.
    """
    size = program.norm.of(fractions(coef))[1] if program.threshold else Fraction(0)
    at = in_units(*data.scores(coef), 1 - program.threshold * size, Fraction(float(intercept)))
    # q α of every row, and Σ q ℓ*(α), which the bound loses against the hinge.
    values, one, conjugate = program.comparison.slopes(program.loss, data, *at)
    scale = one * UNIT
    values = balanced(values * scale.numerator, data.positive)
    return Multipliers(values, UNIT * scale.denominator, data.weight[~data.positive], conjugate)


@dataclass(frozen=True)
class PairMultipliers(Multipliers):
    """What rows have as upper ones less what they have as lower ones; `sum_of_pairs` is ``Σ q``.

    `scorers`: those whose slopes they are, where they are such.
    """

    sum_of_pairs: Fraction = Fraction(0)
    scorers: tuple[DualScorer, ...] = ()

    def total(self, program: Program, data: Data) -> Fraction:
        """``Σ q`` over pairs."""
        return self.sum_of_pairs


def at_scorers(program: Program, data: Data, scorers: Sequence[DualScorer]) -> PairMultipliers | None:
    """The dual point of scorers over ranked pairs; None without any."""
    if not scorers or not program.is_ranked:
        return None
    comparison = cast(RankedPairs, program.comparison)
    starts = [start_of(program, each) for each in scorers]
    values, unit, total, conjugate = comparison.pair_sums(program.loss, data, scorers, starts)
    return PairMultipliers(values, unit, values[:0], conjugate, total, tuple(scorers))


def start_of(program: Program, scorer: DualScorer) -> Fraction:
    """What the margins of a scorer are taken from."""
    if scorer.start is not None:
        return scorer.start
    return 1 - program.threshold * (program.norm.of(fractions(scorer.coef))[1] if program.threshold else 0)


def transportable(program: Program, data: Data, multipliers: Multipliers) -> Multipliers:
    """Scaled down until they belong to admissible weights of the margins; those of a scorer do."""
    if not program.by_marginals:
        return multipliers
    # S, g and e scale with q, so that a common factor keeps the dual constraint (derivations 7.1).
    factor = program.comparison.factor(data, multipliers.values, multipliers.share_neg, multipliers.unit)
    return multipliers.scaled(factor) if factor < 1 else multipliers


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
