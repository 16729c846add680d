"""The engines that read blocks and run tasks on them: this process, or the workers of a Dask cluster.

A task of `run` is a function ``(rows of the block, argument) -> result``; a task of `reduce` takes the rows of some
blocks with their labels, one block after the other, and its results are added on the workers. Arguments and results are
sent; rows never are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import Any

from auclab.samples.blocks.block import Block, Task
from auclab.samples.blocks.labels import LabelledBlock
from auclab.samples.blocks.passes import begun_pass
from auclab.samples.blocks.reading import Reduction, ahead, groups, rows_ahead
from auclab.samples.blocks.tree import FAN_IN, tree_sum
from auclab.types import Array, AuclabError


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
        rows, done = rows_ahead(blocks, Block.read), begun_pass(len(blocks))

        def results() -> Iterator[Any]:
            for group in groups(blocks):
                yield task(islice(rows, len(group)))
                done(len(group))

        return tree_sum(results())


class DaskEngine:
    """The workers of a Dask cluster, each with the same blocks in every pass.

    Parameters
    ----------
    workers : int
        Processes of the local cluster that is started at the first use; not used with `address`. At least 1.
    address : str, optional
        Address of the scheduler of a running cluster; its workers must see the files under the same paths.
    keep_gb : float ≥ 0
        Memory in which each worker keeps blocks it has read, in units of 10⁹ bytes; other blocks are read in every
        pass.

    Raises
    ------
    AuclabError
        No worker; and at the first use: the package `distributed` is missing, or no scheduler answers at `address`.

    See Also
    --------
    LocalEngine : This process.

    Examples
    --------
    >>> DaskEngine(workers=4, keep_gb=2.0).workers  # nothing is started yet
    4
    """

    #: Tasks queued at each worker: enough to keep it busy, few enough to bound the memory of this process.
    QUEUE_LENGTH = 2
    #: Seconds to wait for a scheduler at `address`.
    TIMEOUT = 20

    def __init__(self, workers: int = 2, address: str | None = None, keep_gb: float = 0.0) -> None:
        if workers < 1:
            raise AuclabError(f"engine.workers must be at least 1, got {workers}")
        self.workers, self.address, self.keep_gb = workers, address, keep_gb
        self._client: Any = None
        self._cluster: Any = None

    def run(self, task: Task, blocks: Sequence[Block], arguments: Iterable[Any]) -> Iterator[Any]:
        """Results in order; a few tasks per worker are queued."""
        client = self.connect()
        workers = self._running_workers()
        keep_bytes = int(1e9 * self.keep_gb)
        waiting: deque[Any] = deque()
        done = begun_pass(len(blocks))

        def first() -> Any:
            results = waiting.popleft().result()
            done(len(results))
            return results

        for number, batch in enumerate(_batches(zip(blocks, arguments, strict=True))):
            worker = workers[number % len(workers)]
            waiting.append(
                client.submit(
                    _run_batch, task, batch, keep_bytes, workers=[worker], allow_other_workers=True, pure=False
                )
            )
            if len(waiting) >= self.QUEUE_LENGTH * len(workers):
                yield from first()
        while waiting:
            yield from first()

    def reduce(self, task: Reduction, blocks: Sequence[LabelledBlock]) -> Any:
        """The sum of a task over all blocks, added in a tree on the workers.

        If a worker dies, the cluster may replace it, and the blocks whose sums it held are read again.
        """
        client = self.connect()
        workers = self._running_workers()
        read = partial(_run_group, task, int(1e9 * self.keep_gb))
        parts = groups(blocks)
        n_groups, anywhere = len(parts), {"allow_other_workers": True, "pure": False}
        # Neighbouring blocks on one worker: most sums are then added without being sent.
        level = [
            client.submit(read, group, workers=[workers[k * len(workers) // n_groups]], **anywhere)
            for k, group in enumerate(parts)
        ]
        done = begun_pass(n_groups)
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
        return level[0].result()

    @property
    def dashboard(self) -> str | None:
        """Address of the page on which Dask shows its tasks; None where Bokeh, which draws it, is not installed."""
        client = self.connect()
        return str(client.dashboard_link) if find_spec("bokeh") and client.dashboard_link else None

    def _running_workers(self) -> list[str]:
        """Addresses of the workers, sorted, so that a block goes to the same one in every pass.

        They come from the scheduler itself: what `scheduler_info` returns is overwritten every two seconds by an update
        without workers.
        """
        workers = sorted(self._client.nthreads())
        if not workers:
            if self.address:
                raise AuclabError(f"the Dask cluster at {self.address} has no workers; start some and try again")
            raise AuclabError(
                f"the Dask cluster on this machine has no running worker (engine.workers={self.workers}); try again, "
                "with fewer where memory is short, or without a cluster: engine=local"
            )
        return workers

    def close(self) -> None:
        """Stop the local cluster, or disconnect from a running one."""
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
                with dask.config.set(_ENVIRONMENT):
                    self._cluster = LocalCluster(
                        n_workers=self.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=None
                    )
            try:
                self._client = Client(self.address or self._cluster, timeout=self.TIMEOUT)
            except (OSError, ValueError) as error:
                raise AuclabError(
                    f"no Dask scheduler responds at engine.address={self.address} ({error}); start one there, or leave "
                    "the address out for a cluster on this machine"
                ) from error
        return self._client


#: Workers of a local cluster keep memory that is freed: Dask's own setting gives it back at once, and a block that is
#: read then takes three times the system time (measured).
_ENVIRONMENT = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
}
#: Rows of a task for a worker: the overhead of a task is about 20 ms, and its argument takes some megabytes.
BATCH_ROWS = 400_000
#: Rows that a worker keeps, by block; others are read again.
_KEPT: dict[Block, Array] = {}


def _run_batch(task: Task, batch: Sequence[tuple[Block, Any]], keep_bytes: int) -> list[Any]:
    """The task on some blocks, one after the other."""
    return [task(_read(block, keep_bytes), argument) for block, argument in batch]


def _run_group(task: Reduction, keep_bytes: int, group: Sequence[LabelledBlock]) -> Any:
    """The task on the blocks of a group."""
    return task(rows_ahead(group, partial(_read, keep_bytes=keep_bytes)))


def _read(block: Block, keep_bytes: int) -> Array:
    rows = _KEPT.get(block)
    if rows is None:
        rows = block.read()
        if sum(kept.nbytes for kept in _KEPT.values()) + rows.nbytes <= keep_bytes:
            _KEPT[block] = rows
    return rows


def _batches(pairs: Iterable[tuple[Block, Any]]) -> Iterator[list[tuple[Block, Any]]]:
    """Consecutive blocks with about the number of rows of one task."""
    batch: list[tuple[Block, Any]] = []
    n_rows = 0
    for block, argument in pairs:
        batch.append((block, argument))
        n_rows += block.n_rows
        if n_rows >= BATCH_ROWS:
            yield batch
            batch, n_rows = [], 0
    if batch:
        yield batch
