"""Which code computed a result: a hash of the files of a checkout, or the version of an installed package."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

#: Tag of a run with the code that computes it.
CODE_TAG = "config.code"
#: The files of a checkout that can change a result; documentation, tests and benchmarks cannot.
CODE_PATHS = ("src", "conf", "run.py")
#: Suffixes of the files that count below these folders.
CODE_SUFFIXES = (".py", ".yaml")


@cache
def code_version() -> str:
    """The code of this process: ``files <16 hexadecimal digits>`` in a checkout, else ``version <version>``.

    The hash is of the contents of the Python and YAML files below ``src`` and ``conf`` and of ``run.py``, committed or
    not. Two commits that differ in documentation or tests alone have the same hash, and so have a change and the
    commit of that change. The commit itself is another tag of the run (``mlflow.source.git.commit``).

    Computed once per process, in about 30 ms: later edits are not loaded by this process.

    See Also
    --------
    capture_environment : Versions and machine.
    find_finished : Compares it.

    Examples
    --------
    >>> code_version() == code_version(), code_version().split()[0] in ("files", "version")
    (True, True)
    """
    root = Path(__file__).resolve().parents[3]
    if (root / "pyproject.toml").exists() and (root / "conf" / "config.yaml").exists():
        return f"files {hash_files(root, CODE_PATHS)}"
    try:
        return f"version {version('auclab')}"
    except PackageNotFoundError:
        return ""


def hash_files(root: Path, paths: Iterable[str]) -> str:
    """Sixteen hexadecimal digits of the hash of files and of the Python and YAML files below folders.

    Names relative to `root` count, line endings do not: Git may change them on another system.

    `root`: the folder that `paths` are relative to. `paths`: files, and folders with all that is below them; those that
    are missing are left out.
    """
    digest = hashlib.sha256()
    for path in paths:
        for file in [root / path] if (root / path).is_file() else _files_below(root / path):
            if file.suffix in CODE_SUFFIXES:
                content = file.read_bytes().replace(b"\r\n", b"\n")
                digest.update(f"{file.relative_to(root).as_posix()}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()[:16]


def _files_below(folder: Path) -> list[Path]:
    """The Python and YAML files below a folder, sorted. Caches are excluded before paths are built."""
    names = ((place, name) for place, _, files in os.walk(folder) for name in files if name.endswith(CODE_SUFFIXES))
    return sorted(Path(place, name) for place, name in names)
