"""Components of the variance of metrics of more than two classes.

The metric is a mean of those of two classes, and a row's part in it the mean of its parts ``share · (V − mean V)``
(`components`). With class sizes fixed, and ``U_r`` the part of row r minus the mean of its class,

    variance = Σ_c n_c/(n_c − 1) Σ_{r in c} U_r²,

or, of clusters of rows, ``I/(I − 1) Σ (Σ_{r in cluster} U_r)²``. For two classes this is the variance of `components`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array
from auclab.inference.catalogue import EstimableMetric, estimable
from auclab.inference.components import Observations, cluster_numbers
from auclab.metrics.multiclass import MulticlassScores, multiclass_auc, multiclass_bauc
from auclab.metrics.registry import ScoredPart

#: The metric of two classes that each is a mean of.
MULTICLASS: Mapping[str, tuple[Callable[..., float], str]] = {
    "multiclass_auc": (multiclass_auc, "auc"),
    "multiclass_bauc": (multiclass_bauc, "bauc"),
}


def multiclass_metric(metric: object) -> str | None:
    """The name of a metric of more than two classes, given by its name or function; None for any other."""
    return next((name for name, (function, _) in MULTICLASS.items() if metric in (name, function)), None)


@dataclass(frozen=True)
class MulticlassComponents:
    """A metric's value with the part of every row in its deviation.

    `metric`: that of two classes. `value`: the mean. `parts` (n,): ``U_r``. `classes` (n,): number of the class.
    `clusters` (n,): number of the cluster, or None.
    """

    metric: EstimableMetric
    value: float
    parts: Array
    classes: NDArray[np.intp]
    clusters: NDArray[np.intp] | None

    @classmethod
    def of(
        cls,
        name: str,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        average: str = "ovo",
        labels: Any = None,
        sample_weight: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        **options: Any,
    ) -> MulticlassComponents:
        """From labels and a column of scores for every class."""
        sample = MulticlassScores.of(y_true, y_score, labels, sample_weight)
        cluster = cluster_numbers(clusters, sample.rows, sample.n_rows)
        metric = estimable(MULTICLASS[name][1], options)
        values, parts = [], np.zeros(sample.classes.size)
        for rows, positive, scores in sample.tasks(average):
            observations = Observations(ScoredPart(positive, scores, sample.weight_of(rows)))
            found = metric.components(observations)
            values.append(found.value)
            for of_class, influence in zip(observations.class_rows, found.influence, strict=True):
                parts[rows[of_class]] += influence
        value, parts = math.fsum(values) / len(values), parts / len(values)
        means = np.bincount(sample.classes, parts) / np.bincount(sample.classes)
        return cls(metric, value, parts - means[sample.classes], sample.classes, cluster)

    @cached_property
    def class_errors(self) -> Array:
        """Standard errors due to every class; NaN for a class of one row."""
        sizes, largest = np.bincount(self.classes), float(np.max(np.abs(self.parts))) or 1.0
        squares = np.bincount(self.classes, (self.parts / largest) ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(sizes / (sizes - 1) * squares) * largest)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of rows, or of clusters, of every class."""
        if self.clusters is None:
            return np.bincount(self.classes)
        return np.bincount(np.unique(np.stack((self.classes, self.clusters)), axis=1)[0])

    @property
    def standard_error(self) -> float:
        """Of the mean over pairs of classes, or classes; NaN where a class has one row or cluster."""
        if self.sizes.min() == 1:
            return math.nan
        if self.clusters is None:
            return math.hypot(*self.class_errors)
        sums = np.bincount(self.clusters, self.parts)
        n = np.unique(self.clusters).size
        return math.sqrt(n / (n - 1) * float(np.sum(sums**2)))

    @property
    def degrees_of_freedom(self) -> float:
        """After Welch and Satterthwaite, over the classes."""
        shares = self.class_errors**2
        if not shares.sum() > 0.0:
            return math.inf
        return float(1.0 / np.sum((shares / shares.sum()) ** 2 / np.maximum(self.sizes - 1, 1)))

    def __sub__(self, other: MulticlassComponents) -> MulticlassComponents:
        """Components of the difference of two scorers on the same rows."""
        return replace(self, value=self.value - other.value, parts=self.parts - other.parts)
