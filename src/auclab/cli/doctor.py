"""`auclab doctor`: what works in an installation, and commands that fix the rest."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement
from rich.table import Table
from rich.text import Text

from auclab import __version__
from auclab.datasets.search_path import VARIABLE, search_path
from auclab.pipeline.screen.console import out, short_path
from auclab.sizes import DATA_BYTES
from auclab.tracking.address import Address
from auclab.tracking.environment import capture_environment

State = Literal["ok", "note", "wrong"]
#: How each state is shown.
STATES: dict[State, tuple[str, str]] = {"ok": ("ok", "green"), "note": ("–", "dim"), "wrong": ("wrong", "red")}
#: Free space below which a store or a cache may fail in the middle of a sweep, in bytes.
LITTLE_SPACE = DATA_BYTES
#: What each extra adds.
ADDS = {
    "dask": "jobs and data on a Dask cluster",
    "dev": "tests and checks of auclab itself",
    "docs": "building the site",
    "lightgbm": "formulation=lightgbm, boosted trees",
    "onnx": "auclab export --to onnx",
    "optuna": "hydra/sweeper=optuna, adaptive searches",
    "postgresql": "a store in PostgreSQL",
    "remote": "parquet files at addresses such as s3://",
    "slurm": "jobs on a Slurm cluster",
    "survival": "data and models of the study of censored times",
    "weka": "comparing the studies' learners with Weka",
}


@dataclass(frozen=True)
class Finding:
    """One line: what was checked, its state, and what was found or what to do."""

    what: str
    state: State
    text: str


def doctor(arguments: Namespace) -> int:
    """Print the findings; exit code 1 if something is wrong, else 0."""
    parts = {
        "machine": machine(),
        "libraries": libraries(requires("auclab") or []),
        "extras": extras(requires("auclab") or []),
        "folders": [*compiled_loops(), *store(arguments.store), *data_folders()],
    }
    found = {title: list(findings) for title, findings in parts.items()}
    for title, findings in found.items():
        table = Table(
            box=None, show_header=False, title=title, title_justify="left", title_style="bold", padding=(0, 1)
        )
        for finding in findings:
            sign, style = STATES[finding.state]
            table.add_row(Text(sign, style=style), finding.what, Text(finding.text, overflow="fold"))
        out.print(table)
    wrong = [finding for findings in found.values() for finding in findings if finding.state == "wrong"]
    out.print(f"{len(wrong)} of these must be fixed before all commands work" if wrong else "no problems found")
    return 1 if wrong else 0


def machine() -> Iterator[Finding]:
    """Versions and cores."""
    known = capture_environment()
    yield Finding("auclab", "ok", f"{__version__} in {Path(__file__).parents[1]}")
    yield Finding("Python", "ok", f"{known['python']} on {known['platform']}")
    limit = known.get("OMP_NUM_THREADS")
    threads = f"{known['threads']} usable cores" + (f", OMP_NUM_THREADS={limit}" if limit else "")
    yield Finding("cores", "ok", f"{threads} · {known['cpu']}")


def libraries(requirements: Iterable[str]) -> Iterator[Finding]:
    """The libraries that every command may need: one line for each that is missing or too old, one for all others.

    `requirements`: as in the metadata of a package; those of extras are left out.

    Examples
    --------
    >>> [(finding.what, finding.state) for finding in libraries(["numpy>=99", "no-such-library", "scipy"])]
    [('numpy', 'wrong'), ('no-such-library', 'wrong'), ('needed', 'ok')]
    """
    fine = []
    for line in requirements:
        needed = Requirement(line)
        if _extras_of(str(needed.marker or "")):
            continue
        found = _version(needed.name)
        if found is not None and needed.specifier.contains(found, prereleases=True):
            fine.append(f"{needed.name} {found}")
        else:
            here = f"{found} is here" if found else "missing"
            yield Finding(needed.name, "wrong", f"{here}; pip install '{needed.name}{needed.specifier}'")
    yield Finding("needed", "ok", ", ".join(fine))


def extras(requirements: Iterable[str]) -> Iterator[Finding]:
    """The optional dependencies, and the command that installs a missing one.

    Examples
    --------
    >>> lines = ["numpy>=1.0; extra == 'arrays'", "no-such-library; extra == 'more'", "scipy"]
    >>> [(finding.what, finding.text) for finding in extras(lines)]
    [('arrays', 'installed'), ('more', "pip install 'auclab[more]'")]
    >>> [finding.text for finding in extras(["no-such-library; extra == 'onnx'"])]
    ["auclab export --to onnx: pip install 'auclab[onnx]'"]
    """
    parts: dict[str, list[Requirement]] = {}
    for line in requirements:
        needed = Requirement(line)
        for extra in _extras_of(str(needed.marker or "")):
            parts.setdefault(extra, []).append(needed)
    for extra, all_needed in parts.items():
        versions = {needed.name: _version(needed.name) for needed in all_needed}
        adds = f"{ADDS[extra]}: " if extra in ADDS else ""
        if None in versions.values():
            yield Finding(extra, "note", f"{adds}pip install 'auclab[{extra}]'")
        elif old := [n for n in all_needed if not n.specifier.contains(versions[n.name] or "", prereleases=True)]:
            yield Finding(
                extra, "wrong", f"{old[0].name} {versions[old[0].name]} is too old; pip install -U '{old[0]}'"
            )
        else:
            yield Finding(extra, "ok", f"{adds}installed")


def compiled_loops() -> Iterator[Finding]:
    """Whether the compiled loops are cached, so that only the first run compiles them."""
    from auclab.compiled.compiling import cache_folder  # Numba, which is slow to import

    folder = cache_folder()
    kept = len(list(folder.glob("*.nbc"))) if folder.is_dir() else 0
    several = "the first solve compiles them, which takes seconds once"
    if not os.access(_existing(folder), os.W_OK):
        advice = "each process compiles again; name a folder in NUMBA_CACHE_DIR"
        yield Finding("compiled loops", "wrong", f"{folder} cannot be written, so {advice}")
    else:
        yield Finding("compiled loops", "ok" if kept else "note", f"{kept} in {folder}" if kept else several)


def store(folder: str) -> Iterator[Finding]:
    """Whether the store of runs can be written, and the free space."""
    address = Address.parse(folder)
    if address.is_server:
        yield Finding("store", "note", f"{address}: a server; auclab runs --store says whether it responds")
        return
    there = _existing(address.directory)
    free = shutil.disk_usage(there).free
    if not os.access(there, os.W_OK):
        yield Finding("store", "wrong", f"{there} cannot be written; run in another folder, or set tracking.dir")
    elif free < LITTLE_SPACE:
        yield Finding("store", "wrong", f"{free / 1e6:.0f} MB are free at {there}; free some, or set tracking.dir")
    else:
        runs = "" if address.file is not None and address.file.exists() else ", no runs yet"
        yield Finding("store", "ok", f"{short_path(address.directory)}{runs}, {free / 1e9:.0f} GB free")


def data_folders() -> Iterator[Finding]:
    """The search path of data sets."""
    searched = search_path()
    for folder in dict.fromkeys(folder.resolve() for folder in searched):
        if folder.is_dir() and os.access(folder, os.R_OK) and (files := len(list(folder.iterdir()))):
            yield Finding("data", "ok", f"{files} {'file' if files == 1 else 'files'} in {folder}")
    others = f"searched in {', '.join(map(str, searched))}, then fetched from OpenML"
    yield Finding("data", "note", others + ("" if VARIABLE in os.environ else f"; {VARIABLE} names another folder"))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _extras_of(marker: str) -> list[str]:
    """The extras that a marker names.

    >>> _extras_of('python_version > "3" and extra == "dask"')
    ['dask']
    """
    words = marker.replace('"', "'").split("extra == '")[1:]
    return [word.partition("'")[0] for word in words]


def _existing(folder: Path) -> Path:
    """The folder, or its nearest existing parent."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
