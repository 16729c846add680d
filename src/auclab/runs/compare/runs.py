"""MLflow's store as one table: a row per solved split with settings, tags and metrics."""

from __future__ import annotations

import gc
import hashlib
import json
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pandas as pd
import platformdirs

from auclab._core.base import AuclabError
from auclab._core.words import FEW, LINES, did_you_mean, few, visible
from auclab.datasets.target import names_of
from auclab.runs.config.compose import file_name
from auclab.runs.stored.stored_files import damaged, inner_folder, read_rows
from auclab.runs.tracking.address import Address, is_local, is_run_id, local_path, reason_of
from auclab.runs.tracking.sync import ALSO_TAG, GRID_TAG, STARTED_TAG, sync_pending

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

#: Columns besides parameters, metrics and tags.
FACTS = (
    "run_id",
    "run",
    "run_status",
    "started",
    "ended",
    "parent_id",
    "folder",
    "fold",
    "fold_folder",
    "data_sha256",
    "constant",
)

#: Value of the tag ``scorer`` if all rows have the same score.
CONSTANT = "constant"
#: Parents of sweeps have no numbers, and those of jobs of studies are values of claims, not of a solution; runs of
#: others, such as those of `mlflow.models.evaluate`, have neither settings nor files of ours.
_RUNS_ALONE = (f"tags.`{GRID_TAG}` IS NULL", "tags.study IS NULL", "tags.`version.auclab` != ''")
#: Runs that a page of a search has, and that are looked at for a name that is nearly the one that was typed.
PAGE, LOOKED_AT_NAMES = 1000, 100

#: First parts of the names of settings; every other column is a fact, a tag or a metric.
GROUPS = (
    *("dataset", "split", "preprocess", "formulation", "tune", "solver", "metrics", "bounds", "decision", "tracking"),
    "constraints",
    "kernel",
    "class_weight",
    "inner",
    "experiment",
    "data_dir",
)


def is_setting(name: str) -> bool:
    """Whether a column of `read_runs` is a parameter of the run."""
    return name.partition(".")[0] in GROUPS


def status_of(row: Mapping[Any, Any]) -> str:
    """The status of a solve, and whether its scorer is constant; "" if not stored.

    Examples
    --------
    >>> status_of({"tag.status": "optimal", "constant": True}), status_of({"tag.status": "optimal"})
    ('optimal, constant', 'optimal')
    """
    status = row.get("tag.status")
    text = status if isinstance(status, str) else ""
    return f"{text}, {CONSTANT}" if text and row.get("constant") in (True,) else text


def code_of(row: Mapping[Any, Any]) -> str:
    """Version, commit and Python of a run; unknown ones are left out.

    Examples
    --------
    >>> code_of({"tag.version.auclab": "0.3", "tag.python": "3.12.1"})
    'auclab 0.3 · Python 3.12.1'
    """
    version, commit, python = (
        row.get(f"tag.{name}") for name in ("version.auclab", "mlflow.source.git.commit", "python")
    )
    changed = " with uncommitted changes" if row.get("tag.git.changed") == "yes" else ""
    parts = [("auclab ", version, ""), ("commit ", commit, changed), ("Python ", python, "")]
    return " · ".join(f"{what}{text[:12]}{more}" for what, text, more in parts if isinstance(text, str))


