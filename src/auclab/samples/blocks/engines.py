"""Engines: threads, processes and Dask; and passes over blocks.

A task of `run` is a function ``(rows of the block, argument) -> result``; a task of `reduce` takes the rows of some
blocks with their labels, one block after the other, and its results are added on the workers. Arguments and results are
sent; rows never are.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab.samples.blocks.files import FAN_IN, Reduction, ahead, groups, rows_ahead, tree_sum
from auclab.samples.blocks.labels import LabelledBlock
from auclab.samples.blocks.row_forms import MixedRows, distinct_codes
from auclab.samples.blocks.table import Block, Task

if TYPE_CHECKING:
    pass
    import pandas as pd


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PassProgress:
    """A pass over the blocks of a table.

    `number`: from 1. `share` in [0, 1]: of its blocks that are done. `seconds`: of the last pass over all blocks; 0 in
    the first.
    """

    number: int
    share: float
    seconds: float


Report = Callable[[PassProgress], None]


class _Passes:
    """Counts passes for the progress report; another thread may end a block."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.number, self.seconds = 0, 0.0
        self.lock = threading.Lock()


_passes = _Passes()


@contextmanager
def passes_to(report: Report) -> Iterator[None]:
    """Call `report` whenever blocks are done, in every pass over rows in blocks within the context.

    Only the innermost of nested contexts reports.

    Parameters
    ----------
    report : callable
        Takes a `PassProgress`: the number of the pass, the share of its blocks that is done, seconds.

    See Also
    --------
    auclab.samples.blocks.open_parquet : Rows that are read in passes.

    Examples
    --------
    >>> with passes_to(lambda done: print(done.number, done.share)):
    ...     pass  # auclab.solve(program, table, y)
    """
    before = _passes.report, _passes.number, _passes.seconds
    _passes.report, _passes.number, _passes.seconds = report, 0, 0.0
    try:
        yield
    finally:
        _passes.report, _passes.number, _passes.seconds = before


def number_of_passes() -> int:
    """Passes that have begun since `passes_to` was entered."""
    return _passes.number


def begun_pass(total: int) -> Callable[[int], None]:
    """Count a pass over `total` blocks; returns a function to call with the number of newly finished blocks."""
    begin, finished = perf_counter(), 0
    with _passes.lock:
        _passes.number += 1
        number = _passes.number

    def done(count: int) -> None:
        nonlocal finished
        with _passes.lock:
            finished += count
            if finished >= total:
                _passes.seconds = perf_counter() - begin
            report, progress = _passes.report, PassProgress(number, min(finished / max(total, 1), 1.0), _passes.seconds)
        if report is not None:
            report(progress)

    return done


@dataclass(frozen=True)
class Partition:
    """A partition of a Dask collection.

    `part`: a Delayed with its graph, which is sent to a worker instead of the rows; of a collection that is persisted,
    the Future of rows that a worker holds, and on this worker the rows.
    """

    part: Any = field(compare=False)  # partitions are compared by key
    key: str
    n_rows: int = field(compare=False)
    columns: tuple[str, ...] = field(compare=False)
    nominal: tuple[str, ...] = ()

    def read(self) -> Array | MixedRows:
        """The rows as floats, NaN where a value is missing; with columns of categories `MixedRows`."""
        return self.as_rows(self._computed())

    @property
    def is_held(self) -> bool:
        """Whether the part is the Future of rows that a worker holds."""
        return type(self.part).__name__ == "Future"

    def _computed(self) -> Any:
        if self.is_held:
            return self.part.result()
        if hasattr(self.part, "__array__"):
            return self.part
        try:
            return self.part.compute(scheduler="synchronous")
        except RuntimeError as error:  # a shuffle needs all partitions at once; its error cannot be sent
            raise AuclabError(
                f"a partition of the Dask collection cannot be computed by itself ({error}); persist() the collection "
                "before, or write it to parquet"
            ) from None

    def as_rows(self, found: Any) -> Array | MixedRows:
        """The rows of the computed partition."""
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


