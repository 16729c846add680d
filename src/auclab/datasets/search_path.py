"""The search path of data files."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from auclab.datasets.catalogue import dataset_configs

#: Folders tried below the working directory and below the root of a checkout.
RELATIVE = (Path("data"), Path("..", "shared", "data"))
#: Environment variable with a folder that is searched before these.
VARIABLE = "AUCLAB_DATA"
#: The root of a checkout; in an installed package there is no ``conf`` in it.
ROOT = Path(__file__).resolve().parents[3]


def cache_dir() -> Path:
    """The user's cache folder, where downloads are written; it need not exist."""
    return Path(platformdirs.user_cache_dir("auclab"))


def search_path(data_dir: str | Path | None = None) -> tuple[Path, ...]:
    """The folders in the order in which they are searched, each once.

    `data_dir`, the environment variable AUCLAB_DATA, ``./data`` and ``../shared/data`` (below the working directory,
    then below the root of a checkout), the tables that come with the package, the user's cache.

    `data_dir`: a folder to search first.

    Examples
    --------
    >>> str(search_path("here")[0])
    'here'
    """
    given = [Path(folder).expanduser() for folder in (data_dir, os.environ.get(VARIABLE)) if folder]
    roots = [Path()] + ([ROOT] if (ROOT / "conf").is_dir() else [])
    folders = [*given, *(root / folder for root in roots for folder in RELATIVE), dataset_configs(), cache_dir()]
    return tuple({os.path.abspath(folder): folder for folder in reversed(folders)}.values())[::-1]


def find_file(file: str, data_dir: str | Path | None = None) -> Path | None:
    """The first `file` on the search path, or None."""
    # os.path.isfile, unlike Path.is_file, returns False where a folder may not be entered.
    return next((folder / file for folder in search_path(data_dir) if os.path.isfile(folder / file)), None)
