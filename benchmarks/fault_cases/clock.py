"""A clock that is moved while a run works, by libfaketime."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from fault_cases.workspace import QUICK, SLOW, Fault, Workspace, finish, is_whole, lacking, outcome, running, wait_for


def _clock(workspace: Workspace, jump: str) -> Fault:
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    rate = workspace.folder / "clock"
    rate.write_text("+0", encoding="utf-8")
    environment = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(rate), "FAKETIME_NO_CACHE": "1"}
    environment["DONT_FAKE_MONOTONIC"] = "1"
    workspace.seed_store()
    process = workspace.start("run", "-m", *SLOW, "split.seed=1", **environment)
    wait_for(lambda: running(workspace.folder / "mlruns" / "mlflow.db"))
    rate.write_text(jump, encoding="utf-8")
    answer = finish(process)
    lost = lacking(workspace, [1])
    with closing(sqlite3.connect(workspace.folder / "mlruns" / "mlflow.db")) as connection:
        connection.execute("PRAGMA busy_timeout = 30000")
        query = """SELECT (r.end_time - r.start_time) / 1000.0 FROM runs r JOIN params p ON p.run_uuid = r.run_uuid
                   WHERE p.key = 'split.seed' AND p.value = '1'"""
        lasted = connection.execute(query).fetchone()[0]
    lost += [] if 0.0 <= lasted <= answer.seconds + 1.0 else [f"the run lasted {lasted:.0f} s by the store"]
    workspace.run("run", *QUICK, "split.seed=2")
    return outcome("", "", answer, lost + lacking(workspace, [2]) + is_whole(workspace.folder / "mlruns" / "mlflow.db"))


def clock_back(workspace: Workspace) -> Fault:
    """The clock is set back by a day while a run works."""
    return _clock(workspace, "-1d")


def clock_ahead(workspace: Workspace) -> Fault:
    """The clock is set ahead by a year while a run works."""
    return _clock(workspace, "+365d")
