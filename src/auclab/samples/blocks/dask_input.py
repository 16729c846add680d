"""Dask DataFrames and Arrays as tables in blocks: a partition is a block, computed where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from auclab.samples.blocks.block import Block, Engine
from auclab.samples.blocks.engines import LocalEngine
from auclab.samples.blocks.mixed_rows import MixedRows, distinct_codes
from auclab.samples.blocks.table import BlockTable
from auclab.types import Array, AuclabError
from auclab.validation import label_for_every_row

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Partition:
    """A partition of a Dask collection with its graph, which is sent to a worker instead of the rows."""

    part: Any = field(compare=False)  # partitions are compared by key
    key: str
    n_rows: int = field(compare=False)
    columns: tuple[str, ...] = field(compare=False)
    nominal: tuple[str, ...] = ()

    def read(self) -> Array | MixedRows:
        """The rows as floats, NaN where a value is missing; with columns of categories `MixedRows`."""
        found = self.part.compute(scheduler="synchronous")
        if len(found) != self.n_rows:
            raise AuclabError(
                f"a partition of the Dask collection has {len(found)} rows, and had {self.n_rows} before; collections "
                "that differ from one computation to the next cannot be read in passes: write them to parquet first"
            )
        if not hasattr(found, "columns"):
            return np.array(found, dtype=np.float64, order="F")
        numeric = [name for name in self.columns if name not in self.nominal]
        rows = np.empty((self.n_rows, len(numeric)), order="F")
        for k, name in enumerate(numeric):
            rows[:, k] = found[name].to_numpy(dtype=np.float64, na_value=np.nan)
        if not self.nominal:
            return rows
        pairs = [distinct_codes(*_factorised(found[name])) for name in self.columns if name in self.nominal]
        is_number = tuple(name not in self.nominal for name in self.columns)
        return MixedRows(rows, tuple(codes for codes, _ in pairs), tuple(values for _, values in pairs), is_number)


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

    `X` (n_rows, n_columns): not persisted; its partitions are computed in every pass, or kept within `keep_gb` of the
    engine. Columns of an array are in one chunk. `y` (n_rows,), or Dask Array or Series with the partitions of X: the
    labels; left out if `target` names a column. `target`: the column of a DataFrame with the labels. `drop`: columns to
    leave out. `nominal`: columns of numbers or booleans that are categories; columns of text always are. `engine`: what
    reads the blocks, `LocalEngine` if left out, or a `DaskEngine` with the address of a cluster.
    """
    if not hasattr(X, "to_delayed"):
        raise AuclabError(f"X must be a Dask DataFrame or a Dask Array, got {type(X).__name__}")
    if (y is None) == (target is None):
        raise AuclabError("which labels? Give y, or the name of their column as target")
    columns, categories = _columns(X, target, drop, nominal)
    given = X[[*columns]] if hasattr(X, "columns") else X
    parts = np.ravel(np.asarray(given.to_delayed(), dtype=object)).tolist()
    labels_of = X[target] if target is not None else y
    lengths, labels = _lengths_and_labels(parts, labels_of)
    label_for_every_row(sum(lengths), len(labels))
    blocks = [
        Block(Partition(_lean(part), str(part.key), length, columns, categories))
        for part, length in zip(parts, lengths, strict=True)
        if length
    ]
    if not blocks:
        raise AuclabError("the Dask collection has no rows")
    return BlockTable(blocks, columns, engine or LocalEngine()), labels


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


def _lengths_and_labels(parts: Sequence[Any], y: Any) -> tuple[list[int], pd.Series]:
    """Rows of every partition, and all labels, in one computation."""
    import dask
    import pandas as pd

    lengths = [dask.delayed(len)(part) for part in parts]
    if not hasattr(y, "to_delayed"):
        return list(dask.compute(*lengths)), pd.Series(np.asarray(y))
    of_parts = np.ravel(np.asarray(y.to_delayed(), dtype=object)).tolist()
    if len(of_parts) != len(parts):
        raise AuclabError(
            f"the Dask collections have {len(parts)} and {len(of_parts)} partitions; rechunk or repartition them alike"
        )
    found, labels = dask.compute(lengths, of_parts)
    return list(found), pd.concat([pd.Series(np.asarray(part)) for part in labels], ignore_index=True)


def _lean(part: Any) -> Any:
    """The partition with only the part of the graph that it needs."""
    import dask

    (lean,) = dask.optimize(part)
    if any(type(value).__name__ == "Future" for value in dict(lean.__dask_graph__()).values()):
        raise AuclabError(
            "the Dask collection is persisted, and its partitions are read by tasks of their own: give it as it was "
            "before persist(), and let keep_gb of the engine keep the rows"
        )
    return lean


def _factorised(column: pd.Series) -> tuple[NDArray[np.intp], list[Any]]:
    """Codes and values, −1 where a value is missing."""
    codes, values = column.factorize()
    return codes, list(values)
