"""Comparisons: the margins of a program, of pairs of a positive and a negative or of points with an intercept."""

from auclab.comparisons.bicliques import Bicliques
from auclab.comparisons.comparison import Comparison
from auclab.comparisons.hardest_negatives import HardestNegatives
from auclab.comparisons.named import comparison_named
from auclab.comparisons.pairs import AllPairs
from auclab.comparisons.points import Points
from auclab.comparisons.ranked import RankedPairs

__all__ = ["AllPairs", "Bicliques", "Comparison", "HardestNegatives", "Points", "RankedPairs", "comparison_named"]
