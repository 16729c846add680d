"""A part of a split whose rows are compared within groups, by grades or by times: its scores and their metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from auclab.datasets.target import METRIC_NAMES, Kind, Target
from auclab.inference import Estimate
from auclab.inference.pairs import PairMetric, estimate_pairs
from auclab.metrics.comparable_buffer import ComparableErrors, buffered_share
from auclab.metrics.comparable_pairs import ComparablePairs
from auclab.metrics.registry import metric_of
from auclab.types import Array, AuclabError

Metric = str | Callable[..., float]
#: The metrics that are defined over comparable pairs, and their names for `estimate_pairs`.
_OVER_PAIRS: dict[str, PairMetric] = {"auc": "auc", "bauc": "bauc"}
#: In the default list of metrics, but defined for two classes only.
_LEFT_OUT = ("auc_threshold",)


@dataclass(frozen=True, eq=False)
class RankedPart:
    """Targets of a part with the scores of its rows, sorted once.

    Examples
    --------
    >>> import numpy as np
    >>> part = RankedPart(Target(np.array([0.0, 1.0, 2.0]), graded=True), np.array([1.0, 3.0, 2.0]))
    >>> round(part.value("auc"), 6), part.score_range
    (0.666667, (1.0, 3.0))
    """

    target: Target
    scores: Array
    _values: dict[tuple[str, float], float] = field(default_factory=dict, init=False, repr=False)

    @property
    def labels(self) -> NDArray[Any]:
        """Classes, grades or times."""
        return self.target.y

    @property
    def ranked_by(self) -> Target:
        """The target."""
        return self.target

    @property
    def held(self) -> RankedPart:
        """The part itself: all scores are in memory."""
        return self

    @property
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score."""
        return float(self.scores.min()), float(self.scores.max())

    @cached_property
    def pairs(self) -> ComparablePairs:
        """The pairs, ready for sums over scores."""
        return ComparablePairs(self.target.pairs)

    def value(self, metric: Metric) -> float:
        """AUC or bAUC over the pairs, computed once."""
        name, threshold = over_pairs(metric, self.target.kind)
        if (name, threshold) not in self._values:
            if name == "auc":
                value = self.pairs.auc(self.scores)
            else:
                value = buffered_share(ComparableErrors(self.pairs, self.scores), threshold).value
            self._values[name, threshold] = value
        return self._values[name, threshold]

    def estimate(self, metric: Metric, level: float) -> Estimate:
        """With standard error and interval, over whole groups or over rows."""
        name, threshold = over_pairs(metric, self.target.kind)
        return estimate_pairs(self.target.pairs, self.scores, name, threshold=threshold, level=level)

    def by_block(self) -> Iterator[Array]:
        """All scores."""
        yield self.scores


def over_pairs(metric: Metric, kind: Kind) -> tuple[PairMetric, float]:
    """The metric over comparable pairs for a configured metric, with its z."""
    entry, options = metric_of(metric)
    name = getattr(metric, "__name__", str(metric)) if entry is None else entry.name
    given = {key: value for key, value in options.items() if value is not None}
    threshold = float(given.pop("threshold", 0.0)) if name == "bauc" else 0.0
    if name not in _OVER_PAIRS or any(value != "half" for value in given.values()):
        called = f"{name} with {', '.join(given)}" if name in _OVER_PAIRS else name
        names = " and ".join(f"{key} ({shown.replace('_', ' ')})" for key, shown in METRIC_NAMES[kind].items())
        raise AuclabError(
            f"the metric {called} needs two classes, but rows are compared by {kind}; metrics are {names}"
        )
    return _OVER_PAIRS[name], threshold


def ranked_metrics(kind: Kind, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """The configured metrics under their names for comparable pairs.

    Examples
    --------
    >>> list(ranked_metrics("times", {"auc": "auc", "bauc": "bauc", "auc_threshold": "auc_threshold"}))
    ['concordance', 'buffered_concordance']
    """
    found: dict[str, Metric] = {}
    for key, metric in metrics.items():
        if key in _LEFT_OUT:
            continue
        name, _ = over_pairs(metric, kind)
        found[METRIC_NAMES[kind][key] if key in METRIC_NAMES[kind] else f"{METRIC_NAMES[kind][name]}_{key}"] = metric
    return found