def read_runs(
    store_dir: str | Path = "mlruns",
    *,
    filter: str = "",
    experiments: Sequence[str] | None = None,
    status: str | None = "FINISHED",
    sweep: str | None = None,
    newest: int | None = None,
    allow: Sequence[str] = (),
) -> pd.DataFrame:
    """Runs of the store, one row per split: a run over five folds is five rows, oldest run first.

    The store may come from somebody else. Names and texts are therefore returned as one line without control
    characters, and files are read from the run's own folder only.

    Parameters
    ----------
    store_dir : path
        The folder that ``tracking.dir`` named, which holds ``mlflow.db``; or the value of ``tracking.uri``. From a
        server only ``folds.csv`` is fetched; `fetch_files` gets the other files.
    filter : str
        MLflow's search language, such as ``"params.formulation = 'ranksvm' and metrics.gap < 1e-6"`` or
        ``"tags.status = 'optimal'"``; enclose a name with a slash in backquotes.
    experiments : sequence of str, optional
        Names of experiments (``tracking.experiment``); all of them if not given.
    status : str, optional
        ``FINISHED``, ``FAILED``, ``KILLED`` or ``RUNNING``; None for every run.
    sweep : str, optional
        The runs of one sweep, those that it skipped as finished among them: the id of its parent run (`find_sweep`).
    newest : int, optional
        The newest runs alone, this many.
    allow : sequence of str
        Addresses such as ``s3://bucket`` from which files of runs may be fetched; without them, those of the server
        that `store_dir` names.

    Returns
    -------
    DataFrame
        ``run_id``, ``run`` (its name), ``run_status``, ``started``, ``ended`` (UTC), ``parent_id`` (of a sweep),
        ``folder`` (the run's files), ``fold`` (``holdout``, ``fold 3``, ``repeat 1``), ``fold_folder`` (the files of
        this split), ``data_sha256``, ``constant`` (whether the scorer gives every row the same score); then parameters
        under their own names (``formulation.penalty``: numbers where all values are, ``None`` as missing), metrics
        under theirs (``test/auc``) and tags as ``tag.NAME``.
        The parents of sweeps and the jobs of studies are left out.

    Raises
    ------
    AuclabError
        No store, an unknown experiment, a filter that MLflow does not understand, a run over several splits whose
        ``folds.csv`` is gone or damaged, or a run whose files are not in a folder or at an address of its own.

    See Also
    --------
    compare_runs : Compares what is read.
    auclab.runs.write_report : An HTML report of the runs.

    Examples
    --------
    >>> from auclab._core.base import AuclabError
    >>> try:
    ...     read_runs("/nowhere")
    ... except AuclabError as error:
    ...     print(error)
    no runs are kept in /nowhere; start one with auclab run, or name the right folder
    """
    conditions = [filter.strip(), f"attributes.status = '{status}'" if status else "", *_RUNS_ALONE]
    return _read(Address.parse(store_dir), _joined(conditions), experiments, sweep=sweep, newest=newest, allow=allow)


def read_run(store_dir: str | Path, name: str, *, status: str | None = None, allow: Sequence[str] = ()) -> pd.DataFrame:
    """One run, a row per split: by its id, the first letters of its id (four or more), its name, or ``last``.

    `store_dir`, `status`, `allow`: as of `read_runs`. Only this run is read from the store.
    """
    store, of_status = Address.parse(store_dir), f"attributes.status = '{status}'" if status else ""
    quoted = name.replace("'", "")
    asked = [""] if name == "last" else [f"attributes.run_id LIKE '{quoted}%'"] if _may_be_id(name) else []
    asked += [] if name == "last" else [f"attributes.run_name = '{quoted}'"]
    for condition in asked:
        newest = 1 if name == "last" else FEW
        found = _read(store, _joined([condition, of_status, *_RUNS_ALONE]), None, newest=newest, allow=allow)
        ids = list(dict.fromkeys(found["run_id"]))
        if len(ids) == 1:
            return found
        if ids:
            raise AuclabError(
                f"{len(ids)} runs are called {name!r}; say which by its id: {', '.join(map(_short, ids))}"
            )
    if _may_be_id(name) and (sweeps := _search_sweeps(store, name)):
        short = _short(sweeps[0])
        raise AuclabError(
            f"{name} is a sweep; auclab compare --sweep {short} compares its runs, auclab runs --sweep {short} lists "
            "them"
        )
    some = _read(store, _joined([of_status, *_RUNS_ALONE]), None, newest=LOOKED_AT_NAMES, allow=allow)
    known = [*some["run"].unique(), *map(_short, some["run_id"])]
    near = "" if name == "last" else did_you_mean(name, ["last", *known])
    raise AuclabError(f"no run is called {name!r}{near}; auclab runs lists them")


