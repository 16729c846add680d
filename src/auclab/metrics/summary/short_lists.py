"""A few scores in place of all of a bin, with the same area or the same hull below the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab.compiled.ranking import concordance
from auclab.compiled.roc import roc_polygon, upper_hull
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.gathered_rows import Rows
from auclab.metrics.summary.lists import Atoms
from auclab.metrics.summary.undecided_bins import class_rates
from auclab.types import Array


def short_lists(summary: BinnedScores, rows: Rows, name: str, options: dict[str, Any]) -> list[tuple[Atoms, Atoms]]:
    """For every gathered bin a few scores of either class with the same area (partial AUC) or hull (VOROS) as all."""
    left, right = class_rates(summary.neg)
    found = []
    for k in np.flatnonzero(rows.masks[0]).tolist():
        pos, neg = (_part(scores, weight, summary.edges, k) for scores, weight in (
            (rows.scores.pos, rows.scores.weight_pos), (rows.scores.neg, rows.scores.weight_neg)
        ))  # fmt: skip
        if name == "voros":
            found.append(_hull_atoms(pos, neg))
        elif any(left[k] - 1e-9 < end < right[k] + 1e-9 for end in (options["min_fpr"], options["max_fpr"])):
            found.append((pos, neg))
        else:
            found.append(_area_atoms(pos, neg))
    return found


def _part(scores: Array, weight: Array, edges: Array, k: int) -> Atoms:
    """The scores of bin k and their weights."""
    ends = np.searchsorted(scores, [edges[k - 1] if k else -np.inf, edges[k] if k < edges.size else np.inf])
    part = slice(ends[0], ends[1] if k < edges.size else None)
    return scores[part], weight[part] if weight.size else np.ones(scores[part].size)


def _area_atoms(pos: Atoms, neg: Atoms) -> tuple[Atoms, Atoms]:
    """Positives above and below all negatives, so that the area stays: a share ``(right + tied/2)/pairs`` is above."""
    right, tied, pairs = concordance(pos[0], neg[0], pos[1], neg[1])
    total, other = float(pos[1].sum()), float(neg[1].sum())
    above = (right + 0.5 * tied) / pairs
    low, high = min(pos[0][0], neg[0][0]), max(pos[0][-1], neg[0][-1])
    # Three places within the bin that differ: its extremes, and a double between or at the lower one.
    middle = np.nextafter(low, high)
    if middle < high:
        return (np.array([low, high]), np.array([total * (1.0 - above), total * above])), (
            np.array([middle]),
            np.array([other]),
        )
    return pos, neg


def _hull_atoms(pos: Atoms, neg: Atoms) -> tuple[Atoms, Atoms]:
    """Tied scores whose ROC curve is the upper hull of that of a bin."""
    false, true = roc_polygon(pos[0], neg[0], pos[1], neg[1], True)
    chain = upper_hull(false, true)
    low, high = min(pos[0][0], neg[0][0]), max(pos[0][-1], neg[0][-1])
    distinct = np.unique(np.concatenate((pos[0], neg[0])))
    # as many different scores as edges: the highest stands for the first edge
    at = np.linspace(high, low, chain.size - 1) if chain.size > 2 else np.array([high])
    at = np.clip(at, low, high)
    if np.unique(at).size < at.size:
        at = distinct[::-1][: at.size]
    return (at, np.diff(true[chain])), (at, np.diff(false[chain]))
