"""Data sets that ``conf/dataset`` describes, one yaml a data set, by their names; where their files may lie."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import platformdirs

from auclab._core.base import AuclabError
from auclab.datasets.records import Dataset

_PACKAGE = Path(str(files("auclab")))


def dataset_configs(package: Path = _PACKAGE) -> Path:
    """The folder of the yaml files: ``conf/dataset`` of a checkout, else the copy in the installed package.

    The same as ``auclab.runs.config.compose.conf_folder() / "dataset"``, which this package may not import.
    """
    checkout = package.parents[1] / "conf"
    return (checkout if (checkout / "config.yaml").exists() else package / "conf") / "dataset"


def names() -> tuple[str, ...]:
    """Names of all data sets, in alphabetical order.

    See Also
    --------
    load : Loads one of them.

    Examples
    --------
    >>> "ionosphere" in names()
    True
    """
    return tuple(sorted(path.stem for path in dataset_configs().glob("*.yaml")))


def load(name: str, *, data_dir: str | Path | None = None, **overrides: Any) -> Dataset:
    """Load a data set by its name, as ``dataset=NAME`` on the command line does.

    Parameters
    ----------
    name : str
        One of `names`.
    data_dir : path, optional
        Folder that is searched first for data files.
    **overrides
        Replace values of the yaml file, for example ``positive="ME1"`` for ``yeast``.

    Returns
    -------
    Dataset

    Raises
    ------
    AuclabError
        Unknown name or argument, or an error of the loader, such as a missing file or a wrong checksum.

    See Also
    --------
    names : All names.
    auclab.datasets.file.load_file : Your own csv, tsv, parquet or svmlight file.
    auclab.datasets.blocks.load_blocks : Parquet files larger than memory.

    Examples
    --------
    >>> cancer = load("breast_cancer")
    >>> cancer.X.shape, cancer.n_pos, cancer.n_neg
    ((569, 30), 212, 357)
    """
    from omegaconf import OmegaConf  # imported here: it takes longer than all the rest of this module

    if name not in names():
        choices = ", ".join(names())
        raise AuclabError(
            f"no data set {name!r}; " + (f"choose from {choices}" if choices else f"{dataset_configs()} is empty")
        )
    config = OmegaConf.create(
        {
            "data_dir": data_dir and str(data_dir),
            "engine": None,
            "dataset": OmegaConf.load(dataset_configs() / f"{name}.yaml"),
        }
    )
    arguments: dict[str, Any] = OmegaConf.to_container(config.dataset, resolve=True)  # type: ignore[assignment]
    module, _, name_of_loader = arguments.pop("_target_").rpartition(".")
    loader: Callable[..., Dataset] = getattr(importlib.import_module(module), name_of_loader)
    accepted = inspect.signature(loader).parameters
    if unknown := sorted(set(overrides) - set(accepted)):
        raise AuclabError(f"data set {name!r} has no setting {', '.join(unknown)}; it has {', '.join(accepted)}")
    return loader(**(arguments | overrides))


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
