"""All metrics of scores by name, and the scores of a part, sorted once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.validation import check_choice, finite_vector, positive_mask
from auclab._core.words import did_you_mean
from auclab.metrics import buffered, pair_means, polynomial, roc, voros
from auclab.metrics import partial as areas
from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.roc import ClassScores, class_scores


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """Labels and scores of the training or the test part of a split.

    The scores of either class are sorted at the first use and kept; metrics, intervals, bounds and figures read them.
    Values of the metrics are kept too. The arrays must not be changed afterwards.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        0/1, −1/+1 or booleans.
    scores : array of shape (n_samples,)
        Larger means more positive; ±∞ for metrics of ranks only.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both.
    name : str
        What messages call the scores.

    Raises
    ------
    AuclabError
        At the first use: one class only, NaN scores, lengths that differ, a class without weight.

    See Also
    --------
    auclab.metrics.METRICS : The metrics by name.
    auclab.inference.estimate_part : Standard error and confidence interval of a metric of a part.

    Examples
    --------
    >>> part = ScoredPart(np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 3.0, 2.0]))
    >>> part.value("auc"), part.value("auc", ties="strict")
    (0.625, 0.5)
    >>> part.classes.pos.tolist()
    [2.0, 3.0]
    """

    labels: NDArray[Any]
    scores: Array
    sample_weight: Array | None = None
    name: str = "y_score"
    _values: dict[Hashable, float] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """Which observations are positive."""
        return positive_mask(self.labels)

    @cached_property
    def classes(self) -> ClassScores:
        """Sorted scores of the two classes, which may be ±∞."""
        return class_scores(self.labels, self.scores, self.sample_weight, None, infinite=True)

    @cached_property
    def finite_classes(self) -> ClassScores:
        """`classes`, with ±∞ refused."""
        finite_vector(self.name, self.scores)
        return self.classes

    @property
    def pair_errors(self) -> PairErrors:
        """Distribution of the ranking errors ``ξ = n − p`` over all pairs."""
        return self.finite_classes.pair_errors

    @cached_property
    def class_rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Row numbers of the positives and of the negatives."""
        return np.flatnonzero(self.positive), np.flatnonzero(~self.positive)

    @cached_property
    def class_order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Orders that sort the scores of the positives and of the negatives."""
        pos, neg = (np.argsort(self.scores[rows]) for rows in self.class_rows)
        return pos, neg

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return len(self.class_rows[0])

    @property
    def n_neg(self) -> int:
        """Number of negatives."""
        return len(self.class_rows[1])

    def value(self, metric: str | Callable[..., float], **options: Any) -> float:
        """A metric of this part, computed once for each set of options.

        Parameters
        ----------
        metric : str or callable
            A name in `METRICS`, a function of `auclab.metrics` (also as a `functools.partial`), or any function
            ``(y_true, y_score, **options) -> float``.
        **options
            Options of the metric.

        Raises
        ------
        AuclabError
            An unknown name, unknown or missing options, and what the metric raises.
        """
        entry, options = metric_of(metric, options)
        if entry is None:
            weight = {} if self.sample_weight is None else {"sample_weight": self.sample_weight}
            value = metric(self.labels, self.scores, **options, **weight)  # type: ignore[operator]
            try:
                return float(value)
            except (TypeError, ValueError):
                function = getattr(metric, "func", metric)
                name = getattr(function, "__name__", type(function).__name__)
                raise AuclabError(f"the metric {name} returned {value!r}; a number is needed") from None
        options = entry.bind(options)
        key = (entry.name, *((name, _hashable(value)) for name, value in options.items()))
        scores = self.classes if entry.needs == "ranks" else self.finite_classes
        try:
            value = self._values.get(key)
        except TypeError:  # an option without a hash, such as an array
            return float(entry.from_sorted(scores, **options))
        if value is None:
            value = self._values[key] = float(entry.from_sorted(scores, **options))
        return value


def _hashable(value: Any) -> Any:
    """Lists as tuples."""
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


#: What all metrics take.
_OF_ALL = ("y_true", "y_score", "sample_weight", "pos_label")


@dataclass(frozen=True)
class Metric:
    """A metric of binary ranking.

    Attributes
    ----------
    name : str
        Name of its configuration in ``conf/metrics``, of its values in a run and of its scorer.
    function : callable
        ``(y_true, y_score, **options, sample_weight=None, pos_label=None) -> float``.
    greater_is_better : bool
        False for errors in units of the score.
    has_interval : bool
        Whether its standard error needs no resampling (`auclab.inference`).
    needs : {"ranks", "scores", "probabilities"}
        ``"ranks"``: only the order of the scores counts, and ±∞ is a score. ``"scores"``: their differences count.
        ``"probabilities"``: the differences count and can be compared between models only for scores in [0, 1].

    See Also
    --------
    auclab.metrics.get_scorer : A metric as a scikit-learn scorer.
    auclab.inference.estimate : Standard error and confidence interval of a metric.

    Examples
    --------
    >>> from auclab.metrics.registry import METRICS
    >>> METRICS["auc"].needs, METRICS["auc"].greater_is_better
    ('ranks', True)
    """

    name: str
    function: Callable[..., float]
    greater_is_better: bool = True
    has_interval: bool = False
    needs: Literal["ranks", "scores", "probabilities"] = "scores"
    example: str = ""

    def from_sorted(self, scores: ClassScores, **options: Any) -> float:
        """The metric for scores that are already sorted."""
        return self.function(scores, None, **options)

    @property
    def signature(self) -> inspect.Signature:
        """The signature of the function, reduced to the options."""
        whole = inspect.signature(self.function)
        return whole.replace(parameters=[each for name, each in whole.parameters.items() if name not in _OF_ALL])

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options."""
        return tuple(self.signature.parameters)

    def bind(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """All options by name, with defaults for those not given.

        Raises
        ------
        AuclabError
            An option that the metric does not have, or one without a default that is missing.
        """
        try:
            bound = self.signature.bind(**options)
        except TypeError as error:
            unknown = [name for name in options if name not in self.options]
            hint = did_you_mean(unknown[0], self.options) if unknown else f", for example {self.example}"
            listed = ", ".join(self.options) or "none"
            raise AuclabError(f"{self.name}: {error}; its options are {listed}{hint}") from error
        bound.apply_defaults()
        return dict(bound.arguments)


#: Every metric by its name.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("auc", roc.auc_score, has_interval=True, needs="ranks"),
        Metric("auc_threshold", buffered.auc_threshold, greater_is_better=False),
        Metric("bauc", buffered.bauc_score, has_interval=True),
        Metric("ferri_auc", pair_means.ferri_auc, has_interval=True, needs="probabilities"),
        Metric("gauc", pair_means.gauc_score, has_interval=True, example="modifier=numpy.tanh"),
        Metric(
            "partial_auc",
            areas.partial_auc,
            has_interval=True,
            needs="ranks",
            example="max_fpr=0.1, standardized='mcclish'",
        ),
        Metric("polynomial_auc", polynomial.polynomial_auc),
        Metric("polynomial_soft_auc", polynomial.polynomial_soft_auc, example="beta=2.0"),
        Metric(
            "probabilistic_auc",
            pair_means.probabilistic_auc,
            has_interval=True,
            needs="probabilities",
            example="width=0.1",
        ),
        Metric("ranking_superquantile", buffered.ranking_superquantile, greater_is_better=False, example="level=0.9"),
        Metric("scored_auc", pair_means.scored_auc, has_interval=True, needs="probabilities"),
        Metric("soft_auc", pair_means.soft_auc, has_interval=True, example="beta=2.0"),
        Metric("two_way_partial_auc", areas.two_way_partial_auc, needs="ranks", example="min_tpr=0.5, max_fpr=0.5"),
        Metric("voros", voros.voros_score, needs="ranks"),
        Metric("weighted_auc", areas.weighted_auc, has_interval=True, needs="ranks", example="weight=numpy.square"),
    )
}

_NAMES = {metric.function: name for name, metric in METRICS.items()}


def metric_of(
    metric: str | Callable[..., float], options: Mapping[str, Any] | None = None
) -> tuple[Metric | None, dict[str, Any]]:
    """The entry of a metric given by its name, by its function or by a `functools.partial` of it, with its options.

    The entry is None for a function that is not of this package.
    """
    options = dict(options or {})
    if isinstance(metric, str):
        check_choice("metric", metric, METRICS)
        return METRICS[metric], options
    if isinstance(metric, partial) and not metric.args:
        entry, options = metric_of(metric.func, {**metric.keywords, **options})
        return entry, options
    try:
        name = _NAMES.get(metric)
    except TypeError:  # a callable that cannot be hashed
        name = None
    return (METRICS[name] if name else None), options