class LocalEngine:
    """One block after the other in this process; the next one is read while a task runs.

    See Also
    --------
    DaskEngine : Several processes or machines.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from auclab.samples.blocks import open_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"age": [30.0, 40.0], "y": [0, 1]}).to_parquet(f"{folder}/rows.parquet")
    ...     table, labels = open_parquet(folder, target="y", engine=LocalEngine())
    ...     print(table.shape)
    (2, 1)
    """

    def run(self, task: Task, blocks: Sequence[Block], arguments: Iterable[Any]) -> Iterator[Any]:
        """Results in order; two blocks are in memory at a time."""
        if not blocks:
            return
        done = begun_pass(len(blocks))
        for rows, argument in zip(ahead(blocks, Block.read), arguments, strict=True):
            yield task(rows, argument)
            done(1)

    def reduce(self, task: Reduction, blocks: Sequence[LabelledBlock]) -> Any:
        """The sum of a task over all blocks; two blocks are in memory at a time."""
        rows, done = rows_ahead(blocks), begun_pass(len(blocks))

        def results() -> Iterator[Any]:
            for group in groups(blocks):
                yield task(islice(rows, len(group)))
                done(len(group))

        return tree_sum(results())


class DaskEngine:
    """The workers of a Dask cluster.

    Parameters
    ----------
    workers : int
        Processes of the local cluster that is started at the first use; not used with `address`. At least 1.
    address : str, optional
        Address of the scheduler of a running cluster; its workers must see the files under the same paths.
    client : distributed.Client, optional
        Of your own, in place of both; it is not closed.
    wait : float > 0
        Seconds without any worker after which a pass ends with an error. A wait is reported after five seconds.

    Raises
    ------
    AuclabError
        No worker for `wait` seconds, or a scheduler that is gone; and at the first use: the package `distributed` is
        missing, no scheduler answers at `address`, or the workers do not start.

    See Also
    --------
    LocalEngine : This process.

    Examples
    --------
    >>> DaskEngine(workers=4).workers  # nothing is started yet
    4
    """

    #: Tasks queued at each worker: enough to keep it busy, few enough to bound the memory of this process.
    QUEUE_LENGTH = 2
    #: Seconds to wait for a scheduler at `address`.
    TIMEOUT = 20

    def __init__(
        self, workers: int = 2, address: str | None = None, *, client: Any = None, wait: float = 300.0
    ) -> None:
        if workers < 1:
            raise AuclabError(f"engine.workers must be at least 1, got {workers}")
        self.workers, self.address, self.wait = workers, address, wait
        self._client, self._own = client, client is None
        self._cluster: Any = None

    def run(self, task: Task, blocks: Sequence[Block], arguments: Iterable[Any]) -> Iterator[Any]:
        """Results in order; a few tasks per worker are queued."""
        client = self.connect()
        most = self.QUEUE_LENGTH * max(len(client.nthreads()), 1)
        waiting: deque[Any] = deque()
        done = begun_pass(len(blocks))

        def first() -> Any:
            results = self._result(waiting.popleft())
            done(len(results))
            return results

        for batch in _batches(map(_Assignment, blocks, arguments)):
            waiting.append(client.submit(_run_batch, task, *_to_send(batch), pure=False))
            if len(waiting) >= most:
                yield from first()
        while waiting:
            yield from first()

    def reduce(self, task: Reduction, blocks: Sequence[LabelledBlock]) -> Any:
        """The sum of a task over all blocks, added in a tree on the workers.

        If a worker dies, the blocks whose sums it held are read again by others.
        """
        client = self.connect()
        level = [client.submit(_run_group, task, *_to_send(group), pure=False) for group in groups(blocks)]
        done = begun_pass(len(level))
        for future in level:
            future.add_done_callback(lambda _: done(1))
        depth = 1
        while len(level) > 1:
            # Sums go first: otherwise all groups would wait in memory for the last one.
            level = [
                client.submit(tree_sum, level[k : k + FAN_IN], priority=depth, pure=False)
                for k in range(0, len(level), FAN_IN)
            ]
            depth += 1
        return self._result(level[0])

    def _result(self, future: Any) -> Any:
        return result_of(future, self._client, self.address or "of this process", self.wait)

    @property
    def dashboard(self) -> str | None:
        """Address of the page on which Dask shows its tasks; None where Bokeh, which draws it, is not installed."""
        client = self.connect()
        return str(client.dashboard_link) if find_spec("bokeh") and client.dashboard_link else None

    def close(self) -> None:
        """Stop the local cluster, or disconnect from a running one."""
        if self._own:
            for opened in (self._client, self._cluster):
                if opened is not None:
                    opened.close()
            self._client = self._cluster = None

    def connect(self) -> Any:
        """The Dask client; at the first call it starts the local cluster or connects to the running one."""
        if self._client is None:
            try:
                import dask
                from distributed import Client, LocalCluster
            except ImportError as error:
                raise AuclabError(
                    "engine=dask needs distributed; install it with pip install 'auclab[dask]'"
                ) from error
            if not self.address:
                try:
                    with dask.config.set(_ENVIRONMENT):
                        self._cluster = LocalCluster(
                            n_workers=self.workers,
                            threads_per_worker=1,
                            dashboard_address="127.0.0.1:0",
                            memory_limit=None,
                        )
                except RuntimeError as error:  # workers import the script, and would start clusters of their own
                    raise AuclabError(
                        f"the workers of a cluster on this machine do not start ({error}); in a script, start it below "
                        "if __name__ == '__main__':"
                    ) from error
            try:
                self._client = Client(self.address or self._cluster, timeout=self.TIMEOUT)
            except (OSError, ValueError) as error:
                raise AuclabError(
                    f"no Dask scheduler responds at engine.address={self.address} ({error}); start one there, or leave "
                    "the address out for a cluster on this machine"
                ) from error
        return self._client


