"""`auclab doctor`: what works in an installation, and commands that fix the rest."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

from auclab import __version__
from auclab.datasets.catalogue import VARIABLE, search_path
from auclab.pipeline.screen.console import out, print_row, short_path
from auclab.sizes import DATA_BYTES
from auclab.tracking.address import Address
from auclab.tracking.environment import capture_environment

#: A line: what was checked, what was found or what to do, and its style; red is wrong, dim may be left as it is.
Finding = tuple[str, str, str]
OK, WRONG, NOTE = "cyan", "red", "dim"
#: Free space below which a store or a cache may fail in the middle of a sweep, in bytes.
LITTLE_SPACE = DATA_BYTES


def doctor(arguments: Namespace) -> int:
    """Print the findings; exit code 1 if something is wrong, else 0."""
    needed = requires("auclab") or []
    parts = (machine(), libraries(needed), extras(needed), compiled_loops(), store(arguments.store), data_folders())
    found = list(chain(*parts))
    for what, text, style in found:
        print_row(what, text, 16, style=style)
    wrong = sum(style == WRONG for *_, style in found)
    out.print(f"{wrong} of these must be fixed before all commands work" if wrong else "no problems found")
    return int(wrong > 0)


def machine() -> Iterator[Finding]:
    """Versions and cores."""
    known = capture_environment()
    yield "auclab", f"{__version__} in {Path(__file__).parents[1]}", OK
    yield "Python", f"{known['python']} on {known['platform']}", OK
    yield "cores", f"{known['threads']} usable, OMP_NUM_THREADS {known.get('OMP_NUM_THREADS', 'not set')}", OK


def libraries(requirements: Iterable[str]) -> Iterator[Finding]:
    """The libraries that every command may need: a line for each that is missing or too old.

    `requirements`: as in the metadata of a package.

    Examples
    --------
    >>> [what for what, _, style in libraries(["numpy>=99", "no-such-library", "scipy"]) if style == WRONG]
    ['numpy', 'no-such-library']
    """
    for needed in map(Requirement, requirements):
        if "extra" not in str(needed.marker) and (lack := _lack(needed)):
            yield needed.name, f"{lack}; pip install '{needed.name}{needed.specifier}'", WRONG


def extras(requirements: Iterable[str]) -> Iterator[Finding]:
    """The optional dependencies, and the command that installs a missing one.

    Examples
    --------
    >>> lines = ["numpy>=1.0; extra == 'arrays'", "no-such-library; extra == 'more'", "scipy"]
    >>> [(what, text) for what, text, _ in extras(lines)]
    [('arrays', 'installed'), ('more', "no-such-library is missing; pip install 'auclab[more]'")]
    """
    lacking: dict[str, str] = {}
    for needed in map(Requirement, requirements):
        for extra in str(needed.marker).split('extra == "')[1:]:
            name = extra.partition('"')[0]
            lacking[name] = lacking.get(name, "") or (f"{needed.name} is {lack}" if (lack := _lack(needed)) else "")
    for name, lack in lacking.items():
        yield name, f"{lack}; pip install 'auclab[{name}]'" if lack else "installed", NOTE if lack else OK


def compiled_loops() -> Iterator[Finding]:
    """Whether the compiled loops are cached, so that only the first run compiles them."""
    from auclab.compiled.compiling import cache_folder  # Numba, which is slow to import

    folder = cache_folder()
    kept = len(list(folder.glob("*.nbc"))) if folder.is_dir() else 0
    if os.access(_existing(folder), os.W_OK):
        yield "compiled loops", f"{kept} in {folder}; the first solve compiles those that are missing", OK
    else:
        yield "compiled loops", f"{folder} cannot be written; name a folder in NUMBA_CACHE_DIR", WRONG


def store(folder: str) -> Iterator[Finding]:
    """Whether the store of runs can be written, and the free space."""
    address = Address.parse(folder)
    if address.is_server:
        yield "store", f"{address}: a server; auclab runs --store says whether it responds", NOTE
        return
    there = _existing(address.directory)
    free = shutil.disk_usage(there).free
    if not os.access(there, os.W_OK):
        yield "store", f"{there} cannot be written; run in another folder, or set tracking.dir", WRONG
    elif free < LITTLE_SPACE:
        yield "store", f"{free / 1e6:.0f} MB are free at {there}; free some, or set tracking.dir", WRONG
    else:
        yield "store", f"{short_path(address.directory)}, {free / 1e9:.0f} GB free", OK


def data_folders() -> Iterator[Finding]:
    """The search path of data sets."""
    searched = ", ".join(dict.fromkeys(str(folder.resolve()) for folder in search_path()))
    yield "data", f"searched in {searched}, then fetched from OpenML; {VARIABLE} names another folder", OK


def _lack(needed: Requirement) -> str:
    """What is wrong with an installed library, nothing if it fits."""
    try:
        found = version(needed.name)
    except PackageNotFoundError:
        return "missing"
    return "" if needed.specifier.contains(found, prereleases=True) else f"{found}, which is too old"


def _existing(folder: Path) -> Path:
    """The folder, or its nearest existing parent."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
