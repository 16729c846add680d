# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of tables/tracking.csv may use besides: addresses, locks, kept runs and stored models."""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import sqlite3
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import skops.io
import sqlalchemy
from sklearn.linear_model import LogisticRegression

from auclab.tracking import TrackingConfig, load_model, load_scorer, open_run
from auclab.tracking.address import Address, require_text
from auclab.tracking.database_lock import hold
from auclab.tracking.kept import KeptRun, find_kept
from auclab.tracking.patient_client import PatientClient
from auclab.tracking.push import push
from auclab.tracking.pyfunc_loader import _load_pyfunc
from auclab.tracking.registry import check_name, register_model
from auclab.tracking.store import open_store
from auclab.types import AuclabError
from links import link
from messages.situations.conditions import giving, new_folder, raising, under
from messages.situations.pipeline import QUICK, _folder_of, row_settings, run_folder
from messages.situations.stores import change, changed_store, copied, keep_run, store


def tried(answers: list[bool], seconds: float, after: float = 0.0) -> None:
    """A lock that is taken, or not, at each of the attempts; `after` so many seconds it is said who holds it."""
    attempts = iter(answers)
    replaced = {
        "auclab.tracking.database_lock.ATTEMPT_SECONDS": 0.0,
        "auclab.tracking.database_lock.SAY_AFTER": after,
        "auclab.tracking.database_lock.SAY_AFTER_KIN": after,
        "auclab.tracking.database_lock.holders": giving("auclab run (process 7)"),
    }
    from auclab.tracking.database_lock import _wait

    under(replaced, lambda: _wait(lambda: next(attempts), Path("mlflow.db"), seconds))


def kept_run(**changes: Any) -> KeptRun:
    """A run that is kept in its folder because its store could not be written."""
    from auclab.pipeline.record.keep import keep_aside
    from auclab.tracking.clock import Start
    from messages.situations.pipeline import _result

    folder = new_folder()
    from composed import composed
    from messages.situations.pipeline import rows_file

    data = ("dataset=file", f"dataset.path={rows_file()}", "dataset.target=y", "formulation=bauc", "bounds=none")
    made = composed([*data, "decision.probability=none", f"tracking.dir={folder / 'mlruns'}"])
    with contextlib.suppress(AuclabError):
        keep_aside(_result(), made, folder / "run", Start.now(), OSError(28, "No space left on device"), None)
    return replace(KeptRun.read(folder / "run"), **changes)


def kept_file(text: str | None) -> Any:
    """A folder of a kept run whose ``kept.json`` has this text, or none."""
    folder = kept_run().folder
    if text is None:
        (folder / "kept.json").unlink()
    else:
        (folder / "kept.json").write_text(text, encoding="utf-8")
    return KeptRun.read(folder)


def model(**files: bytes) -> Path:
    """A copy of the folder ``model`` of a run, in which files have other contents."""
    folder = new_folder() / "model"
    shutil.copytree(_folder_of("") / "model", folder)
    for key, content in files.items():
        (path,) = (each for each in folder.iterdir() if each.name in (f"{key}.skops", f"{key}.json"))
        path.write_bytes(content)
    return folder


def foreign_model() -> bytes:
    """A model with a part of a type that models of auclab have not."""
    return skops.io.dumps(SimpleNamespace(a=1))


def failed_run(**replaced: Any) -> None:
    """A run in the store that fails, where functions of tracking are replaced."""

    def fail() -> None:
        with open_run(TrackingConfig(dir=str(copied())), name="a", folder=new_folder(), params={}):
            raise AuclabError("the solver failed")

    with contextlib.suppress(AuclabError):
        under({f"auclab.tracking.{key.replace('__', '.')}": value for key, value in replaced.items()}, fail)


def silent(after: str | None) -> Any:
    """A client of a server that answers, or is silent for this reason."""
    client = PatientClient(SimpleNamespace(get_run=lambda run: run), Address("http://127.0.0.1:1", Path("mlruns")))
    return under({"auclab.tracking.patient_client.why_silent": giving(after)}, lambda: client.get_run("a"))


def deleted(stage: str) -> Any:
    """The store, one experiment of which was deleted."""
    place = changed_store("UPDATE experiments SET lifecycle_stage = ? WHERE name = 'auclab'", stage)
    return open_store(place)


def run_id() -> str:
    """A run of the store."""
    from auclab.comparison import read_runs

    return str(read_runs(store())["run_id"][0])


def server(reason: str | None) -> None:
    """An address that answers, or is silent for this reason."""
    replaced = {"auclab.tracking.address.why_silent": giving(reason)}
    under(replaced, Address.of("mlruns", "http://127.0.0.1:1").require_answer)


def trees() -> Path:
    """The ``scorer.json`` of a model without a formula."""
    folder = model()
    path = folder / "scorer.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"terms": None}), encoding="utf-8")
    return path


def without_auclab(path: Path) -> Any:
    """The model where auclab is not installed."""
    import sys

    return under({}, lambda: _import_blocked(path, sys.modules))


def _import_blocked(path: Path, modules: Any) -> Any:
    from unittest import mock

    with mock.patch.dict(modules, {"auclab.tracking.model": None}):
        return _load_pyfunc(str(path))


def reachable() -> Any:
    """An engine of a database that answers."""
    return SimpleNamespace(connect=lambda: SimpleNamespace(close=lambda: None), dispose=lambda: None)


def file_there() -> Path:
    """A file in the place of a folder."""
    path = new_folder() / "file"
    path.write_text("", encoding="utf-8")
    return path


def linked_model() -> Path:
    """The folder ``model`` of a run with a link in it."""
    folder = model()
    (folder / "scorer.json").rename(folder / "moved.json")
    link(folder / "scorer.json", folder / "moved.json")
    return folder
