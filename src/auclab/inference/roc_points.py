"""The true positive rate at a false positive rate, with an interval.

TPR at FPR u is ``R(u) = P(p > t_u)`` with the threshold t_u from ``P(n > t_u) = u``. The positives give a share, the
negatives a quantile, and to first order

    SE² = R(1 − R)/m₊ + R'(u)² u(1 − u)/m₋,

the variance of DeLong's components ``V10_i = 1{p_i > t_u}`` and ``V01_j = R(u) − R'(u) (1{n_j > t_u} − u)``. The slope
R' is a ratio of densities. It is taken over ``u ± h``, ``h = c √(u(1−u)/m₋)``, the confidence limits of the rate of the
negatives (Woodruff 1952, JASA 47, for quantiles), which needs no bandwidth.

* ``"influence"``: Wilson's limits of a share with ``R(1 − R)/SE²`` observations.
* ``"bootstrap"``: mean and standard deviation of ``(m₊ R̂ + c²/2)/(m₊ + c²)`` over stratified resamples (interval BTII
  of Zhou & Qin 2005, Statistics in Medicine 24, 465–477), made to hold the value.
* ``"exact"``: thresholds, order statistics of the negatives, whose FPR lies below and above u, and limits of Clopper &
  Pearson of the TPR at these, each of the four with an error of (1 − level)/4. At least `level` for all sizes and
  distributions (Schäfer 1994, Statistics in Medicine 13, 1551–1561), and wide.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, norm

from auclab._core.base import AuclabError
from auclab._core.validation import check_choice
from auclab.inference.bootstrap import number_of_resamples
from auclab.inference.components import FLAT, Estimate, Observations
from auclab.inference.estimation import check_level
from auclab.inference.intervals import ONE_OBSERVATION, enclose, few_observations
from auclab.inference.roc_bands import height_at, resampled_curves
from auclab.metrics.registry import ScoredPart
from auclab.metrics.roc import finite_number, roc_from_sorted

METHODS = ("auto", "influence", "bootstrap", "exact")

#: Ends of the range of a rate.
RATES = (0.0, 1.0)

#: Fewer negatives beyond the threshold than this get a note.
FEW_BEYOND = 3.0


def tpr_at_fpr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fpr: float,
    *,
    level: float = 0.95,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    resamples: int | None = None,
    seed: int = 0,
) -> Estimate:
    """True positive rate at a false positive rate, with its confidence interval.

    The value is that of the ROC polygon, ties as slanted edges; on a vertical edge its upper end.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `estimate`. Scores ±∞ are allowed.
    fpr : float in [0, 1]
    level : float in (0, 1)
    method : {"auto", "influence", "bootstrap", "exact"}
        See the module docstring. ``"auto"`` is ``"influence"``. ``"exact"`` takes no weights.
    resamples, seed : int
        Resamples of the bootstrap (1000 by default, at least 100), and its seed.

    Returns
    -------
    Estimate
        `standard_error` is NaN for ``"exact"``, which has none.

    Raises
    ------
    AuclabError
        As `estimate`; a rate outside [0, 1]; weights for ``"exact"``.

    See Also
    --------
    roc_band : A band that holds at all FPR at once.
    estimate : Partial AUC, the mean TPR over a band of FPR.

    Examples
    --------
    Two of three positives exceed the largest negative. At FPR 0 the rate of the negatives does not vary, and the limits
    are Wilson's:

    >>> result = tpr_at_fpr([1, 1, 1, 0, 0], [5.0, 4.0, 1.0, 3.0, 2.0], 0.0)
    >>> round(result.value, 4), result.method
    (0.6667, 'influence')
    """
    observations = Observations.of(y_true, y_score, sample_weight, pos_label)
    return _interval(observations, fpr, level, method, resamples, seed)


def tpr_at_fpr_part(
    part: ScoredPart,
    fpr: float,
    *,
    level: float = 0.95,
    method: str = "auto",
    resamples: int | None = None,
    seed: int = 0,
) -> Estimate:
    """`tpr_at_fpr` of a part of a split whose scores are sorted already.

    Parameters
    ----------
    part : ScoredPart
    fpr, level, method, resamples, seed
        As in `tpr_at_fpr`.

    Raises
    ------
    AuclabError
        As `tpr_at_fpr`.

    See Also
    --------
    tpr_at_fpr : The same from labels and scores.

    Examples
    --------
    >>> part = ScoredPart(np.array([1, 1, 0, 0]), np.array([4.0, 1.0, 2.0, 0.0]))
    >>> tpr_at_fpr_part(part, 0.25).value
    0.5
    """
    return _interval(Observations.of_part(part), fpr, level, method, resamples, seed)


def _interval(
    observations: Observations, fpr: float, level: float, method: str, resamples: int | None, seed: int
) -> Estimate:
    check_level(level)
    rate = finite_number("fpr", fpr)
    if not 0.0 <= rate <= 1.0:
        raise AuclabError(f"fpr must lie in [0, 1], got {fpr}")
    check_choice("method", method, METHODS)
    resamples = number_of_resamples(resamples, 100, 1000)
    if method == "exact":
        return _exact(observations, rate, level)
    method = "influence" if method == "auto" else method
    if min(rows.size for rows in observations.class_rows) == 1:
        return Estimate(_height(observations, rate), math.nan, 0.0, 1.0, level, method, (ONE_OBSERVATION,))
    if method == "bootstrap":
        return _bootstrap(observations, rate, level, resamples, seed)
    return _influence(observations, rate, level)


def _height(observations: Observations, rate: float) -> float:
    return float(height_at(roc_from_sorted(observations.part.classes), np.array([rate]))[0])


def _influence(observations: Observations, rate: float, level: float) -> Estimate:
    curve, (pos, neg) = roc_from_sorted(observations.part.classes), observations.effective_sizes
    c = float(norm.isf(0.5 * (1.0 - level)))
    spread = math.sqrt(rate * (1.0 - rate) / neg)
    low, high = max(rate - max(c * spread, 1.0 / neg), 0.0), min(rate + max(c * spread, 1.0 / neg), 1.0)
    value, below, above = (float(each) for each in height_at(curve, np.array([rate, low, high])))
    by_neg = (spread * (above - below) / (high - low)) ** 2
    error = math.sqrt(value * (1.0 - value) / pos + by_neg)
    # the share moved towards ½, as in the limits of Agresti & Coull, so that 0 and 1 have a variance
    inner = (value * pos + 0.5 * c * c) / (pos + c * c)
    size = inner * (1.0 - inner) / (inner * (1.0 - inner) / pos + by_neg)
    centre = (value * size + 0.5 * c * c) / (size + c * c)
    width = c * math.sqrt(size * value * (1.0 - value) + 0.25 * c * c) / (size + c * c)
    notes = _few_beyond(observations, rate)
    limits = enclose(value, (centre - width, centre + width), RATES)
    return Estimate(value, error, *limits, level, "influence", notes)


def _few_beyond(observations: Observations, rate: float) -> tuple[str, ...]:
    """A note where the threshold is an order statistic near the end of the negatives."""
    neg = observations.effective_sizes[1]
    beyond, side = min((rate * neg, "above"), ((1.0 - rate) * neg, "below"))
    if not 0.0 < beyond < FEW_BEYOND - 1e-9:
        return ()
    exact = "" if observations.weight is not None else "; method='exact' holds its level"
    return (
        f"only about {beyond:.2g} of {neg:.0f} negatives lie {side} the threshold: limits may be too narrow{exact}",
    )


def _bootstrap(observations: Observations, rate: float, level: float, resamples: int, seed: int) -> Estimate:
    c, pos = float(norm.isf(0.5 * (1.0 - level))), observations.effective_sizes[0]
    at = np.array([rate])
    curves = resampled_curves(observations, None, resamples, np.random.default_rng(seed))
    found = np.array([height_at(curve, at)[0] for curve in curves])
    inner = (pos * found + 0.5 * c * c) / (pos + c * c)
    centre, error = float(inner.mean()), float(inner.std(ddof=1))
    value = _height(observations, rate)
    notes = _few_beyond(observations, rate)
    if error <= FLAT:
        # the limits of Agresti & Coull, the share of a sample in which nothing varies
        error, notes = math.sqrt(centre * (1.0 - centre) / (pos + c * c)), ("all resamples have the same value",)
    # of a few observations the centre, moved towards ½, may be further from the value than the limits reach
    lower, upper = enclose(value, (centre - c * error, centre + c * error), RATES)
    notes = notes or few_observations(*observations.effective_sizes, unit=observations.unit)
    return Estimate(value, float(found.std(ddof=1)), lower, upper, level, "bootstrap", notes)


def _exact(observations: Observations, rate: float, level: float) -> Estimate:
    if observations.weight is not None:
        raise AuclabError("method='exact' counts observations and does not support weights; use method='influence'")
    classes, tail = observations.part.classes, 0.25 * (1.0 - level)
    pos, neg = classes.pos, classes.neg
    order = np.arange(1, neg.size + 1)  # of the k-th largest negative, the FPR has the law Beta(k, m₋ + 1 − k)
    below = np.flatnonzero(beta.cdf(rate, order, neg.size + 1 - order) >= 1.0 - tail)
    above = np.flatnonzero(beta.sf(rate, order, neg.size + 1 - order) >= 1.0 - tail)
    lower, upper = 0.0, 1.0
    if below.size:
        hits = pos.size - int(np.searchsorted(pos, neg[-1 - below[-1]], side="right"))
        lower = float(beta.ppf(tail, hits, pos.size - hits + 1)) if hits else 0.0
    if above.size:
        hits = pos.size - int(np.searchsorted(pos, neg[-1 - above[0]], side="left"))
        upper = float(beta.isf(tail, hits + 1, pos.size - hits)) if hits < pos.size else 1.0
    value = _height(observations, rate)
    return Estimate(value, math.nan, *enclose(value, (lower, upper), RATES), level, "exact")
