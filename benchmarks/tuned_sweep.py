"""Seven tuned formulations on a table of customers with 8 % positives: CPU seconds of each job, by version.

    python benchmarks/tuned_sweep.py --table wide
    python benchmarks/tuned_sweep.py --versions old="OLD/python OLD/run.py" new="python run.py"

Each job is a process of its own with one thread, and the versions take turns. `tall`: 148,000 rows, 59 columns when
categories are coded. `wide`: 12,000 rows, 325 columns, of which many belong to rare categories. `heavy`: 10,000 rows
with heavy-tailed numbers and postal codes. Nothing is kept: the numbers are printed.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import customers  # type: ignore[import-not-found]  # noqa: E402

FORMULATIONS = "bauc,ranksvm,generalized_bauc,csvm,ecsvm,partial_auc,logistic"
CHANNELS = {"shop": 0.5, "web": 0.3, "phone": 0.1, "mail": 0.07, "fair": 0.03}


def base(n_rows: int, *, dates: bool = False) -> pd.DataFrame:
    """Rows of customers.csv without identifiers, with decimal points."""
    frame = customers.table(n_rows)
    frame["spent"] = frame["spent"].str.replace(",", ".")
    return frame.drop(columns=["customer", "row", *([] if dates else ["since"])])


def tall() -> pd.DataFrame:
    """Many rows, a few categories."""
    frame, rng = base(150_000, dates=True), np.random.default_rng(5)
    numbers = {f"m{k}": rng.lognormal(0, 1, len(frame)).round(3) for k in range(6)}
    kept = ~((frame["left"] == "yes") & (rng.random(len(frame)) < 0.12))
    frame = frame.assign(**numbers)[kept]
    frame["region"] = rng.choice([f"r{k}" for k in range(26)], len(frame))
    frame["channel"] = rng.choice(list(CHANNELS), len(frame), p=list(CHANNELS.values()))
    return frame


def wide() -> pd.DataFrame:
    """Eight columns of 40 categories, many of them rare."""
    frame, rng = base(12_000), np.random.default_rng(3)
    for k in range(8):
        names = [f"v{k}_{j}" for j in range(40)]
        frame[f"c{k}"] = rng.choice(names, len(frame), p=rng.dirichlet(np.full(40, 0.7)))
    return frame.assign(**{f"m{k}": rng.normal(size=len(frame)).round(3) for k in range(12)})


def heavy() -> pd.DataFrame:
    """Ten columns with heavy tails, and postal codes of which most are rare."""
    frame, rng = base(10_000), np.random.default_rng(5)
    frame = frame.assign(**{f"m{k}": rng.lognormal(0, 1.5, len(frame)).round(3) for k in range(10)})
    frame["zip"] = rng.choice([f"z{k}" for k in range(200)], len(frame), p=rng.dirichlet(np.ones(200)))
    frame["channel"] = rng.choice(list(CHANNELS), len(frame), p=list(CHANNELS.values()))
    return frame


TABLES: dict[str, Callable[[], pd.DataFrame]] = {"tall": tall, "wide": wide, "heavy": heavy}


def job(command: str, formulation: str, table: Path, dates: bool) -> tuple[float, str]:
    """CPU seconds of a run, and what its screen says of the model."""
    settings = [f"dataset.path={table}", f"dataset.target={customers.TARGET}", f"dataset.positive={customers.POSITIVE}"]
    settings += ["preprocess.dates=[year,month,age]"] if dates else []
    settings += [f"formulation={formulation}", "tune=auto", "dataset=file", "tracking=none"]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    with tempfile.TemporaryFile("w+", encoding="utf-8") as screen:
        process = subprocess.Popen(
            [*shlex.split(command), *settings],
            stdout=screen,
            stderr=subprocess.STDOUT,
            cwd=table.parent,
            env={**os.environ, **threads},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        screen.seek(0)
        text = screen.read()
    if process.returncode:
        raise SystemExit(f"{command} {formulation} ended with {process.returncode}:\n{text}")
    said = [line for line in text.splitlines() if re.match(r"test AUC|optimal|seconds", line)]
    return usage.ru_utime + usage.ru_stime, " | ".join(re.sub(r"\s+", " ", line)[:90] for line in said)


def main() -> None:
    """Make the table, run the jobs, print a line for each, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--table", choices=TABLES, default="wide")
    parser.add_argument("--formulations", default=FORMULATIONS)
    parser.add_argument("--versions", nargs="+", default=[f"now={sys.executable} {ROOT / 'run.py'}"])
    options = parser.parse_args()
    versions = dict(each.split("=", 1) for each in options.versions)
    total = dict.fromkeys(versions, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{options.table}.csv"
        frame = TABLES[options.table]()
        frame.to_csv(path, index=False)
        for formulation in options.formulations.split(","):
            for name, command in versions.items():
                seconds, screen = job(command, formulation, path, "since" in frame)
                total[name] += seconds
                print(f"{formulation:17} {name:5} {seconds:7.1f} CPU s   {screen}", flush=True)
    for name, seconds in total.items():
        print(f"{'all':17} {name:5} {seconds:7.1f} CPU s")


if __name__ == "__main__":
    main()
