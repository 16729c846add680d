"""Data sets: published files, scikit-learn's bundled one, the user's own files, and computed samples.

Every loader returns an `auclab.datasets.records.Dataset`. ``auclab.datasets.load("ionosphere")`` calls the loader that
``conf/dataset/ionosphere.yaml`` names, with the arguments there.
"""

from typing import TYPE_CHECKING, Any

from auclab.datasets.catalogue import load, names

if TYPE_CHECKING:
    from auclab.datasets.inspection import Inspection, inspect_file

__all__ = ["Inspection", "inspect_file", "load", "names"]


def __getattr__(name: str) -> Any:
    if name not in ("Inspection", "inspect_file"):
        raise AttributeError(f"module 'auclab.datasets' has no attribute {name!r}")
    from auclab.datasets import inspection  # with the loaders, which `load` imports at its first use

    return getattr(inspection, name)