def result_of(future: Any, client: Any, place: str, wait: float) -> Any:
    """The result of a task of Dask; a wait without any worker is reported, and ends after `wait` seconds.

    `place`: of the cluster, for messages.
    """
    from asyncio import CancelledError as Cancelled
    from concurrent.futures import CancelledError

    since: float | None = None
    patience = LOOK
    while True:
        try:
            return future.result(timeout=patience)
        except TimeoutError:
            if future.status == "error":  # the task has raised it, or another error since
                return future.result()
            if future.done():  # the result is sent, which may take longer
                patience = max(wait, LOOK)
        except (CancelledError, Cancelled) as error:
            raise AuclabError(
                f"the Dask scheduler {place} is gone ({error}); start it again, and repeat the call"
            ) from error
        if client.nthreads():
            since = None
            continue
        if since is None:
            since = perf_counter()
            log.warning("the Dask cluster %s has no worker; waiting up to %g s for one", place, wait)
        if perf_counter() - since > wait:
            raise AuclabError(
                f"the Dask cluster {place} had no worker for {wait:g} s; start some and repeat the call, or compute "
                "without a cluster"
            )


#: Seconds between two looks for workers.
LOOK = 5.0
#: Workers of a local cluster keep memory that is freed: Dask's own setting gives it back at once, and a block that is
#: read then takes three times the system time (measured).
_ENVIRONMENT = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
}
#: Rows of a task for a worker: the overhead of a task is about 20 ms, and its argument takes some megabytes.
BATCH_ROWS = 400_000


@dataclass(frozen=True)
class _Assignment:
    """A block, and the argument of the task on it."""

    block: Block
    argument: Any


def _to_send(items: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """What has a block each, without futures, and these (or None): Dask gives a task the rows in their place."""
    sources = [each.block.source for each in items]
    held = [each.part if isinstance(each, Partition) and each.is_held else None for each in sources]
    return [each if part is None else _with_part(each, None) for each, part in zip(items, held, strict=True)], held


def _received(items: Sequence[Any], held: Sequence[Any]) -> list[Any]:
    """The same with the rows of those that a worker held."""
    return [each if rows is None else _with_part(each, rows) for each, rows in zip(items, held, strict=True)]


def _with_part(item: Any, part: Any) -> Any:
    return replace(item, block=replace(item.block, source=replace(item.block.source, part=part)))


def _run_batch(task: Task, batch: Sequence[_Assignment], held: Sequence[Any]) -> list[Any]:
    """The task on some blocks, one after the other."""
    return [task(each.block.read(), each.argument) for each in _received(batch, held)]


def _run_group(task: Reduction, group: Sequence[LabelledBlock], held: Sequence[Any]) -> Any:
    """The task on the blocks of a group."""
    return task(rows_ahead(_received(group, held)))


def _batches(items: Iterable[_Assignment]) -> Iterator[list[_Assignment]]:
    """Consecutive blocks with about the number of rows of one task."""
    batch: list[_Assignment] = []
    n_rows = 0
    for each in items:
        batch.append(each)
        n_rows += each.block.n_rows
        if n_rows >= BATCH_ROWS:
            yield batch
            batch, n_rows = [], 0
    if batch:
        yield batch


def _factorised(column: pd.Series) -> tuple[NDArray[np.intp], list[Any]]:
    """Codes and values, −1 where a value is missing."""
    codes, values = column.factorize()
    return codes, list(values)
