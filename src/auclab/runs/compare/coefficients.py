"""Coefficients of a stored run in the units of its data, by column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from auclab._core.words import few, visible
from auclab.runs.stored.stored_files import damaged, read_rows

FILE = "coefficients.csv"


@dataclass(frozen=True)
class ColumnEffect:
    """The contribution of a column to the score.

    `column`: its name. `share`: of the standard deviation of the scores over the training part, averaged over splits.
    `deviation`: standard deviation of the share over the splits; NaN for one split. `effects`: by category or part of a
    date, "" for the number itself: change of the score per unit, or of having the category, the mean over the splits
    that have it.
    """

    column: str
    share: float
    deviation: float
    effects: dict[str, float]

    @property
    def direction(self) -> int:
        """1 if the score increases with the number, −1 if it decreases, 0 for categories and parts of dates."""
        if list(self.effects) != [""]:
            return 0
        return 1 if self.effects[""] > 0 else -1

    @property
    def text(self) -> str:
        """The effect, or the largest effects of categories."""
        if list(self.effects) == [""]:
            return f"{self.effects['']:+.4g} per unit"
        named = sorted(self.effects.items(), key=lambda item: -abs(item[1]))
        return few(f"{name or 'per unit'} {value:+.3g}" for name, value in named)


def read_effects(folders: Sequence[Path]) -> list[ColumnEffect]:
    """The columns of a run over all its splits, the largest shares first; empty if none were stored."""
    shares: dict[str, list[float]] = {}
    effects: dict[str, dict[str, list[float]]] = {}
    for folder in folders:
        rows = read_rows(folder, FILE) or []
        with damaged(folder / FILE):
            seen: dict[str, float] = {}
            for row in rows[:-1]:
                if not row.get("column"):  # a scorer that is not a formula over the columns
                    continue
                column = visible(row["column"])
                seen[column] = float(row["share"])
                effects.setdefault(column, {}).setdefault(visible(row["value"]), []).append(float(row["effect"]))
            for column, share in seen.items():
                shares.setdefault(column, []).append(share)
    count = len(folders)
    found = [
        ColumnEffect(
            column,
            sum(values) / count,
            stdev([*values, *[0.0] * (count - len(values))]) if count > 1 else math.nan,
            {value: fmean(each) for value, each in effects[column].items()},
        )
        for column, values in shares.items()
    ]
    return sorted(found, key=lambda each: -each.share)
