"""Lower bounds and held-out values: a point per bound and split, a table row per bound."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from auclab.pipeline.screen.result_screen import BoundLine
from auclab.pipeline.stored.stored_files import damaged, read_json
from auclab.pipeline.stored.visible import visible

KIND = ["name", "quantity", "sample"]
FIELDS = [*KIND, "lower", "test_value", "vacuous"]


def read_bounds(folders: Iterable[Path]) -> pd.DataFrame:
    """The bounds in ``bounds.json`` of splits that have a held-out value: a row each, the lower end cut at 0."""
    rows = []
    for folder in folders:
        content = read_json(folder, "bounds.json")
        if content is not None:
            with damaged(folder / "bounds.json"):
                lines = [BoundLine.of_stored(item) for item in content["bounds"]]
            for line in lines:
                kind = map(visible, (line.name, line.quantity, line.sample))
                rows.append((*kind, max(line.lower_end, 0.0), line.test_value, line.vacuous))
    table = pd.DataFrame(rows, columns=FIELDS).astype({"lower": float, "test_value": float})
    return table.dropna(subset="test_value")


def bound_lines(bounds: pd.DataFrame) -> list[Any]:
    """A row per kind of bound: its number of splits, means, and how often it is at most the held-out value, or vacuous.

    Examples
    --------
    >>> kind = "margin", "AUC", "train"
    >>> (line,) = bound_lines(pd.DataFrame([(*kind, 0.5, 0.9, False), (*kind, 0.0, 0.7, True)], columns=FIELDS))
    >>> line.splits, line.lower, line.below, line.vacuous
    (2, 0.25, 2, 1)
    """
    groups = bounds.assign(below=bounds["lower"] <= bounds["test_value"]).groupby(KIND, sort=False)
    means, counts = groups[["lower", "test_value"]].mean(), groups[["below", "vacuous"]].sum()
    return list(means.join(counts).assign(splits=groups.size()).reset_index().itertuples(index=False))
