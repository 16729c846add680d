"""Comparisons: the margins of a program, of pairs of a positive and a negative or of points with an intercept."""

from __future__ import annotations

from auclab._core.validation import check_choice
from auclab.margins.comparison import Comparison
from auclab.margins.pairs import AllPairs, HardestNegatives
from auclab.margins.points import Points
from auclab.margins.ranked_pairs import Bicliques, RankedPairs

__all__ = ["AllPairs", "Bicliques", "Comparison", "HardestNegatives", "Points", "RankedPairs", "comparison_named"]

#: The comparisons by their names in the configuration.
COMPARISONS: dict[str, Comparison] = {kind.name: kind for kind in (AllPairs(), Points())}


def comparison_named(name: str | Comparison) -> Comparison:
    """Return the comparison with this name, or the object itself.

    Parameters
    ----------
    name : {"pairs", "points"} or Comparison

    Raises
    ------
    AuclabError
        No such comparison; the choices are listed.

    See Also
    --------
    auclab.margins.AllPairs, auclab.margins.Points : The comparisons with a name.

    Examples
    --------
    >>> from auclab.margins import comparison_named
    >>> comparison_named("points")
    Points()
    """
    if isinstance(name, Comparison):
        return name
    check_choice("comparisons", name, COMPARISONS)
    return COMPARISONS[name]
