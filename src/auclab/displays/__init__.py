"""Displays with the interface of scikit-learn's: `from_predictions` and `from_estimator` compute and draw.

A display stores the numbers it draws, which are those of `auclab.metrics`; `plot` draws them again. Pairs are never
formed: curves have O(m) corners, which are thinned without visible change, and pairs are counted into bins by sweeps
over the sorted scores. pyplot is not used: without `ax` a display makes a new figure, one journal column wide.
"""

from auclab.displays.buffered_roc import BufferedROCCurve, BufferedROCDisplay
from auclab.displays.concordance import ConcordanceDisplay
from auclab.displays.landmark_gap import LandmarkGapDisplay
from auclab.displays.lesser_area import LesserAreaDisplay
from auclab.displays.modifiers import ModifierDisplay
from auclab.displays.ranking_error import RankingErrorDisplay
from auclab.displays.roc_band import ROCBandDisplay
from auclab.displays.roc_hull import ROCHullDisplay
from auclab.displays.score_histogram import ScoreHistogramDisplay
from auclab.displays.voros import VOROSDisplay
from auclab.displays.weighted_auc import WeightedAUCDisplay

__all__ = [
    "BufferedROCCurve",
    "BufferedROCDisplay",
    "ConcordanceDisplay",
    "LandmarkGapDisplay",
    "LesserAreaDisplay",
    "ModifierDisplay",
    "ROCBandDisplay",
    "ROCHullDisplay",
    "RankingErrorDisplay",
    "ScoreHistogramDisplay",
    "VOROSDisplay",
    "WeightedAUCDisplay",
]
