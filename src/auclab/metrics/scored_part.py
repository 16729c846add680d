"""Labels and scores of one part of a split, sorted once for everything that is computed from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.registry import metric_of
from auclab.metrics.roc import ClassScores, class_scores
from auclab.types import Array
from auclab.validation import finite_vector, positive_mask


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
            return float(metric(self.labels, self.scores, **options, **weight))  # type: ignore[operator]
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
