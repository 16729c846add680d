"""Metrics from the scores of the bins that they need, and the summary of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from auclab.metrics.buffered import BufferedAUCResult, buffered_auc_from_sorted
from auclab.metrics.class_scores import ClassScores
from auclab.metrics.registry import METRICS
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.bounds import CURVE, bounds_of, mean_error
from auclab.metrics.summary.brackets import next_error_above
from auclab.metrics.summary.class_bins import ClassBins
from auclab.metrics.summary.gathered_rows import Rows, lists_with_atoms
from auclab.metrics.summary.lists import mean_atoms
from auclab.metrics.summary.pairs_in_bins import auc_from_weights, weights_inside
from auclab.metrics.summary.undecided_bins import level_bracket, metric_name


def value_from_rows(summary: BinnedScores, rows: Rows, name: str, options: dict[str, Any]) -> Any:
    """A metric from the scores of all bins that it needs, and the summary of the others."""
    pos, neg = summary.pos, summary.neg
    present = pos.count > 0, neg.count > 0
    if name == "auc":
        return auc_from_weights(pos, neg, weights_inside(summary, rows), rows.masks[0] & rows.masks[1], options["ties"])
    if name in CURVE:
        atoms = (pos.low, pos.weights), (neg.high, neg.weights)
        return METRICS[name].from_sorted(lists_with_atoms(rows, present, atoms), **options)
    if metric_name(name) == "bauc" and mean_error(pos, neg) >= options["threshold"]:
        return BufferedAUCResult(0.0) if name == "buffered_auc" else 0.0
    if name == "ferri_auc" or (name == "ranking_superquantile" and options["level"] in (0.0, 1.0)):
        low, high = bounds_of(summary, name, options)
        return 0.5 * (low + high)
    lists = lists_with_atoms(rows, present, (mean_atoms(pos), mean_atoms(neg)))
    if name == "buffered_auc":
        return _buffered(pos, neg, lists, options)
    return METRICS[name].from_sorted(lists, **options)


def _buffered(pos: ClassBins, neg: ClassBins, lists: ClassScores, options: dict[str, Any]) -> BufferedAUCResult:
    """`buffered_auc` from rows and means; the next error above γ* may be one that a mean stands for."""
    result = buffered_auc_from_sorted(lists, **options)
    if not result.gamma_right > result.gamma_left:
        return result
    bracket = level_bracket("bauc", options, pos, neg)
    assert bracket is not None
    return replace(result, gamma_right=min(result.gamma_right, next_error_above(pos, neg, bracket.high)))
