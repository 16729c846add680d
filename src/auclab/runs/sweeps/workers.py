"""The worker processes of a sweep: how they start, their number of threads, and what they need to run the jobs."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from multiprocessing.context import BaseContext
from pathlib import Path
from types import FrameType
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, JobStatus, run_job, setup_globals
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict

from auclab._core.base import AuclabError
from auclab._core.words import show_in_any_encoding

#: Environment variables that linear algebra libraries and compiled functions read when they are loaded.
THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
)

#: Allocations between two garbage collections, once the libraries are loaded.
_ALLOCATIONS = 100_000

#: The module that a launcher needs, and the extra that installs it.
_NEEDS = {
    "hydra_plugins.auclab_dask_launcher": ("distributed", "dask"),
    "hydra_plugins.hydra_submitit_launcher": ("hydra_plugins.hydra_submitit_launcher", "slurm"),
}


def check_launcher(launcher: Mapping[str, Any]) -> None:
    """Check that the module which the launcher needs is installed."""
    for prefix, (module, extra) in _NEEDS.items():
        if str(launcher.get("_target_", "")).startswith(prefix) and find_spec(module) is None:
            raise AuclabError(f"this launcher needs {module}; install it with pip install 'auclab[{extra}]'")


def pin_threads(launcher: Mapping[str, Any]) -> None:
    """Share the cores among the workers of this machine; variables that are already set are not changed.

    Workers inherit the environment. Two workers with a thread for every core each are slower than one worker.
    """
    count = count_workers(launcher)
    if count > 1:
        for variable in THREAD_VARIABLES:
            os.environ.setdefault(variable, str(max(1, cores() // count)))


def count_workers(launcher: Mapping[str, Any]) -> int:
    """Number of processes that the launcher starts on this machine; 1 for jobs in the process of the sweep.

    Examples
    --------
    >>> count_workers({"workers": 4}), count_workers({"n_jobs": 2}), count_workers({"_target_": "x.BasicLauncher"})
    (4, 2, 1)
    """
    requested = launcher.get("workers", launcher.get("n_jobs", 1))
    return cores() if requested is None or int(requested) < 0 else max(1, int(requested))


def jobs_at_a_time(launcher: Mapping[str, Any], total: int) -> int:
    """Jobs of a search that are proposed together: one per worker; for a job array at most a quarter of all.

    Jobs proposed together are chosen without each other's results.

    Examples
    --------
    >>> jobs_at_a_time({"workers": 4}, 40), jobs_at_a_time({"array_parallelism": 64}, 40), jobs_at_a_time({}, 40)
    (4, 10, 1)
    """
    array = launcher.get("array_parallelism")
    return count_workers(launcher) if array is None else max(1, min(int(array), total // 4))


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def leave_libraries_out_of_collections() -> None:
    """Exclude the half million objects of the imported libraries from Python's garbage collections.

    Called after the first job of a process: visiting them took a thirtieth of the time of a small sweep.
    """
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS)


#: How processes start: forked from a server that has imported what they need, or spawned where forking is unsafe.
START_METHOD = "forkserver" if sys.platform == "linux" else "spawn"
#: The launchers whose workers start this way.
_OWN = ("hydra_plugins.auclab_process_launcher", "hydra_plugins.auclab_dask_launcher")


def start_server(launcher: Mapping[str, Any]) -> None:
    """Start the process that workers of this machine are forked from; it imports `auclab.runs.sweeps.libraries`.

    The process of the sweep cannot be forked: a thread of it watches the jobs, and may hold a lock at that moment. The
    server has no such thread. It is started before the store is opened, so that both work at the same time.
    """
    is_own = str(launcher.get("_target_", "")).startswith(_OWN) and launcher.get("address") is None
    if START_METHOD == "forkserver" and is_own:
        from multiprocessing import forkserver

        forkserver.set_forkserver_preload(["auclab.runs.sweeps.libraries"])
        forkserver.ensure_running()


def process_context() -> BaseContext:
    """The context of multiprocessing in which workers of this machine start."""
    return multiprocessing.get_context(START_METHOD)


@dataclass(frozen=True)
class Assignment:
    """What a worker needs besides the overrides of a job.

    `context`, `config`: Hydra's. `task`: the function that a job is. `state`: Hydra's global objects. `variables`:
    environment variables of auclab in the process of the sweep. `folder`, `cwd`: those of the sweep and of the command.
    """

    context: HydraContext
    config: DictConfig
    task: TaskFunction
    state: dict[Any, Any]
    variables: dict[str, str]
    folder: Path
    cwd: Path

    @classmethod
    def of_sweep(cls, context: HydraContext, config: DictConfig, task: TaskFunction) -> Assignment:
        """The assignment for the workers of this process, which started the sweep."""
        variables = {key: value for key, value in os.environ.items() if key.startswith("AUCLAB_")}
        folder = Path(str(config.hydra.sweep.dir)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        return cls(context, config, task, Singleton.get_state(), variables, folder, Path.cwd())

    def packed(self) -> bytes:
        """Serialised for `run_packed`: once here, deserialised once per worker."""
        # Hydra's objects contain lambdas, which pickle does not support.
        import cloudpickle  # type: ignore[import-untyped]

        packed: bytes = cloudpickle.dumps(self)
        return packed

    def run(self, number: int, overrides: Sequence[str]) -> JobReturn:
        """Compose the configuration of a job and run it, in the worker, in the folder of the command."""
        from threadpoolctl import threadpool_limits

        if not self.folder.is_dir():
            raise AuclabError(
                f"a worker on {socket.gethostname()} sees no folder {self.folder}: workers need the folder of the "
                "command under the same path; start the sweep in a folder that they share, or set hydra.sweep.dir"
            )
        os.chdir(self.cwd)
        os.environ.update(self.variables)
        setup_globals()
        Singleton.set_state(self.state)
        composed = self.context.config_loader.load_sweep_config(self.config, list(overrides))
        with open_dict(composed):
            composed.hydra.job.id, composed.hydra.job.num = f"{composed.hydra.job.name}_{number}", number
        HydraConfig.instance().set_config(composed)
        limit = int(os.environ.get("OMP_NUM_THREADS", "1"))
        with threadpool_limits(limits=limit):  # a reused worker has already loaded its libraries
            return run_job(
                hydra_context=self.context, task_function=self.task, config=composed,
                job_dir_key="hydra.sweep.dir", job_subdir_key="hydra.sweep.subdir",
            )  # fmt: skip


def begin_worker() -> None:
    """Prepare a process for jobs: it ends with the sweep, and Ctrl-C ends it silently while it waits.

    A running job handles the interrupt and reports it.
    """
    show_in_any_encoding()
    threading.Thread(target=_end_with_sweep, name="end with the sweep", daemon=True).start()

    def end(number: int, frame: FrameType | None) -> None:
        if _at_work:
            raise KeyboardInterrupt
        os._exit(130)

    signal.signal(signal.SIGINT, end)


def _end_with_sweep() -> None:
    """End when the process of the sweep has been killed: nobody would send what is computed from then on."""
    sweep = multiprocessing.parent_process()
    if sweep is not None:
        sweep.join()
        os._exit(1)


#: The number of the job in progress, if any.
_at_work: set[int] = set()
_one_job = threading.Lock()


def run_packed(assignment: bytes, number: int, overrides: Sequence[str]) -> JobReturn:
    """Run a job, and return how it ended; its configuration stays in the worker.

    Hydra's objects belong to the process, so that a worker of several threads runs one job at a time.
    """
    ended = JobReturn()
    with _one_job:
        _at_work.add(number)
        try:
            done = _unpacked(assignment).run(number, overrides)
        except SystemExit as end:  # it would end the worker, and the other jobs with it
            ended.status, ended.return_value = JobStatus.FAILED, end
            return ended
        finally:
            _at_work.discard(number)
    ended.status, ended.return_value = done.status, done._return_value
    return ended


@lru_cache(maxsize=1)
def _unpacked(assignment: bytes) -> Assignment:
    found: Assignment = pickle.loads(assignment)
    return found
