"""`auclab doctor`: what of an installation works, and commands that fix the rest."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

from auclab.datasets.catalogue import search_path
from auclab.runs.screen.console import out, print_row
from auclab.runs.tracking.address import Address
from auclab.runs.tracking.environment import capture_environment

#: A line: what was checked, what was found or what to do, and its style; red is wrong, dim may be left as it is.
Finding = tuple[str, str, str]
OK, WRONG, NOTE = "cyan", "red", "dim"


def doctor(arguments: Namespace) -> int:
    """Print the findings; exit code 1 if something is wrong, else 0."""
    found = [*environment(arguments.store), *libraries(requires("auclab") or [])]
    for what, text, style in found:
        print_row(what, text, 16, style=style)
    wrong = sum(style == WRONG for *_, style in found)
    out.print(f"{wrong} of these must be fixed before all commands work" if wrong else "no problems found")
    return int(wrong > 0)


def environment(folder: str) -> Iterator[Finding]:
    """Versions, cores, the folders of data sets and of the store."""
    known = capture_environment()
    yield "auclab", f"{known['version.auclab']} in {Path(__file__).parents[1]}", OK
    yield "Python", f"{known['python']} on {known['platform']}", OK
    yield "cores", f"{known['threads']} usable, OMP_NUM_THREADS {known.get('OMP_NUM_THREADS', 'not set')}", OK
    yield "data", f"searched in {', '.join(map(str, search_path()))}, then fetched from OpenML", OK
    store = Address.parse(folder)
    there = next(path for path in (store.directory, *store.directory.parents) if path.exists())
    if os.access(there, os.W_OK):
        yield "store", str(store), OK
    else:
        yield "store", f"{there} cannot be written; run in another folder, or set tracking.dir", WRONG


def libraries(requirements: Iterable[str]) -> Iterator[Finding]:
    """What is missing or too old: of the libraries that every command may need, and of each optional part.

    `requirements`: as in the metadata of a package.

    Examples
    --------
    >>> needed = ["numpy>=99", "scipy", "scipy; extra == 'arrays'", "no-such-library; extra == 'more'"]
    >>> [(what, text.partition("; ")[2]) for what, text, _ in libraries(needed)]
    [('numpy', "pip install 'numpy>=99'"), ('arrays', ''), ('more', "pip install 'auclab[more]'")]
    """
    extras: dict[str, str] = {}
    for needed in map(Requirement, requirements):
        names = [part.partition('"')[0] for part in str(needed.marker).split('extra == "')[1:]]
        lack = _lack(needed)
        extras |= {name: extras.get(name, "") or lack for name in names}
        if lack and not names:
            yield needed.name, f"{lack}; pip install '{needed.name}{needed.specifier}'", WRONG
    for name, lack in extras.items():
        yield name, f"{lack}; pip install 'auclab[{name}]'" if lack else "installed", NOTE if lack else OK


def _lack(needed: Requirement) -> str:
    """What is wrong with an installed library; nothing if it fits."""
    try:
        found = version(needed.name)
    except PackageNotFoundError:
        return f"{needed.name} is missing"
    return "" if needed.specifier.contains(found, prereleases=True) else f"{needed.name} {found} is too old"
