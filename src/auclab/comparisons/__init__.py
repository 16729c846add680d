"""Which margins are compared: pairs of a positive and a negative, or points and a threshold."""

from auclab.comparisons.comparison import Comparison, comparison_named
from auclab.comparisons.hardest_negatives import HardestNegatives
from auclab.comparisons.pairs import AllPairs
from auclab.comparisons.points import Points
from auclab.comparisons.ranked import RankedPairs

__all__ = ["AllPairs", "Comparison", "HardestNegatives", "Points", "RankedPairs", "comparison_named"]
