"""A row per run: its results, the commands that reproduce them, and in what the runs differ."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from auclab._core.base import CONVERGED
from auclab.runs.compare.cells import FOLLOW
from auclab.runs.compare.runs import code_of, is_setting, status_of
from auclab.runs.split.results import spread

#: Differences other than settings, and their labels.
OTHER = {
    "data_sha256": "data (sha256)",
    "tag.config.code": "code",
    "tag.version.auclab": "auclab",
    "tag.python": "Python",
    "tag.host": "host",
}
#: Settings that locate runs.
_WHERE = ("tracking", "data_dir", "experiment")


def run_lines(runs: pd.DataFrame, metrics: Sequence[str], *, store: str) -> list[dict[str, Any]]:
    """A line per run, oldest first.

    `runs`: as `auclab.runs.read_runs` gives it, with runs of every status. `metrics`: columns to show. `store`:
    the store's folder, as written in the commands. Returns: among others ``number`` on the page, ``measured`` (mean
    over the splits and its text, per metric), ``command`` as typed ("" if it does more than run an experiment) and
    ``again``, the command that checks the numbers.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in runs.to_dict("records"):
        rows.setdefault(row["run_id"], []).append({str(key): value for key, value in row.items()})
    return [_line(number, each, metrics, store) for number, each in enumerate(rows.values())]


def _line(number: int, rows: list[dict[str, Any]], metrics: Sequence[str], store: str) -> dict[str, Any]:
    first = rows[0]
    endings = list(dict.fromkeys(map(_ending, rows)))
    where = [] if store == "mlruns" else ["--store", store]
    return {
        "number": number,
        "run_id": str(first["run_id"]),
        "name": str(first["run"]),
        "dataset": str(first.get("dataset", "")),
        "status": ", ".join(endings),
        "good": set(endings) <= set(CONVERGED),  # not those of constant scorers
        "splits": len(rows),
        "measured": [_measured(_values(rows, metric)) for metric in metrics],
        "gap": spread(_values(rows, "gap"))[2],
        "seconds": sum(_values(rows, "seconds/total")),
        "started": first["started"],
        "command": plain_command(plain_text(first.get("tag.command"))),
        "again": shlex.join(["auclab", "rerun", *where, str(first["run_id"])[:12]]),
        "code": code_of(first),
        "data_sha256": plain_text(first["data_sha256"]),
        "error": plain_text(first.get("tag.error")),
    }


def _measured(values: list[float]) -> tuple[float, str]:
    """The mean over the splits of a run, and its text: ``0.9123 ± 0.0045``."""
    mean, deviation, _ = spread(values)
    more = "" if math.isnan(deviation) else f" ± {deviation:.4f}"
    return mean, "—" if math.isnan(mean) else f"{mean:.4f}{more}"


def plain_command(text: str) -> str:
    """A stored command if it only runs an experiment with settings; else "".

    Readers copy it into a terminal, and it is untrusted: refused are characters special to a shell, names of classes or
    functions, and settings of where configurations are read and files are written.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        return ""
    settings = words[2:]
    is_run = words[:2] in (["python", "run.py"], ["auclab", "run"]) and shlex.join(words) == text
    return text if is_run and all(map(_is_setting, settings)) else ""


def _is_setting(word: str) -> bool:
    if word == "hydra.mode=RUN":  # a job of a study
        return True
    key = re.match(r"[+~]{0,2}([A-Za-z][\w./@]*)(?:=|$)", word)
    return key is not None and not key[1].startswith("hydra") and "_target_" not in word and "${" not in word


def _ending(row: Mapping[str, Any]) -> str:
    """The status of a split, or of a run that did not finish."""
    if row["run_status"] != "FINISHED":
        return str(row["run_status"]).lower()
    return status_of(row) or "finished"


def _values(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    return [float(row.get(name, math.nan)) for row in rows]


def plain_text(value: Any) -> str:
    """A value of the store as a string, "" where it is missing."""
    return "" if value is None or pd.isna(value) else str(value)


def settings_that_differ(runs: pd.DataFrame, numbers: Mapping[str, int]) -> dict[str, Any]:
    """The settings that have several values among some runs.

    `runs`: as `auclab.runs.read_runs` gives them. `numbers`: the number of each run on the page, by its id.
    Returns: ``names``, and ``values``: by number of the run a text for every name, "" where it has no such setting.
    """
    first = runs.drop_duplicates("run_id")
    columns = [str(name) for name in first if is_setting(str(name)) and str(name).partition(".")[0] not in _WHERE]
    columns = [name for name in columns if name not in FOLLOW] + [name for name in OTHER if name in first]
    texts = {name: first[name].map(lambda value: _text(value)) for name in columns}
    varying = [name for name in columns if texts[name].nunique() > 1]
    ids = [numbers[str(run_id)] for run_id in first["run_id"]]
    return {
        "names": [OTHER.get(name, name) for name in varying],
        "values": {number: [texts[name].iloc[k] for name in varying] for k, number in enumerate(ids)},
    }


def _text(value: Any) -> str:
    """An integer without a decimal point, also if missing values made the column one of floats."""
    return f"{value:.12g}" if isinstance(value, float) and not pd.isna(value) else plain_text(value)
