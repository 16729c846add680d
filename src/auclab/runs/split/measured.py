"""A part of a split to compute metrics on: its scores in memory, of two classes or of ranked rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.hinge import pair_hinge_value
from auclab.datasets.target import METRIC_NAMES, Kind, Target
from auclab.estimators.calibration import Cuts
from auclab.inference import Estimate, estimate_concordance, estimate_part, estimate_time_dependent_auc
from auclab.inference.catalogue import estimable
from auclab.inference.pairs import PairMetric, estimate_pairs
from auclab.metrics import ScoredPart, concordance_index, time_dependent_auc
from auclab.metrics.comparable import ComparableErrors, ComparablePairs, buffered_share
from auclab.metrics.concordance import is_of_times
from auclab.metrics.registry import metric_of

Metric = str | Callable[..., float]


class Part(Protocol):
    """What rows are ranked by, and the metrics of their scores.

    See Also
    --------
    Measured : Of two classes.
    auclab.runs.split.measured.RankedPart : Within groups, by grades, by times.
    """

    @property
    def labels(self) -> NDArray[Any]:
        """1 for the positive class, 0 for the other; grades, or times."""

    @property
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score."""

    @property
    def held(self) -> Any:
        """The scores, where they are in memory."""

    @property
    def ranked_by(self) -> Target | None:
        """Which rows are compared if there are not two classes, else None."""

    def by_block(self) -> Iterator[Array]:
        """The scores in row order, block by block."""

    def value(self, metric: Metric) -> float:
        """A metric, computed once."""

    def estimate(self, metric: Metric, level: float) -> Estimate | None:
        """With standard error and interval; None for a metric that would need a bootstrap."""


class Measured(Part, Protocol):
    """A part of two classes.

    See Also
    --------
    HeldPart : With all scores in memory.
    auclab.runs.split.summarised_part.SummarisedPart : From summaries of blocks.
    """

    @property
    def n_pos(self) -> int:
        """Number of positives."""

    @property
    def n_neg(self) -> int:
        """Number of negatives."""

    @property
    def held(self) -> ScoredPart | None:
        """The scores, where they are in memory."""

    @property
    def for_figures(self) -> ScoredPart:
        """Scores that give the same figures."""

    @property
    def cuts(self) -> Cuts:
        """The thresholds, and the counts above each."""

    def hinge(self, a: float) -> float:
        """Mean of ``[1 − a (h(x⁺) − h(x⁻))]₊`` over the pairs, or an upper limit of it."""


