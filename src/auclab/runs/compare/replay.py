"""Run a stored configuration again, and compare the numbers with the stored ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from auclab._core.base import AuclabError
from auclab.runs.compare.runs import GROUPS, is_setting

if TYPE_CHECKING:
    from auclab.runs.split.results import Result

#: Numbers that measure effort, not results.
EFFORT = ("seconds/", "iterations")


@dataclass(frozen=True)
class Replay:
    """Stored and new numbers, a line per split and metric: ``fold, metric, stored, again, difference, same``.

    `differences` has the results that are not the same; `remarks` list other changes: of data, versions, splits and
    metrics.
    """

    numbers: pd.DataFrame
    remarks: tuple[str, ...]

    @property
    def differences(self) -> pd.DataFrame:
        """Results that differ from the stored ones; times and iterations are ignored."""
        counts = ~self.numbers["metric"].str.startswith(EFFORT)
        return self.numbers[counts & ~self.numbers["same"]]

    @property
    def same(self) -> bool:
        """Whether every result equals the stored one."""
        return self.differences.empty

    @property
    def largest(self) -> float:
        """The largest difference of a result."""
        counts = self.numbers[~self.numbers["metric"].str.startswith(EFFORT)]
        return float(counts["difference"].abs().max())


def replay(rows: pd.DataFrame, *, tolerance: float = 1e-9, allow: Sequence[str] = ()) -> Replay:
    """Run the stored configuration again, without storing the run, and compare every number.

    `rows`: one run, as `read_run` gives it. `tolerance` ≥ 0: numbers are the same if they differ by at most this,
    relative to the stored one where that exceeds 1. The order in which threads add may change the last digits. `allow`:
    classes and functions that the stored configuration may name besides those of ``conf/``, and addresses it may
    connect to (`auclab.runs.stored.configuration.stored_experiment`).
    """
    first = rows.iloc[0]
    if first["run_status"] != "FINISHED":
        raise AuclabError(
            f"the run {first['run']} is {first['run_status']}: there are no numbers to compare with; "
            "auclab runs lists those that finished"
        )
    result = _run(first, allow)
    remarks = _remarks(first, result.dataset.sha256)
    again = {fold.split.name: fold.numbers for fold in result.folds}
    lines = []
    for _, row in rows.iterrows():
        stored = {key: float(row[key]) for key in map(str, rows.select_dtypes("number")) if _is_result(key, row)}
        new = again.pop(str(row["fold"]), {})
        if not new:
            remarks.append(f"the split {row['fold']} was not repeated")
        for key in dict.fromkeys([*stored, *new]):
            lines.append((row["fold"], key, stored.get(key, math.nan), new.get(key, math.nan)))
    remarks += [f"the split {name} is new" for name in again]
    numbers = pd.DataFrame(lines, columns=["fold", "metric", "stored", "again"])
    both_unknown = numbers["stored"].isna() & numbers["again"].isna()
    difference = (numbers["again"] - numbers["stored"]).mask(numbers["again"] == numbers["stored"], 0.0)
    near = difference.abs() <= tolerance * numbers["stored"].abs().clip(lower=1.0)
    numbers = numbers.assign(difference=difference.mask(both_unknown, 0.0), same=near | both_unknown)
    return Replay(numbers, tuple(remarks))


def _run(first: pd.Series[Any], allow: Sequence[str]) -> Result:
    from omegaconf.errors import OmegaConfBaseException

    from auclab.runs.experiment import solve_splits
    from auclab.runs.stored.configuration import CONFIG_FILE, stored_experiment

    folder = Path(first["folder"])
    choices = {group: first[group] for group in GROUPS if isinstance(first.get(group), str)}
    experiment = stored_experiment(folder, choices=choices, allow=allow)
    try:
        return solve_splits(experiment)
    except (LookupError, TypeError, AttributeError, OmegaConfBaseException) as error:
        made = f"auclab {first.get('tag.version.auclab')}, commit {first.get('tag.mlflow.source.git.commit')}"
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise AuclabError(
            f"this version cannot run {folder / CONFIG_FILE} ({what}); it was made with {made}"
        ) from error


def _is_result(key: str, row: pd.Series[Any]) -> bool:
    return not is_setting(key) and not key.startswith("tag.") and pd.notna(row[key])


def _remarks(first: pd.Series[Any], sha256: str) -> list[str]:
    """Data, versions and commit that have changed since."""
    from auclab.runs.tracking.environment import capture_environment

    remarks = []
    if isinstance(first.get("data_sha256"), str) and first["data_sha256"] != sha256:
        remarks.append(f"the data have changed: sha256 {first['data_sha256'][:12]} then, {sha256[:12]} now")
    now = capture_environment()
    for key in [*(key for key in now if key.startswith("version.")), "python", "cpu", "mlflow.source.git.commit"]:
        then = first.get(f"tag.{key}")
        if isinstance(then, str) and key in now and then != now[key]:
            name = key.removeprefix("version.").removeprefix("mlflow.source.git.")
            remarks.append(f"{name}: {then} then, {now[key]} now")
    return remarks
