"""What a worker needs to run the jobs of a sweep."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, run_job, setup_globals
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict

from auclab.pipeline.screen.encoding import show_in_any_encoding


@dataclass(frozen=True)
class Assignment:
    """What a worker needs besides the overrides of a job.

    `context`, `config`: Hydra's. `task`: the function that a job is. `state`: Hydra's global objects. `variables`:
    environment variables of auclab in the process of the sweep.
    """

    context: HydraContext
    config: DictConfig
    task: TaskFunction
    state: dict[Any, Any]
    variables: dict[str, str]

    @classmethod
    def of_sweep(cls, context: HydraContext, config: DictConfig, task: TaskFunction) -> Assignment:
        """The assignment for the workers of this process, which started the sweep."""
        variables = {key: value for key, value in os.environ.items() if key.startswith("AUCLAB_")}
        return cls(context, config, task, Singleton.get_state(), variables)

    def packed(self) -> bytes:
        """Serialised for `run_packed`: once here, deserialised once per worker."""
        # Hydra's objects contain lambdas, which pickle does not support.
        import cloudpickle  # type: ignore[import-untyped]

        packed: bytes = cloudpickle.dumps(self)
        return packed

    def run(self, number: int, overrides: Sequence[str]) -> JobReturn:
        """Compose the configuration of a job and run it, in the worker."""
        from threadpoolctl import threadpool_limits

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


def run_packed(assignment: bytes, number: int, overrides: Sequence[str]) -> JobReturn:
    """Run a job, and return how it ended; its configuration stays in the worker."""
    _at_work.add(number)
    try:
        done = _unpacked(assignment).run(number, overrides)
    finally:
        _at_work.discard(number)
    ended = JobReturn()
    ended.status, ended.return_value = done.status, done._return_value
    return ended


@lru_cache(maxsize=1)
def _unpacked(assignment: bytes) -> Assignment:
    found: Assignment = pickle.loads(assignment)
    return found
