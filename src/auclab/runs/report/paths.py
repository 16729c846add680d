"""Figures along runs: paths of λ and z, values tried on inner folds, lower bounds beside held-out values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path as Folder
from typing import Any

import pandas as pd

from auclab._core.words import visible
from auclab.runs.compare.cells import DATA, METHOD, REPLICATION, label, settings_of, telling_settings
from auclab.runs.config.compose import BESIDE_GAMMA, SYMBOLS, symbol_of
from auclab.runs.screen.result_screen import NOT_PROVED, BoundLine
from auclab.runs.stored.stored_files import damaged, read_json, read_rows

#: Parameters of a formulation that make a path.
ALONG = ("formulation.penalty", "formulation.threshold")
#: File with the values that a split tried.
TUNING_FILE = "tuning.csv"


#: One metric along one parameter, everything else fixed: ``symbol``, ``name``, ``metric``, ``points``.
Path = dict[str, Any]


def path(symbol: str, name: str, metric: str, along: pd.Series, values: pd.Series) -> Path:
    """Mean, standard deviation (n − 1, None of one value) and number of the values at each λ or z."""
    groups = values.groupby(along.astype(float)).agg(["mean", "std", "count"])
    points = [
        {"at": at, "mean": mean, "deviation": None if math.isnan(deviation) else deviation, "count": int(count)}
        for at, mean, deviation, count in groups.itertuples(name=None)
        if count
    ]
    return {"symbol": symbol, "name": name, "metric": metric, "points": points}


def configurations(runs: pd.DataFrame, *, but: str = "") -> Iterator[tuple[pd.DataFrame, list[str]]]:
    """Runs that agree in all settings but the seeds and `but`, and the settings that tell them from the others."""
    fixed = [name for name in settings_of(runs, (*DATA, *METHOD)) if name != but and runs[name].notna().any()]
    if len(runs) and fixed:
        telling = telling_settings(runs, fixed)
        yield from ((block, telling) for _, block in runs.groupby(fixed, dropna=False, sort=False))


def named(block: pd.DataFrame, telling: Sequence[str]) -> str:
    """The name of a configuration."""
    return label(telling, [block.iloc[0][key] for key in telling])


def find_paths(runs: pd.DataFrame, metrics: Sequence[str]) -> list[Path]:
    """Paths of all metrics over at least two values of λ or z.

    `runs`: finished runs, as `auclab.runs.read_runs` gives them. `metrics`: columns of numbers; those that a path
    lacks are left out.
    """
    return [path for along in ALONG if along in runs for path in _paths_along(runs, along, metrics)]


def _paths_along(runs: pd.DataFrame, along: str, metrics: Sequence[str]) -> Iterator[Path]:
    """Groups of runs that agree in all settings but `along` and the seeds."""
    runs = runs.assign(**{along: pd.to_numeric(runs[along], errors="coerce")})  # "tuned" is not a number
    blocks = [block for block, _ in configurations(runs[runs[along].notna()], but=along) if block[along].nunique() > 1]
    if not blocks:
        return
    for block, telling in configurations(pd.concat(blocks), but=along):
        newest = block.drop_duplicates([along, "fold", *(key for key in REPLICATION if key in block)], keep="last")
        for metric in metrics:
            if metric in newest and newest[metric].notna().any():
                symbol = symbol_of(along.rpartition(".")[2])
                yield path(symbol, named(block, telling), metric, newest[along], newest[metric])


def tuning_paths(runs: pd.DataFrame) -> list[Path]:
    """A path per tuned configuration, and per γ where that was tuned too; points are means over its seeds and folds.

    `runs`: finished runs, as `auclab.runs.read_runs` gives them. Splits whose file is gone are left out.
    """
    if "tune.parameter" not in runs:
        return []
    found = []
    for block, telling in configurations(runs[runs["tune.parameter"].isin([*SYMBOLS, "kernel"])]):
        tried = [frame for folder in block["fold_folder"] if (frame := _tried(Folder(folder))) is not None]
        if tried:
            first = block.iloc[0]
            metric = f"{first.get('tune.metric', 'score')}, inner folds"
            for gamma, values in pd.concat(tried).groupby("gamma", dropna=False):
                at = "" if pd.isna(gamma) else f" γ={float(str(gamma)):.3g}"
                name = f"{named(block, telling)}{at}"
                found.append(path(symbol_of(_along(first)), name, metric, values["value"], values["mean"]))
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
                kind = map(visible, (line.name + NOT_PROVED * line.own, line.quantity, line.sample))
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
