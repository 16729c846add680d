"""A small disk that is full or read-only: mounted in memory, which needs root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fault_cases.workspace import QUICK, SLOW, Fault, Workspace, finish, is_whole, lacking, outcome, push, wait_for


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


def is_written(folder: Path) -> bool:
    """Whether Hydra has written its files; the run begins then."""
    path = folder / ".hydra" / "overrides.yaml"
    return path.exists() and path.stat().st_size > 0


def disk_full_store(workspace: Workspace, leave: int = 8192) -> Fault:
    """The disk of the store is full (8 kB left)."""
    with small_disk(workspace.folder / "mlruns", 4000):
        workspace.seed_store()
        stone = fill(workspace.folder / "mlruns", leave)
        answer = workspace.run("run", *QUICK, "split.seed=1", "figures=true")
        stone.unlink()
        lost = push(workspace) + lacking(workspace, [1]) + is_whole(workspace.folder / "mlruns" / "mlflow.db")
    return outcome("", "", answer, lost)


def disk_full_figures(workspace: Workspace) -> Fault:
    """The disk of the store fills while the figures are written (60 kB left)."""
    return disk_full_store(workspace, leave=60_000)


def disk_full_job(workspace: Workspace) -> Fault:
    """The disk of the store fills during a sweep (250 kB left after the first of four jobs)."""
    with small_disk(workspace.folder / "mlruns", 4000):
        workspace.seed_store()
        process = workspace.start("run", "-m", *QUICK, "figures=true", "split.seed=1,2,3,4")
        wait_for(lambda: len(workspace.finished()) >= 2)
        stone = fill(workspace.folder / "mlruns", 250_000)
        answer = finish(process)
        stone.unlink()
        lost = push(workspace)
        again = workspace.run("run", "-m", *QUICK, "figures=true", "split.seed=1,2,3,4")
        lost += [] if again.code == 0 else [f"the second start ended with {again.code}"]
        lost += lacking(workspace, [1, 2, 3, 4]) + is_whole(workspace.folder / "mlruns" / "mlflow.db")
    return outcome("", "", answer, lost)


def disk_full_output(workspace: Workspace) -> Fault:
    """The disk of the output folder is full when the run starts."""
    workspace.seed_store()
    with small_disk(workspace.folder / "full", 100) as full:
        fill(full)
        answer = workspace.run("run", *QUICK, "split.seed=1", "hydra.run.dir=full/out")
    again = workspace.run("run", *QUICK, "split.seed=1")
    return outcome("", "", answer, [f"again: {again.code}"] * again.code + lacking(workspace, [1]))


def disk_full_output_later(workspace: Workspace) -> Fault:
    """The disk of the output folder fills while the run works; the store has room."""
    workspace.seed_store()
    with small_disk(workspace.folder / "full", 200) as full:
        process = workspace.start("run", *SLOW, "split.seed=1", "hydra.run.dir=full/out")
        wait_for(lambda: is_written(full / "out"))
        fill(full)
        answer = finish(process)
    return outcome("", "", answer, lacking(workspace, [1]))


def disk_full_both(workspace: Workspace) -> Fault:
    """Store and output folder are on one disk, which fills while the run works."""
    with small_disk(workspace.folder / "mlruns", 4000):
        workspace.seed_store()
        process = workspace.start("run", *SLOW, "split.seed=1", "hydra.run.dir=mlruns/out")
        wait_for(lambda: is_written(workspace.folder / "mlruns" / "out"))
        stone = fill(workspace.folder / "mlruns")
        answer = finish(process)
        stone.unlink()
        again = workspace.run("run", *SLOW, "split.seed=1")
        lost = ["the files of the run; the screen has its numbers, and the same command makes them again"]
        lost = lost if again.code == 0 and any("certificate" in line for _, line in answer.lines) else ["the solution"]
        lost += lacking(workspace, [1]) + is_whole(workspace.folder / "mlruns" / "mlflow.db")
    return outcome("", "", answer, lost)


def disk_full_sweep(workspace: Workspace) -> Fault:
    """The disk of the sweep's folder fills after the first of four jobs; the store has room."""
    workspace.seed_store()
    with small_disk(workspace.folder / "full", 200) as full:
        process = workspace.start("run", "-m", *QUICK, "split.seed=1,2,3,4", "hydra.sweep.dir=full/sweep")
        wait_for(lambda: len(workspace.finished()) >= 2)
        fill(full)
        answer = finish(process)
    again = workspace.run("run", "-m", *QUICK, "split.seed=1,2,3,4")
    lost = [] if again.code == 0 else [f"the second start ended with {again.code}"]
    return outcome("", "", answer, lost + lacking(workspace, [1, 2, 3, 4]))


def read_only_store(workspace: Workspace) -> Fault:
    """The folder of the store is mounted read-only."""
    with small_disk(workspace.folder / "mlruns", 4000) as disk:
        workspace.seed_store()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        answer = workspace.run("run", *QUICK, "split.seed=1")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        lost = push(workspace) + lacking(workspace, [1])
    return outcome("", "", answer, lost)


def read_only_list(workspace: Workspace) -> Fault:
    """`auclab runs` on a store that is mounted read-only."""
    with small_disk(workspace.folder / "mlruns", 4000) as disk:
        workspace.seed_store()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        answer = workspace.run("runs")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        lost = lacking(workspace, [0])
    listed = any("bauc · artificial" in line for _, line in answer.lines)
    return outcome("", "", answer, lost + ([] if listed else ["the list lacks the run"]))


def read_only_output(workspace: Workspace) -> Fault:
    """The output folder is mounted read-only."""
    workspace.seed_store()
    with small_disk(workspace.folder / "full", 100) as full:
        subprocess.run(["mount", "-o", "remount,ro", str(full)], check=True)
        answer = workspace.run("run", *QUICK, "split.seed=1", "hydra.run.dir=full/out")
        sweep = workspace.run("run", "-m", *QUICK, "split.seed=1", "hydra.sweep.dir=full/out")
        traced = any("Traceback" in line for _, line in sweep.lines)
    again = workspace.run("run", *QUICK, "split.seed=1")
    lost = ["a sweep ends in a traceback"] if traced else []
    return outcome("", "", answer, lost + [f"again: {again.code}"] * again.code + lacking(workspace, [1]))
