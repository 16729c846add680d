"""MLflow's store as one table: a row per solved split, with what was asked for and what was found."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import pandas as pd

from auclab.types import AuclabError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

#: What describes a run besides its parameters, metrics and tags.
FACTS = ("run_id", "run", "run_status", "started", "ended", "parent_id", "folder", "fold", "fold_folder", "data_sha256")

#: The parent of a sweep has this tag and no numbers of its own.
SWEEP_TAG = "sweep.grid"
#: A job of a study has this tag: its rows are values of claims, and no formulation's.
STUDY_TAG = "study"


#: First words of settings; every other column is a fact, a tag or a number.
GROUPS = (
    *("dataset", "split", "preprocess", "formulation", "tune", "solver", "metrics", "bounds", "tracking"),
    "experiment",
    "data_dir",
)


def is_setting(name: str) -> bool:
    """Whether a column of `read_runs` is a parameter of the run."""
    return name.partition(".")[0] in GROUPS


def read_runs(
    store_dir: str | Path = "mlruns",
    *,
    filter: str = "",
    experiments: Sequence[str] | None = None,
    status: str | None = "FINISHED",
) -> pd.DataFrame:
    """Runs of the store, one row per split: a run over five folds is five rows, oldest run first.

    Parameters
    ----------
    store_dir : path
        The folder that ``tracking.dir`` named; it holds ``mlflow.db``.
    filter : str
        MLflow's search language, such as ``"params.formulation = 'ranksvm' and metrics.gap < 1e-6"`` or
        ``"tags.status = 'optimal'"``; a name with a slash goes into backquotes.
    experiments : sequence of str, optional
        Names of experiments (``tracking.experiment``); all of them if not given.
    status : str, optional
        ``FINISHED``, ``FAILED``, ``KILLED`` or ``RUNNING``; None for every run.

    Returns
    -------
    DataFrame
        ``run_id``, ``run`` (its name), ``run_status``, ``started``, ``ended`` (UTC), ``parent_id`` (of a sweep),
        ``folder`` (the run's files), ``fold`` (``holdout``, ``fold 3``, ``repeat 1``), ``fold_folder`` (the files of
        this split), ``data_sha256``; then parameters under their own names (``formulation.penalty``: numbers where
        all values are, ``None`` as missing), metrics under theirs (``test/auc``) and tags as ``tag.NAME``.
        The parents of sweeps and the jobs of studies are left out.

    Raises
    ------
    AuclabError
        No store, an unknown experiment, a filter that MLflow does not understand, or a run over several splits whose
        ``folds.csv`` is gone.
    """
    place = Path(store_dir).absolute()
    words = [part for part in (filter.strip(), f"attributes.status = '{status}'" if status else "") if part]
    found = _search(place, " and ".join(words), experiments)
    runs = [run for run in found if not {SWEEP_TAG, STUDY_TAG} & run.data.tags.keys()]
    table = pd.DataFrame([row for run in runs for row in _rows(run, place)])
    table = table.reindex(columns=[*FACTS, *(name for name in table.columns if name not in FACTS)])
    params = dict.fromkeys(key for run in runs for key in run.data.params)
    return table.assign(**{key: _typed(table[key]) for key in params})


def _search(place: Path, words: str, experiments: Sequence[str] | None) -> list[Run]:
    """All runs that fit, oldest first."""
    from auclab.tracking.store import STORE_ERRORS

    found: list[Run] = []
    token: str | None = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # MLflow's own use of SQLAlchemy
            client = open_reader(place)
            chosen = _experiment_ids(client, experiments, place)
            while token != "":
                page = client.search_runs(
                    chosen, words, max_results=1000, order_by=["attributes.start_time ASC"], page_token=token
                )
                found += page
                token = page.token or ""
    except STORE_ERRORS as error:
        raise AuclabError(f"cannot read the runs in {place}: {' '.join(str(error).split())}") from error
    return found


def find_run(runs: pd.DataFrame, word: str) -> pd.DataFrame:
    """The rows of one run, found by its id, the first letters of its id, its name, or ``last``.

    Raises
    ------
    AuclabError
        No run or several of that name.
    """
    ids = list(dict.fromkeys(runs["run_id"]))
    found = ids[-1:] if word == "last" else [each for each in ids if len(word) >= 4 and each.startswith(word)]
    found = found or list(dict.fromkeys(runs.loc[runs["run"] == word, "run_id"]))
    if len(found) != 1:
        told = f"{len(found)} runs are" if found else "no run is"
        hint = (
            f"say which by its id: {', '.join(each[:8] for each in found[:6])}" if found else "auclab runs lists them"
        )
        raise AuclabError(f"{told} called {word!r}; {hint}")
    return runs[runs["run_id"] == found[0]]


def open_reader(place: Path) -> MlflowClient:
    """A client on the store below `place`; unlike one that writes, it makes nothing that is not there.

    Raises
    ------
    AuclabError
        There is no database.
    """
    require_store(place)
    from auclab.tracking.store import database_uri  # MLflow, only once there is something to read

    from mlflow import MlflowClient  # isort: skip  the store silences telemetry first

    return MlflowClient(tracking_uri=database_uri(place))


def require_store(place: Path) -> None:
    """There is a database below `place`.

    Raises
    ------
    AuclabError
        There is none.
    """
    if not (place / "mlflow.db").exists():
        raise AuclabError(f"no runs are kept in {place}; start one with python run.py, or name the right folder")


def _experiment_ids(client: MlflowClient, names: Sequence[str] | None, place: Path) -> list[str]:
    known = {item.name: item.experiment_id for item in client.search_experiments()}
    if unknown := [name for name in names or () if name not in known]:
        raise AuclabError(f"no experiment {', '.join(unknown)} in {place}; there are {', '.join(sorted(known))}")
    return [known[name] for name in names or known]


def _rows(run: Run, place: Path) -> Iterator[dict[Any, Any]]:
    """The splits of one run, as rows."""
    params, metrics = run.data.params, run.data.metrics
    folder = find_folder(run, place)
    facts = {
        "run_id": run.info.run_id,
        "run": run.info.run_name,
        "run_status": run.info.status,
        "started": pd.to_datetime(run.info.start_time, unit="ms", utc=True),
        "ended": pd.to_datetime(run.info.end_time, unit="ms", utc=True),
        "parent_id": run.data.tags.get("mlflow.parentRunId"),
        "folder": folder,
        "data_sha256": _data_sha256(run),
    }
    facts |= params
    facts |= {f"tag.{key}": value for key, value in run.data.tags.items()}
    table = folder / "folds.csv"
    if table.exists():
        with table.open(encoding="utf-8", newline="") as file:  # not by pandas, which may round the last digit
            for number, row in enumerate(csv.DictReader(file)):
                fold = {"fold": row.pop("fold"), "fold_folder": folder / f"fold_{number}"}
                status = {"tag.status": row.pop("status")} if "status" in row else {}
                yield facts | fold | status | {key: float(value or "nan") for key, value in row.items()}
    elif any(f"{key}_sd" in metrics for key in metrics):
        raise AuclabError(
            f"{table} is gone, and run {run.info.run_name} was over several splits; restore it, or leave the run out "
            f"(--filter \"attributes.run_id != '{run.info.run_id}'\")"
        )
    else:
        yield facts | metrics | {"fold": _only_fold(params), "fold_folder": folder}


def find_folder(run: Run, place: Path) -> Path:
    """Where the run's files are, also after the store was moved: MLflow keeps absolute addresses."""
    written = Path(url2pathname(urlparse(run.info.artifact_uri).path))
    here = place / "artifacts" / run.info.run_id / "artifacts"
    return here if here.exists() and not written.exists() else written


def _only_fold(params: dict[str, str]) -> str:
    """The name the split had in `auclab.splits`, so that a fold in a run of its own pairs with one among many."""
    split = params.get("split", "")
    if split == "kfold":
        fold = params.get("split.fold", "None")
        return f"fold {0 if fold == 'None' else fold}"  # stopped after the first of several, if no fold was asked for
    return "repeat 1" if split == "repeated" else split


def _data_sha256(run: Run) -> str | None:
    for item in run.inputs.dataset_inputs if run.inputs else ():
        return str(json.loads(item.dataset.source).get("sha256")) or None
    return None


def _typed(column: pd.Series) -> pd.Series:
    """Numbers where every word is one; MLflow keeps parameters as words."""
    column = column.where(column != "None", None)
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if (numbers.notna() == column.notna()).all() else column
