"""Components of the variance of AUC and its buffered and partial variants.

Every metric here has, to first order, the form ``value + mean_i (V10_i − value) + mean_j (V01_j − value)`` with one
number for each positive and each negative. For a mean of a kernel over pairs they are its row and column means
(Hoeffding 1948; DeLong, DeLong & Clarke-Pearson 1988), and

    variance = S10/m₊ + S01/m₋,

S10 and S01 the sample variances of the two lists. Rows of one cluster (lesions of a patient) depend on each other:
their deviations are summed first. With ``P_c`` and ``N_c`` the sums of ``share · (V − value)`` over the positives and
the negatives of cluster c (Obuchowski 1997, Biometrics 53, 567–578; for clusters of one row the formula above),

    variance = I₊/(I₊−1) Σ_c P_c² + I₋/(I₋−1) Σ_c N_c² + 2 I/(I−1) Σ_c P_c N_c,

I₊ and I₋ the numbers of clusters with a positive and with a negative, I of all.

`auclab.inference.component_rows` has V10 and V01 of every metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array
from auclab._core.forms import as_column
from auclab._core.validation import both_classes_weighted, finite_vector, positive_mask, same_length, weight_vector
from auclab._core.words import html_table
from auclab.metrics.registry import ScoredPart

#: Values that differ by less, relatively, are equal: the rest is rounding of sums.
FLAT = 2.0**-40


@dataclass(frozen=True)
class Components:
    """A metric's value with one component for every positive and every negative, in the caller's order.

    Attributes
    ----------
    value : float
        What the metric's own function returns.
    pos, neg : arrays of shape (n_pos,) and (n_neg,)
        V10 and V01; their (weighted) means are the value, up to rounding.
    share_pos, share_neg : arrays of the same shapes
        Weight of an observation as a share of its class.
    cluster_pos, cluster_neg : arrays of the same shapes, optional
        Number of the cluster of every observation; None where the observations are independent.

    See Also
    --------
    estimate : Standard error and confidence interval from them.
    compare_scorers : Their differences between two scorers.

    Examples
    --------
    AUC of the positives 3 and 1 with the negatives 2 and 0: the kernel is [[1, 1], [0, 1]].

    >>> half = np.array([0.5, 0.5])
    >>> auc = Components(0.75, np.array([1.0, 0.5]), np.array([0.5, 1.0]), half, half)
    >>> round(auc.standard_error**2, 12)                  # S10 = S01 = 1/8, and (1/8)/2 + (1/8)/2
    0.125
    """

    value: float
    pos: Array
    neg: Array
    share_pos: Array
    share_neg: Array
    cluster_pos: NDArray[np.intp] | None = None
    cluster_neg: NDArray[np.intp] | None = None

    @cached_property
    def influence(self) -> tuple[Array, Array]:
        """``share · (V − mean V)`` of every positive and negative, or the sums of a cluster (``P_c``, ``N_c``)."""
        pos, neg = _influence(self.pos, self.share_pos), _influence(self.neg, self.share_neg)
        if self.cluster_pos is None or self.cluster_neg is None:
            return pos, neg
        n = 1 + max(int(self.cluster_pos.max()), int(self.cluster_neg.max()))
        sums_pos, sums_neg = np.bincount(self.cluster_pos, pos, n), np.bincount(self.cluster_neg, neg, n)
        return sums_pos.astype(np.float64), sums_neg.astype(np.float64)

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Numbers of independent units with a positive and with a negative: rows, or clusters."""
        if self.cluster_pos is None or self.cluster_neg is None:
            return self.pos.size, self.neg.size
        return np.unique(self.cluster_pos).size, np.unique(self.cluster_neg).size

    @cached_property
    def parts(self) -> tuple[float, float]:
        """Standard errors due to the positives and due to the negatives; NaN for a class of one unit."""
        pos, neg = (_root_of_squares(sums, n) for sums, n in zip(self.influence, self.sizes, strict=True))
        return pos, neg

    @cached_property
    def standard_error(self) -> float:
        """``√(S10/m₊ + S01/m₋)``, with clusters also their covariance."""
        error = math.hypot(*self.parts)
        if self.cluster_pos is None or not error > 0.0:
            return error
        pos, neg = self.influence
        covariance = pos.size / max(pos.size - 1, 1) * float(np.sum((pos / error) * (neg / error)))
        return error * math.sqrt(max(1.0 + 2.0 * covariance, 0.0))

    @property
    def degrees_of_freedom(self) -> float:
        """Of the variance, after Welch and Satterthwaite, from Kish's numbers of units; ∞ where it is 0."""
        total = math.hypot(*self.parts)
        if total == 0.0:
            return math.inf
        n_pos, n_neg = (
            effective_number(share, cluster)
            for share, cluster in ((self.share_pos, self.cluster_pos), (self.share_neg, self.cluster_neg))
        )
        share = (self.parts[0] / total) ** 2
        return 1.0 / (share**2 / max(n_pos - 1.0, 1.0) + (1.0 - share) ** 2 / max(n_neg - 1.0, 1.0))

    @property
    def largest_part(self) -> float:
        """The largest part of the variance that one observation, or one cluster, has alone; NaN where that is 0."""
        error = math.hypot(*self.parts)
        if not error > 0.0:
            return math.nan
        return max(float(np.max(np.abs(sums)) / error) ** 2 for sums in self.influence)

    def __sub__(self, other: Components) -> Components:
        """Components of the difference of two metrics or scorers on the same observations."""
        return replace(self, value=self.value - other.value, pos=self.pos - other.pos, neg=self.neg - other.neg)


