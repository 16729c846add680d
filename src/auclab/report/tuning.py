"""Paths of runs that tuned λ or z on inner folds: the score of every value tried."""

from __future__ import annotations

from pathlib import Path as FilePath

import pandas as pd

from auclab.comparison.cells import DATA, METHOD, label, settings_of
from auclab.pipeline.run_name import SYMBOLS
from auclab.report.paths import Path, Point, point

#: File with the values that a split tried.
TUNING_FILE = "tuning.csv"


def tuning_paths(runs: pd.DataFrame) -> list[Path]:
    """A path per configuration that was tuned; points are means over its seeds and folds.

    Parameters
    ----------
    runs : DataFrame
        Finished runs, as `auclab.comparison.read_runs` gives them. Splits whose file is gone are left out.
    """
    if "tune.parameter" not in runs:
        return []
    runs = runs[runs["tune.parameter"].isin(SYMBOLS)]
    fixed = [name for name in settings_of(runs, (*DATA, *METHOD)) if runs[name].notna().any()]
    if runs.empty:
        return []
    telling = [name for name in fixed if runs[name].nunique(dropna=False) > 1 or name in ("formulation", "dataset")]
    found = []
    for _, block in runs.groupby(fixed, dropna=False, sort=False):
        files = [FilePath(folder) / TUNING_FILE for folder in block["fold_folder"]]
        tried = [pd.read_csv(file) for file in files if file.exists()]
        if tried:
            first = block.iloc[0]
            name = label(telling, [first[key] for key in telling])
            metric = f"{first.get('tune.metric', 'score')}, inner folds"
            found.append(Path(SYMBOLS[first["tune.parameter"]], name, metric, _points(pd.concat(tried))))
    return found


def _points(tried: pd.DataFrame) -> tuple[Point, ...]:
    groups = tried.dropna(subset=["mean"]).groupby("value")["mean"]
    return tuple(point(float(str(value)), scores) for value, scores in groups)
