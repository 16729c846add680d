"""Data sets: published files, scikit-learn's bundled one, the user's own files, and computed samples.

Every loader returns an `auclab.datasets.records.Dataset`; one file in ``conf/dataset`` names it and holds its arguments.
"""

from auclab.datasets.catalogue import load, names

__all__ = ["load", "names"]
