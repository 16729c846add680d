"""Outcomes of the jobs of an adaptive search, read from the store, and the state of the search."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from auclab.datasets.target import name_among
from auclab.sweeps.adaptive import Outcome, Search
from auclab.tracking.config import TrackingConfig
from auclab.tracking.job_status import PARENT_VARIABLE, JobStatus
from auclab.tracking.search_tags import KeptSearch, read_values
from auclab.types import AuclabError


def outcome_of(job: Any, tracking: TrackingConfig, metric: str) -> Outcome:
    """The outcome of a job; `job` is a `JobStatus`, or what a launcher returned for a worker that died."""
    if not isinstance(job, JobStatus):
        return Outcome("KILLED")
    if job.status not in ("FINISHED", "SKIPPED", "PRUNED"):
        return Outcome(job.status, run_id=job.run_id)
    if job.run_id is None:
        return Outcome(job.status, **_valued(_numbers_in_folder(job.folder), metric))
    numbers, tags = _kept(tracking, job.run_id)
    valued = {} if job.status == "PRUNED" else _valued(numbers, metric)
    return Outcome(job.status, folds=read_values(tags, metric), run_id=job.run_id, **valued)


def _valued(numbers: dict[str, float], metric: str) -> dict[str, Any]:
    """The value, and the name of the metric over comparable pairs."""
    metric = name_among(metric, numbers)
    if metric not in numbers:
        known = sorted(key for key in numbers if key.startswith(("inner/", "tune/score")) and not key.endswith("_se"))
        listed = ", ".join(known) or "none on inner folds"
        raise AuclabError(f"hydra.sweeper.metric={metric} is not measured by these runs; they have {listed}")
    return {"value": float(numbers[metric]), "metric": metric}


def _numbers_in_folder(folder: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return found


def _kept(tracking: TrackingConfig, run_id: str) -> tuple[dict[str, float], dict[str, str]]:
    from auclab.tracking.address import cannot_keep
    from auclab.tracking.store import STORE_ERRORS, open_tracked

    store = open_tracked(tracking)
    try:
        data = store.client.get_run(run_id).data
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error
    return dict(data.metrics), dict(data.tags)


def keep(search: Search, folder: Path, tracking: TrackingConfig, metric: str, sampler: str) -> None:
    """Write ``search.csv``, and the state of the search to the parent run, if there is one."""
    search.save(folder / "search.csv")
    if (parent := os.environ.get(PARENT_VARIABLE)) is None:
        return
    from auclab.tracking.searches import keep_search

    direction = "maximize" if search.sign == 1 else "minimize"
    runs = tuple(each.run_id or "" for each in search.outcomes)
    kept = KeptSearch(metric, direction, sampler, tuple(search.space), runs, search.importances)
    keep_search(tracking, parent, kept, search.values)


def show_search(search: Search, metric: str, command: Callable[[Sequence[str]], str]) -> None:
    """Print the best proposal and its value, the importances, and the command that runs the best.

    `command`: that of a proposal.
    """
    from auclab.pipeline.screen.console import out

    best, outcomes, metric = search.best, search.outcomes, search.name_of(metric)
    if best is None:
        if outcomes:
            out.print("search:    no job has a value, so there is no best")
        return
    words = f"best of {len(outcomes)} is job {best}, {metric} {search.values[best]:.4f}"
    counts = Counter("left early" if each.status == "PRUNED" else "without a value" for each in outcomes
                     if each.value is None or math.isnan(each.value))  # fmt: skip
    out.print(f"search:    {', '.join([words, *(f'{n} {what}' for what, n in counts.items())])}", markup=False)
    if shares := search.importances:
        listed = ", ".join(f"{key} {100 * share:.0f} %" for key, share in shares.items())
        out.print(f"matters:   {listed} of the variance of {metric}", soft_wrap=True, markup=False)
    out.print(f"run it:    {command(search.jobs[best].words)}", soft_wrap=True, markup=False)
