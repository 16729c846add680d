"""Figures in scikit-learn's manner: `from_predictions` and `from_estimator` compute and draw, `plot` draws again.

A display holds what it shows; the numbers are those of `auclab.metrics`. Pairs are never formed: curves have O(m)
corners, of which a million are thinned without visible change, and pairs are counted into bins by sweeps over the
sorted scores. No pyplot state is touched: without `ax` a figure of its own is made, one column wide, and notebooks
show it.
"""

from auclab.displays.buffered_roc import BufferedROCCurve, BufferedROCDisplay
from auclab.displays.lesser_area import LesserAreaDisplay
from auclab.displays.modifiers import ModifierDisplay
from auclab.displays.polynomial_step import PolynomialStepDisplay
from auclab.displays.ranking_error import RankingErrorDisplay
from auclab.displays.roc_hull import ROCHullDisplay
from auclab.displays.score_histogram import ScoreHistogramDisplay
from auclab.displays.voros import VOROSDisplay
from auclab.displays.weighted_auc import WeightedAUCDisplay

__all__ = [
    "BufferedROCCurve",
    "BufferedROCDisplay",
    "LesserAreaDisplay",
    "ModifierDisplay",
    "PolynomialStepDisplay",
    "ROCHullDisplay",
    "RankingErrorDisplay",
    "ScoreHistogramDisplay",
    "VOROSDisplay",
    "WeightedAUCDisplay",
]
