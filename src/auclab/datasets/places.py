"""Where a data file is looked for, in which order."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

#: Folders tried below the working directory and below the project's root.
RELATIVE = (Path("data"), Path("..", "shared", "data"))
VARIABLE = "AUCLAB_DATA"
ROOT = Path(__file__).resolve().parents[3]


def cache_dir() -> Path:
    """The user's cache folder, where downloads go; it need not exist."""
    return Path(platformdirs.user_cache_dir("auclab"))


def places(data_dir: str | Path | None = None) -> tuple[Path, ...]:
    """Folders in the order in which they are tried, each once.

    `data_dir`, the environment variable AUCLAB_DATA, ``./data`` and ``../shared/data`` (seen from the working
    directory, then from the project's root), the user's cache.

    Examples
    --------
    >>> str(places("here")[0])
    'here'
    """
    given = [Path(folder).expanduser() for folder in (data_dir, os.environ.get(VARIABLE)) if folder]
    # The root is that of a checkout; installed as a plain package there is none.
    roots = [Path()] + ([ROOT] if (ROOT / "conf").is_dir() else [])
    folders = [*given, *(root / folder for root in roots for folder in RELATIVE), cache_dir()]
    return tuple({os.path.abspath(folder): folder for folder in reversed(folders)}.values())[::-1]


def find(file: str, data_dir: str | Path | None = None) -> Path | None:
    """The first of `places` that holds `file`, or None."""
    # os.path.isfile, unlike Path.is_file, says no where a folder may not be entered.
    return next((folder / file for folder in places(data_dir) if os.path.isfile(folder / file)), None)
