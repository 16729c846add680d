"""Dask's collections as tables in blocks: their partitions are computed in every pass, or stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from auclab._core.base import AuclabError
from auclab._core.validation import label_for_every_row
from auclab.samples.blocks.engines import DaskEngine, LocalEngine, Partition
from auclab.samples.blocks.table import Block, BlockTable, Engine

if TYPE_CHECKING:
    import pandas as pd


def open_dask(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] | Literal["ALL"] = (),
    engine: Engine | None = None,
) -> tuple[BlockTable, pd.Series]:
    """A Dask DataFrame with a column of labels, or a Dask Array and its labels, as a table in blocks.

    One computation finds the number of rows of every partition, and the labels. Partitions of about 10⁵ rows are best:
    one or two are in memory at a time.

    `X` (n_rows, n_columns): its partitions are computed in every pass; those of a persisted collection stay in the
    memory of the workers. Columns of an array are in one chunk. `y` (n_rows,), also as Dask Array or Series: the
    labels; left out if `target` names a column. `target`: the column of a DataFrame with the labels. `drop`: columns to
    leave out. `nominal`: columns of numbers or booleans that are categories; columns of text always are. `engine`: what
    reads the blocks; if left out, the active `distributed.Client`, or else this process.
    """
    if not hasattr(X, "to_delayed"):
        raise AuclabError(f"X must be a Dask DataFrame or a Dask Array, got {type(X).__name__}")
    if (y is None) == (target is None):
        raise AuclabError("which labels? Give y, or the name of their column as target")
    columns, categories = _columns(X, target, drop, nominal)
    persisted = any(type(value).__name__ == "Future" for value in dict(X.__dask_graph__()).values())
    # Labels are taken from the partitions: Dask may divide a collection of one column into fewer.
    needed = X[[*columns, *([] if target is None else [target])]] if hasattr(X, "columns") and not persisted else X
    parts = np.ravel(np.asarray(needed.to_delayed(), dtype=object)).tolist()
    lengths, labels = _lengths_and_labels(parts, target, y)
    label_for_every_row(sum(lengths), len(labels))
    held = _futures(parts) if persisted else [_lean(part) for part in parts]
    blocks = [
        Block(Partition(part, str(getattr(part, "key", k)), length, columns, categories))
        for k, (part, length) in enumerate(zip(held, lengths, strict=True))
        if length
    ]
    if not blocks:
        raise AuclabError("the Dask collection has no rows")
    return BlockTable(blocks, columns, engine or _active_engine()), labels


def _active_engine() -> Engine:
    """The engine of the Client that is active in this process, or of the process itself."""
    import sys

    if "distributed" in sys.modules:
        from distributed import get_client

        try:
            return DaskEngine(client=get_client())
        except ValueError:  # none
            pass
    return LocalEngine()


def computed(delayed: Any) -> Any:
    """The value of a Delayed, computed by the active Client if there is one."""
    engine = _active_engine()
    if not isinstance(engine, DaskEngine):
        return delayed.compute()
    return engine._result(engine.connect().compute(delayed))


def _columns(
    X: Any, target: str | None, drop: Sequence[str], nominal: Sequence[str] | Literal["ALL"]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the features, and of those that are categories."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not hasattr(X, "columns"):
        if X.ndim != 2 or X.numblocks[1] != 1:
            raise AuclabError(
                f"a Dask Array must have shape (n_rows, n_columns) with all columns in a chunk, got shape {X.shape} in "
                f"{X.numblocks} chunks; X.rechunk({{1: -1}}) puts them together"
            )
        return tuple(f"x{k}" for k in range(X.shape[1])), ()
    names = [str(name) for name in X.columns]
    for name in (*((target,) if target is not None else ()), *drop, *(() if nominal == "ALL" else nominal)):
        if name not in names:
            raise AuclabError(f"column {name!r} does not exist; columns are {', '.join(names)}")
    kept = [name for name in names if name != target and name not in drop]
    if not kept:
        raise AuclabError(f"no features: {target!r} is the only column that is left")
    categories = []
    for name in kept:
        kind = X[name].dtype
        if nominal == "ALL" or name in nominal or str(kind) in ("object", "str", "string", "category"):
            categories.append(name)
        elif not (is_numeric_dtype(kind) or is_bool_dtype(kind)) or kind.kind == "c":
            raise AuclabError(
                f"column {name!r} is of type {kind}; blocks take numbers and text: make features of it, or drop it"
            )
    return tuple(kept), tuple(categories)


def _lengths_and_labels(parts: Sequence[Any], target: str | None, y: Any) -> tuple[list[int], pd.Series]:
    """Rows of every partition, and all labels, in one computation."""
    import dask
    import pandas as pd

    lengths = [dask.delayed(len)(part) for part in parts]
    if target is None:
        labels = y.compute() if hasattr(y, "to_delayed") else y
        return computed(dask.delayed(lengths)), pd.Series(np.asarray(labels))
    found, labels = computed(dask.delayed((lengths, [part[target] for part in parts])))
    return list(found), pd.concat(labels, ignore_index=True)


def _lean(part: Any) -> Any:
    """The partition with only the part of the graph that it needs."""
    import dask

    (lean,) = dask.optimize(part)
    return lean


def _futures(parts: Sequence[Any]) -> list[Any]:
    """The partitions of a persisted collection where they are, in the memory of the workers."""
    from distributed import get_client

    return list(get_client().compute(list(parts)))
