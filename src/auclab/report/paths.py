"""Regularisation and threshold paths: runs that differ in λ or z alone, and in seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from auclab.comparison.run_settings import DATA, METHOD, REPLICATION, label, settings_of, telling_settings
from auclab.pipeline.config.run_name import SYMBOLS

#: Parameters of a formulation that make a path.
ALONG = ("formulation.penalty", "formulation.threshold")


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
