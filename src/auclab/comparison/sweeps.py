"""The runs of one sweep: those it computed, and finished ones that it skipped."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from auclab.comparison.runs import SWEEP_TAG, open_reader, readable, require_store, sweep_members
from auclab.tracking.address import Address
from auclab.tracking.sweeps import STARTED_TAG
from auclab.types import AuclabError
from auclab.wording import did_you_mean, few


def choose_sweep(runs: pd.DataFrame, name: str, store: str | Path) -> tuple[str, pd.DataFrame]:
    """Id of a sweep, and those of the runs that belong to its grid.

    `runs`: as `read_runs` gives it. `name`: the sweep's id, its first letters, or ``last`` for the one that was started
    last; a sweep that was interrupted and started again counts from its latest start. `store`: the store the runs are
    from.
    """
    members = sweep_members(runs)
    started = [each for each in _in_order_of_start(store) if each in members]
    # Those whose parents were deleted can be named, and are not the last.
    sweeps = [*(each for each in members if each not in started), *started]
    found = sweeps[-1:] if name == "last" else [each for each in sweeps if each.startswith(name)]
    if len(found) != 1:
        several = f"{len(found)} sweeps are" if found else "no sweep is"
        near = "" if found else did_you_mean(name, ["last", *(each[: max(8, len(name))] for each in sweeps)])
        raise AuclabError(f"{several} called {name!r}{near}; there are {few(sweeps) or 'none'}")
    return found[0], runs[runs["run_id"].isin(members[found[0]])]


def _in_order_of_start(store: str | Path) -> list[str]:
    require_store(Address.parse(store))
    with readable(store, "sweeps"):
        client = open_reader(store)
        every = [each.experiment_id for each in client.search_experiments()]
        parents, token = [], None
        while token != "":
            page = client.search_runs(every, f"tags.`{SWEEP_TAG}` != ''", max_results=1000, page_token=token)
            parents += page
            token = page.token or ""
    # Sweeps of earlier versions have no start time; they are older.
    parents.sort(key=lambda run: (run.data.tags.get(STARTED_TAG, ""), run.info.start_time))
    return [str(run.info.run_id) for run in parents]
