"""Faults of the machine under the commands of auclab: what was lost, and what the reader saw.

    python benchmarks/faults.py [--only NAME …] [--source FOLDER --label 0.2.0] [--results FILE]

Each fault is a real one: a small file system that is full or read-only (mounted in memory; needs root), a process that
holds a lock, bytes that are overwritten, a server or a worker that is killed with ``kill -9``, a clock that is moved
(libfaketime). The command runs beside it as a reader would type it; afterwards the fault is taken away, `auclab push`
and the same command follow, and what is missing in the store or on the disk counts as lost. ``--source`` measures the
checkout in another folder. The results go to docs/reliability/faults.json, from which docs/reliability.py fills in
the table of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.request import urlopen

import psutil

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "reliability" / "faults.json"

#: Quick runs: 40 rows, solved in milliseconds.
QUICK = (
    *("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=20", "dataset.n_features=2", "solver=highs"),
    *("bounds=none", "metrics=[auc]"),
)
#: A solve of some seconds.
SLOW = (
    *("dataset=artificial", "dataset.n_pos=250", "dataset.n_neg=250", "dataset.n_features=5", "solver=clarabel"),
    *("bounds=none", "metrics=[auc]"),
)
#: How long the lock of another process lasts, in seconds.
MINUTE = 60.0

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
    """

    name: str
    did: str
    seconds: float
    said_after: float | None
    exit_code: int
    saw: list[str]
    lost: str


@dataclass
class Answer:
    """A command that has ended, with the time of each line."""

    code: int
    seconds: float
    lines: list[tuple[float, str]]


class Place:
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
    line = re.sub(r"\d{4}-\d\d-\d\d/[\d.-]+", "…", line)
    line = re.sub(r"process \d+", "process 4711", line)
    line = re.sub(r"process 4711 \([^)]*?(…|\))\)?", "process 4711 (its command)", line)
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:5000", line)


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of so many kilobytes, in memory."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave: int = 0) -> Path:
    """Fill the file system of a folder, and leave so many bytes."""
    stone = folder / "stone"
    with stone.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    os.truncate(stone, max(0, stone.stat().st_size - leave))
    return stone


