"""What is said of the data before a solve: how a file was read, and how wide its columns become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from auclab.pipeline.screen.console import out

if TYPE_CHECKING:
    from auclab.datasets.columns import Columns
    from auclab.datasets.records import Dataset

#: The word before the width.
ENCODED = "encoded"
#: Columns that are named as the widest.
_WIDEST = 3
#: With fewer rows for each feature, a note is made.
_ROWS_A_FEATURE = 10


def show_data(dataset: Dataset, columns: Columns | None) -> None:
    """Width and notes, a line each; nothing for tables of numbers of which nothing has to be said."""
    for word, text in data_notes(dataset, columns):
        style = "cyan" if word == ENCODED else "yellow"
        out.print(f"[{style}]{word:<8}[/{style}] {escape(text)}", soft_wrap=True)


def data_notes(dataset: Dataset, columns: Columns | None) -> list[tuple[str, str]]:
    """What `show_data` shows: `ENCODED` or ``note:``, and a sentence."""
    notes: list[tuple[str, str]] = []
    if columns is not None and (columns.nominal or columns.dates):
        widest = sorted(columns.widths.items(), key=lambda item: -item[1])[:_WIDEST]
        named = ", ".join(f"{name} {width}" for name, width in widest)
        total = sum(columns.widths.values())
        notes.append((ENCODED, f"{len(columns.widths)} columns as {total} features; the widest: {named}"))
        if total * _ROWS_A_FEATURE > len(dataset.y):
            text = (
                f"{total} features are many for {len(dataset.y)} rows, and a scorer may learn the training part by "
                "heart: leave out wide columns with dataset.drop, or lower preprocess.max_categories"
            )
            notes.append(("note:", text))
    return notes + [("note:", note) for note in (*dataset.notes, *(columns.notes if columns else ()))]
