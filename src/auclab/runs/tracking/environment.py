"""The environment of a run: code, commit, versions, machine, and a hash that equal experiments share."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_path
from typing import Any

#: Tag of a run with the code that computes it.
CODE_TAG = "config.code"
#: Tag of a run, before the name of a metric of the user's, with the better end of its values.
BETTER_TAG = "better"
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
    root = Path(__file__).resolve().parents[4]
    if (root / "pyproject.toml").exists() and (root / "conf" / "config.yaml").exists():
        return f"files {hash_files(root, CODE_PATHS)}"
    try:
        return f"version {version('auclab')}"
    except PackageNotFoundError:
        return ""


def code_of(configuration: Mapping[str, Any]) -> str:
    """The code of a run: that of auclab, and the hash of the user's own modules that its configuration names.

    Of a package every file counts, of a module its own file alone; installed libraries have their versions as tags.
    """
    own = sorted({name.partition(".")[0] for name in _named(configuration)} - {"auclab", "hydra"})
    hashes = "".join(filter(None, map(_hash_of_own, own)))
    return f"{code_version()}, pieces {hashlib.sha256(hashes.encode()).hexdigest()[:16]}" if hashes else code_version()


def _named(value: Any) -> Iterator[str]:
    """Names of the functions and classes that a configuration calls."""
    if isinstance(value, Mapping):
        if "_target_" in value:
            yield str(value["_target_"])
            yield from [str(value["path"])] if str(value["_target_"]).startswith("hydra.") and "path" in value else []
        for item in value.values():
            yield from _named(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named(item)


@cache
def _hash_of_own(name: str) -> str:
    """The hash of a module or a package outside the folders of installed ones; once a process, as it loads them."""
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None or found.origin in ("built-in", "frozen"):
        return ""
    path = Path(next(iter(found.submodule_search_locations or [str(found.origin)])))  # a package's folder, or a file
    return hash_files(path.parent, [path.name]) if is_own(path) else ""


def is_own(path: Path) -> bool:
    """Whether a module is the user's: neither installed nor of Python itself."""
    return not ({"site-packages", "dist-packages"} & set(path.parts) or path.is_relative_to(get_path("stdlib")))


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


PACKAGES = (
    *("auclab", "numpy", "scipy", "scikit-learn", "pandas", "numba"),
    *("pyomo", "highspy", "cvxpy", "clarabel", "scs", "mlflow"),
)

#: Settings of file locations, figures and reruns, which do not change the results.
LOCATIONS = ("tracking", "data_dir", "rerun", "figures")
#: The same inside ``dataset``: the checksum identifies the data.
DATA_LOCATIONS = ("data_dir", "path")
#: Tag of a run with the hash of its settings, set before its data are read.
SETTINGS_TAG = "config.settings"
#: Tag of a finished run with the hash of its settings and data.
HASH_TAG = "config.hash"


@cache
def capture_environment() -> dict[str, str]:
    """Tags that describe versions, commit and machine; those that cannot be determined are left out.

    See Also
    --------
    code_version : Which code computed a result.
    fingerprint : Which experiment it is.

    Examples
    --------
    >>> "python" in capture_environment(), "version.numpy" in capture_environment()
    (True, True)
    """
    tags = {f"version.{name}": found for name in PACKAGES if (found := _version(name))}
    tags |= {"python": platform.python_version(), "platform": platform.platform(), "cpu": _cpu()}
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    tags["threads"] = str(allowed)
    if limit := os.environ.get("OMP_NUM_THREADS"):
        tags["OMP_NUM_THREADS"] = limit
    return tags | _git()


def fingerprint(configuration: Mapping[str, Any], data_sha256: str = "") -> str:
    """Sixteen hexadecimal digits of the hash of a configuration and of the checksum of the data.

    Two runs have equal fingerprints exactly if they describe the same computation. Locations of files, tracking, the
    machine, its threads, and whether a number is written 1 or 1.0 do not count; the code has a separate tag
    (`auclab.runs.tracking.environment.code_of`). Without a checksum: the hash of the configuration alone.

    Parameters
    ----------
    configuration : mapping
        The resolved configuration: nested mappings, lists and scalars.
    data_sha256 : str
        Checksum of the data.

    See Also
    --------
    find_finished : Finds runs by it.
    code_version : The code, which it leaves out.

    Examples
    --------
    >>> one = fingerprint({"seed": 0, "tracking": {"name": "mlflow"}}, "ab")
    >>> one == fingerprint({"tracking": {"name": "none"}, "seed": 0.0}, "ab")
    True
    >>> one == fingerprint({"seed": 1}, "ab") or one == fingerprint({"seed": 0}, "ba")
    False
    """
    hashed = {key: value for key, value in configuration.items() if key not in LOCATIONS}
    if isinstance(dataset := hashed.get("dataset"), Mapping):
        hashed["dataset"] = {key: value for key, value in dataset.items() if key not in DATA_LOCATIONS}
    text = json.dumps([_plain(hashed), data_sha256], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """A configuration with whole numbers as integers."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _cpu() -> str:
    """The model's name on Linux, elsewhere what Python reports."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _git() -> dict[str, str]:
    """Commit of the repository that tracks the package; nothing if it is installed without one."""
    home = str(Path(__file__).parents[2])
    # In a virtual environment below another repository, that repository does not track the file.
    if _run_git(home, "ls-files", "--error-unmatch", "testing.py") is None:
        return {}
    commit, changes = _run_git(home, "rev-parse", "HEAD"), _run_git(home, "status", "--porcelain", "-uno")
    if commit is None:
        return {}
    return {"mlflow.source.git.commit": commit, "git.changed": "yes" if changes else "no"}


def _run_git(folder: str, *command: str) -> str | None:
    line = ["git", "-C", folder, *command]
    try:
        answer = subprocess.run(line, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
