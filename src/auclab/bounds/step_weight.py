"""A one-sided guarantee where the weight jumps: the partial AUC.

A weight that jumps has no Lipschitz constant, but a guarantee for a Lipschitz weight below it is one for it, because
the weighted AUC rises with W (Maurer & Pontil 2020, Corollary 4). How wide to make the ramp is a trade of area lost
against steepness, and is decided here before the data are seen.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from auclab.bounds.bound import INDEPENDENT, Bound, check_probability, from_below
from auclab.bounds.weighted import FIXED, weighted_auc_bound
from auclab.metrics import METRICS
from auclab.metrics.class_scores import ClassScores, class_scores
from auclab.types import Array, AuclabError
from auclab.validation import check_choice

StepMethod = Literal["mcdiarmid", "dkw", "max_rank"]
Ties = Literal["half", "strict", "upper"]


class Ramp(NamedTuple):
    """The weight W = 1 on specificities from `low` to `high`, falling to 0 at both ends over a length of `width`.

    There is no ramp at specificity 0 or 1, beyond which nothing lies.
    """

    low: float
    high: float
    width: float

    @property
    def ramps(self) -> int:
        """How many of the two ends fall off."""
        return (self.low > 0.0) + (self.high < 1.0)

    @property
    def lost(self) -> float:
        """Area below the step and above the ramp: what the partial AUC can lose at most."""
        return 0.5 * self.ramps * self.width

    @property
    def integral(self) -> float:
        """∫W."""
        return self.high - self.low - self.lost

    @property
    def lipschitz(self) -> float:
        """L; infinite for a step."""
        return 0.0 if self.ramps == 0 else math.inf if self.width == 0.0 else 1.0 / self.width

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Where W bends."""
        return (self.low, self.low + self.width, self.high - self.width, self.high)

    def at(self, specificity: Array) -> Array:
        """W at specificities."""
        inside = ((specificity >= self.low) & (specificity <= self.high)).astype(float)
        if self.width > 0.0 and self.low > 0.0:
            inside = np.minimum(inside, np.maximum((specificity - self.low) / self.width, 0.0))
        if self.width > 0.0 and self.high < 1.0:
            inside = np.minimum(inside, np.maximum((self.high - specificity) / self.width, 0.0))
        return inside


@lru_cache(maxsize=256)  # the same sizes come again and again
def best_ramp(
    low: float, high: float, *, n_pos: int, n_neg: int, delta: float, method: StepMethod = "mcdiarmid"
) -> Ramp:
    """The ramp within a step for which area lost plus deviation is least; it depends on the class sizes, on no data."""
    widest = (high - low) / max(1, (low > 0.0) + (high < 1.0))
    steepest = [] if method == "max_rank" and (low > 0.0 or high < 1.0) else [0.0]
    candidates = [Ramp(low, high, width) for width in [*steepest, *(widest * np.geomspace(1e-4, 1.0, 100)).tolist()]]

    def cost(ramp: Ramp) -> float:
        return ramp.lost + _one_sided(ramp, n_pos, n_neg, delta, method)

    return min(candidates, key=cost)


