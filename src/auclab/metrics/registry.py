"""Every metric of scores that is one number: its functions, which end is better, and what it needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from auclab.metrics import buffered, pair_means, polynomial, roc, voros
from auclab.metrics import partial as areas
from auclab.metrics.roc import ClassScores
from auclab.types import AuclabError
from auclab.validation import check_choice
from auclab.wording import did_you_mean

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
