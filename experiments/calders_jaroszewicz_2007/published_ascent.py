"""Gradient ascent on polynomial AUC as printed: Calders & Jaroszewicz 2007, Algorithms 1 and 2, in powers of scores."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from scipy.special import comb
from sklearn.base import BaseEstimator, ClassifierMixin

from auclab._core.base import Array
from auclab.datasets.records import Labels
from auclab.estimators.polynomial_classifier import Ascent
from auclab.metrics.polynomial import Series, power_gradient, power_table, step_series
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample

#: The step of α in Algorithm 1.
_STEP = 0.01


class PublishedAscentClassifier(ClassifierMixin, BaseEstimator):
    """Scores by the printed ascent: exactly `max_iter` steps of powers of scores up to `degree`, labels 0 and 1."""

    def __init__(self, degree: int = 29, max_iter: int = 30):
        self.degree = degree
        self.max_iter = max_iter

    def fit(self, X: Any, y: Labels) -> Self:
        """Ascend from the difference of the class means in units of the squared spread."""
        sample = as_sample(X, y)
        start = sample.mean_difference / sample.spread**2
        if not start.any():
            start = 1.0 / sample.spread
        series = step_series(self.degree, "chebyshev")
        result = published_ascent(sample.uncentred(), series, start, max_iter=self.max_iter)
        self.coef_ = np.where(np.isfinite(result.coef), result.coef, 0.0)
        self.objective_path_ = np.array(result.path)
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,)."""
        return np.asarray(X @ self.coef_)


def published_ascent(sample: Sample, series: Series, start: Array, *, max_iter: int) -> Ascent:
    """Algorithm 2 with lines 3 to 11 in powers of the scores, which are scaled but not centred.

    Line 11 with the brackets that the text implies (erratum C1). The objective is that of the search over α;
    where the scores lie far from 0 it is rounding. It ends early where the gradient is 0 or not finite.
    """
    table, shares = power_table(series), (sample.share_pos, sample.share_neg)
    coef, path = np.asarray(start, dtype=float), list[float]()
    for _ in range(max_iter):
        largest = _largest(sample, coef)
        if largest == 0.0:
            return Ascent(np.zeros_like(coef), tuple(path), False)
        coef = coef / largest
        with np.errstate(over="ignore", invalid="ignore"):
            scores = sample.X_pos @ coef, sample.X_neg @ coef
            slope = power_gradient(series, sample.X_pos, sample.X_neg, *scores, *shares, 1.0)
            size = _largest(sample, slope)
        if not (np.isfinite(slope).all() and np.isfinite(size) and size > 0.0):
            break
        slope = slope / size
        angles = np.arange(0.0, 2.0 * np.pi, _STEP)
        with np.errstate(over="ignore", invalid="ignore"):
            moments = [
                _mixed_moments(X @ coef, X @ slope, share, len(table) - 1, angles)
                for X, share in zip((sample.X_pos, sample.X_neg), shares, strict=True)
            ]
            values = sum(row[: k + 1] @ (moments[0][: k + 1] * moments[1][k::-1]) for k, row in enumerate(table))
        values = np.where(np.asarray(values) > 0.0, values, 0.0)  # "opt := 0" of Algorithm 1; NaN is not above it
        best = int(values.argmax())
        coef = (math.cos(angles[best]) * coef + math.sin(angles[best]) * slope) / math.sqrt(2.0)
        path.append(float(values[best]))
    return Ascent(coef, tuple(path), len(path) == max_iter)


def _largest(sample: Sample, coef: Array) -> float:
    """The largest |difference| of a positive and a negative score."""
    pos, neg = sample.X_pos @ coef, sample.X_neg @ coef
    return float(max(pos.max() - neg.min(), neg.max() - pos.min()))


def _mixed_moments(scores: Array, slopes: Array, share: Array, degree: int, angles: Array) -> Array:
    """Mean of ``((cos α f_w + sin α f_g)/√2)^l`` for l = 0 … degree and every α, shape (degree + 1, n_angles).

    From the means of ``f_w^m f_g^(l−m)`` (derivations 10.4): the data are read once for all α.
    """
    rows = np.cumprod(np.vstack([share, *[slopes] * degree]), axis=0)
    powers = np.cumprod(np.vstack([np.ones_like(scores), *[scores] * degree]), axis=0)
    mixed = powers @ rows.T  # [m, l − m]
    cosines = np.cumprod(np.vstack([np.ones_like(angles), *[np.cos(angles)] * degree]), axis=0)
    sines = np.cumprod(np.vstack([np.ones_like(angles), *[np.sin(angles)] * degree]), axis=0)
    moments = np.empty((degree + 1, angles.size))
    for order in range(degree + 1):
        lower = np.arange(order + 1)
        factors = comb(order, lower) * 2.0 ** (-0.5 * order) * mixed[lower, order - lower]
        moments[order] = factors @ (cosines[lower] * sines[order - lower])
    return moments
