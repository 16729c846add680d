"""The processes that work on the jobs of a sweep: how many threads each may have, and what must be installed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

#: What linear algebra and compiled kernels read when they are loaded.
THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
)

#: The module a launcher needs, and the extra that brings it.
_NEEDS = {
    "hydra_plugins.hydra_joblib_launcher": ("hydra_plugins.hydra_joblib_launcher", "joblib"),
    "hydra_plugins.auclab_dask_launcher": ("distributed", "dask"),
    "hydra_plugins.hydra_submitit_launcher": ("hydra_plugins.hydra_submitit_launcher", "slurm"),
}


def check_launcher(launcher: Mapping[str, Any]) -> None:
    """What the launcher needs is installed.

    Raises
    ------
    AuclabError
        It is not; the message has the command.
    """
    from auclab.types import AuclabError  # NumPy, which --help has no use for

    for prefix, (module, extra) in _NEEDS.items():
        if str(launcher.get("_target_", "")).startswith(prefix) and find_spec(module) is None:
            raise AuclabError(f"this launcher needs {module}; install it with pip install 'auclab[{extra}]'")


def pin_threads(launcher: Mapping[str, Any]) -> None:
    """Share the cores among the workers of this machine; a variable that the reader has set stays as it is.

    Workers inherit the environment. Two that each start a thread for every core compute slower than one of them.
    """
    count = count_workers(launcher)
    if count > 1:
        for variable in THREAD_VARIABLES:
            os.environ.setdefault(variable, str(max(1, cores() // count)))


def count_workers(launcher: Mapping[str, Any]) -> int:
    """How many processes the launcher starts on this machine; 1 for jobs in the process of the sweep.

    Examples
    --------
    >>> count_workers({"_target_": "x.JoblibLauncher", "n_jobs": 4}), count_workers({"_target_": "x.BasicLauncher"})
    (4, 1)
    """
    asked = launcher.get("n_jobs", launcher.get("workers", 1))
    return cores() if asked is None or int(asked) < 0 else max(1, int(asked))


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
