"""Adaptive searches: the value of every job, and the best so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from auclab.comparison.searches import Search, SearchJob, find_searches


@dataclass(frozen=True)
class SearchLine:
    """A search on the page.

    `name`: first letters of the id of its parent run. `search`: with all of its jobs. `number`: of the run of the best
    job on the page; None where there is none. `settings`: those of the best job. `matters`: share of each setting in
    the variance of the values.
    """

    name: str
    search: Search
    number: int | None
    settings: str
    matters: str

    @property
    def best(self) -> SearchJob | None:
        """The job with the best value."""
        return self.search.best

    @property
    def data(self) -> list[dict[str, Any]]:
        """Ready for JSON: the value of each job, and the best so far, over the number of the job."""
        values = [(job.number, job.value) for job in self.search.jobs if not math.isnan(job.value)]
        lines = {"each job": (values, False), "best so far": (self.search.best_so_far, True)}
        return [
            {
                "symbol": f"job of search {self.name}",
                "name": name,
                "metric": self.search.kept.metric,
                "joined": joined,
                "points": [{"at": at, "mean": value, "deviation": None, "count": 1} for at, value in points],
            }
            for name, (points, joined) in lines.items()
        ]


def search_lines(store: str | Path, runs: pd.DataFrame, numbers: Mapping[str, int]) -> list[SearchLine]:
    """The searches with two values or more among the runs of a page, oldest first.

    `store`: where they are. `runs`: as `auclab.comparison.read_runs` gives it with ``status=None``. `numbers`: numbers
    of runs on the page by id.
    """
    found = find_searches(store, runs).items()
    return [_line(name[:8], search, numbers) for name, search in found if len(search.best_so_far) > 1]


def _line(name: str, search: Search, numbers: Mapping[str, int]) -> SearchLine:
    best, kept = search.best, search.kept
    pairs = zip(kept.space, best.settings if best is not None else (), strict=False)
    settings = " ".join(f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}" for key, value in pairs)
    matters = ", ".join(f"{key} {100 * share:.0f} %" for key, share in kept.importances.items())
    return SearchLine(name, search, numbers.get(best.run_id) if best is not None else None, settings, matters)
