"""Scores of both classes with their weights, and the record of an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.metrics.scored_part import ScoredPart
from auclab.types import Array
from auclab.validation import both_classes_weighted, finite_vector, positive_mask, same_length, weight_vector


@dataclass(frozen=True)
class Estimate:
    """A metric with its standard error and a confidence interval.

    Attributes
    ----------
    value : float
        What the metric's own function returns.
    standard_error : float
        0 where every observation contributes the same; NaN where it cannot be estimated (a class of one observation).
    lower, upper : float
        Limits of the interval, within the range of the metric; the value is always between them.
    level : float
        Confidence level, such as 0.95, with equal tails.
    method : str
        ``"delong"``, ``"influence"``, ``"half_sample"``, ``"bootstrap"`` or ``"hanley_mcneil"``.
    notes : tuple of str
        Remarks on a degenerate case, or a class of fewer than 10 observations (VOROS: 50); empty otherwise.
    bias : float
        Estimated upward bias of the value; the limits are those of ``value − bias``, and the limit on the side of the
        value is the value itself where the bias exceeds the half-width. 0 except for ``"half_sample"``.

    See Also
    --------
    estimate : Computes it.

    Examples
    --------
    >>> from auclab.inference import estimate
    >>> found = estimate([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0], "auc")
    >>> found.value, found.lower <= 0.75 <= found.upper
    (0.75, True)
    """

    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    method: str
    notes: tuple[str, ...] = ()
    bias: float = 0.0


@dataclass(frozen=True)
class Comparison:
    """Two scorers on the same sample: the difference of a metric, first minus second.

    Attributes
    ----------
    difference, standard_error : float
    interval : pair of float
        Confidence limits of the difference, which lies between them.
    statistic : float
        ``difference / standard_error`` (by half-samples, the difference minus its bias), standard normal where the
        scorers are equally good; 0 where the difference is 0 and ±∞ where it is not but the standard error is 0.
    p_value : float
        Two-sided.
    values : pair of float
        The metric of either scorer.
    level : float
    method : str
    notes : tuple of str
        As in `Estimate`.

    See Also
    --------
    compare_scorers : Computes it.

    Examples
    --------
    >>> from auclab.inference import compare_scorers
    >>> found = compare_scorers([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0], [0.0, 1.0, 2.0, 3.0], "auc")
    >>> found.values, found.difference
    ((0.75, 1.0), -0.25)
    """

    difference: float
    standard_error: float
    interval: tuple[float, float]
    statistic: float
    p_value: float
    values: tuple[float, float]
    level: float
    method: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observations:
    """Independent observations of two classes, in the caller's order; rows of weight 0 are left out.

    `part`: their labels, scores (±∞ allowed) and weights > 0, or None for ones.
    """

    part: ScoredPart

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        sample_weight: ArrayLike | None,
        pos_label: Any,
        *,
        name: str = "y_score",
    ) -> Observations:
        """Check labels, scores and weights; messages call the scores by their name."""
        positive = positive_mask(y_true, pos_label)
        score = finite_vector(name, y_score, infinite=True)
        same_length(**{"y_true": positive, name: score})
        weight = weight_vector(sample_weight, score.size)
        if weight is None:
            return cls(ScoredPart(positive, score, name=name))
        present = weight > 0
        both_classes_weighted(positive, weight)
        return cls(ScoredPart(positive[present], score[present], weight[present], name=name))

    @classmethod
    def of_part(cls, part: ScoredPart) -> Observations:
        """The observations of a part of a split, with the scores that it has sorted already."""
        if part.sample_weight is not None:
            return cls.of(part.labels, part.scores, part.sample_weight, None)
        _ = part.classes  # checks labels and scores
        return cls(part)

    def take(self, rows: NDArray[np.intp]) -> Observations:
        """Some observations, with repetitions."""
        weight = None if self.weight is None else self.weight[rows]
        return Observations(ScoredPart(self.part.labels[rows], self.score[rows], weight))

    @property
    def score(self) -> Array:
        """Scores, shape (n_samples,)."""
        return self.part.scores

    @property
    def weight(self) -> Array | None:
        """Weights, shape (n_samples,), or None for ones."""
        return self.part.sample_weight

    @property
    def class_rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Row numbers of the positives and of the negatives."""
        return self.part.class_rows

    @cached_property
    def shares(self) -> tuple[Array, Array]:
        """Share of every observation in the weight of its class, positives and negatives."""
        pos, neg = (np.ones(rows.size) if self.weight is None else self.weight[rows] for rows in self.class_rows)
        return pos / pos.max() / np.sum(pos / pos.max()), neg / neg.max() / np.sum(neg / neg.max())

    @property
    def effective_sizes(self) -> tuple[float, float]:
        """Kish's numbers of positives and negatives: 1/Σ share², the numbers themselves without weights."""
        pos, neg = (1.0 / float(np.sum(share**2)) for share in self.shares)
        return pos, neg

    def disjoint_pairs(self, share_neg: float = 1.0) -> int:
        """How many pairs without a common observation there are, ``min(m₊, share·m₋)``.

        Weighted rows count as ``(Σw)²/Σw²`` (Kish), which is their number when all weigh the same.
        """
        pos, neg = self.effective_sizes
        return int(min(pos, neg * share_neg) * (1.0 + 1e-12))
