"""The metric of the projection onto the level set: how much a step changes the scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from auclab.formulations.problem import Problem
from auclab.precision import TOLERANCE
from auclab.samples.memory import Sample
from auclab.types import Array

#: The metric is estimated from about this many observations per class.
_SAMPLE_SIZE = 10_000


def score_metric(problem: Problem, unit: Array) -> Array:
    """M with ``δᵀMδ`` the mean square change of a score for a step ``δ = (x, b)``, shape (n + 1, n + 1).

    Of scores about the mean of their class for pairs, where a common offset changes nothing; of all scores for points.

    `unit` (n,): ``w = x·unit``.
    """
    sample, n = problem.sample, unit.size
    metric = np.zeros((n + 1, n + 1))
    for X, share, prior in _strided_classes(sample):
        rows = (X.toarray() if sample.is_sparse else X) * unit
        if problem.over_pairs:
            rows = rows - share @ rows
            metric[:n, :n] += (rows * share[:, None]).T @ rows
        else:
            rows = np.c_[rows, np.ones(len(rows))]
            metric += (rows * (prior * share)[:, None]).T @ rows
    metric[np.arange(n + 1), np.arange(n + 1)] += TOLERANCE
    return metric


def metric_length(step: Array, metric: Array) -> float:
    """``√(δᵀMδ)`` of the leading entries of a step; the metric is a matrix or its diagonal.

    Examples
    --------
    >>> metric_length(np.array([3.0, 4.0, 7.0]), np.ones(2))
    5.0
    """
    leading = step[: metric.shape[0]]
    square = leading @ (metric * leading) if metric.ndim == 1 else leading @ metric @ leading
    return math.sqrt(max(float(square), 0.0))


def _strided_classes(sample: Sample) -> list[tuple[Any, Array, float]]:
    """Evenly spaced observations of either class, their shares, and the weight of the class."""
    classes = []
    for X, share, prior in (
        (sample.X_pos, sample.share_pos, sample.prior_pos),
        (sample.X_neg, sample.share_neg, sample.prior_neg),
    ):
        rows = slice(None, None, max(1, share.size // _SAMPLE_SIZE))
        classes.append((X[rows], share[rows] / max(float(share[rows].sum()), 1e-300), prior))
    return classes
