"""Data sets: published files, scikit-learn's bundled one, the user's own files, and computed samples.

Every loader returns an `auclab.datasets.records.Dataset`. ``auclab.datasets.load("ionosphere")`` calls the loader that
``conf/dataset/ionosphere.yaml`` names, with the arguments there.
"""

from auclab.datasets.catalogue import load, names

__all__ = ["load", "names"]
