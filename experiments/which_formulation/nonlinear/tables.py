"""Tables of the page, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.which_formulation.nonlinear.answers import Difference
from experiments.which_formulation.nonlinear.scorers import NAMES

TITLES = {"auc": "AUC", "bauc": "bAUC", "partial_auc": "partial AUC", "voros": "VOROS"}
#: Measures in the tables, after AUC; all others are in the results file.
SHOWN = ("bauc", "partial_auc")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column to the left, the others to the right."""
    lines = [list(head), ["---", *["---:"] * (len(head) - 1)], *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float, digits: int = 3) -> str:
    """Without the zero before the point."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """With its sign.

    Examples
    --------
    >>> signed(-0.0123), signed(0.5, 2)
    ('−.012', '+.50')
    """
    return ("−" if value < 0 else "+") + number(abs(value), digits)


def probability(value: float) -> str:
    """A p-value."""
    return "< .001" if value < 0.001 else number(value, 2 if value >= 0.1 else 3)


def name(scorer: str) -> str:
    """As a reader knows it."""
    return NAMES[scorer]


def pair(each: Difference) -> str:
    """First minus second."""
    return f"{name(each.first)} − {name(each.second)}"


def of_pairs(found: dict[str, list[Difference]]) -> str:
    """A row for each difference: by AUC with its interval, by two other measures, and the number of clear sets."""
    head = ["first − second", "AUC (95 %)", "p", *(f"{TITLES[key]} (p)" for key in SHOWN)]
    rows = []
    for place, each in enumerate(found["auc"]):
        interval = " to ".join(map(signed, each.interval))
        others = [found[key][place] for key in SHOWN]
        rows.append(
            [
                pair(each),
                f"{signed(each.mean)} ({interval})",
                probability(each.adjusted),
                *(f"{signed(other.mean)} ({probability(other.adjusted)})" for other in others),
                "/".join(map(str, each.significant(corrected=True))),
            ]
        )
    return table([*head, "sets +/−"], rows)
