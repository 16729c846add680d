"""Files of the store that are deleted."""

from __future__ import annotations

import shutil

from fault_cases.workspace import QUICK, SLOW, Fault, Workspace, finish, lacking, outcome, push, running, wait_for


def staging_deleted(workspace: Workspace) -> Fault:
    """The folders of files are deleted (mlruns/artifacts, mlruns/staging) while a job of a sweep computes."""
    workspace.seed_store()
    process = workspace.start("run", "-m", *SLOW, "split.seed=1,2")
    wait_for(lambda: running(workspace.folder / "mlruns" / "mlflow.db"))
    shutil.rmtree(workspace.folder / "mlruns" / "staging")
    shutil.rmtree(workspace.folder / "mlruns" / "artifacts")
    answer = finish(process)
    return outcome("", "", answer, push(workspace) + lacking(workspace, [1, 2]))


def artifacts_deleted(workspace: Workspace) -> Fault:
    """The files of a finished run are deleted; `auclab show last`, `figures` and `compare` on it."""
    workspace.seed_store()
    shutil.rmtree(workspace.folder / "mlruns" / "artifacts")
    answers = [
        workspace.run(*words) for words in (("figures", "last"), ("show", "last"), ("compare",), ("rerun", "last"))
    ]
    traced = [str(each.lines[-1]) for each in answers if any("Traceback" in line for _, line in each.lines)]
    workspace.run("run", *QUICK, "split.seed=1")
    return outcome("", "", answers[0], traced + lacking(workspace, [1]))
