"""The observations that rank worst: those whose pairs with the other class have the largest errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.pipeline.stored.stored_files import StoredScores
from auclab.report.thinning import short
from auclab.sizes import FEW
from auclab.types import Array

#: Number of observations of each class that are listed.
MOST_ROWS = FEW


def worst_rows(scores: StoredScores) -> list[dict[str, Any]] | None:
    """Observations of both classes with the largest mean ranking error, positives first.

    The error of a pair is ``max(0, h(x⁻) − h(x⁺))``; the mean is over all observations of the other class.

    `scores`: of one split. Returns: ``row`` (of the data set, from 0; null where the run did not keep it),
    ``positive``, ``score``, ``error``, and ``wrong``: the share of the other class on the wrong side of it, ties
    counting one half. Observations without an error are left out. None if a score is infinite, as errors then
    have no mean.
    """
    if not np.isfinite(scores.y_score).all():
        return None
    is_positive = scores.y_true == 1
    found: list[dict[str, Any]] = []
    for positive in (True, False):
        own = np.flatnonzero(is_positive == positive)
        sign = 1.0 if positive else -1.0
        others = np.sort(sign * scores.y_score[is_positive != positive])
        errors, wrong = _errors_below(sign * scores.y_score[own], others)
        worst = np.argsort(-errors, kind="stable")[:MOST_ROWS]
        found += [
            {
                "row": None if scores.row is None else int(scores.row[own[k]]),
                "positive": positive,
                "score": short([scores.y_score[own[k]]], 5)[0],
                "error": short([errors[k]], 3)[0],
                "wrong": round(float(wrong[k]), 4),
            }
            for k in worst
            if errors[k] > 0.0
        ]
    return found


def _errors_below(values: Array, others: Array) -> tuple[Array, NDArray[np.float64]]:
    """Mean of ``max(0, other − value)`` over sorted `others`, and the share of larger ones, ties counting one half.

    Examples
    --------
    >>> [part.tolist() for part in _errors_below(np.array([1.0]), np.array([0.0, 1.0, 3.0, 4.0]))]
    [[1.25], [0.625]]
    """
    above = np.concatenate([np.cumsum(others[::-1])[::-1], [0.0]])
    after = np.searchsorted(others, values, side="right")
    before = np.searchsorted(others, values, side="left")
    count = others.size
    errors = np.maximum(above[after] - (count - after) * values, 0.0) / count
    return errors, (count - 0.5 * (after + before)) / count
