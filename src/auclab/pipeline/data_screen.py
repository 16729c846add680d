"""What is said of the data before a solve: how a file was read, and how wide its columns become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from auclab.pipeline.console import out

if TYPE_CHECKING:
    from auclab.datasets.columns import Columns
    from auclab.datasets.records import Dataset

#: Columns that are named as the widest.
_WIDEST = 3


def show_data(dataset: Dataset, columns: Columns | None) -> None:
    """Width and notes, a line each; nothing for tables of numbers of which nothing has to be said."""
    for line in data_lines(dataset, columns):
        out.print(line, soft_wrap=True)


def data_lines(dataset: Dataset, columns: Columns | None) -> list[str]:
    """The lines of `show_data`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from auclab.datasets.columns import sort_columns
    >>> from auclab.datasets.records import Dataset
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "green"]})
    >>> toy = Dataset(name="toy", X=X, y=np.array([0, 1, 1]))
    >>> data_lines(toy, sort_columns(toy))
    ['[cyan]encoded[/cyan]  2 columns as 4 features; the widest: colour 3, size 1']
    """
    lines = []
    notes = [*dataset.notes, *(columns.notes if columns else ())]
    if columns is not None and (columns.nominal or columns.dates):
        widest = sorted(columns.widths.items(), key=lambda item: -item[1])[:_WIDEST]
        named = ", ".join(f"{escape(name)} {width}" for name, width in widest)
        total = sum(columns.widths.values())
        lines.append(f"[cyan]encoded[/cyan]  {len(columns.widths)} columns as {total} features; the widest: {named}")
    return lines + [f"[yellow]note:[/yellow]    {escape(note)}" for note in notes]
