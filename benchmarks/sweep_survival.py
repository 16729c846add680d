"""Sweeps under kill -9: start one, kill it at random times, start it again, and count the runs in the store.

    python benchmarks/sweep_survival.py [--jobs 20] [--kills 5] [--seed 0] [--launcher basic] [--folder FOLDER]
    python benchmarks/sweep_survival.py --page    # the screen of docs/sweeps.md, from docs/sweeps/survival.csv

Every start is the same command. A kill hits the process of the sweep alone, as the system's own would; workers of a
launcher have to notice. Prints one line per start and the verdict: every job finished once, no run left RUNNING, no
file half-written, the database whole. Exit code 0 if so.
"""

from __future__ import annotations

import argparse
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import measured

ROOT = measured.ROOT
PAGE = ROOT / "docs" / "sweeps.md"
RESULTS = PAGE.with_suffix("") / "survival.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/sweep_survival.py", "benchmarks/sweep_survival.py --page"
FIELDS = ("jobs", "kills", "line")
#: What was printed.
LINES: list[str] = []


def say(line: str) -> None:
    """Print a line, and keep it."""
    LINES.append(line)
    print(line, flush=True)


def command(jobs: int, launcher: str) -> list[str]:
    """Quick jobs: 40 rows, one figure set and one model each."""
    return [
        *(sys.executable, str(ROOT / "run.py"), "-m", "dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=20"),
        *("dataset.n_features=2", "solver=highs", "bounds=none", f"split.seed=range({jobs})"),
        *([] if launcher == "basic" else [f"hydra/launcher={launcher}", "hydra.launcher.workers=2"]),
    ]


def statuses(folder: Path) -> Counter[str]:
    """How many children are in which status; read beside MLflow."""
    return Counter(status for status, _, _ in children(folder))


def children(folder: Path) -> list[tuple[str, str, str]]:
    """Status, seed and folder of every job's run."""
    query = """SELECT r.status, p.value, r.artifact_uri FROM runs r JOIN params p ON p.run_uuid = r.run_uuid
               WHERE p.key = 'split.seed'"""
    path = folder / "mlruns" / "mlflow.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path, timeout=30)) as database:
        return database.execute(query).fetchall()


def survive(folder: Path, jobs: int, kills: int, seed: int, launcher: str) -> list[str]:
    """Run, kill, run again to the end; return the errors found, one line each."""
    generator, start = random.Random(seed), command(jobs, launcher)
    begin = time.monotonic()
    for number in range(kills):
        before, begun = statuses(folder)["FINISHED"], len(children(folder))
        process = subprocess.Popen(start, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Most moments are in the midst of jobs, the others anywhere, the making of the database among them.
        among_jobs = generator.random() < 0.75
        target = before + generator.randint(0, max(1, jobs // kills)) if among_jobs else jobs
        end = time.monotonic() + (300.0 if among_jobs else generator.uniform(0.5, 20.0))
        while time.monotonic() < end and process.poll() is None:
            found = statuses(folder)
            if found["FINISHED"] >= target and found.total() > begun:
                break
            time.sleep(0.05)
        time.sleep(generator.uniform(0.0, 3.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = statuses(folder)
        say(f"kill {number + 1:2}: {time.monotonic() - begin:6.1f} s  {dict(found)}")
    answer = subprocess.run(start, cwd=folder, capture_output=True, text=True)
    last = answer.stdout.strip().splitlines()[-1]
    say(f"{last} (exit code {answer.returncode}, {time.monotonic() - begin:.0f} s)")
    return faults(folder, jobs, answer.returncode)


def faults(folder: Path, jobs: int, code: int) -> list[str]:
    """What is wrong with the store."""
    wrong = [] if code == 0 else [f"exit code {code}"]
    finished = Counter(seed for status, seed, _ in children(folder) if status == "FINISHED")
    wrong += [f"seed {seed} finished {finished[str(seed)]} times" for seed in range(jobs) if finished[str(seed)] != 1]
    with closing(sqlite3.connect(folder / "mlruns" / "mlflow.db")) as database:
        whole = database.execute("PRAGMA integrity_check").fetchone()[0]
        mode = database.execute("PRAGMA journal_mode").fetchone()[0]
        left = database.execute("SELECT count(*) FROM runs WHERE status = 'RUNNING'").fetchone()[0]
        parents = database.execute("SELECT count(*) FROM tags WHERE key = 'sweep.key'").fetchone()[0]
    wrong += [f"database: {whole}"] if whole != "ok" else []
    wrong += [f"{left} runs are left RUNNING"] if left else []
    wrong += [f"staged files are left: {path}" for path in (folder / "mlruns" / "staging").glob("*")]
    sets: Counter[tuple[str, int]] = Counter()
    for status, seed, uri in children(folder):
        files = Path(uri.removeprefix("file://"))
        names = frozenset(path.name for path in files.rglob("*")) if files.exists() else frozenset()
        sets[status, len(names)] += 1
        if status == "FINISHED" and not {"metrics.json", "config.yaml", "scores.parquet", "scorer.json"} <= names:
            wrong.append(f"files of seed {seed} are missing")
    say(f"journal mode {mode}, integrity {whole}, {parents} parent run(s); runs by (status, files): {dict(sets)}")
    return wrong


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """The screen of the page."""
    return {"survival": "\n".join(f"    {row['line']}".rstrip() for row in rows)}


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about how it was measured."""
    times = {"5": "five", "10": "ten"}.get(rows[0]["kills"], rows[0]["kills"])
    return [f"{rows[0]['jobs']} jobs, the process of the sweep killed with `kill -9` {times} times"]


def main() -> None:
    """Read the options, run, print the verdict; or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--launcher", choices=["basic", "processes", "dask"], default="basic")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    folder = options.folder or Path(tempfile.mkdtemp(prefix="survival-"))
    folder.mkdir(parents=True, exist_ok=True)
    wrong = survive(folder, options.jobs, options.kills, options.seed, options.launcher)
    say("\n".join(wrong) if wrong else f"{options.jobs} jobs, {options.kills} kills: none lost, none twice")
    if options.launcher == "basic":
        with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
            for line in LINES:
                keep({"jobs": options.jobs, "kills": options.kills, "line": line})
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
