"""Decisions of the stored model: calibration of its probabilities, its threshold, the cheapest thresholds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from auclab.export.scorer import Scorer
from auclab.metrics import roc_hull
from auclab.pipeline.stored.stored_files import StoredScores, damaged, inner_folder, read_json
from auclab.report.thinning import short, steps
from auclab.types import Array

#: Number of groups of observations with similar probabilities.
GROUPS = 10


def decisions(folder: Path, scores: StoredScores, polygon: tuple[Array, Array]) -> dict[str, Any]:
    """The model's decisions on the stored scores of a split, ready for JSON.

    `folder`: files of the split. `scores`: its scores. `polygon`: vertices of their ROC curve. Returns: ``cheapest``:
    the vertices [fpr, tpr, score] of the hull; an observation is called positive from the score on, null for none.
    ``threshold``: value, rule, and the rates of the kept model, None where the run kept none. ``calibration``:
    ``brier`` and per group of observations the mean probability, the share of positives, its 95 % interval (Wilson
    1927) and their number; None without probabilities.
    """
    description = read_json(inner_folder(folder, "model"), "scorer.json")
    found: dict[str, Any] = {"cheapest": _cheapest(scores, polygon), "threshold": None, "calibration": None}
    if description is None:
        return found
    with damaged(folder / "model" / "scorer.json"):
        threshold = description["threshold"]
        value = float(threshold["value"])
        called = scores.y_score > value
        rates = [float(called[scores.y_true == label].mean()) for label in (0, 1)]
        found["threshold"] = {"value": value, "rule": str(threshold["rule"]), "rates": steps(rates)}
        probability = Scorer(description).probability(scores.y_score)
        if probability is not None:
            found["calibration"] = _calibration(probability, scores.y_true == 1)
    return found


def _cheapest(scores: StoredScores, polygon: tuple[Array, Array]) -> list[list[Any]]:
    """Vertices of the hull, each with the smallest score that is predicted positive there."""
    fpr, tpr = roc_hull(*polygon)
    descending = np.sort(scores.y_score)[::-1]
    positives = int((scores.y_true == 1).sum())
    called = np.rint(fpr * (descending.size - positives) + tpr * positives).astype(int)
    levels = [None if count == 0 else _between(descending, int(count)) for count in called]
    return [list(each) for each in zip(steps(fpr), steps(tpr), levels, strict=True)]


def _between(descending: Array, count: int) -> float:
    """A short number at or above which `count` scores lie: above the next score, at most the last of these.

    Examples
    --------
    >>> scores = np.array([0.123456, 0.123454, 0.1])
    >>> [_between(scores, count) for count in (1, 2, 3)]
    [0.123456, 0.12, 0.1]
    """
    level = float(descending[count - 1])
    below = float(descending[count]) if count < descending.size else -math.inf
    for digits in range(2, 17):
        for rounded in (float(f"{level:.{digits}g}"), float(f"{0.5 * level + 0.5 * below:.{digits}g}")):
            if below < rounded <= level:
                return rounded
    return level


def _calibration(probability: Array, positive: Array) -> dict[str, Any]:
    order = np.argsort(probability, kind="stable")
    groups = []
    for part in np.array_split(order, GROUPS):
        if count := part.size:
            hits = int(positive[part].sum())
            ends = binomtest(hits, count).proportion_ci(0.95, method="wilson")
            groups.append([*steps([probability[part].mean(), hits / count, ends.low, ends.high]), count])
    return {"brier": short([float(np.mean((probability - positive) ** 2))])[0], "groups": groups}
