"""Counterexamples to Norton & Uryasev 2018."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from auclab.bounds import kernel_diameter
from auclab.metrics import (
    auc_score,
    auc_threshold,
    bauc_score,
    bpoe,
    buffered_auc,
    ferri_auc,
    probabilistic_auc,
    scored_auc,
)
from experiments.errata.counterexample import Counterexample

# ten errors: six of −1, four of +1
TWO_ATOMS = ([0] + [1] * 10, [0.0] + [1.0] * 6 + [-1.0] * 4)
CONSTANT = ([1, 1, 0, 0], [0.0] * 4)


def least_hinge(errors: Sequence[float], threshold: float = 0.0) -> float:
    """Least value over a ≥ 0 of mean [a(ξ − z) + 1]₊: convex and linear between its kinks, so the least of them.

    Examples
    --------
    >>> least_hinge([-1] * 6 + [1] * 4)
    0.8
    """
    shifted = [Fraction(each) - Fraction(threshold) for each in errors]
    kinks = [Fraction(0), *(-1 / each for each in shifted if each < 0)]
    top = 2 * max(kinks) + 1
    return float(min(sum(max(a * each + 1, Fraction(0)) for each in shifted) / len(shifted) for a in (*kinks, top)))


def least_argument(function: Callable[[float], float], candidates: Sequence[float]) -> float:
    """The candidate with the least value."""
    return min(candidates, key=function)


def n1() -> Counterexample:
    """(21): one positive at 1, one negative at 0."""
    right = least_hinge([-1.0])
    return Counterexample(right, 1.0 - right, bauc_score([1, 0], [1.0, 0.0]))


def n2() -> Counterexample:
    """Prop. 8: the "mean" of six ones, two positives and three negatives, at a = 0."""
    ones = np.ones((2, 3))
    return Counterexample(ones.sum() / sum(ones.shape), ones.sum() / math.prod(ones.shape), 1.0)


def n3() -> Counterexample:
    """Props. 1, 3, 4: bAUC as the area under the bROC curve, six errors −1 and four +1."""
    found = buffered_auc(*TWO_ATOMS)
    part = found.area_open + found.theta * (found.area_closed - found.area_open)
    return Counterexample(found.area_closed, part, 1.0 - least_hinge([-1.0] * 6 + [1.0] * 4))


def n4() -> Counterexample:
    """4.5.1: constant scores of two positives and two negatives, by the running average."""
    errors = [0.0] * 4
    averages = [np.mean(errors[: count + 1]) for count in range(len(errors))]
    taken = 1 + next(index for index, average in enumerate(averages) if average <= 0)
    return Counterexample(1 - taken / len(errors), bauc_score(*CONSTANT), 1.0 - least_hinge(errors))


def n5() -> Counterexample:
    """4.3: bAUC of a hundred errors, the printed ones from the 70th on and the corrected ones from the 71st on."""

    def value(first: int) -> float:
        errors = [-99.0] * (first - 2) + [-float(100 - first + 1)] + [1.0] * (100 - first + 1)
        return bauc_score([0] + [1] * 100, [0.0, *(-each for each in errors)])

    # AUC .7 leaves 30 errors ≥ 0, all 1 here, and the 70th balances them; of a sum that reaches 0 all but it count
    errors = [-99.0] * 69 + [-30.0] + [1.0] * 30
    return Counterexample(value(70), value(71), 1.0 - least_hinge(errors))


def n6() -> Counterexample:
    """(1): positives at 0 and 2, a negative at 1; the integral as a sum over the jump of P(h⁻ > t) from 1 to 0."""
    height, jump = 0.5, -1.0
    return Counterexample(height * jump, -height * jump, auc_score([1, 1, 0], [0.0, 2.0, 1.0], ties="strict"))


def n7() -> Counterexample:
    """(2): P(h⁺ > h⁻) of constant scores, by the area under the interpolated curve."""
    return Counterexample(auc_score(*CONSTANT), auc_score(*CONSTANT, ties="strict"), 0.0)


def n8() -> Counterexample:
    """4.1: bAUC of errors (−1, 1), the mean of (−1, 3) and (−1, −1); concave would be at least the mean of theirs."""
    first, second = (1.0 - least_hinge(errors) for errors in ([-1.0, 3.0], [-1.0, -1.0]))
    middle = bauc_score([1, 0, 0], [0.0, -1.0, 1.0])
    return Counterexample((first + second) / 2, min(first, second), middle)


def n9() -> Counterexample:
    """App. B: what one observation can move the mean of a loss in [0, 1] over pairs; a positive, three negatives."""
    wrong = [np.mean([score <= negative for negative in (0.0, 0.0, 0.0)]) for score in (1.0, -1.0)]
    return Counterexample(1 / (1 + 3), 1 / min(1, 3), float(abs(np.diff(wrong)[0])), "at least")


def n10() -> Counterexample:
    """Prop. 8: errors ±1 with probability ½, one pair. Mean of the empirical hinge at its own minimiser a."""
    own = np.mean([least_hinge([error]) for error in (-1.0, 1.0)])
    return Counterexample(float(own), least_hinge([-1.0, 1.0]), bpoe([-1.0, 1.0], 0.0))


def n11() -> Counterexample:
    """6.3: how far one of 101 positives moves w; 51 or 50 at 1, the others and all negatives at 0, λ = ½."""

    def solution(ones: int) -> float:
        share = ones / 101
        return least_argument(lambda w: share * max(1 - w, 0) + 1 - share + 0.5 * abs(w), (0.0, 0.5, 1.0, 1.5))

    radius, modulus, penalty = 1.0, 2.0, 0.5
    moved = float(sum(ones / 101 > penalty for ones in (51, 50)))  # w = 1 where the share is above λ, else 0
    return Counterexample(
        radius / (modulus * 101 * penalty), moved,
        abs(solution(51) - solution(50)), "at least",
    )  # fmt: skip


def n12() -> Counterexample:
    """Prop. 8: r of the squared l1 norm between (1, 0) and (0, 1), by 8 · (mean of the ends − middle)/‖u − v‖²."""
    u, v = np.eye(2)
    ends = (np.abs(u).sum() ** 2 + np.abs(v).sum() ** 2) / 2
    gap = ends - np.abs((u + v) / 2).sum() ** 2
    return Counterexample(2.0, 2.0 * (1 - 1), float(8 * gap / np.abs(u - v).sum() ** 2))


def n13() -> Counterexample:
    """Remark on kernels: R from the linear kernel at x = ½, where ‖φ(x)‖ = ½."""
    corrected = kernel_diameter("linear", radius=0.5) / 2
    return Counterexample(0.5 * 0.5, corrected, 0.5)


def n14() -> Counterexample:
    """App. B: V at w = a = 1, a positive at 2 and a negative at 0."""
    positive, negative = 2.0, 0.0
    printed, corrected = (max(1 - each, 0.0) for each in (negative - positive, positive - negative))
    return Counterexample(printed, corrected, max(1 + (negative - positive), 0.0))


def n15() -> Counterexample:
    """App. B: largest ‖w_S − w_Sk‖ that r λ δ² ≤ δ R/m⁻ allows; R = 1, r = 2, m⁻ = 10, λ = ½."""
    radius, modulus, size, penalty = 1.0, 2.0, 10, 0.5
    grid = np.arange(1, 10_001) / 10_000
    allowed = grid[modulus * penalty * grid**2 <= grid * radius / size + 1e-15]
    printed = radius / (modulus * size - penalty)
    return Counterexample(printed, radius / (modulus * size * penalty), float(allowed.max()))


def n16() -> Counterexample:
    """Prop. 5: the α*-quantile of the errors (−3, −1, 1) at z = 0 from the optimal w = 1, α* = ⅓."""
    errors = [-3.0, -1.0, 1.0]
    assert math.isclose(np.mean([max(each + 1, 0) for each in errors]), least_hinge(errors))  # w = 1 is optimal
    level = 1 - least_hinge(errors)
    quantile = next(each for k, each in enumerate(errors, 1) if k / 3 >= level - 1e-12)
    return Counterexample(0.0 - 1 / 1.0, buffered_auc([1, 0, 0, 0], [0.0, *errors]).gamma_left, quantile)


def n17() -> Counterexample:
    """Prop. 7: solution w at z = −⅓ from v = 1 of RankSVM at λ = ¼; three differences 1, one −1."""
    differences, threshold, v = (1.0, 1.0, 1.0, -1.0), -1 / 3, 1.0

    def objective(w: float) -> float:
        return float(np.mean([max(1 - w * d - threshold * abs(w), 0.0) for d in differences]))

    best = least_argument(objective, [each / 100 for each in range(301)])
    return Counterexample(v, v / (1 + threshold * abs(v)), best)


def n18() -> Counterexample:
    """3.2, case 4: E[a(X − z) + 1]₊ for X = −½, z = 0 at the printed a and at a = 1/(z − sup X)."""
    gap = 0.5
    printed, corrected = (max(1 - a * gap, 0.0) for a in (gap, 1 / gap))
    return Counterexample(printed, corrected, bpoe([-gap], 0.0))


def n19() -> Counterexample:
    """5.2: sAUC of constant scores; Vanderlooy & Hüllermeier's (3) is the mean of the positive parts."""
    return Counterexample(scored_auc(*CONSTANT, ties="half"), scored_auc(*CONSTANT), 0.0)


def n20() -> Counterexample:
    """5.2: "pAUC" of scores .5 and 0, by the metric of that name and by the formula."""
    pair = ([1, 0], [0.5, 0.0])
    return Counterexample(probabilistic_auc(*pair, width=0.1), ferri_auc(*pair), (0.5 - 0.0 + 1) / 2)


def n21() -> Counterexample:
    """4.5.2: the score of x = (3, 4) with w = (1, 2), columns both; wx is not defined."""
    w, x = np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]])
    return Counterexample(math.nan, float((w.T @ x).item()), 1.0 * 3 + 2 * 4)


def n22() -> Counterexample:
    """Sect. 6 after Prop. 4: the z at which bAUC_z is AUC, errors −1, 0 and 1: bAUC at E[ξ | ξ > 0] counts ties."""
    errors = ([1, 0, 0, 0], [0.0, -1.0, 0.0, 1.0])
    printed, corrected = bauc_score(*errors, threshold=1.0), bauc_score(*errors, threshold=auc_threshold(*errors))
    return Counterexample(printed, corrected, auc_score(*errors, ties="strict"))
