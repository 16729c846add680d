"""Hydra launcher on processes of this machine, which are forked with all libraries in memory.

Hydra imports every plug-in of this folder when it starts, so what takes time is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from hydra.core.utils import JobReturn, configure_log, setup_globals
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class ProcessLauncher(Launcher):
    """One job at a time in each of some processes; what a job may do to its process, it does to that one alone.

    Parameters
    ----------
    workers : int, optional
        Number of processes; one per core if not given.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Store the arguments of the jobs."""
        self.context, self.task, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run all jobs and return how they ended, in order.

        Raises
        ------
        BrokenProcessPool
            A worker died.
        """
        from concurrent.futures import ProcessPoolExecutor

        from auclab.runs.sweeps.workers import Assignment, begin_worker, count_workers, process_context, run_packed

        setup_globals()
        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        assignment = Assignment.of_sweep(self.context, self.config, self.task).packed()
        count = min(count_workers({"workers": self.workers}), len(job_overrides))
        pool = ProcessPoolExecutor(count, process_context(), begin_worker)
        try:
            jobs = enumerate(job_overrides, start=initial_job_idx)
            futures = [pool.submit(run_packed, assignment, number, list(overrides)) for number, overrides in jobs]
            return [future.result() for future in futures]
        finally:  # after Ctrl-C the workers end with the sweep
            pool.shutdown(wait=False, cancel_futures=True)
