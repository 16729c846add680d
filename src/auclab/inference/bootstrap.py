"""Stratified bootstrap: the fallback for any metric that is a function of labels and scores.

Positives and negatives are resampled apart, each to its own size, as `scipy.stats.bootstrap` does with two samples;
here the samples are row numbers, so that weights and a second scorer come along.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import DegenerateDataWarning, bootstrap

from auclab._core.base import AuclabError
from auclab.inference.components import FLAT

#: Resamples at most: their values take 0.8 GB.
_MOST_RESAMPLES = 100_000_000

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Resampled:
    """Standard error and bias of a statistic; `limits` are those of the method, None for normal ones."""

    standard_error: float
    limits: tuple[float, float] | None = None
    bias: float = 0.0
    notes: tuple[str, ...] = ()

    def times(self, unit: float) -> Resampled:
        """The same of the statistic times a unit."""
        limits = None if self.limits is None else (self.limits[0] * unit, self.limits[1] * unit)
        return Resampled(self.standard_error * unit, limits, self.bias * unit, self.notes)


def number_of_resamples(resamples: int | None, least: int, usual: int) -> int:
    """The number of resamples, `usual` for None; `AuclabError` unless it is a whole number, `least` or more."""
    if resamples is None:
        return usual
    if not isinstance(resamples, int | np.integer) or not least <= resamples <= _MOST_RESAMPLES:
        raise AuclabError(f"resamples must be a whole number, at least {least}, got {resamples!r}; {usual} is usual")
    return int(resamples)


def stratified_bootstrap(
    statistic: Callable[[Rows], float], classes: tuple[Rows, ...], *, level: float, resamples: int | None, seed: int
) -> Resampled:
    """Bias-corrected and accelerated limits (BCa; Efron 1987) of a statistic of row numbers.

    The limits are percentiles of the bootstrap distribution, so they stay in the range of the metric. BCa takes one
    more evaluation for every observation (the jackknife for the acceleration). Where there are more observations than
    resamples, which makes the acceleration small and its price high, or where BCa is undefined, plain percentiles are
    taken, and a note says so. If no resample differs from the sample, the standard error is 0.

    `statistic`: from an array of row numbers, with repetitions, to a float, NaN where a class is missing. `classes`:
    row numbers of the positives and of the negatives, two at least of either; or of clusters. `level`: of confidence.
    `resamples`: number of resamples, at least 100; 2000 by default. `seed`: the same seed gives the same limits.
    """
    resamples = number_of_resamples(resamples, 100, 2000)

    def of_classes(*units: Rows) -> float:
        return statistic(np.concatenate(units))

    method: Literal["BCa", "percentile"] = "BCa" if sum(rows.size for rows in classes) <= resamples else "percentile"
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", DegenerateDataWarning)  # reported below, as a note
        result = bootstrap(
            classes,
            of_classes,
            n_resamples=resamples,
            confidence_level=level,
            vectorized=False,
            method=method,
            rng=np.random.default_rng(seed),
        )
    values = result.bootstrap_distribution
    left_out = int(np.isnan(values).sum())
    if left_out == values.size:
        raise AuclabError("the metric is NaN on every resample, so it has no interval")
    values = values[~np.isnan(values)]
    without = (f"{left_out} of {resamples} resamples have no value, and are left out",) if left_out else ()
    if np.ptp(values) <= FLAT * np.max(np.abs(values)):
        return Resampled(0.0, notes=("all resamples have the same value", *without))
    error = standard_deviation(values)
    lower, upper = (float(limit) for limit in result.confidence_interval)
    if not lower <= upper:  # NaN, or crossed where an acceleration is large
        lower, upper = (float(q) for q in np.quantile(values, [0.5 * (1.0 - level), 0.5 * (1.0 + level)]))
        return Resampled(error, (lower, upper), notes=("plain percentiles: BCa is undefined on this sample", *without))
    notes = () if method == "BCa" else ("plain percentiles: more observations than resamples",)
    return Resampled(error, (lower, upper), notes=(*notes, *without))


def standard_deviation(values: ArrayLike) -> float:
    """``√(Σ (v − mean v)²/(n − 1))``, in units of the largest value: squares of small ones are not 0."""
    values = np.asarray(values)
    largest = float(np.max(np.abs(values))) or 1.0
    return float(np.std(values / largest, ddof=1)) * largest
