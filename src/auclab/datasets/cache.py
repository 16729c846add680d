"""Data sets that are loaded once and shared by the jobs of a sweep that run in one process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from auclab.datasets.records import Dataset
from auclab.samples.tables import in_memory
from auclab.sizes import DATA_BYTES

#: Bytes that all data sets together may take, except that the last one is kept whatever its size.
MAX_BYTES = DATA_BYTES

_kept: dict[str, Dataset] = {}
_lock = threading.Lock()


def load_cached(key: str, load: Callable[[], Dataset]) -> Dataset:
    """The data set of `key`: loaded at the first call, shared afterwards; its arrays must not be changed.

    The last data set is kept, and earlier ones as long as all together take at most `MAX_BYTES`. Tables whose rows are
    in files are not kept: their engine may hold a cluster open.

    `key`: identifies the data set: its resolved settings. `load`: loads it.
    """
    with _lock:
        dataset = _kept.pop(key, None)
        if dataset is None:
            dataset = load()
            if not in_memory(dataset.X):
                return dataset
        _kept[key] = dataset  # at the end: the least recently used one is the first
        while len(_kept) > 1 and sum(map(size_of, _kept.values())) > MAX_BYTES:
            del _kept[next(iter(_kept))]
        return dataset


def size_of(dataset: Dataset) -> int:
    """Bytes of the numbers of a data set in memory."""
    X: Any = dataset.X
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False).sum()) + dataset.y.nbytes
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) + dataset.y.nbytes