def step_weight_bound(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    min_fpr: float = 0.0,
    max_fpr: float = 1.0,
    delta: float,
    method: StepMethod = "mcdiarmid",
    ties: Ties = "half",
) -> Bound:
    """Lower bound on the partial AUC of a fixed scorer, ``∫ roc(u) du`` for u from `min_fpr` to `max_fpr`.

    With probability at least 1 − δ::

        f_W ≥ f̂_V − b(V),      V ≤ W = 1 on specificities [1 − max_fpr, 1 − min_fpr]

    V falls to 0 at the ends of the band over a length that `best_ramp` picks from the class sizes, and b is the
    half-width of `weighted_auc_bound` for V, with ``ln(1/δ)`` in place of ``ln(2/δ)`` because only one side is needed.
    Maurer & Pontil 2020, Corollary 4 and Remark 2, with the bounds of derivations 9.1.

    Parameters
    ----------
    y_true, y_score : arrays of shape (n_samples,)
        Labels and scores of observations that were not used to fit the scorer.
    min_fpr, max_fpr : float
        ``0 ≤ min_fpr < max_fpr ≤ 1``.
    delta : float
        1 − confidence, in (0, 1).
    method : {"mcdiarmid", "dkw", "max_rank"}
        The first two bound the weighted AUC with W averaged over tied blocks, the last the one with W at the largest
        rank.
    ties : {"half", "strict", "upper"}
        Contribution of a tied pair.

    Returns
    -------
    Bound
        `lower` on the area, of at most ``max_fpr − min_fpr``; `slack` is what was subtracted from its value on the
        sample. Vacuous if `lower` ≤ 0.

    Raises
    ------
    AuclabError
        Bad labels or scores, an empty band, an unknown method, δ outside (0, 1).

    See Also
    --------
    weighted_auc_bound : The bound behind it.
    roc_value_bound : One value of the ROC curve.

    Examples
    --------
    1000 positives above 1000 negatives, the whole range: 1 − √((2/1000) ln(20)/2) = 1 − 0.05473.

    >>> labels = [1] * 1000 + [0] * 1000
    >>> round(step_weight_bound(labels, labels, delta=0.05).lower, 5)
    0.94527
    """
    scores = class_scores(y_true, y_score, None, None, infinite=True)
    return step_weight_from_sorted(scores, min_fpr=min_fpr, max_fpr=max_fpr, delta=delta, method=method, ties=ties)


def step_weight_from_sorted(
    scores: ClassScores,
    *,
    min_fpr: float = 0.0,
    max_fpr: float = 1.0,
    delta: float,
    method: StepMethod = "mcdiarmid",
    ties: Ties = "half",
) -> Bound:
    """`step_weight_bound` of sorted scores."""
    _check_band(min_fpr, max_fpr, method)
    check_probability(delta=delta)
    n_pos, n_neg = scores.pos.size, scores.neg.size
    ramp = best_ramp(1.0 - max_fpr, 1.0 - min_fpr, n_pos=n_pos, n_neg=n_neg, delta=delta, method=method)
    convention: Literal["max_rank", "average"] = "max_rank" if method == "max_rank" else "average"

    def value(weight: Ramp) -> float:
        points = weight.breakpoints
        options = {"convention": convention, "ties": ties, "breakpoints": points}
        return METRICS["weighted_auc"].from_sorted(scores, weight=weight.at, **options)

    lower = value(ramp) - _one_sided(ramp, n_pos, n_neg, delta, method)
    ramps = f"the ramps of the weight, {ramp.width:.3g} wide, depend on the class sizes alone"
    assumptions = (FIXED, INDEPENDENT, *((ramps,) if ramp.ramps and ramp.width > 0.0 else ()))
    return from_below(lower, value(Ramp(ramp.low, ramp.high, 0.0)) - lower, assumptions)


def _one_sided(ramp: Ramp, n_pos: int, n_neg: int, delta: float, method: StepMethod) -> float:
    """What holds on one side with probability 1 − δ: the half-width at 2δ, as each side fails with half of that."""
    return weighted_auc_bound(
        method,
        weight_sup=1.0,
        weight_lipschitz=ramp.lipschitz,
        weight_integral=min(ramp.integral, 1.0),
        n_pos=n_pos,
        n_neg=n_neg,
        delta=2.0 * delta if delta < 0.5 else delta,
    ).half_width


def _check_band(min_fpr: float, max_fpr: float, method: str) -> None:
    check_choice("method", method, get_args(StepMethod))
    if not 0.0 <= min_fpr < max_fpr <= 1.0:
        raise AuclabError(f"0 ≤ min_fpr < max_fpr ≤ 1 is needed, got min_fpr={min_fpr} and max_fpr={max_fpr}")