def arrange(value: float, rows_pos: Array, rows_neg: Array, observations: Observations) -> Components:
    """Components in the caller's order, from those of the sorted scores of either class."""
    order_pos, order_neg = observations.part.class_order
    rows = _unsorted(rows_pos, order_pos), _unsorted(rows_neg, order_neg)
    return Components(value, *rows, *observations.shares, *observations.class_clusters)


def _unsorted(rows: Array, order: NDArray[np.intp]) -> Array:
    """Undo the sorting; equal scores have equal rows, so any order among them will do."""
    out = np.empty_like(rows)
    out[order] = rows
    return out


def _influence(components: Array, share: Array) -> Array:
    """``share · (V − mean V)``; 0 where the components differ by rounding alone."""
    largest = float(np.max(np.abs(components))) or 1.0
    scaled = components / largest  # their sums stay in range
    if np.ptp(scaled) <= FLAT:
        return np.zeros(components.size)
    return share * (scaled - np.sum(share * scaled)) * largest


def _root_of_squares(sums: Array, n: int) -> float:
    """``√(n/(n−1) Σ sums²)`` of n units: S/√n for rows of equal shares; NaN for one unit."""
    if n == 1:
        return math.nan
    largest = float(np.max(np.abs(sums))) or 1.0  # squares stay in range
    return math.sqrt(n / (n - 1) * float(np.sum((sums / largest) ** 2))) * largest


def effective_number(share: Array, cluster: NDArray[np.intp] | None) -> float:
    """``1/Σ share²`` of the observations of a class, or of its clusters (Kish): their number where all are equal."""
    total = share if cluster is None else np.bincount(cluster, share)
    return 1.0 / float(np.sum(total**2))


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
        ``"delong"`` (of clusters ``"obuchowski"``), ``"influence"``, ``"adjusted"``, ``"half_sample"``,
        ``"bootstrap"`` or ``"hanley_mcneil"``.
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

    def _repr_html_(self) -> str:
        """The value and its interval, for a notebook."""
        interval = f"{self.lower:.6g} to {self.upper:.6g} ({self.method})"
        facts = [("value", self.value), ("standard error", self.standard_error)]
        return html_table([*facts, (f"{self.level:.0%} interval", interval)], self.notes)


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
        Two-sided, or of the alternative that was given.
    values : pair of float
        The metric of either scorer.
    level : float
    method : str
    notes : tuple of str
        As in `Estimate`.
    df : float
        Degrees of freedom of Student's distribution, ∞ for the normal one.

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
    df: float = math.inf

    def _repr_html_(self) -> str:
        """The difference, its interval and p, for a notebook."""
        low, high = self.interval
        rows: list[tuple[str, object]] = [
            ("values", f"{self.values[0]:.6g} and {self.values[1]:.6g}"),
            ("difference", self.difference),
            (f"{self.level:.0%} interval", f"{low:.6g} to {high:.6g} ({self.method})"),
            ("p", self.p_value),
        ]
        return html_table(rows, self.notes)


def cluster_numbers(
    clusters: ArrayLike | None, rows: NDArray[np.intp], n_rows: int | None = None
) -> NDArray[np.intp] | None:
    """The number of the cluster of each of `rows`, of `n_rows` in all; None without clusters."""
    if clusters is None:
        return None
    labels = as_column("clusters", clusters)
    same_length(y_true=np.empty(rows.size if n_rows is None else n_rows), clusters=labels)
    return np.unique(labels[rows], return_inverse=True)[1]


