"""Data sets: published files, scikit-learn's bundled one, the user's own files, and computed samples.

Every loader returns an `auclab.datasets.Dataset`. ``auclab.datasets.load("ionosphere")`` calls the loader that
``conf/dataset/ionosphere.yaml`` names, with the arguments there.
"""

from typing import TYPE_CHECKING, Any

from auclab.datasets.catalogue import load, names

if TYPE_CHECKING:
    from auclab.datasets.inspection import Inspection, inspect_file
    from auclab.datasets.records import Dataset

__all__ = ["Dataset", "Inspection", "inspect_file", "load", "names"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'auclab.datasets' has no attribute {name!r}")
    # With the loaders, which `load` imports at its first use.
    from auclab.datasets import inspection, records

    return getattr(records if name == "Dataset" else inspection, name)
