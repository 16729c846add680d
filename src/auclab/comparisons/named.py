"""Comparisons by name."""

from __future__ import annotations

from auclab.comparisons.comparison import Comparison
from auclab.comparisons.pairs import AllPairs
from auclab.comparisons.points import Points
from auclab.validation import check_choice

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
    auclab.comparisons.AllPairs, auclab.comparisons.Points : The comparisons with a name.

    Examples
    --------
    >>> from auclab.comparisons import comparison_named
    >>> comparison_named("points")
    Points()
    """
    if isinstance(name, Comparison):
        return name
    check_choice("comparisons", name, COMPARISONS)
    return COMPARISONS[name]