@dataclass(frozen=True)
class Observations:
    """Independent observations of two classes, in the caller's order; rows of weight 0 are left out.

    `part`: their labels, scores (±∞ allowed) and weights > 0, or None for ones. `cluster`: number of the cluster of
    every observation, or None where they are independent.
    """

    part: ScoredPart
    cluster: NDArray[np.intp] | None = None
    _components: dict[Hashable, Components] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        sample_weight: ArrayLike | None,
        pos_label: Any,
        *,
        name: str = "y_score",
        clusters: ArrayLike | None = None,
    ) -> Observations:
        """Check labels, scores, weights and clusters; messages call the scores by their name."""
        positive = positive_mask(y_true, pos_label)
        score = finite_vector(name, y_score, infinite=True)
        same_length(**{"y_true": positive, name: score})
        weight = weight_vector(sample_weight, score.size)
        if weight is None:
            return cls(ScoredPart(positive, score, name=name), cluster_numbers(clusters, np.arange(score.size)))
        present = weight > 0
        both_classes_weighted(positive, weight)
        part = ScoredPart(positive[present], score[present], weight[present], name=name)
        return cls(part, cluster_numbers(clusters, np.flatnonzero(present), score.size))

    @classmethod
    def of_part(cls, part: ScoredPart, clusters: ArrayLike | None = None) -> Observations:
        """The observations of a part of a split, with the scores that it has sorted already."""
        if part.sample_weight is not None:
            return cls.of(part.labels, part.scores, part.sample_weight, None, clusters=clusters)
        _ = part.classes  # checks labels and scores
        return cls(part, cluster_numbers(clusters, np.arange(part.scores.size)))

    def take(self, rows: NDArray[np.intp]) -> Observations:
        """Some observations, with repetitions."""
        weight = None if self.weight is None else self.weight[rows]
        return Observations(ScoredPart(self.part.labels[rows], self.score[rows], weight))

    def components(self, key: Hashable, compute: Callable[[], Components]) -> Components:
        """The components of a metric with its options, computed once for intervals and tests; a key of None is new."""
        if key is None:
            return compute()
        if key not in self._components:
            self._components[key] = compute()
        return self._components[key]

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
    def class_clusters(self) -> tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]:
        """Number of the cluster of every positive and negative."""
        if self.cluster is None:
            return None, None
        pos, neg = self.class_rows
        return self.cluster[pos], self.cluster[neg]

    @cached_property
    def effective_sizes(self) -> tuple[float, float]:
        """Kish's numbers of independent positives and negatives: those of rows or clusters that all weigh the same."""
        pos, neg = (effective_number(*of) for of in zip(self.shares, self.class_clusters, strict=True))
        return pos, neg

    def with_pseudo_rows(self) -> Observations:
        """With half an observation more of either class, divided between the smallest and the largest score."""
        ends = np.array([self.score.min(), self.score.max()] * 2)
        weight = np.ones(self.score.size) if self.weight is None else self.weight / self.weight.mean()
        part = ScoredPart(
            np.append(self.part.positive, [True, True, False, False]),
            np.append(self.score, ends),
            np.append(weight, np.full(4, 0.25)),
        )
        if self.cluster is None:
            return Observations(part)
        return Observations(part, np.append(self.cluster, self.cluster.max() + 1 + np.arange(4)))

    @property
    def fewest(self) -> int:
        """The number of rows, or of clusters, of the class that has fewer."""
        return min(
            rows.size if cluster is None else np.unique(cluster).size
            for rows, cluster in zip(self.class_rows, self.class_clusters, strict=True)
        )

    @property
    def unit(self) -> str:
        """What the effective sizes count, before the name of a class."""
        return "" if self.cluster is None and self.weight is None else "effective "

    @property
    def strata(self) -> tuple[NDArray[np.intp], ...]:
        """What is resampled, each to its own size: the rows of either class, or all clusters."""
        return self.class_rows if self.cluster is None else (np.unique(self.cluster),)

    def rows_of(self, units: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows of units of `strata`, with repetitions."""
        if self.cluster is None:
            return units
        order, ends = self._rows_by_cluster
        return np.concatenate([order[ends[unit] : ends[unit + 1]] for unit in units])

    @cached_property
    def _rows_by_cluster(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        assert self.cluster is not None
        ends = np.concatenate(([0], np.cumsum(np.bincount(self.cluster))))
        return np.argsort(self.cluster, kind="stable"), ends

    def disjoint_pairs(self, share_neg: float = 1.0) -> int:
        """How many pairs without a common observation there are, ``min(m₊, share·m₋)``.

        Weighted rows count as ``(Σw)²/Σw²`` (Kish), which is their number when all weigh the same.
        """
        pos, neg = self.effective_sizes
        return int(min(pos, neg * share_neg) * (1.0 + 1e-12))
