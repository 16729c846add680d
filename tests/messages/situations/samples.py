# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the samples may use: files of parquet, and stand-ins for Dask, which may not be installed."""

import sys
from concurrent.futures import CancelledError
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from auclab.samples.as_sample import as_sample
from auclab.samples.bicliques import censored_pairs, ordered_pairs
from auclab.samples.blocks.dask_tables import open_dask
from auclab.samples.blocks.engines import DaskEngine, LocalEngine, Partition
from auclab.samples.blocks.files import data_files, tree_sum
from auclab.samples.blocks.labels import labels_of
from auclab.samples.blocks.row_forms import not_numbers
from messages.situations import X2, Y, auclab, bl, blocks, m, nan, new_folder, np, parquet, patched, pd, raises


def objects(values: Any) -> Any:
    """An array of objects."""
    found = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        found[k] = value
    return found


class Frame(pd.DataFrame):
    """A table that looks like a Dask DataFrame of one partition."""

    @property
    def _constructor(self) -> type:
        return Frame

    def to_delayed(self) -> list[Any]:
        """The partition."""
        return objects([self])

    def __dask_graph__(self) -> dict[str, Any]:
        return {}


def dask_frame(**columns: Any) -> Frame:
    """Such a table."""
    return Frame(columns or {"a": [1.0, 2.0], "y": [0, 1]})


class DaskArray:
    """Stands in for a Dask Array of these chunks, and partitions."""

    def __init__(self, shape: tuple[int, ...], chunks: int, *parts: Any) -> None:
        self.shape, self.ndim, self.numblocks, self.parts = shape, len(shape), (1, chunks), parts

    def to_delayed(self) -> Any:
        """The partitions."""
        return objects(self.parts)

    def __dask_graph__(self) -> dict[str, Any]:
        return {}


def opened_dask(given: Any, labels: Any = None, **options: Any) -> Any:
    """`open_dask` where a stand-in of Dask computes at once."""
    at_once = {"delayed": lambda call: call, "optimize": lambda part: (part,)}

    def call() -> Any:
        return with_dask(lambda: open_dask(given, labels, engine=LocalEngine(), **options), **at_once)

    return patched("auclab.samples.blocks.dask_tables.computed", lambda value: value, call)


def chunks(*sizes: int) -> DaskArray:
    """A Dask Array of two columns with a partition of each size."""
    return DaskArray((sum(sizes), 2), 1, *([[0.0, 1.0]] * size for size in sizes))


def with_fsspec(error: BaseException | None) -> Any:
    """What files there are at an address, where a stand-in of fsspec reads it or raises an error."""
    core = ModuleType("fsspec.core")
    system = SimpleNamespace(exists=lambda _: True, isfile=lambda _: True)
    core.url_to_fs = (lambda _: (system, "b/1.parquet")) if error is None else raises(error)
    modules = {**sys.modules, "fsspec": ModuleType("fsspec"), "fsspec.core": core}
    return patched("sys.modules", modules, lambda: data_files("s3://b/1.parquet", [".parquet"]))


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


class Stream:
    """Stands in for a query that gives its rows as a stream of Arrow, and may fail."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = errors

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        table = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "y": Y})
        batches = (raises(*self.errors)() if self.errors else batch for batch in table.to_batches())
        return pa.RecordBatchReader.from_batches(table.schema, batches).__arrow_c_stream__(requested_schema)


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


def result_of_task(error: type[BaseException] | None, workers: int = 0) -> Any:
    """What a Dask engine makes of a task that ends with this error, on a cluster with so many workers."""
    client = SimpleNamespace(nthreads=lambda: {f"tcp://w:{number}": 1 for number in range(workers)})
    engine = DaskEngine(client=client, wait=-1.0)
    result = (lambda timeout: 1) if error is None else raises(error("task"))
    return engine._result(SimpleNamespace(result=result, status="pending", done=lambda: False))


GOOD = {"a": [1.0, 2.0, 4.0, 3.0], "y": [0, 1, 0, 1]}
