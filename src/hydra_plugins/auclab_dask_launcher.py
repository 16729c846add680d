"""Hydra launcher on Dask: a cluster of processes on this machine, or a scheduler that runs somewhere.

Hydra imports every plug-in of this folder when it starts, so Dask is imported when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hydra.core.utils import JobReturn, JobStatus, configure_log, setup_globals
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class DaskLauncher(Launcher):
    """One Dask task per job; a worker that dies takes its own job with it and no other.

    Parameters
    ----------
    address : str, optional
        Of a scheduler, such as ``tcp://host:8786``; its workers need auclab and, under the same path, the folder
        of the command and the data.
        None starts a cluster on this machine.
    workers : int, optional
        Processes of the cluster on this machine, one job each at a time; one per core if not given.
    memory_limit : str or float
        Of each worker, in Dask's notation: ``auto`` (an equal share), ``4GB``, 0 (none).
    wait : float
        Seconds without any worker after which the sweep ends.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        memory_limit: str | float = "auto",
        wait: float = 300.0,
    ) -> None:
        self.address, self.workers, self.memory_limit, self.wait = address, workers, memory_limit, wait

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Store the arguments of the jobs."""
        self.context, self.task, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run all jobs and return their results in order."""
        import dask

        from auclab.runs.sweeps.workers import START_METHOD, Assignment, run_packed

        dask.config.set({"distributed.worker.multiprocessing-method": START_METHOD})
        from distributed import Client

        setup_globals()
        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        assignment = Assignment.of_sweep(self.context, self.config, self.task)
        with self._cluster() as cluster, Client(cluster) as client:
            # All at once: only what the scheduler sees as one group of tasks waits there, and not in a worker.
            numbers = range(initial_job_idx, initial_job_idx + len(job_overrides))
            packed = [assignment.packed()] * len(numbers)
            tasks = client.map(run_packed, packed, numbers, [list(each) for each in job_overrides], pure=False)
            return [self._ended(task, client) for task in tasks]

    def _ended(self, task: Any, client: Any) -> JobReturn:
        """The result of a job; that of a job whose worker died is an error."""
        from distributed.scheduler import KilledWorker

        from auclab.samples.blocks.engines import result_of

        try:
            result: JobReturn = result_of(task, client, self.address or "on this machine", self.wait)
        except KilledWorker as error:
            result = JobReturn()
            result.status, result.return_value = JobStatus.COMPLETED, error  # without a record it counts as killed
        return result

    def _cluster(self) -> Any:
        import logging
        from contextlib import nullcontext

        import dask
        from distributed import LocalCluster

        # Hydra sends the logs of all libraries to the terminal, which only the sweep writes to.
        logging.getLogger("distributed").setLevel(logging.ERROR)
        from auclab.runs.sweeps.workers import THREAD_VARIABLES, cores

        if self.address is not None:
            return nullcontext(self.address)
        # A job that killed its worker may do so again; the next start of the sweep tries again. With the saturation of
        # 1 the scheduler keeps the jobs that wait, and no other job is lost with a worker.
        dask.config.set({"distributed.scheduler.allowed-failures": 0, "distributed.scheduler.worker-saturation": 1.0})
        threads = {key: os.environ[key] for key in THREAD_VARIABLES if key in os.environ}
        dask.config.set({"distributed.nanny.pre-spawn-environ": threads})
        return LocalCluster(
            n_workers=self.workers or cores(), threads_per_worker=1, memory_limit=self.memory_limit,
            dashboard_address="127.0.0.1:0", processes=True, silence_logs="ERROR",
        )  # fmt: skip
