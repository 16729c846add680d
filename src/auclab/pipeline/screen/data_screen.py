"""Notes on the data before a solve: how a file was read, and how many columns it has once encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auclab.pipeline.screen.tables import print_row
from auclab.sizes import ENOUGH, FEW

if TYPE_CHECKING:
    from auclab.datasets.columns import Columns
    from auclab.datasets.records import Dataset

#: Label of the number of columns.
ENCODED = "encoded"


def show_data(dataset: Dataset, columns: Columns | None) -> None:
    """Print the encoded width and notes, a line each; nothing for numeric tables without notes."""
    for word, text in data_notes(dataset, columns):
        style = "cyan" if word == ENCODED else "yellow"
        print_row(word, text, 9, style=style)


def data_notes(dataset: Dataset, columns: Columns | None) -> list[tuple[str, str]]:
    """The lines of `show_data`: `ENCODED` or ``note:``, and a sentence."""
    notes: list[tuple[str, str]] = []
    if columns is not None and columns.widths and (columns.nominal or columns.dates):
        widest = [item for item in sorted(columns.widths.items(), key=lambda item: -item[1]) if item[1] > 1][:FEW]
        named = ", ".join(f"{name} {width}" for name, width in widest)
        total = sum(columns.widths.values())
        several = f"; the widest: {named}" if named else ""
        notes.append((ENCODED, f"{len(columns.widths)} columns as {total} features{several}"))
        if total * ENOUGH > len(dataset.y):
            text = (
                f"{total} features are many for {len(dataset.y)} rows, and a scorer may learn the training part by "
                "heart: leave out wide columns with dataset.drop, or lower preprocess.max_categories"
            )
            notes.append(("note:", text))
    return notes + [("note:", note) for note in (*dataset.notes, *(columns.notes if columns else ()))]
