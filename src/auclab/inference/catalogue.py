"""Which metrics have components, how theirs are computed and what values they can take."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from auclab import metrics
from auclab.inference.buffered import bauc_rows
from auclab.inference.components import Components, arrange
from auclab.inference.partial import partial_rows, value_range
from auclab.inference.rows import Rows, auc_rows, ferri_rows, modifier_rows, probabilistic_rows, scored_rows, soft_rows
from auclab.inference.sample import Observations
from auclab.inference.weighted import weighted_range, weighted_rows
from auclab.types import AuclabError

Range = tuple[float, float]
Score = Callable[..., float]


@dataclass(frozen=True)
class Metric:
    """A metric with its options, ready to be estimated.

    Attributes
    ----------
    name : str
    score : callable
        ``(y_true, y_score, **options) -> float``.
    options : mapping
    rows : callable or None
        Components from sorted scores; None where only the bootstrap knows.
    range : pair of float
        Smallest and largest value, ±∞ if there is none.
    scale : pair of float or None
        Ends that the scale of the limits sends to ±∞, where they are not those of the range.
    unseen : pair of float or None
        What unseen pairs may be worth, where it is not the range.
    ordinal : bool
        Whether only the order of the scores counts, so that ±∞ is a score.
    band : float
        Share of the negatives that matter.
    bias_rate : float
        ρ if the bias of the value is of order ``m^(−ρ)``.
    """

    name: str
    score: Score
    options: Mapping[str, Any]
    rows: Callable[..., Rows] | None = None
    range: Range = (-math.inf, math.inf)
    ordinal: bool = False
    scale: Range | None = None
    unseen: Range | None = None
    bias_rate: float = 1.0
    band: float = 1.0

    def value(self, observations: Observations) -> float:
        """The metric on a sample."""
        weight = {} if observations.weight is None else {"sample_weight": observations.weight}
        return float(self.score(observations.positive, observations.score, **self.options, **weight))

    def components(self, observations: Observations) -> Components:
        """Value and structural components on a sample."""
        if self.rows is None:
            raise AuclabError(f"{self.name} has no components; use method='bootstrap'")
        value = self.value(observations)  # checks the options too
        sorted_scores = observations.sorted(infinite=self.ordinal)
        return arrange(value, *self.rows(sorted_scores, **self.options), observations)


_UNIT = (0.0, 1.0)
#: The logarithm of ``1 − value``, cut at 0.
_TAIL = (-math.inf, 1.0)
_KNOWN: dict[str, Metric] = {
    m.name: m
    for m in (
        Metric("auc", metrics.auc_score, {}, auc_rows, _UNIT, True),
        Metric("bauc", metrics.bauc_score, {}, bauc_rows, _UNIT, scale=_TAIL),
        Metric("scored_auc", metrics.scored_auc, {}, scored_rows, (0.0, math.inf)),
        Metric("ferri_auc", metrics.ferri_auc, {}, ferri_rows),
        Metric("soft_auc", metrics.soft_auc, {}, soft_rows, _UNIT),
        Metric("probabilistic_auc", metrics.probabilistic_auc, {}, probabilistic_rows, _UNIT),
        Metric("gauc", metrics.gauc_score, {}, modifier_rows),
        Metric("partial_auc", metrics.partial_auc, {}, partial_rows, _UNIT, True),
        Metric("two_way_partial_auc", metrics.two_way_partial_auc, {}, None, _UNIT, True),
        Metric("weighted_auc", metrics.weighted_auc, {}, weighted_rows, ordinal=True),
        # VOROS is at least AUC, so what is said of unseen pairs holds for it too
        Metric("voros", metrics.voros_score, {}, None, _UNIT, True, _TAIL, _UNIT, 2 / 3),
        Metric("polynomial_auc", metrics.polynomial_auc, {}),
        Metric("polynomial_soft_auc", metrics.polynomial_soft_auc, {}),
    )
}


def find_metric(metric: str | Callable[..., float], options: Mapping[str, Any]) -> Metric:
    """A metric by its name, by its function in `auclab.metrics` (also a `functools.partial`), or any callable.

    Raises
    ------
    AuclabError
        An unknown name, options that the metric does not have or lacks.
    """
    if isinstance(metric, partial) and not metric.args:
        return find_metric(metric.func, {**metric.keywords, **options})
    if isinstance(metric, str):
        if metric not in _KNOWN:
            raise AuclabError(f"unknown metric {metric!r}; known: {', '.join(_KNOWN)}, or any function (y, s) -> float")
        known = _KNOWN[metric]
    elif not callable(metric):
        raise AuclabError(f"metric must be a name or a function (y_true, y_score) -> float, got {metric!r}")
    else:
        foreign = Metric(f"function {getattr(metric, '__name__', type(metric).__name__)}", metric, {})
        known = next((ours for ours in _KNOWN.values() if ours.score is metric), foreign)
    if known.name in _KNOWN:
        try:
            inspect.signature(known.score).bind([], [], **options)
        except TypeError as error:
            raise AuclabError(f"{known.name}: {error}; its options are {', '.join(_options(known.score))}") from error
    return _with_options(known, options)


def _options(score: Score) -> list[str]:
    """Names of the keyword arguments of a metric."""
    common = {"y_true", "y_score", "sample_weight", "pos_label"}
    return [name for name in inspect.signature(score).parameters if name not in common] or ["none"]


def _with_options(metric: Metric, options: Mapping[str, Any]) -> Metric:
    """The metric with its options; some decide on its range."""
    found, band = metric.range, 1.0
    if metric.name == "partial_auc":
        low, high = float(options.get("min_fpr", 0.0)), float(options.get("max_fpr", 1.0))
        if 0.0 <= low < high <= 1.0:  # otherwise the metric raises
            found, band = value_range(low, high, options["standardized"]), high - low
    elif metric.name == "weighted_auc":
        if options.get("convention", "average") != "average":
            return replace(metric, options=dict(options), rows=None)
        if callable(options["weight"]):
            found = weighted_range(options["weight"], options.get("breakpoints", ()))
    elif metric.name == "voros":
        found = (metrics.voros_from_points([0.0], [0.0], **options), 1.0)  # chance
    elif metric.name == "two_way_partial_auc":
        found = (0.0, (1.0 - float(options["min_tpr"])) * float(options["max_fpr"]))
    return replace(metric, options=dict(options), range=found, band=band)
