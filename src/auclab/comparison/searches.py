"""Adaptive searches of a store: their jobs in order, with their values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from rich.text import Text

from auclab.comparison.runs import open_reader, readable, require_store
from auclab.comparison.screens import STYLES
from auclab.datasets.target import name_among
from auclab.pipeline.screen.tables import page, print_table
from auclab.pipeline.stored.visible import visible
from auclab.sizes import MOST_ENTRIES
from auclab.tracking.address import Address
from auclab.tracking.search_tags import METRIC_TAG, PRUNED, KeptSearch


@dataclass(frozen=True)
class SearchJob:
    """A job of a search.

    `number`: from 0, in the order in which they were proposed. `run_id`: its run; "" if there is none. `settings`:
    what was proposed, by the keys of the search. `value`, `error`: the metric and its standard error over inner folds;
    NaN for a job without them. `status`: of the run in lower case, ``pruned`` if it ended early, or ``no run``.
    `leads`: whether the value is better than all before it.
    """

    number: int
    run_id: str
    settings: tuple[object, ...]
    value: float
    error: float
    status: str
    leads: bool


@dataclass(frozen=True)
class Search:
    """A search with its jobs.

    `kept`: as stored with the parent run. `jobs`: in the order in which they were proposed.
    """

    kept: KeptSearch
    jobs: tuple[SearchJob, ...]

    @property
    def best(self) -> SearchJob | None:
        """The first with the best value; None if no job has one."""
        return next((job for job in reversed(self.jobs) if job.leads), None)

    @property
    def best_so_far(self) -> list[tuple[int, float]]:
        """Number of the job and the best value up to it, of every job with a value."""
        best, found = math.nan, []
        for job in self.jobs:
            if not math.isnan(job.value):
                best = job.value if job.leads else best
                found.append((job.number, best))
        return found


def read_search(store: str | Path, sweep: str, runs: pd.DataFrame) -> Search | None:
    """The adaptive search of a sweep; None if the sweep is not one.

    `store`: where it is. `sweep`: id of its parent run. `runs`: as `read_runs` gives it with ``status=None``, those of
    the search among them.
    """
    return find_searches(store, runs).get(sweep)


def find_searches(store: str | Path, runs: pd.DataFrame) -> dict[str, Search]:
    """All adaptive searches of a store, oldest first, by the id of the parent run; `runs` as of `read_search`."""
    require_store(Address.parse(store))
    with readable(store, "searches"):
        client = open_reader(store)
        every = [each.experiment_id for each in client.search_experiments()]
        order = ["attributes.start_time DESC"]
        parents = client.search_runs(every, f"tags.`{METRIC_TAG}` != ''", max_results=MOST_ENTRIES, order_by=order)
    runs = runs.drop_duplicates("run_id")
    found = {}
    for parent in reversed(parents):
        kept = KeptSearch.from_tags({key: str(value) for key, value in parent.data.tags.items()})
        if kept is not None:
            own = runs[runs["run_id"].astype(str).str.startswith(tuple(filter(None, kept.runs)))]
            metric = name_among(kept.metric, own.dropna(axis=1, how="all"))  # inner/concordance of censored times
            kept = replace(kept, metric=visible(metric), space=tuple(visible(key) for key in kept.space))
            found[str(parent.info.run_id)] = Search(kept, tuple(_jobs(kept, runs)))
    return found


def _jobs(kept: KeptSearch, runs: pd.DataFrame) -> list[SearchJob]:
    every = runs.to_dict("records")
    sign, best, found = 1 if kept.direction == "maximize" else -1, -math.inf, []
    for number, start in enumerate(kept.runs):
        row = next((each for each in every if start and str(each["run_id"]).startswith(start)), None)
        if row is None:
            found.append(SearchJob(number, "", ("",) * len(kept.space), math.nan, math.nan, "no run", leads=False))
            continue
        settings = tuple(row.get(key.lstrip("+").replace("/", ".")) for key in kept.space)
        value, error = (float(row.get(key, math.nan)) for key in (kept.metric, f"{kept.metric}_se"))
        status = PRUNED if row.get("tag.status") == PRUNED else str(row["run_status"]).lower()
        value = value if status == "finished" else math.nan
        leads = sign * value > best
        best = sign * value if leads else best
        found.append(SearchJob(number, str(row["run_id"]), settings, value, error, status, leads))
    return found


def show_search(search: Search) -> None:
    """Print the search space, the jobs with the best so far, and the importance of settings."""
    kept, best = search.kept, search.best
    lines: list[list[str | Text]] = []
    for job in search.jobs:
        value = "—" if math.isnan(job.value) else f"{job.value:.4f}"
        value += "" if math.isnan(job.error) or math.isnan(job.value) else f" ± {job.error:.4f}"
        style = "bold green" if job is best else "bold" if job.leads else ""
        mark = "best" if job is best else "better" if job.leads else ""
        shown = Text(job.status, STYLES.get(job.status.upper(), "yellow" if job.status != "finished" else ""))
        proposed = [str(job.number), *map(_setting, job.settings)]
        line: list[str | Text] = [*proposed, Text(value, style), Text(mark, style), shown]
        lines.append([*line, Text(job.run_id[:8], "cyan")])
    head = ["job", *kept.space, kept.metric, "", "status", "run"]
    print_table(head, lines, left=(*range(1, len(kept.space) + 1), *range(len(head) - 3, len(head))))
    words = "largest" if kept.direction == "maximize" else "smallest"
    counted = f"{len(search.jobs)} jobs proposed by {visible(kept.sampler)} for the {words} {kept.metric}"
    page.print(Text(f"{counted}, ± its standard error over inner folds", "dim"), soft_wrap=not page.is_terminal)
    if kept.importances:
        shares = ", ".join(f"{visible(key)} {100 * share:.0f} %" for key, share in kept.importances.items())
        page.print(f"matters  {shares} of the variance of {kept.metric}", soft_wrap=True, markup=False)


def _setting(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)