def find_study(store_dir: str | Path, name: str) -> tuple[Run, str] | None:
    """A job of a study by its id, the first letters of it or its name, or ``last`` if no run is newer; its verdicts.

    The verdicts are the text of ``verdicts.csv``. None if the name is that of no such job.
    """
    store, quoted = Address.parse(store_dir), name.replace("'", "")
    condition = "" if name == "last" else f"attributes.run_name = '{quoted}'"
    if name != "last" and _may_be_id(name):
        condition = f"attributes.run_id LIKE '{quoted}%'"
    with readable(store, "runs"):
        client = open_reader(store)
        experiment_ids = _experiment_ids(client, None, store)
        found = list(_search(client, experiment_ids, _joined([condition, "tags.study != ''"]), 1))
        if not found:
            return None
        if name == "last":
            others = list(_search(client, experiment_ids, _joined(_RUNS_ALONE), 1))
            if others and (others[0].info.start_time or 0) > (found[0].info.start_time or 0):
                return None
        with tempfile.TemporaryDirectory() as folder:
            kept = {file.path for file in client.list_artifacts(found[0].info.run_id)}
            if "verdicts.csv" not in kept:
                return found[0], ""
            path = client.download_artifacts(found[0].info.run_id, "verdicts.csv", folder)
            return found[0], Path(path).read_text(encoding="utf-8")


def find_sweep(store_dir: str | Path, name: str) -> str:
    """The id of a sweep: by the first letters of it (four or more), or ``last`` for the one that was started last.

    A sweep that was interrupted and started again counts from its latest start; one that was deleted is not found.
    """
    found = _search_sweeps(Address.parse(store_dir), name)
    if len(found) == 1:
        return found[0]
    if found:
        raise AuclabError(f"{len(found)} sweeps are called {name!r}; there are {few(found)}")
    known = _search_sweeps(Address.parse(store_dir), "")
    near = did_you_mean(name, [*({"last"} - {name}), *(each[: max(8, len(name))] for each in known)])
    raise AuclabError(f"no sweep is called {name!r}{near}; there are {few(known) or 'none'}")


def _search_sweeps(store: Address, name: str) -> list[str]:
    """Ids of the parent runs that a name may mean, the one that was started last first."""
    condition = [f"tags.`{GRID_TAG}` != ''"]
    condition += [f"attributes.run_id LIKE '{name}%'"] if _may_be_id(name) else []
    most = 1 if name == "last" else LINES if name == "" or _may_be_id(name) else 0
    if not most:
        return []
    order = [f"tags.`{STARTED_TAG}` DESC"]
    with readable(store, "sweeps"):
        client = open_reader(store)
        page = client.search_runs(
            _experiment_ids(client, None, store), _joined(condition), max_results=most, order_by=order
        )
    return [str(run.info.run_id) for run in page]


def _may_be_id(name: str) -> bool:
    return len(name) >= 4 and name != "last" and re.fullmatch("[0-9a-f]{4,32}", name) is not None


def _short(run_id: object) -> str:
    return str(run_id)[:8]


def _joined(conditions: Sequence[str]) -> str:
    return " and ".join(each for each in conditions if each)


