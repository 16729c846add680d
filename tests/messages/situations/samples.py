# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the samples may use: files of parquet, and stand-ins for Dask, which may not be installed."""

import sys
from datetime import date
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from auclab.samples.as_sample import as_sample
from auclab.samples.bicliques import censored_pairs, ordered_pairs
from auclab.samples.blocks.dask_input import Partition, open_dask
from auclab.samples.blocks.engines import DaskEngine
from auclab.samples.blocks.files import data_files
from auclab.samples.blocks.labels import computed_labels, labels_of
from auclab.samples.blocks.mixed_rows import not_numbers
from auclab.samples.blocks.tree import tree_sum
from messages.situations import X2, Y, auclab, bl, blocks, m, nan, new_folder, np, parquet, patched, pd, raises


class Frame(pd.DataFrame):
    """A table that looks like a Dask DataFrame."""

    def to_delayed(self) -> list[Any]:
        """No partition."""
        return []


def dask_frame(**columns: Any) -> Frame:
    """Such a table."""
    return Frame(columns or {"a": [1.0, 2.0], "y": [0, 1]})


class DaskArray:
    """Stands in for a Dask Array of these chunks."""

    def __init__(self, shape: tuple[int, ...], chunks: int) -> None:
        self.shape, self.ndim, self.numblocks = shape, len(shape), (1, chunks)

    def to_delayed(self) -> list[Any]:
        """No partition."""
        return []


def dask_modules(**attributes: Any) -> dict[str, Any]:
    """Modules `dask` and `distributed`, in place of those that are installed, if any."""
    found = {}
    for name in ("dask", "distributed"):
        module = ModuleType(name)
        vars(module).update(attributes)
        found[name] = module
    return {**sys.modules, **found}


def with_dask(call: Any, **attributes: Any) -> Any:
    """What `call` returns with these modules."""
    return patched("sys.modules", dask_modules(**attributes), call)


def folder_of(*tables: dict[str, Any], names: tuple[str, ...] = ("1.parquet", "2.parquet")) -> str:
    """A folder with a file for each table."""
    place = new_folder()
    for name, columns in zip(names, tables, strict=False):
        parquet((place / name).parent, (place / name).name, **columns)
    return str(place)


def opened(*tables: dict[str, Any], names: tuple[str, ...] = ("1.parquet", "2.parquet"), **options: Any) -> Any:
    """Such a folder as a table in blocks, and its labels."""
    return bl.open_parquet(folder_of(*tables, names=names), target="y", **options)


def changed_file() -> None:
    """Rows are read from a file that was written anew after it was opened."""
    folder = folder_of(GOOD)
    table = bl.open_parquet(folder, target="y")[0]
    parquet(type(new_folder())(folder), "1.parquet", a=[5.0] * 9, y=[0] * 9)
    np.asarray(table)


def two_columns_of_a_name() -> None:
    """A file with the column a twice."""
    place = new_folder() / "1.parquet"
    table = pa.table([pa.array([1.0, 2.0]), pa.array([1.0, 2.0]), pa.array([0, 1])], names=["a", "a", "y"])
    pq.write_table(table, place)
    bl.open_parquet(str(place), target="y")


def cluster(workers: int, address: str = "") -> Any:
    """What a Dask engine finds on a cluster with so many workers."""
    engine = DaskEngine(address=address)
    known = SimpleNamespace(nthreads=lambda: {f"tcp://w:{number}": 1 for number in range(workers)})
    object.__setattr__(engine, "_client", known)
    return engine._running_workers()


GOOD = {"a": [1.0, 2.0, 4.0, 3.0], "y": [0, 1, 0, 1]}


class Typed:
    """Stands in for a Dask DataFrame with a column of complex numbers."""

    columns = ("a", "y")

    def to_delayed(self) -> list[Any]:
        """No partition."""
        return []

    def __getitem__(self, name: str) -> Any:
        """A column."""
        return SimpleNamespace(dtype=np.dtype(complex))
