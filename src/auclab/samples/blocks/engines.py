"""Who reads the blocks and computes: this process, or the workers of a Dask cluster.

A task is a function ``(rows of the block, argument) -> result``. Rows never travel; arguments and results do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from auclab.samples.blocks.parts import Part, Task
from auclab.types import Array, AuclabError


class LocalEngine:
    """One block after the other in this process; while one is worked on the next is read."""

    def run(self, task: Task, parts: Sequence[Part], arguments: Iterable[Any]) -> Iterator[Any]:
        """Results in order; two blocks are in memory at a time."""
        if not parts:
            return
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="blocks") as reader:
            ahead = reader.submit(parts[0].read)
            for number, argument in enumerate(arguments):
                rows = ahead.result()
                if number + 1 < len(parts):
                    ahead = reader.submit(parts[number + 1].read)
                yield task(rows, argument)


class DaskEngine:
    """Blocks are dealt out to the workers of a Dask cluster, the same block to the same worker in every pass.

    Parameters
    ----------
    workers : int
        Processes of the local cluster that is started at the first use; not used with `address`.
    address : str, optional
        Scheduler of a cluster that runs elsewhere; its workers must see the files under the same paths.
    keep_gb : float
        Memory that each worker may fill with blocks it has read, in units of 10⁹ bytes; the rest is read anew in every
        pass.
    """

    #: Tasks that wait at each worker: enough to keep it busy, few enough to bound what is held here.
    AHEAD = 2
    #: Seconds to look for a scheduler at `address`.
    PATIENCE = 20

    def __init__(self, workers: int = 2, address: str | None = None, keep_gb: float = 0.0) -> None:
        if workers < 1:
            raise AuclabError(f"engine.workers must be at least 1, got {workers}")
        self.workers, self.address, self.keep_gb = workers, address, keep_gb
        self._client: Any = None
        self._cluster: Any = None

    def run(self, task: Task, parts: Sequence[Part], arguments: Iterable[Any]) -> Iterator[Any]:
        """Results in order; a few blocks a worker are under way."""
        client = self.connect()
        places = sorted(client.scheduler_info(n_workers=-1)["workers"])
        if not places:
            raise AuclabError(f"the Dask cluster at {self.address} has no workers; start some and try again")
        keep = int(1e9 * self.keep_gb)
        waiting: deque[Any] = deque()
        for number, batch in enumerate(_batches(zip(parts, arguments, strict=True))):
            place = places[number % len(places)]
            waiting.append(
                client.submit(_work, task, batch, keep, workers=[place], allow_other_workers=True, pure=False)
            )
            if len(waiting) >= self.AHEAD * len(places):
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()

    def close(self) -> None:
        """End the local cluster, or leave the other one."""
        for opened in (self._client, self._cluster):
            if opened is not None:
                opened.close()
        self._client = self._cluster = None

    def connect(self) -> Any:
        """The client; starts the cluster, or finds the other one, if that was not done yet."""
        if self._client is None:
            try:
                from distributed import Client, LocalCluster
            except ImportError as error:
                raise AuclabError(
                    "engine=dask needs distributed; install it with pip install 'auclab[dask]'"
                ) from error
            if not self.address:
                self._cluster = LocalCluster(
                    n_workers=self.workers, threads_per_worker=1, dashboard_address=None, memory_limit=None
                )
            try:
                self._client = Client(self.address or self._cluster, timeout=self.PATIENCE)
            except (OSError, ValueError) as error:
                raise AuclabError(
                    f"no Dask scheduler answers at engine.address={self.address} ({error}); start one there, or leave "
                    "the address out for a cluster on this machine"
                ) from error
        return self._client


#: Rows of a task for a worker: a task costs some 20 ms besides its work, and its argument some megabytes.
BATCH_ROWS = 400_000
#: Blocks that a worker has kept, by part; what does not fit is read again.
_KEPT: dict[Part, Array] = {}


def _work(task: Task, batch: Sequence[tuple[Part, Any]], keep: int) -> list[Any]:
    """The task on some parts, one after the other."""
    return [task(_read(part, keep), argument) for part, argument in batch]


def _read(part: Part, keep: int) -> Array:
    rows = _KEPT.get(part)
    if rows is None:
        rows = part.read()
        if sum(kept.nbytes for kept in _KEPT.values()) + rows.nbytes <= keep:
            _KEPT[part] = rows
    return rows


def _batches(pairs: Iterable[tuple[Part, Any]]) -> Iterator[list[tuple[Part, Any]]]:
    """Parts that follow one another, together about as many rows as a task should have."""
    batch: list[tuple[Part, Any]] = []
    n_rows = 0
    for part, argument in pairs:
        batch.append((part, argument))
        n_rows += part.n_rows
        if n_rows >= BATCH_ROWS:
            yield batch
            batch, n_rows = [], 0
    if batch:
        yield batch