def _read(
    store: Address,
    condition: str,
    experiments: Sequence[str] | None,
    *,
    sweep: str | None = None,
    newest: int | None = None,
    allow: Sequence[str],
) -> pd.DataFrame:
    """The runs that satisfy a condition, as a table, oldest first."""
    conditions = [condition]
    if sweep is not None:
        members = (f"tags.mlflow.parentRunId = '{sweep}'", f"tags.`{ALSO_TAG}` LIKE '%{sweep}%'")
        conditions = [_joined([condition, each]) for each in members]
    with readable(store, "runs"), _without_collections():
        client = open_reader(store)
        experiment_ids = _experiment_ids(client, experiments, store)
        runs = [run for each in conditions for run in _search(client, experiment_ids, each, newest)]
        runs = sorted({run.info.run_id: run for run in runs}.values(), key=lambda run: run.info.start_time or 0)
        table = pd.DataFrame([row for run in runs for row in _rows(run, client, store, allow)])
    table = table.reindex(columns=[*FACTS, *(name for name in table.columns if name not in FACTS)])
    times = {name: pd.to_datetime(table[name], unit="ms", utc=True, errors="coerce") for name in ("started", "ended")}
    params = dict.fromkeys(key for run in runs for key in _params(run))
    return table.assign(**times, **{key: _typed(table[key]) for key in params})


