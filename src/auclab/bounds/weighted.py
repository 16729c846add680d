"""Bounds of weighted AUC, and of step weights.

Two functionals of the scores go by the name (derivations 5.1); W ≥ 0 is a function of specificity:

* f_S, ``weighted_auc(convention="average")``: W is averaged over the step of every tied block. Lipschitz in the laws
  for any bounded W.
* f_R, ``convention="max_rank"``, that of Maurer & Pontil: W is taken at the end of the step. With a W that jumps, the
  sample need not tell anything about it (derivations 9.3).

All statements have two sides, ``|f̂ − f| ≤ half_width``, with probability at least 1 − δ. Class sizes count as given,
except under "published" and "corrected", where labels are drawn too and the event A_δ must be observed.

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

from auclab._core.base import Array, AuclabError
from auclab._core.validation import check_choice
from auclab.bounds.guarantee import INDEPENDENT, Bound, check_nonnegative, check_probability, check_sizes, from_below
from auclab.metrics import METRICS
from auclab.metrics.roc import ClassScores, class_scores

Method = Literal["dkw", "mcdiarmid", "max_rank", "published", "corrected"]
UniformMethod = Literal["conditional", "published", "corrected"]

FIXED = "the scorer was fixed before the sample was seen"
_DRAWN = "observations with their labels are independent draws from one distribution"
_AVERAGED = "for the weighted AUC with W averaged over tied blocks (convention='average')"
_MAX_RANK = "for the weighted AUC with W at the largest rank (convention='max_rank')"
_LOST = "as published, constants reconstructed from a damaged text; not proved here"
_NO_EVENT = "the event A_δ was not observed: one class is too rare for this statement, which then says nothing"


def balance_event(*, n_pos: int, n_neg: int, delta: float) -> bool:
    """Whether A_δ is observed: ``min(n_pos, n_neg)/m > √(2 ln(4/δ)/m)``, m = n_pos + n_neg.

    Then the frequencies of the classes are, with probability at least 1 − δ/2, at least half of what was observed
    (Hoeffding). Maurer & Pontil 2020, (2); the threshold is illegible in the available text and was reconstructed
    (derivations 9.2).

    See Also
    --------
    weighted_auc_bound : Its methods "published" and "corrected" need the event.

    Examples
    --------
    √(2 ln 80/100) = 0.296:

    >>> balance_event(n_pos=30, n_neg=70, delta=0.05), balance_event(n_pos=29, n_neg=71, delta=0.05)
    (True, False)
    """
    check_sizes(n_pos, n_neg)
    check_probability(delta=delta)
    m = n_pos + n_neg
    return min(n_pos, n_neg) / m > math.sqrt(2.0 * math.log(4.0 / delta) / m)


def weighted_auc_bound(
    method: Method,
    *,
    weight_sup: float,
    weight_lipschitz: float,
    weight_integral: float,
    n_pos: int,
    n_neg: int,
    delta: float,
) -> Bound:
    """Two-sided bound on the weighted AUC of a fixed scorer.

    With ``ε_y = √(ln(4/δ)/(2 m_y))``, m = n_pos + n_neg, and ``m̲ = min(n_pos, n_neg)/m``, the half-width is::

        "dkw"        ‖W‖ ε_neg + (∫W) ε_pos                                                     f_S, any bounded W
        "mcdiarmid"  √{ ((∫W)²/n_pos + ‖W‖²/n_neg) ln(2/δ)/2 } + min{ L/(8 n_neg), ‖W‖/(2√n_neg) }      f_S, the same
        "max_rank"   √{ (‖W‖²/n_pos + (‖W‖+L)²/n_neg) ln(2/δ)/2 } + L (1/(2√n_neg) + 1/n_neg)   f_R, Lipschitz W
        "published"  (L + 9‖W‖)/m̲² · √(ln(4/δ)/(2m))                                            f_R, under A_δ
        "corrected"  (L + 3‖W‖)/m̲² · √(ln(4/δ)/(2m))                                            f_R and f_S, under A_δ

    The first three are derived (derivations 9.1) and hold for laws with atoms. "dkw": f_S changes by at most ``‖W‖
    d(P_neg, Q_neg) + ∫W d(P_pos, Q_pos)`` with d the largest difference of distribution functions, which Dvoretzky,
    Kiefer, Wolfowitz and Massart bound. "mcdiarmid": one positive moves f̂_S by at most ∫W/n_pos, one negative by
    ‖W‖/n_neg; the last term is the bias. "published" is Theorem 2 of Maurer & Pontil 2020 as far as it is legible,
    "corrected" the version that can be proved (derivations 9.2).

    Parameters
    ----------
    method : {"dkw", "mcdiarmid", "max_rank", "published", "corrected"}
    weight_sup : float
        ‖W‖ = max W ≥ 0.
    weight_lipschitz : float
        L ≥ 0, Lipschitz constant of W on [0, 1]; ``math.inf`` where W jumps.
    weight_integral : float
        ∫₀¹W in [0, ‖W‖].
    n_pos, n_neg : int
        Class sizes of the sample.
    delta : float
        1 − confidence, in (0, 1).

    Returns
    -------
    Bound
        `half_width` (infinite where the statement does not apply); `lower` is NaN. Vacuous if `half_width` reaches the
        range: ∫W for f_S, ‖W‖ for f_R.

    Raises
    ------
    AuclabError
        An unknown method, a value outside its range, ∫W above ‖W‖.

    See Also
    --------
    uniform_weighted_auc_bound : Simultaneous over a class of scorers.
    step_weight_bound : A weight that jumps.

    Examples
    --------
    W ≡ 1: √((1/500 + 1/1000) ln(40)/2), ε_neg + ε_pos = 0.0468 + 0.0662, and 9 · 9 · 0.0382:

    >>> widths = [weighted_auc_bound(method, weight_sup=1.0, weight_lipschitz=0.0, weight_integral=1.0, n_pos=500,
    ...                              n_neg=1000, delta=0.05).half_width for method in ("mcdiarmid", "dkw", "published")]
    >>> [round(width, 3) for width in widths]
    [0.074, 0.113, 3.096]
    """
    check_choice("method", method, get_args(Method))
    check_sizes(n_pos, n_neg)
    check_probability(delta=delta)
    check_nonnegative(weight_sup=weight_sup, weight_integral=weight_integral)
    _check_lipschitz("weight_lipschitz", weight_lipschitz)
    if weight_integral > weight_sup * (1.0 + 1e-12):
        raise AuclabError(f"the integral of W cannot exceed its maximum: {weight_integral} > {weight_sup}")
    sup, lipschitz, integral, m = weight_sup, weight_lipschitz, weight_integral, n_pos + n_neg
    both = math.log(2.0 / delta) / 2.0
    if method == "dkw":
        per_class = math.log(4.0 / delta) / 2.0
        width = sup * math.sqrt(per_class / n_neg) + integral * math.sqrt(per_class / n_pos)
        return _two_sided(width, integral, FIXED, INDEPENDENT, _AVERAGED)
    if method == "mcdiarmid":
        bias = min(lipschitz / (8.0 * n_neg), sup / (2.0 * math.sqrt(n_neg)))
        width = math.hypot(integral / math.sqrt(n_pos), sup / math.sqrt(n_neg)) * math.sqrt(both) + bias
        return _two_sided(width, integral, FIXED, INDEPENDENT, _AVERAGED)
    if method == "max_rank":
        width = math.hypot(sup / math.sqrt(n_pos), (sup + lipschitz) / math.sqrt(n_neg)) * math.sqrt(both)
        width += lipschitz * (0.5 / math.sqrt(n_neg) + 1.0 / n_neg)
        return _two_sided(width, sup, FIXED, INDEPENDENT, _MAX_RANK)
    factor, conditions = (9.0, (_MAX_RANK, _LOST)) if method == "published" else (3.0, (_MAX_RANK,))
    rarer = min(n_pos, n_neg) / m
    width = (lipschitz + factor * sup) / rarer**2 * math.sqrt(math.log(4.0 / delta) / (2.0 * m))
    return _under_event(width, sup, (FIXED, _DRAWN, *conditions), n_pos, n_neg, delta)


def uniform_weighted_auc_bound(
    *,
    weight_sup: float,
    weight_lipschitz: float,
    ell_lipschitz: float,
    n_pos: int,
    n_neg: int,
    gaussian_complexity: float,
    delta: float,
    method: UniformMethod = "conditional",
) -> Bound:
    """Two-sided bound on weighted AUC, simultaneous over a class of scorers, with a Lipschitz ℓ in place of the step.

    The weighted AUC counts a pair ``ℓ(h(x⁺) − h(x⁻))``, ℓ non-decreasing into [0, 1] with Lipschitz constant ℓ'. With
    ``G = E sup_h Σ_i γ_i h(X_i)``, m = n_pos + n_neg and m̂ = min(n_pos, n_neg), the half-width is::

        "conditional"   √(2π) (2M + J) G + (‖W‖/m̂) √(m ln(2/δ)) + L/(8 n_neg)
                        M = ‖W‖ ℓ'/m̂,   J = m ℓ' max{ (2‖W‖ + L)/(n_pos n_neg), L/n_neg² }
        "published"     8√(2π) ℓ' (‖W‖ + L) G/(q_neg² q_pos m) + (L + 10‖W‖)/m̲² · √(4 ln(16m/δ)/m)
        "corrected"     4√(2π) ℓ' (‖W‖ + L) G/(q_neg² q_pos m) + 2‖W‖ (√(ln(4/δ)/m) + √(π/(2m)))/(q_neg q_pos)
                        + (L + ‖W‖)/m̲² · √(ln(4/δ)/(2m))

    with ``q_y = m_y/m`` and m̲ the smaller of them. "conditional" is derived (derivations 9.1) from the concentration
    theorem quoted by Maurer & Pontil 2020 as Theorem 9, for the convention "average". "published" is their Theorem 3 as
    far as it is legible, with the 8 that follows from their Lemma 11 (iii) as printed; "corrected" follows from their
    Theorem 9 with the lemma corrected (derivations 9.2). Both need the event A_δ.

    Parameters
    ----------
    weight_sup, weight_lipschitz : float
        ‖W‖ ≥ 0 and L ≥ 0; ``math.inf`` for L gives a vacuous bound.
    ell_lipschitz : float
        ℓ' ≥ 0, in units of 1/score; ``math.inf`` gives a vacuous bound.
    n_pos, n_neg : int
        Class sizes of the sample.
    gaussian_complexity : float
        G ≥ 0, in units of the score, of all m observations; see `linear_complexity`.
    delta : float
        1 − confidence, in (0, 1).
    method : {"conditional", "published", "corrected"}

    Returns
    -------
    Bound
        `half_width`; `lower` is NaN. Vacuous if `half_width` reaches ‖W‖.

    Raises
    ------
    AuclabError
        A value outside its range, an unknown method.

    See Also
    --------
    weighted_auc_bound : One fixed scorer.
    linear_complexity : The complexity it takes.

    Examples
    --------
    W ≡ 1, 10,000 of each class, ℓ' = 1, G = √20000: M = 10⁻⁴, J = 20000 · 2/10⁸ = 4·10⁻⁴;
    √(2π) · 6·10⁻⁴ · 141.42 = 0.21269 and 10⁻⁴ √(20000 ln 40) = 0.02716.

    >>> bound = uniform_weighted_auc_bound(weight_sup=1.0, weight_lipschitz=0.0, ell_lipschitz=1.0, n_pos=10_000,
    ...     n_neg=10_000, gaussian_complexity=math.sqrt(20_000), delta=0.05)
    >>> round(bound.half_width, 4), bound.vacuous
    (0.2399, False)
    """
    check_choice("method", method, get_args(UniformMethod))
    check_sizes(n_pos, n_neg)
    check_probability(delta=delta)
    check_nonnegative(weight_sup=weight_sup, gaussian_complexity=gaussian_complexity)
    _check_lipschitz("weight_lipschitz", weight_lipschitz)
    _check_lipschitz("ell_lipschitz", ell_lipschitz)
    n_pos, n_neg = int(n_pos), int(n_neg)  # products of 32-bit integers would overflow
    sup, lipschitz, m, rarer = weight_sup, weight_lipschitz, n_pos + n_neg, min(n_pos, n_neg)
    conditions = (
        f"the Gaussian complexity of the class, which was fixed before the sample was seen, is at most "
        f"{gaussian_complexity:.4g}",
        f"a pair counts ℓ of its score difference, ℓ with values in [0, 1] and Lipschitz constant {ell_lipschitz:.4g}",
    )
    if method == "conditional":
        single = 2.0 * sup / rarer
        cross = m * max((2.0 * sup + lipschitz) / (n_pos * n_neg), lipschitz / n_neg**2)
        width = math.sqrt(2.0 * math.pi) * _product(single + cross, ell_lipschitz, gaussian_complexity)
        width += sup / rarer * math.sqrt(m * math.log(2.0 / delta)) + lipschitz / (8.0 * n_neg)
        return _two_sided(width, sup, INDEPENDENT, _AVERAGED, *conditions)
    share_pos, share_neg, share = n_pos / m, n_neg / m, rarer / m
    factor = 8.0 if method == "published" else 4.0  # Lemma 11 (iii) with the factor 2, as printed, or with equality
    width = factor * math.sqrt(2.0 * math.pi) * _product(sup + lipschitz, ell_lipschitz, gaussian_complexity)
    width /= share_neg**2 * share_pos * m
    if method == "published":
        width += (lipschitz + 10.0 * sup) / share**2 * math.sqrt(4.0 * math.log(16.0 * m / delta) / m)
        return _under_event(width, sup, (_DRAWN, _MAX_RANK, *conditions, _LOST), n_pos, n_neg, delta)
    spread = math.sqrt(math.log(4.0 / delta) / m)
    width += 2.0 * sup * (spread + math.sqrt(math.pi / (2.0 * m))) / (share_neg * share_pos)
    width += (lipschitz + sup) / share**2 * spread / math.sqrt(2.0)
    return _under_event(width, sup, (_DRAWN, _AVERAGED, *conditions), n_pos, n_neg, delta)


def _two_sided(width: float, whole: float, *assumptions: str) -> Bound:
    return Bound(math.nan, float(width), bool(width >= whole), assumptions, float(width))


def _under_event(
    width: float, whole: float, assumptions: tuple[str, ...], n_pos: int, n_neg: int, delta: float
) -> Bound:
    """A statement with drawn labels: it holds only if A_δ is observed."""
    if balance_event(n_pos=n_pos, n_neg=n_neg, delta=delta):
        return _two_sided(width, whole, *assumptions, "the event A_δ was observed: neither class is too rare")
    return _two_sided(math.inf, whole, *assumptions, _NO_EVENT)


def _check_lipschitz(name: str, value: float) -> None:
    if not value >= 0.0:
        raise AuclabError(f"{name} must be ≥ 0 (math.inf for a jump), got {value}")


def _product(*factors: float) -> float:
    """0 wins over infinity: a class with complexity 0, or a weight that is 0, needs no Lipschitz constant."""
    return 0.0 if 0.0 in factors else math.prod(factors)


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
    low: float,
    high: float,
    *,
    n_pos: int,
    n_neg: int,
    delta: float,
    method: StepMethod = "mcdiarmid",
    above: bool = False,
) -> Ramp:
    """The ramp within a step for which area lost plus deviation is least; it depends on the class sizes, on no data.

    With `above` the ramp falls outside the step, and what is least is the area added plus deviation.
    """
    widest = max(low, 1.0 - high) if above else (high - low) / max(1, (low > 0.0) + (high < 1.0))
    steepest = [] if method == "max_rank" and (low > 0.0 or high < 1.0) else [0.0]
    widths = [*steepest, *(widest * np.geomspace(1e-4, 1.0, 100)).tolist()]
    reach = 1.0 if above else 0.0  # a ramp that would start below specificity 0 has none there
    candidates = [Ramp(max(low - reach * width, 0.0), min(high + reach * width, 1.0), width) for width in widths]

    def cost(ramp: Ramp) -> float:
        return abs(ramp.integral - (high - low)) + _one_sided(ramp, n_pos, n_neg, delta, method)

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


def step_weight_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    min_fpr: float = 0.0,
    max_fpr: float = 1.0,
    delta: float,
    method: StepMethod = "mcdiarmid",
    ties: Ties = "half",
) -> tuple[float, float]:
    """Limits of the partial AUC of a fixed scorer that hold together with probability at least 1 − δ.

    The step W lies between two ramps, ``V₁ ≤ W ≤ V₂``, V₁ falling inside the band and V₂ outside it. So::

        f̂_V₁ − b(V₁) ≤ f_W ≤ f̂_V₂ + b(V₂)

    where each side, also by itself, holds with probability 1 − δ/2. Maurer & Pontil 2020, Remark 2.

    Parameters
    ----------
    y_true, y_score, min_fpr, max_fpr, delta, method, ties
        As in `step_weight_bound`.

    Returns
    -------
    lower, upper : float
        Within ``[0, max_fpr − min_fpr]``.

    Raises
    ------
    AuclabError
        As in `step_weight_bound`.

    See Also
    --------
    step_weight_bound : The lower limit alone, with all of δ.
    weighted_auc_bound : The half-width of either ramp.

    Examples
    --------
    Constant scores, 1000 of each class, the whole range: ½ ± √((2/1000) ln(40)/2).

    >>> lower, upper = step_weight_interval([1] * 1000 + [0] * 1000, [0] * 2000, delta=0.05)
    >>> round(lower, 5), round(upper, 5)
    (0.43926, 0.56074)
    """
    _check_band(min_fpr, max_fpr, method)
    check_probability(delta=delta)
    scores = class_scores(y_true, y_score, None, None, infinite=True)
    sizes = {"n_pos": scores.pos.size, "n_neg": scores.neg.size, "delta": 0.5 * delta}
    limits = []
    for above, sign in ((False, -1.0), (True, 1.0)):
        ramp = best_ramp(1.0 - max_fpr, 1.0 - min_fpr, **sizes, method=method, above=above)
        deviation = _one_sided(ramp, scores.pos.size, scores.neg.size, 0.5 * delta, method)
        limits.append(_ramp_value(scores, ramp, method, ties) + sign * deviation)
    return max(limits[0], 0.0), min(limits[1], max_fpr - min_fpr)


def _ramp_value(scores: ClassScores, ramp: Ramp, method: StepMethod, ties: Ties) -> float:
    """The weighted AUC of the sample for a ramp, under the convention that the method bounds."""
    convention = "max_rank" if method == "max_rank" else "average"
    options = {"convention": convention, "ties": ties, "breakpoints": ramp.breakpoints}
    return METRICS["weighted_auc"].from_sorted(scores, weight=ramp.at, **options)


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
    lower = _ramp_value(scores, ramp, method, ties) - _one_sided(ramp, n_pos, n_neg, delta, method)
    ramps = f"the ramps of the weight, {ramp.width:.3g} wide, depend on the class sizes alone"
    assumptions = (FIXED, INDEPENDENT, *((ramps,) if ramp.ramps and ramp.width > 0.0 else ()))
    return from_below(lower, _ramp_value(scores, ramp._replace(width=0.0), method, ties) - lower, assumptions)


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
