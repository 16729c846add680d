"""Metrics of binary ranking: exact on the sample, O(m log m), no pairs formed."""

from auclab.metrics.buffered import (
    BufferedAUCResult,
    auc_threshold,
    bauc_score,
    broc_curve,
    buffered_auc,
    ranking_superquantile,
)
from auclab.metrics.cost import cost_range, lesser_area, lesser_volume, roc_hull, voros_from_points, voros_score
from auclab.metrics.partial import partial_auc, two_way_partial_auc, weighted_auc
from auclab.metrics.polynomial import polynomial_auc, polynomial_soft_auc
from auclab.metrics.ranking import auc_score
from auclab.metrics.score_differences import ferri_auc, gauc_score, probabilistic_auc, scored_auc, soft_auc
from auclab.metrics.superquantile import bpoe, superquantile

__all__ = [
    "BufferedAUCResult",
    "auc_score",
    "auc_threshold",
    "bauc_score",
    "bpoe",
    "broc_curve",
    "buffered_auc",
    "cost_range",
    "ferri_auc",
    "gauc_score",
    "lesser_area",
    "lesser_volume",
    "partial_auc",
    "polynomial_auc",
    "polynomial_soft_auc",
    "probabilistic_auc",
    "ranking_superquantile",
    "roc_hull",
    "scored_auc",
    "soft_auc",
    "superquantile",
    "two_way_partial_auc",
    "voros_from_points",
    "voros_score",
    "weighted_auc",
]
