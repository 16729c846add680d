"""Contributions of the columns of the data to the scores, by configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from auclab.comparison.coefficients import ColumnEffect, read_effects
from auclab.comparison.run_settings import DATA, METHOD, label, settings_of, telling_settings
from auclab.sizes import LINES

#: Largest number of configurations that a section shows.
MOST_SCORERS = 40


@dataclass(frozen=True)
class ScorerEffects:
    """A configuration: its name, its columns with the largest shares over seeds and folds, and their number."""

    name: str
    splits: int
    columns: tuple[ColumnEffect, ...]
    count: int


def scorer_effects(runs: pd.DataFrame) -> list[ScorerEffects]:
    """The columns of every configuration over its seeds and folds; those without coefficients are left out.

    `runs`: finished runs, as `auclab.comparison.read_runs` gives them.
    """
    fixed = [name for name in settings_of(runs, (*DATA, *METHOD)) if runs[name].notna().any()]
    telling = telling_settings(runs, fixed)
    found = []
    for _, block in runs.groupby(fixed, dropna=False, sort=False):
        columns = read_effects([Path(folder) for folder in block["fold_folder"]])
        if columns:
            name = label(telling, [block.iloc[0][key] for key in telling])
            found.append(ScorerEffects(name, len(block), tuple(columns[:LINES]), len(columns)))
        if len(found) == MOST_SCORERS:
            break
    return found
