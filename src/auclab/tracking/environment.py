"""What a run was made with: code, versions, machine, and a hash that equal experiments share."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    *("auclab", "numpy", "scipy", "scikit-learn", "pandas", "numba"),
    *("pyomo", "highspy", "cvxpy", "clarabel", "scs", "mlflow"),
)

#: Settings that say where things lie, or whether to work at all, and not what is computed.
PLACES = ("tracking", "data_dir", "rerun")
#: The same inside ``dataset``: what was read there is told by its checksum.
DATA_PLACES = ("data_dir", "path")
#: Tag of a run with the hash of its settings, known before its data are read.
SETTINGS_TAG = "config.settings"
#: Tag of a finished run with the hash of its settings and data.
HASH_TAG = "config.hash"


@cache
def capture_environment() -> dict[str, str]:
    """Tags that describe code and machine; a fact that cannot be had is left out."""
    tags = {f"version.{name}": found for name in PACKAGES if (found := _version(name))}
    tags |= {"python": platform.python_version(), "platform": platform.platform(), "cpu": _cpu()}
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    tags["threads"] = str(allowed)
    if limit := os.environ.get("OMP_NUM_THREADS"):
        tags["OMP_NUM_THREADS"] = limit
    return tags | _git()


def fingerprint(settings: Mapping[str, Any], data_sha256: str = "") -> str:
    """Sixteen hexadecimal digits of the hash of settings, data checksum and package version.

    Equal for two runs exactly if they compute the same thing. Where files lie, how a run is tracked, the machine and
    its threads do not count, nor whether a number is written 1 or 1.0. Without a checksum: of settings and version.

    Examples
    --------
    >>> one = fingerprint({"seed": 0, "tracking": {"name": "mlflow"}}, "ab")
    >>> one == fingerprint({"tracking": {"name": "none"}, "seed": 0.0}, "ab")
    True
    >>> one == fingerprint({"seed": 1}, "ab") or one == fingerprint({"seed": 0}, "ba")
    False
    """
    told = {key: value for key, value in settings.items() if key not in PLACES}
    if isinstance(dataset := told.get("dataset"), Mapping):
        told["dataset"] = {key: value for key, value in dataset.items() if key not in DATA_PLACES}
    text = json.dumps([_plain(told), data_sha256, _version("auclab")], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """Settings with whole numbers as integers."""
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
    """The model's name where Linux tells it, else what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _git() -> dict[str, str]:
    """Commit of the package's own repository; nothing if it is installed without one."""
    home = str(Path(__file__).parents[1])
    # Inside somebody else's repository (a virtual environment below it) the file would not be tracked.
    if _ask_git(home, "ls-files", "--error-unmatch", "types.py") is None:
        return {}
    commit, changes = _ask_git(home, "rev-parse", "HEAD"), _ask_git(home, "status", "--porcelain", "-uno")
    if commit is None:
        return {}
    return {"mlflow.source.git.commit": commit, "git.changed": "yes" if changes else "no"}


def _ask_git(folder: str, *command: str) -> str | None:
    line = ["git", "-C", folder, *command]
    try:
        answer = subprocess.run(line, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
