"""Comparisons: the margins of a program, of pairs of a positive and a negative or of points with an intercept."""

from auclab.margins.margins import (
    AllPairs,
    Bicliques,
    Comparison,
    HardestNegatives,
    Points,
    RankedPairs,
    comparison_named,
)

__all__ = ["AllPairs", "Bicliques", "Comparison", "HardestNegatives", "Points", "RankedPairs", "comparison_named"]
