"""A folder with a store, the commands in it, and what they print and lose under a fault."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

#: Quick runs: 40 rows, solved in milliseconds.
QUICK = (
    *("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=20", "dataset.n_features=2", "solver=highs"),
    *("bounds=none", "metrics=[auc]"),
)
#: A solve of some seconds.
SLOW = (
    *("dataset=artificial", "dataset.n_pos=250", "dataset.n_neg=250", "dataset.n_features=5", "solver=clarabel"),
    *("formulation=bauc", "bounds=none", "metrics=[auc]"),
)
#: When each process was started.
BEGUN: dict[int, float] = {}


@dataclass
class Fault:
    """What came of one fault.

    Attributes
    ----------
    name, did
        The fault, and what was done.
    seconds
        From the start of the command to its end.
    said_after
        From the beginning of the fault, or of the command if that was later, to the first line about it; None if there
        is none.
    exit_code
        Of the command.
    saw
        The lines about it, shortened.
    lost
        What is missing after the fault is gone, the same command was typed again and kept runs were pushed.
    origin
        Commit, versions and machine; empty for the checkout of ``--source``.
    """

    name: str
    did: str
    seconds: float
    said_after: float | None
    exit_code: int
    saw: list[str]
    lost: str
    origin: str = ""


@dataclass
class Answer:
    """A command that has ended, with the time of each line."""

    code: int
    seconds: float
    lines: list[tuple[float, str]]


class Workspace:
    """A folder with a store, and the commands in it."""

    def __init__(self, source: Path) -> None:
        self.source, self.folder = source, Path(tempfile.mkdtemp(prefix="faults-"))
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("AUCLAB_", "MLFLOW"))},
            **{
                "PYTHONPATH": os.pathsep.join(
                    [str(source / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
                ),
                "COLUMNS": "200",
                "OMP_NUM_THREADS": "1",
            },
        }

    def command(self, *words: str) -> list[str]:
        """``auclab`` of the source that is measured."""
        start = "import sys; sys.argv[0] = 'auclab'; from auclab.cli.main import program; program()"
        return [sys.executable, "-c", start, *words]

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """The command as a process whose lines are read by `finish`."""
        process = subprocess.Popen(
            self.command(*words), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env=self.environment | environment,
        )  # fmt: skip
        BEGUN[process.pid] = time.monotonic()
        return process

    def run(self, *words: str, timeout: float = 400.0, **environment: str) -> Answer:
        """Run a command to its end."""
        return finish(self.start(*words, **environment), timeout)

    def seed_store(self) -> None:
        """A store with a first run."""
        answer = self.run("run", *QUICK)
        assert answer.code == 0, answer.lines

    def finished(self, database: Path | None = None) -> list[str]:
        """Seeds of the FINISHED runs of the store whose files are there."""
        query = """SELECT p.value, r.artifact_uri FROM runs r JOIN params p ON p.run_uuid = r.run_uuid
                   WHERE p.key = 'split.seed' AND r.status = 'FINISHED'"""
        file = database or self.folder / "mlruns" / "mlflow.db"
        if not file.exists():
            return []
        with closing(sqlite3.connect(file, timeout=30)) as connection:
            rows = connection.execute(query).fetchall()
        whole = []
        for seed, uri in rows:
            folder = Path(uri.removeprefix("file://"))
            if uri.startswith("mlflow-artifacts:") or {path.name for path in folder.rglob("*")} >= {
                *("metrics.json", "config.yaml", "scores.parquet", "MLmodel")
            }:
                whole.append(seed)
        return sorted(whole)


def finish(process: subprocess.Popen[str], timeout: float = 400.0) -> Answer:
    """Wait for a process, and note when each of its lines came."""
    begin, lines = BEGUN[process.pid], []
    killer = threading.Timer(timeout, process.kill)
    killer.start()
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip():
            lines.append((time.monotonic() - begin, line.rstrip()))
    code = process.wait()
    killer.cancel()
    return Answer(code, time.monotonic() - begin, lines)


def outcome(name: str, did: str, answer: Answer, lost: list[str], *, begun: float = 0.0) -> Fault:
    """The record of a fault; a line is about it if it is an error, a note, a traceback or a count of failures."""
    words = ("error:", "note:", "waiting for", "Traceback", "No space", "Read-only", r"[1-9]\d* (killed|failed|kept)")
    about = re.compile("|".join(words))
    found = [(when, line.strip()) for when, line in answer.lines if about.search(line) and "open it:" not in line]
    said = max(0.0, found[0][0] - begun) if found else None
    traced = next((number for number, (_, line) in enumerate(found) if line.startswith("Traceback")), None)
    kept = found if traced is None else [*found[:traced], (0.0, f"a traceback of {len(answer.lines)} lines"), found[-1]]
    shown = [short(line) for _, line in kept[:3]]
    return Fault(name, did, answer.seconds, said, answer.code, shown, "; ".join(lost) or "nothing")


def short(line: str) -> str:
    """A line without the names of this machine's folders."""
    line = re.sub(r"/tmp/[\w./-]*?/(?=(mlruns|full|outputs|multirun|server\.db)\b)", "", line)
    line = re.sub(r"/[\w./-]*/(?=src/auclab/)", "", line)
    line = re.sub(r"\d{4}-\d\d-\d\d/[\d.-]+", "…", line)
    line = re.sub(r"process \d+", "process 4711", line)
    line = re.sub(r"process 4711 \([^)]*?(…|\))\)?", "process 4711 (its command)", line)
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:5000", line)


def wait_for(condition: Callable[[], object], seconds: float = 180.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("it did not happen in time")
        time.sleep(0.05)


def push(workspace: Workspace, *words: str) -> list[str]:
    """`auclab push`, where the source has it; what it could not send."""
    answer = workspace.run("push", *(words or ("all",)))
    if answer.code == 2:  # an older version
        return []
    return [line for _, line in answer.lines if line.startswith("error") and "no run waits" not in line]


def lacking(workspace: Workspace, seeds: Sequence[int], database: Path | None = None, *, extra: int = 0) -> list[str]:
    """Seeds that finished never, or more often than once; seed 0 `extra` times more, by the run that made the store."""
    found, wrong = workspace.finished(database), []
    for seed in seeds:
        expected = 1 + (extra if seed == 0 else 0)
        if (count := found.count(str(seed))) != expected:
            wrong.append(f"seed {seed} is in the store {count} times, not {expected}")
    return wrong


def is_whole(file: Path) -> list[str]:
    """What SQLite finds wrong with a database."""
    with closing(sqlite3.connect(file, timeout=30)) as connection:
        answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
        left = connection.execute("SELECT count(*) FROM runs WHERE status = 'RUNNING'").fetchone()[0]
    return ([] if answer == "ok" else [f"database: {answer}"]) + ([f"{left} runs are left RUNNING"] if left else [])


def running(database: Path) -> bool:
    """Whether a run with parameters is RUNNING."""
    if not database.exists():
        return False
    with suppress(sqlite3.Error), closing(sqlite3.connect(database, timeout=5)) as connection:
        query = """SELECT count(*) FROM runs r JOIN params p ON p.run_uuid = r.run_uuid
                   WHERE r.status = 'RUNNING' AND p.key = 'split.seed'"""
        return bool(connection.execute(query).fetchone()[0])
    return False
