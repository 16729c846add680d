"""The worker processes of a sweep: their number of threads, and the packages that launchers need."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

#: Variables that linear algebra and compiled functions read when they are loaded.
THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
)

#: The module that a launcher needs, and the extra that installs it.
_NEEDS = {
    "hydra_plugins.hydra_joblib_launcher": ("hydra_plugins.hydra_joblib_launcher", "joblib"),
    "hydra_plugins.auclab_dask_launcher": ("distributed", "dask"),
    "hydra_plugins.hydra_submitit_launcher": ("hydra_plugins.hydra_submitit_launcher", "slurm"),
}


def check_launcher(launcher: Mapping[str, Any]) -> None:
    """Check that the module which the launcher needs is installed.

    Raises
    ------
    AuclabError
        It is missing; the message has the command that installs it.
    """
    from auclab.types import AuclabError  # imports NumPy, which --help does not need

    for prefix, (module, extra) in _NEEDS.items():
        if str(launcher.get("_target_", "")).startswith(prefix) and find_spec(module) is None:
            raise AuclabError(f"this launcher needs {module}; install it with pip install 'auclab[{extra}]'")


def pin_threads(launcher: Mapping[str, Any]) -> None:
    """Share the cores among the workers of this machine; variables that are set already are left unchanged.

    Workers inherit the environment. Two of them with a thread for every core each are slower than one alone.
    """
    count = count_workers(launcher)
    if count > 1:
        for variable in THREAD_VARIABLES:
            os.environ.setdefault(variable, str(max(1, cores() // count)))


def count_workers(launcher: Mapping[str, Any]) -> int:
    """Number of processes that the launcher starts on this machine; 1 for jobs in the process of the sweep.

    Examples
    --------
    >>> count_workers({"_target_": "x.JoblibLauncher", "n_jobs": 4}), count_workers({"_target_": "x.BasicLauncher"})
    (4, 1)
    """
    requested = launcher.get("n_jobs", launcher.get("workers", 1))
    return cores() if requested is None or int(requested) < 0 else max(1, int(requested))


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