@contextmanager
def holding(file: Path, seconds: float, statement: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """Another process holds a lock on a database."""
    script = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute(sys.argv[2]); print('held', flush=True); time.sleep(float(sys.argv[3]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(file), statement, str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def serving(place: Place, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`mlflow server`, with a process group of its own."""
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    options = ["--workers", "1", "--port", str(port), "--backend-store-uri", f"sqlite:///{place.folder / 'server.db'}"]
    options += ["--artifacts-destination", str(place.folder / "server-files")]
    with (place.folder / "server.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *options], cwd=place.folder, stdout=log, stderr=log,
            env=os.environ | quiet, start_new_session=True,
        )  # fmt: skip
    try:
        wait_for(lambda: process.poll() is not None or answers(port))
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(port: int) -> bool:
    """Whether the server answers."""
    try:
        return bool(urlopen(f"http://127.0.0.1:{port}/health", timeout=2).status == 200)
    except OSError:
        return False


def free_port() -> int:
    """A port that nobody listens to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(condition: Callable[[], object], seconds: float = 180.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("it did not happen in time")
        time.sleep(0.05)


def push(place: Place, *words: str) -> list[str]:
    """`auclab push`, where the source has it; what it could not send."""
    answer = place.run("push", *(words or ("all",)))
    if answer.code == 2:  # an older version
        return []
    return [line for _, line in answer.lines if line.startswith("error") and "no run waits" not in line]


def lacking(place: Place, seeds: Sequence[int], database: Path | None = None, *, extra: int = 0) -> list[str]:
    """Seeds that finished never, or more often than once; seed 0 `extra` times more, by the run that made the store."""
    found, wrong = place.finished(database), []
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


# The faults. Each is a function that returns a `Fault`; its name is that of the fault.


def disk_full_store(place: Place, leave: int = 8192) -> Fault:
    """The disk of the store is full (8 kB left)."""
    with small_disk(place.folder / "mlruns", 4000):
        place.seed_store()
        stone = fill(place.folder / "mlruns", leave)
        answer = place.run("run", *QUICK, "split.seed=1", "figures=true")
        stone.unlink()
        lost = push(place) + lacking(place, [1]) + is_whole(place.folder / "mlruns" / "mlflow.db")
    return outcome("", "", answer, lost)


def disk_full_figures(place: Place) -> Fault:
    """The disk of the store fills while the figures are written (60 kB left)."""
    return disk_full_store(place, leave=60_000)


def disk_full_job(place: Place) -> Fault:
    """The disk of the store fills during a sweep (250 kB left after the first of four jobs)."""
    with small_disk(place.folder / "mlruns", 4000):
        place.seed_store()
        process = place.start("run", "-m", *QUICK, "figures=true", "split.seed=1,2,3,4")
        wait_for(lambda: len(place.finished()) >= 2)
        stone = fill(place.folder / "mlruns", 250_000)
        answer = finish(process)
        stone.unlink()
        lost = push(place)
        again = place.run("run", "-m", *QUICK, "figures=true", "split.seed=1,2,3,4")
        lost += [] if again.code == 0 else [f"the second start ended with {again.code}"]
        lost += lacking(place, [1, 2, 3, 4]) + is_whole(place.folder / "mlruns" / "mlflow.db")
    return outcome("", "", answer, lost)


def disk_full_output(place: Place) -> Fault:
    """The disk of the output folder is full when the run starts."""
    place.seed_store()
    with small_disk(place.folder / "full", 100) as full:
        fill(full)
        answer = place.run("run", *QUICK, "split.seed=1", "hydra.run.dir=full/out")
    again = place.run("run", *QUICK, "split.seed=1")
    return outcome("", "", answer, [f"again: {again.code}"] * again.code + lacking(place, [1]))


def is_written(folder: Path) -> bool:
    """Whether Hydra has written its files; the run begins then."""
    path = folder / ".hydra" / "overrides.yaml"
    return path.exists() and path.stat().st_size > 0


def disk_full_output_later(place: Place) -> Fault:
    """The disk of the output folder fills while the run works; the store has room."""
    place.seed_store()
    with small_disk(place.folder / "full", 200) as full:
        process = place.start("run", *SLOW, "split.seed=1", "hydra.run.dir=full/out")
        wait_for(lambda: is_written(full / "out"))
        fill(full)
        answer = finish(process)
    return outcome("", "", answer, lacking(place, [1]))


def disk_full_both(place: Place) -> Fault:
    """Store and output folder are on one disk, which fills while the run works."""
    with small_disk(place.folder / "mlruns", 4000):
        place.seed_store()
        process = place.start("run", *SLOW, "split.seed=1", "hydra.run.dir=mlruns/out")
        wait_for(lambda: is_written(place.folder / "mlruns" / "out"))
        stone = fill(place.folder / "mlruns")
        answer = finish(process)
        stone.unlink()
        again = place.run("run", *SLOW, "split.seed=1")
        lost = ["the files of the run; the screen has its numbers, and the same command makes them again"]
        lost = lost if again.code == 0 and any("certificate" in line for _, line in answer.lines) else ["the solution"]
        lost += lacking(place, [1]) + is_whole(place.folder / "mlruns" / "mlflow.db")
    return outcome("", "", answer, lost)


def disk_full_sweep(place: Place) -> Fault:
    """The disk of the sweep's folder fills after the first of four jobs; the store has room."""
    place.seed_store()
    with small_disk(place.folder / "full", 200) as full:
        process = place.start("run", "-m", *QUICK, "split.seed=1,2,3,4", "hydra.sweep.dir=full/sweep")
        wait_for(lambda: len(place.finished()) >= 2)
        fill(full)
        answer = finish(process)
    again = place.run("run", "-m", *QUICK, "split.seed=1,2,3,4")
    lost = [] if again.code == 0 else [f"the second start ended with {again.code}"]
    return outcome("", "", answer, lost + lacking(place, [1, 2, 3, 4]))


def read_only_store(place: Place) -> Fault:
    """The folder of the store is mounted read-only."""
    with small_disk(place.folder / "mlruns", 4000) as disk:
        place.seed_store()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        answer = place.run("run", *QUICK, "split.seed=1")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        lost = push(place) + lacking(place, [1])
    return outcome("", "", answer, lost)


def read_only_list(place: Place) -> Fault:
    """`auclab runs` on a store that is mounted read-only."""
    with small_disk(place.folder / "mlruns", 4000) as disk:
        place.seed_store()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        answer = place.run("runs")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        lost = lacking(place, [0])
    listed = any("bauc · artificial" in line for _, line in answer.lines)
    return outcome("", "", answer, lost + ([] if listed else ["the list lacks the run"]))


def read_only_output(place: Place) -> Fault:
    """The output folder is mounted read-only."""
    place.seed_store()
    with small_disk(place.folder / "full", 100) as full:
        subprocess.run(["mount", "-o", "remount,ro", str(full)], check=True)
        answer = place.run("run", *QUICK, "split.seed=1", "hydra.run.dir=full/out")
        sweep = place.run("run", "-m", *QUICK, "split.seed=1", "hydra.sweep.dir=full/out")
        traced = any("Traceback" in line for _, line in sweep.lines)
    again = place.run("run", *QUICK, "split.seed=1")
    lost = ["a sweep ends in a traceback"] if traced else []
    return outcome("", "", answer, lost + [f"again: {again.code}"] * again.code + lacking(place, [1]))


def held_minute(place: Place) -> Fault:
    """Another process holds the database for a minute; a single run."""
    place.seed_store()
    with holding(place.folder / "mlruns" / "mlflow.db", MINUTE):
        answer = place.run("run", *QUICK, "split.seed=1")
    return outcome("", "", answer, push(place) + lacking(place, [1]))


def held_minute_sweep(place: Place) -> Fault:
    """Another process holds the database for a minute from the first job of a sweep on."""
    place.seed_store()
    process = place.start("run", "-m", *QUICK, "split.seed=1,2,3")
    wait_for(lambda: len(place.finished()) >= 2)
    with holding(place.folder / "mlruns" / "mlflow.db", MINUTE):
        begun = time.monotonic() - BEGUN[process.pid]
        answer = finish(process)
    lost = push(place)
    place.run("run", "-m", *QUICK, "split.seed=1,2,3")
    return outcome("", "", answer, lost + lacking(place, [1, 2, 3]), begun=begun)


def held_long(place: Place) -> Fault:
    """Another process holds the database for ten minutes; a single run."""
    place.seed_store()
    with holding(place.folder / "mlruns" / "mlflow.db", 600.0):
        answer = place.run("run", *QUICK, "split.seed=1")
    return outcome("", "", answer, push(place) + lacking(place, [1]))


def held_lock(place: Place) -> Fault:
    """Another process holds the lock under which the store is opened for ten minutes; a sweep starts."""
    place.seed_store()
    with holding(place.folder / "mlruns" / ".lock", 600.0, "BEGIN EXCLUSIVE"):
        answer = place.run("run", "-m", *QUICK, "split.seed=1")
    place.run("run", "-m", *QUICK, "split.seed=1")
    return outcome("", "", answer, lacking(place, [1]))


def corrupt_header(place: Place) -> Fault:
    """The first kilobyte of the database is overwritten."""
    return _corrupt(place, lambda file: overwrite(file, 0, 1024))


def corrupt_pages(place: Place) -> Fault:
    """Every page of the database but the first is overwritten."""
    return _corrupt(place, lambda file: overwrite(file, 4096, file.stat().st_size - 4096))


def overwrite(file: Path, start: int, count: int) -> None:
    """Write random bytes over a file."""
    with file.open("r+b") as stream:
        stream.seek(start)
        stream.write(os.urandom(count))


def _corrupt(place: Place, damage: Callable[[Path], None]) -> Fault:
    place.seed_store()
    file = place.folder / "mlruns" / "mlflow.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(file, place.folder / "copy.db")
    damage(file)
    answer = place.run("run", *QUICK, "split.seed=1")
    for path in file.parent.glob("mlflow.db*"):
        path.unlink()
    shutil.copy(place.folder / "copy.db", file)  # the reader's backup
    return outcome("", "", answer, push(place) + lacking(place, [1]))


def server_killed(place: Place) -> Fault:
    """The MLflow server is killed (kill -9) while a job of a sweep computes."""
    port, database = free_port(), place.folder / "server.db"
    words = ("run", "-m", *SLOW, f"tracking.uri=http://127.0.0.1:{port}", "split.seed=1,2")
    with serving(place, port) as server:
        process = place.start(*words)
        wait_for(lambda: running(database))
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        begun = time.monotonic() - BEGUN[process.pid]
        answer = finish(process)
    with serving(place, port):
        lost = push(place)
        again = place.run(*words)
        lost += [] if again.code == 0 else [f"the second start ended with {again.code}"]
    return outcome("", "", answer, lost + lacking(place, [1, 2], database), begun=begun)


def running(database: Path) -> bool:
    """Whether a run with parameters is RUNNING."""
    if not database.exists():
        return False
    with suppress(sqlite3.Error), closing(sqlite3.connect(database, timeout=5)) as connection:
        query = """SELECT count(*) FROM runs r JOIN params p ON p.run_uuid = r.run_uuid
                   WHERE r.status = 'RUNNING' AND p.key = 'split.seed'"""
        return bool(connection.execute(query).fetchone()[0])
    return False


def server_stopped(place: Place) -> Fault:
    """The MLflow server hangs (SIGSTOP) while a job of a sweep computes."""
    port, database = free_port(), place.folder / "server.db"
    words = ("run", "-m", *SLOW, f"tracking.uri=http://127.0.0.1:{port}", "split.seed=1")
    with serving(place, port) as server:
        process = place.start(*words)
        wait_for(lambda: running(database))
        os.killpg(server.pid, signal.SIGSTOP)
        begun = time.monotonic() - BEGUN[process.pid]
        answer = finish(process, 900.0)
        os.killpg(server.pid, signal.SIGCONT)
        lost = push(place)
        again = place.run(*words)
        lost += [] if again.code == 0 else [f"the second start ended with {again.code}"]
    return outcome("", "", answer, lost + lacking(place, [1], database), begun=begun)


def clock_back(place: Place) -> Fault:
    """The clock is set back by a day while a run works."""
    return _clock(place, "-1d")


def clock_ahead(place: Place) -> Fault:
    """The clock is set ahead by a year while a run works."""
    return _clock(place, "+365d")


def _clock(place: Place, jump: str) -> Fault:
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    rate = place.folder / "clock"
    rate.write_text("+0")
    environment = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(rate), "FAKETIME_NO_CACHE": "1"}
    environment["DONT_FAKE_MONOTONIC"] = "1"
    place.seed_store()
    process = place.start("run", "-m", *SLOW, "split.seed=1", **environment)
    wait_for(lambda: running(place.folder / "mlruns" / "mlflow.db"))
    rate.write_text(jump)
    answer = finish(process)
    lost = lacking(place, [1])
    with closing(sqlite3.connect(place.folder / "mlruns" / "mlflow.db")) as connection:
        connection.execute("PRAGMA busy_timeout = 30000")
        query = """SELECT (r.end_time - r.start_time) / 1000.0 FROM runs r JOIN params p ON p.run_uuid = r.run_uuid
                   WHERE p.key = 'split.seed' AND p.value = '1'"""
        lasted = connection.execute(query).fetchone()[0]
    lost += [] if 0.0 <= lasted <= answer.seconds + 1.0 else [f"the run lasted {lasted:.0f} s by the store"]
    place.run("run", *QUICK, "split.seed=2")
    return outcome("", "", answer, lost + lacking(place, [2]) + is_whole(place.folder / "mlruns" / "mlflow.db"))


def staging_deleted(place: Place) -> Fault:
    """The folders of files are deleted (mlruns/artifacts, mlruns/staging) while a job of a sweep computes."""
    place.seed_store()
    process = place.start("run", "-m", *SLOW, "split.seed=1,2")
    wait_for(lambda: running(place.folder / "mlruns" / "mlflow.db"))
    shutil.rmtree(place.folder / "mlruns" / "staging")
    shutil.rmtree(place.folder / "mlruns" / "artifacts")
    answer = finish(process)
    return outcome("", "", answer, push(place) + lacking(place, [1, 2]))


def artifacts_deleted(place: Place) -> Fault:
    """The files of a finished run are deleted; `auclab show last`, `figures` and `compare` on it."""
    place.seed_store()
    shutil.rmtree(place.folder / "mlruns" / "artifacts")
    answers_ = [place.run(*words) for words in (("figures", "last"), ("show", "last"), ("compare",), ("rerun", "last"))]
    traced = [str(each.lines[-1]) for each in answers_ if any("Traceback" in line for _, line in each.lines)]
    place.run("run", *QUICK, "split.seed=1")
    return outcome("", "", answers_[0], traced + lacking(place, [1]))


def two_sweeps(place: Place) -> Fault:
    """The same sweep of six jobs is started twice at the same moment."""
    words = ("run", "-m", *QUICK, "split.seed=range(6)")
    processes = [place.start(*words) for _ in range(2)]
    answers_: list[Answer] = []
    threads = [threading.Thread(target=lambda each=each: answers_.append(finish(each))) for each in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lost = [f"a sweep ended with {each.code}: {each.lines[-1][1]}" for each in answers_ if each.code]
    lost += lacking(place, range(6)) + is_whole(place.folder / "mlruns" / "mlflow.db")
    result = outcome("", "", answers_[0], lost)
    result.saw = [each.lines[-1][1] for each in answers_]
    return result


def kill_client_processes(place: Place) -> Fault:
    """The process of a sweep is killed (kill -9), two processes."""
    return _kill(place, "processes", worker=False)


def kill_worker_processes(place: Place) -> Fault:
    """A worker is killed (kill -9), two processes."""
    return _kill(place, "processes", worker=True)


def kill_client_dask(place: Place) -> Fault:
    """The process of a sweep is killed (kill -9), Dask with two workers."""
    return _kill(place, "dask", worker=False)


def kill_worker_dask(place: Place) -> Fault:
    """A worker is killed (kill -9), Dask with two workers."""
    return _kill(place, "dask", worker=True)


def kill_client_basic(place: Place) -> Fault:
    """The process of a sweep is killed (kill -9)."""
    return _kill(place, "", worker=False)


def _kill(place: Place, launcher: str, *, worker: bool) -> Fault:
    choice = (f"hydra/launcher={launcher}", "hydra.launcher.workers=2") if launcher else ()
    words = ("run", "-m", *QUICK, *choice, "split.seed=range(8)")
    database = place.folder / "mlruns" / "mlflow.db"
    process = place.start(*words)
    wait_for(lambda: place.finished() and running(database))
    with closing(sqlite3.connect(database, timeout=30)) as connection:
        query = """SELECT t.value FROM runs r JOIN tags t ON t.run_uuid = r.run_uuid
                   JOIN params p ON p.run_uuid = r.run_uuid
                   WHERE r.status = 'RUNNING' AND t.key = 'process.pid' AND p.key = 'split.seed'"""
        found = connection.execute(query).fetchone()
    inside = psutil.Process(process.pid).children(recursive=True)
    victim = int(found[0]) if worker and found else process.pid
    os.kill(victim, signal.SIGKILL)
    begun = time.monotonic() - BEGUN[process.pid]
    answer = finish(process)
    lost = []
    wait = time.monotonic() + 20.0
    while time.monotonic() < wait and any(each.is_running() and each.status() != "zombie" for each in inside):
        time.sleep(0.2)
    left = [each.pid for each in inside if each.is_running() and each.status() != "zombie"]
    lost += [f"{len(left)} processes are left behind"] if left else []
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    again = place.run(*words)
    lost += [] if again.code == 0 else [f"the second start ended with {again.code}"]
    lost += lacking(place, range(8)) + is_whole(database)
    lost += [f"staged files are left: {path.name}" for path in (place.folder / "mlruns" / "staging").glob("*")]
    result = outcome("", "", answer, lost, begun=begun)
    result.saw = result.saw or ["nothing: it was killed"]
    result.saw.append(f"the second start: {again.lines[-1][1]}")
    return result


FAULTS: tuple[Callable[[Place], Fault], ...] = (
    disk_full_store,
    disk_full_figures,
    disk_full_job,
    disk_full_output,
    disk_full_output_later,
    disk_full_both,
    disk_full_sweep,
    read_only_store,
    read_only_list,
    read_only_output,
    held_minute,
    held_minute_sweep,
    held_long,
    held_lock,
    corrupt_header,
    corrupt_pages,
    server_killed,
    server_stopped,
    clock_back,
    clock_ahead,
    staging_deleted,
    artifacts_deleted,
    two_sweeps,
    kill_client_basic,
    kill_client_processes,
    kill_worker_processes,
    kill_client_dask,
    kill_worker_dask,
)


def main() -> None:
    """Read the options, make the faults, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [each.__name__ for each in FAULTS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--source", type=Path, default=ROOT, help="another checkout to measure")
    parser.add_argument("--label", default="now", help="name of what is measured, in the results")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    every = json.loads(options.results.read_text()) if options.results.exists() else {}
    results = every.setdefault(options.label, {})
    for fault in FAULTS:
        if fault.__name__ not in options.only:
            continue
        place = Place(options.source.absolute())
        try:
            found = fault(place)
        except (AssertionError, TimeoutError, OSError, subprocess.SubprocessError) as error:
            print(f"{fault.__name__}: could not be made: {error!r}", flush=True)
            continue
        finally:
            shutil.rmtree(place.folder, ignore_errors=True)
        found.name, found.did = fault.__name__, str(fault.__doc__)
        said = "-" if found.said_after is None else f"{found.said_after:.1f}"
        print(
            f"{found.name:24} exit {found.exit_code:3}  {found.seconds:6.1f} s  said after {said} s  lost: {found.lost}"
        )
        for line in found.saw:
            print(f"{'':24} {line[:300]}", flush=True)
        results[found.name] = asdict(found)
        every[options.label] = results = {name: results[name] for name in names if name in results}
        options.results.write_text(json.dumps(every, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    raise SystemExit(any(results[name]["lost"] != "nothing" for name in options.only if name in results))


if __name__ == "__main__":
    main()
