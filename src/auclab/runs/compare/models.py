"""Finds the folder of a model from a run, a path, or a name in the registry of the store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from auclab._core.base import AuclabError
from auclab._core.words import visible
from auclab.export.scorer import SCORER_FILE
from auclab.runs.compare.runs import fetch_files, find_folder, open_reader, read_run
from auclab.runs.stored.stored_files import inner_folder
from auclab.runs.tracking.address import Address, is_local, local_path, reason_of
from auclab.runs.tracking.logged_models import path_in_run

#: The folder of a model among the files of a run or of one of its splits.
MODEL_FOLDER = "model"
_REGISTERED = re.compile(r"models:/(?P<name>[^/@]+)(/(?P<version>\d+|latest)|@(?P<alias>[\w.-]+))")

#: The id of a logged model in the source of a version: ``models:/m-…``, or ``…/models/m-…/artifacts``.
_LOGGED = re.compile(r"\bm-[0-9a-f]{32}\b")


def find_model(name: str, store: str | Path, *, split: int | None = None, allow: Sequence[str] = ()) -> Path:
    """The folder ``model`` that `name` refers to.

    `name`: a run of the store (its id, the first letters of it, its name, or ``last``), a folder with the files of a
    run or with those of a model, or ``models:/NAME/VERSION``, ``models:/NAME/latest``, ``models:/NAME@ALIAS``. `store`:
    what ``tracking.dir`` or ``tracking.uri`` was. `split`: which of the splits of a run, counted from 0. `allow`:
    addresses such as ``s3://bucket`` from which files may be fetched.
    """
    if name.startswith("models:"):
        return _registered(name, Address.parse(store), allow)
    if _is_run_folder(Path(name)):
        folder = Path(name)
        return _of_split(folder, _splits(folder), split, name)
    rows = read_run(store, name, status="FINISHED", allow=allow)
    fetch_files(rows, store, allow=allow)
    return _of_split(Path(rows.iloc[0]["folder"]), [Path(each) for each in rows["fold_folder"]], split, name)


def find_split(
    name: str, store: str | Path, *, split: int | None = None, allow: Sequence[str] = ()
) -> tuple[Path, int, Path]:
    """The folder of a run, the number of one of its splits, and the folder of this split.

    The arguments are those of `find_model`; a registered model names no run.
    """
    folder = Path(name)
    splits = _splits(folder)
    if not (folder / "config.yaml").exists():
        rows = read_run(store, name, status="FINISHED", allow=allow)
        fetch_files(rows, store, allow=allow)
        folder, splits = Path(rows.iloc[0]["folder"]), [Path(each) for each in rows["fold_folder"]]
    number = _number(splits, split, name)
    return folder, number, splits[number]


def _is_run_folder(folder: Path) -> bool:
    return any((folder / name).exists() for name in (SCORER_FILE, MODEL_FOLDER, "fold_0"))


def _splits(folder: Path) -> list[Path]:
    found = [path for path in folder.glob("fold_*") if path.name[5:].isdecimal()]
    return sorted(found, key=lambda path: int(path.name[5:])) or [folder]


def _of_split(folder: Path, splits: Sequence[Path], split: int | None, name: str) -> Path:
    if (folder / SCORER_FILE).exists():
        return folder
    found = inner_folder(splits[_number(splits, split, name)], MODEL_FOLDER)
    if not found.is_dir():
        raise AuclabError(f"{found} does not exist: the run kept no model, or its files are gone")
    return found


def _number(splits: Sequence[Path], split: int | None, name: str) -> int:
    if split is None and len(splits) > 1:
        raise AuclabError(
            f"{visible(name)} has {len(splits)} splits, and each of them a scorer of its own; use one with --split 0, "
            f"…, --split {len(splits) - 1}, or fit one to all rows with split=none"
        )
    number = split or 0
    if not 0 <= number < len(splits):
        raise AuclabError(f"{visible(name)} has no split {number}; they are counted from 0 to {len(splits) - 1}")
    return number


def _registered(name: str, store: Address, allow: Sequence[str]) -> Path:
    found = _REGISTERED.fullmatch(name)
    if found is None:
        raise AuclabError(
            f"{name!r} names no model; write models:/NAME/VERSION, models:/NAME/latest or models:/NAME@ALIAS"
        )
    version = _version(open_reader(store), found, store)
    source, run_id = str(version.source), version.run_id
    if run_id and (logged := _LOGGED.search(source)):  # MLflow's databases do not keep the id by itself
        client = open_reader(store)
        path = path_in_run(str(client.get_logged_model(logged[0]).name))
        folder = find_folder(client.get_run(run_id), store)
        fetch_files(pd.DataFrame({"run_id": [run_id], "folder": [folder]}), str(store), allow=allow)
        for part in PurePosixPath(path).parts:
            folder = inner_folder(folder, part)
        return folder
    if is_local(source) and local_path(source).is_dir():
        return local_path(source)
    where = f"neither a model of a run of {store} nor a folder here"
    raise AuclabError(f"{name} was registered from {visible(source)}, which is {where}")


def _version(client: Any, found: re.Match[str], store: Address) -> Any:
    from auclab.runs.tracking.store import STORE_ERRORS

    try:
        if found["alias"]:
            return client.get_model_version_by_alias(found["name"], found["alias"])
        if found["version"] != "latest":
            return client.get_model_version(found["name"], found["version"])
        versions = client.search_model_versions(f"name = '{found['name']}'")
    except STORE_ERRORS as error:
        raise AuclabError(f"{found[0]} is not in {store}: {visible(reason_of(error))}") from error
    if not versions:
        raise AuclabError(f"no model called {found['name']!r} is registered in {store}")
    return max(versions, key=lambda each: int(each.version))