@contextmanager
def _without_collections() -> Iterator[None]:
    """No search for garbage while a store is read: SQLAlchemy makes a hundred objects a run, all of them used."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _search(client: MlflowClient, experiments: list[str], condition: str, newest: int | None) -> Iterator[Run]:
    """The runs that satisfy the condition, newest first, page by page; this many, if not None."""
    token: str | None = None
    while token != "" and (newest is None or newest > 0):
        size = PAGE if newest is None else min(PAGE, newest)
        page = client.search_runs(experiments, condition, max_results=size, page_token=token)
        yield from page
        newest = None if newest is None else newest - len(page)
        token = page.token or ""


def find_metric(runs: pd.DataFrame, name: str) -> str:
    """The column of a metric: ``auc`` is that of the held-out part, else of the training part.

    If no run has it, the AUC over comparable pairs: ``concordance``, ``grouped_auc``.

    Examples
    --------
    >>> find_metric(pd.DataFrame({"train/auc": [0.9], "gap": [0.0]}), "auc")
    'train/auc'
    >>> find_metric(pd.DataFrame({"test/concordance": [0.9], "test/auc": [float("nan")]}), "auc")
    'test/concordance'
    """
    called = [f"{part}{each}" for each in names_of(name) for part in ("", "test/", "train/")]
    measured = [each for each in called if each in runs and runs[each].notna().any()]
    return next((each for each in (*measured, *called) if each in runs), name)


@contextmanager
def readable(store: str | Path | Address, what: str) -> Iterator[None]:
    """Turn exceptions from an unreadable store into an `AuclabError`."""
    address = store if isinstance(store, Address) else Address.parse(store)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # MLflow's own use of SQLAlchemy
            yield
    except Exception as error:  # narrowed below: a refusal does not need MLflow
        if not isinstance(error, AuclabError):
            from auclab.runs.tracking.store import STORE_ERRORS

            if isinstance(error, STORE_ERRORS):
                raise AuclabError(f"cannot read the {what} in {address}: {reason_of(error)}") from error
        raise


def open_reader(store: str | Path | Address) -> MlflowClient:
    """A client of a store, to read: it creates neither database nor experiment.

    Runs that a process which is gone has left in their folders are sent first.
    """
    address = store if isinstance(store, Address) else Address.parse(store)
    sync_pending(address)
    require_store(address)
    with readable(address, "runs"):
        from auclab.runs.tracking import store as _silence  # noqa: F401  MLflow, only once there is something to read

        from mlflow import MlflowClient  # isort: skip  the store turns telemetry off first

        return MlflowClient(tracking_uri=address.uri)


def require_store(store: Address) -> None:
    """Check that the store exists."""
    store.require_answer()
    if store.file is not None and not store.file.exists():
        raise AuclabError(f"no runs are kept in {store}; start one with auclab run, or name the right folder")


def _experiment_ids(client: MlflowClient, names: Sequence[str] | None, store: Address) -> list[str]:
    ids = {item.name: item.experiment_id for item in client.search_experiments()}
    if missing := [name for name in names or () if name not in ids]:
        near = did_you_mean(missing[0], ids)
        raise AuclabError(
            f"no experiment {', '.join(missing)} in {store}{near}; experiments are {', '.join(sorted(ids))}"
        )
    return [ids[name] for name in names or ids]


def _params(run: Run) -> dict[str, str]:
    """Parameters, without those that have the name of a fact.

    ``dataset`` is the displayed name of a file, and ``tune`` the tuned parameter, not what was typed.
    """
    shown = {visible(key): visible(value) for key, value in run.data.params.items()}
    if (path := shown.get("dataset.path", "None")) != "None":
        shown["dataset"] = file_name(path, shown.get("dataset.name"))
    if (parameter := shown.get("tune.parameter")) is not None:
        shown["tune"] = "none" if parameter == "None" else parameter
    return {key: value for key, value in shown.items() if key not in FACTS and not key.startswith("tag.")}


def _rows(run: Run, client: MlflowClient, store: Address, allow: Sequence[str]) -> Iterator[dict[Any, Any]]:
    """The splits of one run, as rows."""
    params = _params(run)
    metrics = {visible(key): value for key, value in run.data.metrics.items()}
    metrics = {key: value for key, value in metrics.items() if key not in FACTS and key not in params}
    folder = find_folder(run, store)
    several = any(f"{key}_sd" in metrics for key in metrics)
    if several and not is_local(run.info.artifact_uri):
        _fetch(client, run, "folds.csv", store, allow)
    facts: dict[str, Any] = params | {f"tag.{visible(key)}": visible(value) for key, value in run.data.tags.items()}
    facts |= {
        "run_id": run.info.run_id,
        "run": visible(str(run.info.run_name)),
        "run_status": visible(str(run.info.status)),
        "started": run.info.start_time,
        "ended": run.info.end_time,
        "parent_id": run.data.tags.get("mlflow.parentRunId") and visible(run.data.tags["mlflow.parentRunId"]),
        "folder": folder,
        "data_sha256": _data_sha256(run),
        "constant": run.data.tags.get("scorer") == CONSTANT,
    }
    table = folder / "folds.csv"
    rows = read_rows(folder, table.name)
    if rows is not None:
        for number, row in enumerate(rows):
            with damaged(table):
                fold = {"fold": visible(row.pop("fold")), "fold_folder": inner_folder(folder, f"fold_{number}")}
                status: dict[str, Any] = {"tag.status": visible(row.pop("status"))} if "status" in row else {}
                status |= {"constant": row.pop("scorer") == CONSTANT} if "scorer" in row else {}
                numbers = {visible(key): float(value or "nan") for key, value in row.items()}
            own = {key: value for key, value in numbers.items() if key not in facts and key not in FACTS}
            yield facts | fold | status | own
    elif several:
        raise AuclabError(
            f"{table} is gone, and run {facts['run']} was over several splits; restore it, or {_leave_out(run)}"
        )
    else:
        yield facts | metrics | {"fold": _only_fold(params), "fold_folder": folder}


def _leave_out(run: Run) -> str:
    return f"leave the run out (--filter \"attributes.run_id != '{run.info.run_id}'\")"


def find_folder(run: Run, store: Address) -> Path:
    """Where the run's files are, also after the store was moved: MLflow keeps absolute addresses.

    Files that a server keeps are in the user's cache folder, once `fetch_files` has downloaded them.
    """
    run_id, uri = str(run.info.run_id), str(run.info.artifact_uri)
    if not is_run_id(run_id):
        raise AuclabError(f"{store} has a run with the id {visible(run_id)!r}; an id consists of letters and digits")
    if not is_local(uri):
        return _downloads(store) / run_id
    here = store.directory / "artifacts" / run_id / "artifacts"
    folder = here if here.exists() else local_path(uri)
    if urlsplit(uri).netloc not in ("", "localhost") or folder.resolve().parts[-2:] != (run_id, "artifacts"):
        raise AuclabError(
            f"the store says that the files of run {visible(str(run.info.run_name))} are in {visible(uri)}, which is "
            f"not the run's folder: that is called {run_id}/artifacts; {_leave_out(run)}"
        )
    return folder


def fetch_files(runs: pd.DataFrame, store: str | Path, *, allow: Sequence[str] = ()) -> None:
    """Download the files of some runs from a server; those of a finished run are downloaded once.

    `runs`: as `read_runs` gives it. `store`: the store the runs are from. `allow`: addresses such as ``s3://bucket``
    from which files may be fetched, besides the server itself.
    """
    address = Address.parse(store)
    away = runs[[Path(folder).is_relative_to(_downloads(address)) for folder in runs["folder"]]]
    if away.empty:
        return
    client = open_reader(address)
    for run_id in away["run_id"].unique():
        with _fetching(run_id):
            run = client.get_run(run_id)
        _fetch(client, run, "", address, allow)


def _downloads(store: Address) -> Path:
    """Where files of runs are that a server keeps; with the store: another one may have a run of the same id."""
    place = hashlib.sha256(store.uri.encode()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("auclab")) / "runs" / place


@contextmanager
def _fetching(run_id: str) -> Iterator[None]:
    from auclab.runs.tracking.store import STORE_ERRORS

    try:
        yield
    except STORE_ERRORS as error:
        reason = visible(" ".join(str(error).split()))
        raise AuclabError(f"cannot get the files of run {run_id}: {reason}") from error


def _fetch(client: MlflowClient, run: Run, path: str, store: Address, allow: Sequence[str]) -> None:
    """Download one file or all, unless they are there; they are moved into place when they are complete."""
    folder = find_folder(run, store)
    mark = folder / path if path else folder / "config.yaml"  # of a failed run, fetched each time
    if mark.exists():
        return
    _require_own_address(run, store, allow)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as draft, _fetching(run.info.run_id):
        client.download_artifacts(run.info.run_id, path, draft)
        for each in sorted(Path(draft).iterdir(), key=lambda each: each.name == "config.yaml"):
            target = folder / each.name
            if not target.exists():
                each.replace(target)


def _require_own_address(run: Run, store: Address, allow: Sequence[str]) -> None:
    """Check that the files of a run are at the requested server, or at an allowed address.

    Any other address comes from the untrusted store, and would be sent the passwords that MLflow finds in the
    environment.
    """
    uri = str(run.info.artifact_uri)
    parts, server = urlsplit(uri), urlsplit(store.uri)
    own = store.is_server and parts.scheme == "mlflow-artifacts" and parts.netloc in ("", server.netloc)
    if own or any(uri == each or uri.startswith(f"{each.rstrip('/')}/") for each in allow):
        return
    place = f"{parts.scheme}://{parts.netloc}"
    raise AuclabError(
        f"the files of run {visible(str(run.info.run_name))} are at {visible(uri)}, and that is not the "
        f"server that {store} is; to fetch them is to contact it. If you know the address, allow it: --allow {place}. "
        f"Otherwise {_leave_out(run)}"
    )


def _only_fold(params: Mapping[str, str]) -> str:
    """The name the split had in `datasets.splits`, so that a fold in a run of its own pairs with one among many."""
    split = params.get("split", "")
    if split == "kfold" or params.get("split.n_folds", "None") != "None":
        fold = params.get("split.fold", "None")
        return f"fold {0 if fold == 'None' else fold}"  # stopped after the first of several, if no fold was given
    return "repeat 1" if split == "repeated" else split


def _data_sha256(run: Run) -> str | None:
    for item in run.inputs.dataset_inputs if run.inputs else ():
        try:
            return visible(str(json.loads(item.dataset.source).get("sha256"))) or None
        except (ValueError, AttributeError, TypeError, RecursionError):  # of another program, or changed
            return None
    return None


def _typed(column: pd.Series) -> pd.Series:
    """The column as numbers if all its values are numeric; MLflow stores parameters as text."""
    column = column.where(column != "None", None)
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if (numbers.notna() == column.notna()).all() else column
