"""Which of two scorers is cheaper at its best threshold, and where they change places (Ratigan & Cowen, Fig. 6)."""

from __future__ import annotations

from pathlib import Path

from auclab._core.base import AuclabError
from auclab._core.words import LINES
from auclab.metrics.costs import Hull, hull_crossings, hull_difference, mean_hull, scorer_hull
from auclab.runs.compare.table import Table
from auclab.runs.stored.stored_files import read_scores

#: Two configurations, and their hulls.
Best = tuple[tuple[str, str], tuple[Hull, Hull]]
#: Cost shares that are listed one by one.
_MOST_SHARES = 4


def cost_words(a: str, b: str, hulls: tuple[Hull, Hull]) -> str:
    """Which of the scorers a and b costs less, and up to which cost share."""
    differences = hull_difference(*hulls)[1]
    if not differences.any():
        return f"{a} and {b} cost the same at every cost share"
    found = hull_crossings(*hulls)
    cheaper, other = (a, b) if differences[differences != 0.0][0] < 0.0 else (b, a)
    if not found.size:
        return f"{cheaper} costs no more than {other} at any cost share"
    if found.size > _MOST_SHARES:
        return f"{a} and {b} change places at {found.size} cost shares, {found[0]:.3g} to {found[-1]:.3g}"
    return f"{cheaper} costs less than {other} up to the cost share {found[0]:.3g}" + (
        f"; they change places again at {', '.join(f'{share:.3g}' for share in found[1:])}" if found.size > 1 else ""
    )


def best_hulls(table: Table) -> dict[str, Best]:
    """The best two configurations of each of the first rows with their hulls, of which the costs are means over pairs.

    Rows without stored scores of a test part of two classes, or with damaged ones, are left out.
    """
    found = {}
    for row in table.rows[:LINES]:
        best = table.ordered(row)[:2]
        folders = table.cells.folders.where(table.cells.counted).loc[row][best].dropna()
        if len(best) < 2 or folders.empty:
            continue
        try:
            a, b = (mean_hull([_test_hull(Path(each)) for each in folders[column]]) for column in best)
        except AuclabError:
            continue
        found[row] = ((best[0], best[1]), (a, b))
    return found


def _test_hull(folder: Path) -> Hull:
    scores = read_scores(folder)
    if scores is None or scores.part != "test" or not scores.is_of_classes:
        raise AuclabError(f"{folder} has no scores of test rows of two classes")
    return scorer_hull(scores.y_true, scores.y_score)