@dataclass(frozen=True, eq=False)
class HeldPart(ScoredPart):
    """A part of two classes with all scores in memory.

    `clusters` (n_samples,): rows with one entry stay together in every split, and depend on each other in intervals.
    """

    clusters: NDArray[Any] | None = None

    #: Rows of two classes.
    ranked_by: ClassVar[None] = None

    @property
    def held(self) -> HeldPart:
        """The part itself."""
        return self

    @property
    def for_figures(self) -> HeldPart:
        """The part itself."""
        return self

    @property
    def cuts(self) -> Cuts:
        """The thresholds between two scores."""
        return Cuts.of(self.positive, self.scores, None, None)

    @property
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score."""
        return float(self.scores.min()), float(self.scores.max())

    def by_block(self) -> Iterator[Array]:
        """All scores."""
        yield self.scores

    def estimate(self, metric: Metric, level: float) -> Estimate | None:
        """With standard error and interval; None for a metric that would need a bootstrap."""
        if estimable(metric, {}).rows is None:
            return None
        return estimate_part(self, metric, level=level, clusters=self.clusters)

    def hinge(self, a: float) -> float:
        """Mean of ``[1 − a (h(x⁺) − h(x⁻))]₊`` over the pairs."""
        scores = self.finite_classes
        return float(pair_hinge_value(a * scores.pos, a * scores.neg, 1.0))


@dataclass(frozen=True)
class PartResult:
    """The training or the test part of a split and its metrics by name.

    `estimates` has standard errors and confidence intervals of those metrics that have them.
    """

    part: Any
    metrics: Mapping[str, float]
    estimates: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def y_true(self) -> NDArray[Any]:
        """Labels, 1 = positive."""
        return self.part.labels

    @property
    def y_score(self) -> Array | None:
        """Scores; None where they are summarised."""
        return None if self.part.held is None else self.part.held.scores

    @property
    def all_tied(self) -> bool:
        """Whether all scores are equal."""
        low, high = self.part.score_range
        return low == high


def measure(part: Part, metrics: Mapping[str, Metric], level: float | None) -> PartResult:
    """All metrics; with a `level`, for rows not used in fitting, also the intervals that need no bootstrap."""
    values = {key: part.value(metric) for key, metric in metrics.items()}
    found = {} if level is None else {key: part.estimate(metric, level) for key, metric in metrics.items()}
    return PartResult(part, values, {key: estimate for key, estimate in found.items() if estimate is not None})


def own_directions(metrics: Mapping[str, Metric]) -> dict[str, str]:
    """Of each metric of the user's own, by its attribute ``greater_is_better``: ``high``, ``low``, else ``unknown``."""
    found = {}
    for key, metric in metrics.items():
        if metric_of(metric)[0] is None and not is_of_times(metric):
            greater = getattr(getattr(metric, "func", metric), "greater_is_better", None)
            found[key] = "unknown" if greater is None else "high" if greater else "low"
    return found


#: The metrics that are defined over comparable pairs, and their names for `estimate_pairs`.
_OVER_PAIRS: dict[str, PairMetric] = {"auc": "auc", "bauc": "bauc"}
#: The metrics of censored times alone, and what estimates them.
_OF_TIMES: dict[Callable[..., Any], Callable[..., Any]] = {
    concordance_index: estimate_concordance,
    time_dependent_auc: estimate_time_dependent_auc,
}
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
        """AUC or bAUC over the pairs, computed once; a metric of times."""
        if is_of_times(metric):
            return float(np.ravel(metric(self.target.y, self.target.event, self.scores))[0])  # type: ignore[operator]
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
        if is_of_times(metric):
            of = cast(partial[Any], metric)
            found = _OF_TIMES[of.func](self.target.y, self.target.event, self.scores, level=level, **of.keywords)
            return found[0] if isinstance(found, tuple) else found
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


def metrics_of(target: Target, metrics: Mapping[str, Metric]) -> Mapping[str, Metric]:
    """The configured metrics; where there are not two classes, under their names for comparable pairs.

    Examples
    --------
    >>> import numpy as np
    >>> times = Target(np.array([1.0, 2.0]), event=np.array([True, True]))
    >>> list(metrics_of(times, {"auc": "auc", "bauc": "bauc", "auc_threshold": "auc_threshold"}))
    ['concordance', 'buffered_concordance']
    """
    of_times = [key for key, metric in metrics.items() if is_of_times(metric)]
    for key in of_times:
        times = cast(partial[Any], metrics[key]).keywords.get("times", 0.0)
        if not isinstance(times, int | float):
            raise AuclabError(f"metrics.{key}.times must be one number, in units of dataset.time, got {times!r}")
    if of_times and (target.kind != "times" or target.groups is not None):
        raise AuclabError(
            f"the metric {of_times[0]} needs censored times without groups; give dataset.time and dataset.event, or "
            "leave the metric out"
        )
    if target.is_of_classes:
        return metrics
    kind, found = target.kind, dict[str, Metric]()
    for key, metric in metrics.items():
        if key in _LEFT_OUT:
            continue
        if key in of_times:
            found[key] = metric
            continue
        name, _ = over_pairs(metric, kind)
        found[METRIC_NAMES[kind][key] if key in METRIC_NAMES[kind] else f"{METRIC_NAMES[kind][name]}_{key}"] = metric
    return found
