"""AUC and buffered AUC of more than two classes: Hand & Till's M, and one class against the rest.

With ``A(i|j)`` the metric of the score of class i, class i as the positives and class j as the negatives, and c
classes,

    ovo:  M = 1/(c(c − 1)) Σ_{i≠j} A(i|j)           (Hand & Till 2001, Machine Learning 45, 171–186, eq. 7),
    ovr:      1/c Σ_i A(i | all others).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_column, distinct
from auclab._core.validation import check_choice, finite_vector, weight_vector
from auclab.metrics.buffered import bauc_score
from auclab.metrics.roc import auc_score

Average = Literal["ovo", "ovr"]


@dataclass(frozen=True)
class MulticlassScores:
    """Scores of every class; rows without weight are left out.

    `classes` (n,): number of the class of every row. `scores` (n, c): a column for every class. `weight` (n,), or None.
    `rows` (n,): the numbers of the rows that are left, of `n_rows`.
    """

    classes: NDArray[np.intp]
    scores: Array
    weight: Array | None
    rows: NDArray[np.intp]
    n_rows: int

    @classmethod
    def of(
        cls, y_true: ArrayLike, y_score: ArrayLike, labels: Sequence[Any] | None, sample_weight: ArrayLike | None
    ) -> MulticlassScores:
        """Check labels, scores and weights."""
        y = as_column("y_true", y_true)
        known = distinct("labels", y) if labels is None else np.asarray(labels)
        scores = np.asarray(y_score, dtype=np.float64)
        if scores.shape != (y.size, known.size):
            raise AuclabError(
                f"y_score has shape {scores.shape} for {y.size} rows and the labels {', '.join(map(str, known))}; give "
                "a column for every label, in this order, or name the labels of the columns by labels="
            )
        for column in range(known.size):
            finite_vector(f"y_score[:, {column}]", scores[:, column], infinite=True)
        classes = np.full(y.size, -1)
        for number, label in enumerate(known):
            classes[y == label] = number
        if (classes < 0).any():
            raise AuclabError(f"y_true has the label {y[classes < 0][0]!r}, which labels= does not name")
        weight = weight_vector(sample_weight, y.size)
        rows = np.arange(y.size) if weight is None else np.flatnonzero(weight > 0)
        missing = np.setdiff1d(np.arange(known.size), classes[rows])
        if known.size < 2 or missing.size:
            raise AuclabError(
                f"every class needs a row, and {known[missing[0]]!r} has none"
                if missing.size
                else f"two classes or more are needed, got one: {known[0]!r}"
            )
        return cls(classes[rows], scores[rows], None if weight is None else weight[rows], rows, y.size)

    def tasks(self, average: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_], Array]]:
        """Rows, which of them are positive, and their scores, for every ordered pair of classes or for every class."""
        check_choice("average", average, ("ovo", "ovr"))
        c = self.scores.shape[1]
        for i in range(c):
            others = [j for j in range(c) if j != i] if average == "ovo" else [None]
            for j in others:
                rows = np.arange(self.classes.size) if j is None else np.flatnonzero(np.isin(self.classes, (i, j)))
                yield rows, self.classes[rows] == i, self.scores[rows, i]

    def mean(self, average: str, metric: Callable[..., float]) -> float:
        """Mean of a metric of two classes."""
        values = [
            metric(positive, scores, sample_weight=self.weight_of(rows))
            for rows, positive, scores in self.tasks(average)
        ]
        return math.fsum(values) / len(values)

    def weight_of(self, rows: NDArray[np.intp]) -> Array | None:
        """Weights of some rows."""
        return None if self.weight is None else self.weight[rows]


def multiclass_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    average: Average = "ovo",
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """AUC of three or more classes: Hand & Till's M, or the mean of one class against the rest; ties ½.

    ``"ovo"`` does not depend on how frequent the classes are, ``"ovr"`` does (Hand & Till 2001, eq. 7). Scores need not
    be probabilities: only those of one column are compared.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Labels of two or more classes.
    y_score : array of shape (n_samples, n_classes)
        A column for every class in the order of the sorted labels, as of ``predict_proba``; larger means more of it.
    average : {"ovo", "ovr"}
        Mean over ordered pairs of classes, or over classes, each with equal weight.
    labels : sequence, optional
        Labels of the columns, if they are in another order.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0.

    Returns
    -------
    float
        In [0, 1]; ½ where scores say nothing. ``"ovo"`` is scikit-learn's ``roc_auc_score(multi_class="ovo")``.

    Raises
    ------
    AuclabError
        Shapes that do not fit, NaN scores, a class without a row.

    See Also
    --------
    multiclass_bauc : The buffered lower bound.
    auclab.estimate : Standard error and interval, with ``metric="multiclass_auc"``.

    Examples
    --------
    Three classes, one row each. The first column ranks "a" above "b" and below "c", the others rank rightly: of the six
    ordered pairs one is wrong, and of class "a" against the rest half.

    >>> scores = [[0.4, 0.3, 0.3], [0.2, 0.5, 0.3], [0.5, 0.1, 0.4]]
    >>> round(multiclass_auc(["a", "b", "c"], scores), 6)                    # 5/6
    0.833333
    >>> round(multiclass_auc(["a", "b", "c"], scores, "ovr"), 6)             # (½ + 1 + 1)/3
    0.833333
    """
    return MulticlassScores.of(y_true, y_score, labels, sample_weight).mean(average, auc_score)


def multiclass_bauc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    average: Average = "ovo",
    *,
    threshold: float = 0.0,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Buffered AUC of three or more classes: the means of `multiclass_auc` with bAUC_z in place of AUC.

    Parameters
    ----------
    y_true, average, labels, sample_weight
        As in `multiclass_auc`.
    y_score : array of shape (n_samples, n_classes)
        Finite scores.
    threshold : float
        z, in the units of the scores.

    Returns
    -------
    float
        In [0, 1]; at z = 0 at most `multiclass_auc`.

    Raises
    ------
    AuclabError
        As `multiclass_auc`; infinite scores.

    See Also
    --------
    multiclass_auc : Without a buffer.
    bauc_score : Two classes.

    Examples
    --------
    In the first column the error of "a" against "c" is 0.1, so that its bAUC is 0; of the others it is 1:

    >>> scores = [[0.4, 0.3, 0.3], [0.2, 0.5, 0.3], [0.5, 0.1, 0.4]]
    >>> round(multiclass_bauc(["a", "b", "c"], scores), 6)                   # 5/6
    0.833333
    """
    sample = MulticlassScores.of(y_true, y_score, labels, sample_weight)
    return sample.mean(average, partial(bauc_score, threshold=threshold))
