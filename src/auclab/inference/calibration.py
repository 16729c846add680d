"""Calibration of probabilities, and drift of scores."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from scipy.stats import binomtest, kstwo, norm

from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import ROUNDING, SOLVED
from auclab._core.validation import finite_vector, positive_mask, same_length
from auclab.inference.estimation import check_level

#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: Levels of the quantiles that are compared.
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Scores that stand for a larger sample: its distribution function is then known to 1/(2 · 501).
MOST = 501


@dataclass(frozen=True)
class ScoreDrift:
    """Comparison of two samples of scores.

    Attributes
    ----------
    statistic : float
        Kolmogorov–Smirnov statistic: the largest distance between the two distribution functions, in [0, 1].
    p_value : float
        Probability of a distance at least as large if both samples have the same continuous distribution; with ties it
        is too large (conservative).
    levels, reference, new : tuple of float
        Quantiles of either sample.
    positions : tuple of float
        The share of the reference sample at or below each quantile of the new one: the level itself without drift.
    n_reference, n_new : int

    See Also
    --------
    score_drift : Computes it.

    Examples
    --------
    >>> found = score_drift([1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0])
    >>> found.statistic, found.levels[2], found.reference[2], found.new[2], found.positions[2]
    (0.5, 0.5, 2.0, 4.0, 1.0)
    """

    statistic: float
    p_value: float
    levels: tuple[float, ...]
    reference: tuple[float, ...]
    new: tuple[float, ...]
    positions: tuple[float, ...]
    n_reference: int
    n_new: int


def score_drift(reference: ArrayLike, new: ArrayLike, *, n_reference: int | None = None) -> ScoreDrift:
    """Compare the distribution of scores with that of a reference sample.

    With F and G the distribution functions of the two samples, of n and m rows,

        D = max_t |F(t) − G(t)|,     p = P(D_N ≥ D),  N = round(n m/(n + m)),

    where D_N is Kolmogorov's one-sample statistic (Hodges 1958; SciPy's ``ks_2samp(…, method="asymp")``). Quantiles are
    the smallest score at which the distribution function reaches the level.

    Parameters
    ----------
    reference, new : arrays of shape (n,) and (m,)
        Finite scores.
    n_reference : int, optional
        Number of rows that `reference` represents, if it is a `condensed` sample.

    Returns
    -------
    ScoreDrift

    Raises
    ------
    AuclabError
        An empty sample, scores that are not finite.

    See Also
    --------
    check_calibration : Whether probabilities of new rows are right.

    Examples
    --------
    F jumps by ¼ at 1, 2, 3, 4 and G at 3, 4, 5, 6; at 2 they are ½ and 0:

    >>> score_drift([1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0]).statistic
    0.5
    >>> score_drift([1.0, 2.0], [1.0, 2.0]).p_value
    1.0
    """
    first, second = (np.sort(finite_vector(name, values)) for name, values in (("reference", reference), ("new", new)))
    n, m = first.size if n_reference is None else int(n_reference), second.size
    points = np.concatenate([first, second])
    below = [np.searchsorted(each, points, side="right") / each.size for each in (first, second)]
    distance = float(np.max(np.abs(below[0] - below[1])))
    p_value = float(np.clip(kstwo.sf(distance, max(1, round(n * m / (n + m)))), 0.0, 1.0))
    before, after = (np.quantile(each, LEVELS, method="inverted_cdf") for each in (first, second))
    positions = np.searchsorted(first, after, side="right") / first.size
    quantiles = [tuple(map(float, each)) for each in (before, after, positions)]
    return ScoreDrift(distance, p_value, LEVELS, quantiles[0], quantiles[1], quantiles[2], n, m)


def condensed(scores: ArrayLike) -> Array:
    """A sample as at most 501 of its scores, the quantiles at the levels ``(k + ½)/501``; small ones as they are."""
    values = np.sort(np.asarray(scores, dtype=float))
    if values.size <= MOST:
        return values
    return np.asarray(values[(2 * np.arange(MOST) + 1) * values.size // (2 * MOST)])


@dataclass(frozen=True)
class CalibrationCheck:
    """Comparison of probabilities with observed labels.

    Attributes
    ----------
    expected, observed : float
        The mean probability, and the share of positives.
    interval : pair of float
        Wilson's limits of the share of positives.
    brier : float
        ``mean (p − y)²``.
    statistic, p_value : float
        Spiegelhalter's z and its two-sided p: small where the probabilities are wrong.
    slope, intercept : float
        Of ``logit P(y = 1) = intercept + slope · logit p``, by maximum likelihood: 1 and 0 where the probabilities are
        right; a slope below 1 means they are too extreme. NaN where the classes are separated.
    slope_error, intercept_error : float
        Standard errors.
    level : float
        Confidence level of `interval`.

    See Also
    --------
    check_calibration : Computes it.

    Examples
    --------
    >>> found = check_calibration([0, 1, 0, 1], [0.25, 0.75, 0.25, 0.75])
    >>> found.expected, found.observed, found.brier
    (0.5, 0.5, 0.0625)
    """

    expected: float
    observed: float
    interval: tuple[float, float]
    brier: float
    statistic: float
    p_value: float
    slope: float
    intercept: float
    slope_error: float
    intercept_error: float
    level: float


def check_calibration(y_true: ArrayLike, probability: ArrayLike, *, level: float = 0.95) -> CalibrationCheck:
    """Compare probabilities with the labels of rows that neither scorer nor calibration was fitted to.

    Spiegelhalter's statistic (Statistics in Medicine 5, 1986) is the Brier score in standard units,

        z = Σ_i (y_i − p_i)(1 − 2 p_i) / √( Σ_i (1 − 2 p_i)² p_i (1 − p_i) );

    slope and intercept are those of Cox (Biometrika 45, 1958).

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1 or booleans.
    probability : array of shape (n_samples,)
        Of the positive class, in [0, 1].
    level : float in (0, 1)
        Confidence level of the share of positives.

    Returns
    -------
    CalibrationCheck

    Raises
    ------
    AuclabError
        A probability outside [0, 1], other lengths or labels, a level outside (0, 1).

    See Also
    --------
    auclab.estimators.AUCClassifier : With ``calibration="sigmoid"`` it has probabilities.

    Examples
    --------
    Every term of the numerator is ``¼ · (−½)``, every one of the variance ``¼ · 3/16``: ``z = −½/√(3/16)``.

    >>> found = check_calibration([0, 1, 0, 1], [0.25, 0.75, 0.25, 0.75])
    >>> round(found.statistic, 6), round(-0.5 / (3 / 16) ** 0.5, 6)
    (-1.154701, -1.154701)
    """
    check_level(level)
    p = finite_vector("probability", probability)
    positive = positive_mask(y_true)
    same_length(y_true=positive, probability=p)
    if ((p < 0) | (p > 1)).any():
        raise AuclabError(f"probability has {p[(p < 0) | (p > 1)][0]:g}; probabilities lie between 0 and 1")
    y = positive.astype(float)
    limits = binomtest(int(y.sum()), y.size).proportion_ci(level, method="wilson")
    variance = float(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    z = float(np.sum((y - p) * (1 - 2 * p)) / math.sqrt(variance)) if variance > 0 else math.nan
    coefficients, errors = _logistic(logit(np.clip(p, ROUNDING, 1 - ROUNDING)), y)
    return CalibrationCheck(
        *(float(p.mean()), float(y.mean()), (float(limits.low), float(limits.high)), float(np.mean((p - y) ** 2))),
        *(z, 2.0 * float(norm.sf(abs(z))) if math.isfinite(z) else math.nan),
        slope=float(coefficients[1]), intercept=float(coefficients[0]),
        slope_error=float(errors[1]), intercept_error=float(errors[0]), level=level,
    )  # fmt: skip


def _logistic(x: Array, y: Array) -> tuple[Array, Array]:
    """Intercept and slope of a logistic regression on one variable, and their standard errors; NaN if there is none."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    positive, unknown = y > 0.5, np.full(2, math.nan)
    if np.ptp(x) == 0 or _separated(x[positive], x[~positive]):
        return unknown, unknown
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            fitted = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=SOLVED, max_iter=MOST_STEPS)
            fitted.fit(x[:, None], y)
        except ConvergenceWarning:
            return unknown, unknown
    found, rows = np.array([fitted.intercept_[0], fitted.coef_[0, 0]]), np.column_stack([np.ones_like(x), x])
    chance = expit(rows @ found)
    information = (rows * (chance * (1 - chance))[:, None]).T @ rows
    return found, np.sqrt(np.diag(np.linalg.inv(information)))


def _separated(pos: Array, neg: Array) -> bool:
    """Whether a threshold separates the classes, so that the likelihood has no maximum."""
    if pos.size == 0 or neg.size == 0:
        return True
    return bool(pos.min() >= neg.max() or pos.max() <= neg.min())
