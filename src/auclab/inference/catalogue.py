"""What inference knows of each metric: its components, the values it can take, the scale of its limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from auclab._core.base import Array, AuclabError
from auclab.inference.component_rows import (
    Rows,
    auc_rows,
    bauc_rows,
    ferri_rows,
    modifier_rows,
    partial_rows,
    probabilistic_rows,
    scored_rows,
    soft_rows,
    value_range,
    weighted_range,
    weighted_rows,
)
from auclab.inference.components import Components, Observations, arrange
from auclab.metrics.partial import partial_auc
from auclab.metrics.registry import METRICS, metric_of
from auclab.metrics.roc import ClassScores
from auclab.metrics.voros import voros_from_points

Range = tuple[float, float]


@dataclass(frozen=True)
class EstimableMetric:
    """A metric with its options and what its intervals need.

    `name`: a name in `auclab.metrics.METRICS`, or a description of any other function. `function`: ``(y_true, y_score,
    **options) -> float``. `rows`: components from sorted scores; None for resampling. `range`: smallest and largest
    value, ±∞ if there is none. `scale`: ends that the scale of the limits sends to ±∞, where they are not those of the
    range. `unseen`: values that unseen pairs may have, where they are not the range. `band`: share of the negatives
    that matter. `enough`: observations of a class below which a note is made; 10 where limits are those of large
    samples. `bounded_terms`: whether a share q of other observations cannot move the value by more than q of the way to
    an end of the range, to first order. `bias_rate`: ρ if the bias of the value is of order ``m^(−ρ)``. `in_units`:
    whether values are in units of the score, or such plus a constant.
    """

    name: str
    function: Callable[..., float]
    options: Mapping[str, Any]
    rows: Callable[..., Rows] | None = None
    range: Range = (-math.inf, math.inf)
    scale: Range | None = None
    unseen: Range | None = None
    bias_rate: float = 1.0
    band: float = 1.0
    enough: int = 10
    bounded_terms: bool = False
    in_units: bool = False

    def value(self, observations: Observations) -> float:
        """The metric on a sample."""
        return observations.part.value(self.function, **self.options)

    def components(self, observations: Observations) -> Components:
        """Value and structural components on a sample."""
        if self.rows is None:
            raise AuclabError(f"{self.name} has no components; use method='bootstrap'")
        rows = self.rows

        def compute() -> Components:
            value = self.value(observations)  # checks options and scores
            return arrange(value, *rows(observations.part.classes, **self.options), observations)

        plain = all(isinstance(option, str | float | int | None) for option in self.options.values())
        return observations.components((self.name, *sorted(self.options.items())) if plain else None, compute)


_UNIT = (0.0, 1.0)
#: Sorted scores of one positive and one negative.
ONE_PAIR = ClassScores(np.ones(1), np.zeros(1), np.empty(0), np.empty(0))
#: The logarithm of ``1 − value``, cut at 0.
_TAIL = (-math.inf, 1.0)
#: What differs from the defaults of `EstimableMetric`, by the name of the metric.
_KNOWLEDGE: dict[str, dict[str, Any]] = {
    "auc": {"rows": auc_rows, "range": _UNIT, "bounded_terms": True},
    "auc_threshold": {"range": (0.0, math.inf), "in_units": True},
    "bauc": {"rows": bauc_rows, "range": _UNIT, "scale": _TAIL},
    "scored_auc": {"rows": scored_rows, "range": (0.0, math.inf), "in_units": True},
    "ferri_auc": {"rows": ferri_rows, "in_units": True},
    "soft_auc": {"rows": soft_rows, "range": _UNIT, "bounded_terms": True},
    "probabilistic_auc": {"rows": probabilistic_rows, "range": _UNIT, "bounded_terms": True},
    "gauc": {"rows": modifier_rows},
    "ranking_superquantile": {"in_units": True},
    "partial_auc": {"rows": partial_rows, "range": _UNIT, "bounded_terms": True},
    "two_way_partial_auc": {"range": _UNIT},
    "weighted_auc": {"rows": weighted_rows, "bounded_terms": True},
    # VOROS is at least AUC, so the argument about unseen pairs holds for it too
    "voros": {"range": _UNIT, "scale": _TAIL, "unseen": _UNIT, "bias_rate": 2 / 3, "enough": 50},
}


def estimable(metric: str | Callable[..., float], options: Mapping[str, Any]) -> EstimableMetric:
    """A metric by its name, by its function in `auclab.metrics` (also a `functools.partial`), or any callable."""
    if not isinstance(metric, str) and not callable(metric):
        raise AuclabError(f"metric must be a name or a function (y_true, y_score) -> float, got {metric!r}")
    entry, selected = metric_of(metric, options)
    if entry is None:
        function = cast(Callable[..., float], metric)
        name = getattr(function, "__name__", type(function).__name__)

        def of_copies(*arrays: Array, **given: Any) -> float:
            # A metric may sort or change its arguments.
            return function(*map(np.array, arrays), **given)

        return EstimableMetric(f"function {name}", of_copies, selected)
    entry.bind(selected)
    return _with_options(EstimableMetric(entry.name, entry.function, {}, **_KNOWLEDGE.get(entry.name, {})), selected)


def _with_options(metric: EstimableMetric, options: Mapping[str, Any]) -> EstimableMetric:
    """The metric with its options, on which its range may depend."""
    values, band = metric.range, 1.0
    if metric.name in ("partial_auc", "two_way_partial_auc"):
        METRICS[metric.name].from_sorted(ONE_PAIR, **options)  # checks what the range is computed from
    if metric.name == "partial_auc":
        low, high = float(options.get("min_fpr", 0.0)), float(options.get("max_fpr", 1.0))
        floor, ceiling = float(options.get("min_tpr", 0.0)), float(options.get("max_tpr", 1.0))
        if (floor, ceiling) == (0.0, 1.0):
            band = high - low
        elif (low, high) == (0.0, 1.0):  # the other class counts in the band
            low, high = 1.0 - ceiling, 1.0 - floor
        else:
            values = tuple(partial_auc([0, 1], s, **options) for s in ([1.0, 0.0], [0.0, 1.0]))  # type: ignore[assignment]
            return replace(metric, options=dict(options), rows=None, range=values)
        values = value_range(low, high, options["standardized"])
    elif metric.name == "weighted_auc":
        if options.get("convention", "average") != "average":
            return replace(metric, options=dict(options), rows=None)
        if callable(options["weight"]):
            values = weighted_range(options["weight"], options.get("breakpoints", ()))
    elif metric.name == "voros":
        values = (voros_from_points([0.0], [0.0], **options), 1.0)  # chance
    elif metric.name == "two_way_partial_auc":
        values = (0.0, (1.0 - float(options["min_tpr"])) * float(options["max_fpr"]))
    return replace(metric, options=dict(options), range=values, band=band)
