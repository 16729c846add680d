"""Metrics of binary ranking: exact on the sample, O(m log m), no pairs formed."""

from typing import TYPE_CHECKING, Any

from auclab.metrics.bpoe import BufferedExceedance, bpoe, buffered_exceedance, quantile, superquantile
from auclab.metrics.buffered import (
    BufferedAUCResult,
    auc_threshold,
    bauc_score,
    broc_curve,
    buffered_auc,
    ranking_superquantile,
)
from auclab.metrics.concordance import (
    buffered_concordance,
    censoring_weights,
    concordance_index,
    grouped_auc,
    grouped_bauc,
    time_dependent_auc,
)
from auclab.metrics.costs import cost_curve, crossing_shares, expected_cost, least_cost, roc_dominates
from auclab.metrics.multiclass import multiclass_auc, multiclass_bauc
from auclab.metrics.pair_means import ferri_auc, gauc_score, margin_curve, probabilistic_auc, scored_auc, soft_auc
from auclab.metrics.partial import partial_auc, two_way_partial_auc, weighted_auc, weighted_gauc
from auclab.metrics.polynomial import polynomial_auc, polynomial_auc_gradient, polynomial_soft_auc, power_supports
from auclab.metrics.registry import METRICS, Metric, ScoredPart
from auclab.metrics.roc import auc_score, roc_hull
from auclab.metrics.summary import (
    BufferedAUCBounds,
    Interval,
    ScoreBlocks,
    ScoreSummary,
    score_blocks,
    score_edges,
    scored_table,
    summarise,
)
from auclab.metrics.voros import cost_range, lesser_area, lesser_volume, voros_from_points, voros_score
from auclab.samples.bicliques import censored_pairs, ordered_pairs

if TYPE_CHECKING:
    from auclab.metrics.scorers import get_scorer

__all__ = [
    "METRICS",
    "BufferedAUCBounds",
    "BufferedAUCResult",
    "BufferedExceedance",
    "Interval",
    "Metric",
    "ScoreBlocks",
    "ScoreSummary",
    "ScoredPart",
    "auc_score",
    "auc_threshold",
    "bauc_score",
    "bpoe",
    "broc_curve",
    "buffered_auc",
    "buffered_concordance",
    "buffered_exceedance",
    "censored_pairs",
    "censoring_weights",
    "concordance_index",
    "cost_curve",
    "cost_range",
    "crossing_shares",
    "expected_cost",
    "ferri_auc",
    "gauc_score",
    "get_scorer",
    "grouped_auc",
    "grouped_bauc",
    "least_cost",
    "lesser_area",
    "lesser_volume",
    "margin_curve",
    "multiclass_auc",
    "multiclass_bauc",
    "ordered_pairs",
    "partial_auc",
    "polynomial_auc",
    "polynomial_auc_gradient",
    "polynomial_soft_auc",
    "power_supports",
    "probabilistic_auc",
    "quantile",
    "ranking_superquantile",
    "roc_dominates",
    "roc_hull",
    "score_blocks",
    "score_edges",
    "scored_auc",
    "scored_table",
    "soft_auc",
    "summarise",
    "superquantile",
    "time_dependent_auc",
    "two_way_partial_auc",
    "voros_from_points",
    "voros_score",
    "weighted_auc",
    "weighted_gauc",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name != "get_scorer":
            raise AttributeError(f"module 'auclab.metrics' has no attribute {name!r}")
        from auclab.metrics.scorers import get_scorer  # scikit-learn takes a second to import

        return get_scorer
