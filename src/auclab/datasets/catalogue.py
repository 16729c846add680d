"""The folder ``conf/dataset`` as a catalogue: one yaml per data set, found by its name."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from auclab.datasets.records import Dataset
from auclab.types import AuclabError

_PACKAGE = Path(__file__).resolve().parents[1]
#: In a checkout, and in an installed package; as `auclab.pipeline.compose.conf_folder`, which must not import NumPy.
_FOLDERS = (_PACKAGE.parents[1] / "conf" / "dataset", _PACKAGE / "conf" / "dataset")
FOLDER = next((folder for folder in _FOLDERS if (folder.parent / "config.yaml").exists()), _FOLDERS[-1])


def names() -> tuple[str, ...]:
    """Names of all data sets, in alphabetical order.

    Examples
    --------
    >>> "ionosphere" in names()
    True
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load(name: str, *, data_dir: str | Path | None = None, **overrides: Any) -> Dataset:
    """Load a data set by the name of its yaml file.

    Parameters
    ----------
    name : str
        One of `names`.
    data_dir : path, optional
        Folder in which files are looked for first.
    **overrides
        Replace values of the yaml, for example ``positive="ME1"`` for ``yeast``.

    Returns
    -------
    Dataset

    Raises
    ------
    AuclabError
        Unknown name or argument, and whatever the loader has to say.

    Examples
    --------
    >>> cancer = load("breast_cancer")
    >>> cancer.X.shape, cancer.n_pos, cancer.n_neg
    ((569, 30), 212, 357)
    """
    from omegaconf import OmegaConf  # here, because it costs more than all the rest of this module

    if name not in names():
        choices = ", ".join(names())
        raise AuclabError(f"no data set {name!r}; " + (f"choose from {choices}" if choices else f"{FOLDER} is empty"))
    config = OmegaConf.create(
        {"data_dir": data_dir and str(data_dir), "engine": None, "dataset": OmegaConf.load(FOLDER / f"{name}.yaml")}
    )
    arguments: dict[str, Any] = OmegaConf.to_container(config.dataset, resolve=True)  # type: ignore[assignment]
    loader = _function(arguments.pop("_target_"))
    accepted = inspect.signature(loader).parameters
    if unknown := sorted(set(overrides) - set(accepted)):
        raise AuclabError(f"data set {name!r} has no setting {', '.join(unknown)}; it has {', '.join(accepted)}")
    return loader(**(arguments | overrides))


def _function(path: str) -> Callable[..., Dataset]:
    module, _, attribute = path.rpartition(".")
    function: Callable[..., Dataset] = getattr(importlib.import_module(module), attribute)
    return function
