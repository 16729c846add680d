"""Bins whose scores a metric needs beyond the summary, to be exact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from auclab.compiled.roc import roc_polygon, upper_hull
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.bounds import CURVE, both_classes, mean_error
from auclab.metrics.summary.brackets import Bracket, ErrorBounds, Mask, Masks, undecided
from auclab.metrics.summary.class_bins import ClassBins
from auclab.metrics.summary.lists import curve_lists, mixed
from auclab.types import Array


def needed_bins(summary: BinnedScores, name: str, options: dict[str, Any]) -> Masks:
    """The bins of either class whose scores a metric needs, beyond the summary, to be exact."""
    pos, neg = both_classes(summary, finite=name not in CURVE)
    if name in CURVE:
        mask = mixed(pos, neg) & _matters(name, options, pos, neg)
        return mask, mask
    nothing = np.zeros(pos.count.size, bool)
    bracket = level_bracket(name, options, pos, neg)
    masks = (nothing, nothing) if bracket is None else undecided(pos, neg, bracket)
    if name == "scored_auc" and options["ties"] == "half":
        masks = masks[0] | mixed(pos, neg), masks[1] | mixed(pos, neg)
    return masks


def level_bracket(name: str, options: dict[str, Any], pos: ClassBins, neg: ClassBins) -> Bracket | None:
    """Levels between which scores must be gathered, None if the summary decides."""
    if name == "scored_auc":
        return Bracket(0.0, 0.0)
    if name == "ranking_superquantile":
        alpha = options["level"]
        return ErrorBounds(pos, neg).quantile_bracket(1.0 - alpha) if 0.0 < alpha < 1.0 else None
    if name != "bauc":
        return None
    z = options["threshold"]
    if mean_error(pos, neg) >= z:
        return None
    bounds = ErrorBounds(pos, neg)
    if z > bounds.top:
        return None
    return Bracket(math.nextafter(z, -math.inf), z) if z == bounds.top else bounds.buffer_bracket(z)


def _matters(name: str, options: dict[str, Any], pos: ClassBins, neg: ClassBins) -> Mask:
    """Bins where the ROC curve enters a metric."""
    (left, right), (_, top) = (class_rates(bins) for bins in (neg, pos))
    slack = 1e-9  # of sums of weights
    if name == "partial_auc":
        return np.asarray((right > options["min_fpr"] - slack) & (left < options["max_fpr"] + slack))
    if name == "two_way_partial_auc":
        return np.asarray((top > options["min_tpr"] - slack) & (left < options["max_fpr"] + slack))
    if name == "voros":  # the corner of a bin may lie above what the other bins make certain
        false, true = roc_polygon(*curve_lists(pos, neg, upper=False).lists, True)
        x, y = false / false[-1], true / true[-1]
        chain = upper_hull(x, y)
        return np.asarray(top > np.interp(left, x[chain], y[chain]) - slack)
    return np.ones(left.size, bool)


def class_rates(bins: ClassBins) -> tuple[Array, Array]:
    """Share of a class above every bin, and at or above it."""
    reached = np.cumsum(bins.weights[::-1])[::-1]
    return np.append(reached[1:], 0.0) / reached[0], reached / reached[0]


def metric_name(name: str) -> str:
    """The metric whose bins a request needs: "buffered_auc" gives bAUC with its buffer."""
    return "bauc" if name == "buffered_auc" else name
