"""Displays with the interface of scikit-learn's: `from_predictions` and `from_estimator` compute and draw.

A display stores the numbers it draws, which are those of `auclab.metrics`; `plot` draws them again. Pairs are never
formed: curves have O(m) corners, which are thinned without visible change, and pairs are counted into bins by sweeps
over the sorted scores. pyplot is not used: without `ax` a display makes a new figure, one journal column wide.
"""

from auclab.displays.coefficients import LandmarkGapDisplay
from auclab.displays.modifiers import ModifierDisplay, WeightedAUCDisplay
from auclab.displays.roc import BufferedROCCurve, BufferedROCDisplay, ROCBandDisplay, ROCHullDisplay
from auclab.displays.scores import ConcordanceDisplay, RankingErrorDisplay, ScoreHistogramDisplay
from auclab.displays.volumes import LesserAreaDisplay, VOROSDisplay

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
