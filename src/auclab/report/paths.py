"""Figures along runs: paths of λ and z, values tried on inner folds, lower bounds beside held-out values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path as Folder
from typing import Any

import pandas as pd

from auclab.comparison.cells import DATA, METHOD, REPLICATION, label, settings_of, telling_settings
from auclab.pipeline.config.compose import BESIDE_GAMMA, SYMBOLS
from auclab.pipeline.screen.result_screen import BoundLine
from auclab.pipeline.stored.stored_files import damaged, read_json, read_rows
from auclab.pipeline.stored.visible import visible

#: Parameters of a formulation that make a path.
ALONG = ("formulation.penalty", "formulation.threshold")
#: File with the values that a split tried.
TUNING_FILE = "tuning.csv"


@dataclass(frozen=True)
class Point:
    """Mean and standard deviation (n − 1, None for one) of a metric at one λ or z, over `count` seeds and folds."""

    at: float
    mean: float
    deviation: float | None
    count: int


@dataclass(frozen=True)
class Path:
    """One metric along one parameter, everything else fixed."""

    symbol: str
    name: str
    metric: str
    points: tuple[Point, ...]

    @property
    def data(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)


def find_paths(runs: pd.DataFrame, metrics: Sequence[str]) -> list[Path]:
    """Paths of all metrics over at least two values of λ or z.

    `runs`: finished runs, as `auclab.comparison.read_runs` gives them. `metrics`: columns of numbers; those that a path
    lacks are left out.
    """
    return [path for along in ALONG if along in runs for path in _paths_along(runs, along, metrics)]


def _paths_along(runs: pd.DataFrame, along: str, metrics: Sequence[str]) -> list[Path]:
    """Groups of runs that agree in all settings but `along` and the seeds."""
    runs = runs.assign(**{along: pd.to_numeric(runs[along], errors="coerce")})  # "tuned" is not a number
    runs = runs[runs[along].notna()]
    fixed = [name for name in settings_of(runs, (*DATA, *METHOD)) if name != along and runs[name].notna().any()]
    if runs.empty or not fixed:
        return []
    blocks = [block for _, block in runs.groupby(fixed, dropna=False, sort=False) if block[along].nunique() > 1]
    if not blocks:
        return []
    together = pd.concat(blocks)
    telling = telling_settings(together, fixed)
    symbol = SYMBOLS[along.rpartition(".")[2]]
    paths = []
    for block in blocks:
        name = label(telling, [block.iloc[0][key] for key in telling])
        newest = block.drop_duplicates([along, "fold", *(key for key in REPLICATION if key in block)], keep="last")
        for metric in metrics:
            if metric in newest and newest[metric].notna().any():
                groups = newest.groupby(along)[metric]
                points = tuple(point(float(str(at)), values.dropna()) for at, values in groups)
                paths.append(Path(symbol, name, metric, tuple(point for point in points if point.count)))
    return paths


def point(at: float, values: pd.Series) -> Point:
    """Mean and standard deviation of some values."""
    deviation = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    mean = float(values.mean()) if len(values) else math.nan
    return Point(at, mean, None if math.isnan(deviation) else deviation, len(values))


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
        tried = [frame for folder in block["fold_folder"] if (frame := _tried(Folder(folder))) is not None]
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


def _tried(folder: Folder) -> pd.DataFrame | None:
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


KIND = ["name", "quantity", "sample"]
FIELDS = [*KIND, "lower", "test_value", "vacuous"]


def read_bounds(folders: Iterable[Folder]) -> pd.DataFrame:
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
