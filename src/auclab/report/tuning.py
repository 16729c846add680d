"""Paths of runs that tuned λ or z on inner folds: the score of every value tried."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import pandas as pd

from auclab.comparison.run_settings import DATA, METHOD, label, settings_of, telling_settings
from auclab.pipeline.config.auto_tuning import BESIDE_GAMMA
from auclab.pipeline.config.run_name import SYMBOLS
from auclab.pipeline.stored.stored_files import damaged, read_rows
from auclab.report.paths import Path, Point, point

#: File with the values that a split tried.
TUNING_FILE = "tuning.csv"


def tuning_paths(runs: pd.DataFrame) -> list[Path]:
    """A path per tuned configuration, and per γ where that was tuned too; points are means over its seeds and folds.

    `runs`: finished runs, as `auclab.comparison.read_runs` gives them. Splits whose file is gone are left out.
    """
    if "tune.parameter" not in runs:
        return []
    runs = runs[runs["tune.parameter"].isin([*SYMBOLS, "kernel"])]
    fixed = [name for name in settings_of(runs, (*DATA, *METHOD)) if runs[name].notna().any()]
    if runs.empty:
        return []
    telling = telling_settings(runs, fixed)
    found = []
    for _, block in runs.groupby(fixed, dropna=False, sort=False):
        tried = [frame for folder in block["fold_folder"] if (frame := _tried(FilePath(folder))) is not None]
        if tried:
            first = block.iloc[0]
            name = label(telling, [first[key] for key in telling])
            metric = f"{first.get('tune.metric', 'score')}, inner folds"
            symbol = SYMBOLS[_along(first)]
            for gamma, values in pd.concat(tried).groupby("gamma", dropna=False):
                at = "" if pd.isna(gamma) else f" γ={float(str(gamma)):.3g}"
                found.append(Path(symbol, f"{name}{at}", metric, _points(values)))
    return found


def _along(run: pd.Series[Any]) -> str:
    """The parameter that was tuned, with γ or alone."""
    if run["tune.parameter"] != "kernel":
        return str(run["tune.parameter"])
    return next(name for name in BESIDE_GAMMA if run.get(f"formulation.{name}") == "tuned")


def _tried(folder: FilePath) -> pd.DataFrame | None:
    """Values and scores of one split."""
    rows = read_rows(folder, TUNING_FILE)
    if rows is None:
        return None
    with damaged(folder / TUNING_FILE):
        names = ("gamma", "value", "mean")
        return pd.DataFrame({key: [float(row.get(key) or "nan") for row in rows] for key in names})


def _points(tried: pd.DataFrame) -> tuple[Point, ...]:
    groups = tried.dropna(subset=["mean"]).groupby("value")["mean"]
    return tuple(point(float(str(value)), scores) for value, scores in groups)
