"""Libraries that a worker of a sweep loads before its first job; importing this module loads them.

The server that forks the workers (`auclab.runs.sweeps.workers.start_server`) imports it once, while the process of the
sweep opens the store. Nothing here starts a thread of Python: a fork copies only the thread that calls it. Two
libraries have threads of their own by then, OpenBLAS and jemalloc (in pyarrow), and both end and restart them around a
fork.
"""

from __future__ import annotations

import gc
from importlib import import_module

#: Modules that the first job of nearly every sweep imports.
NAMES = (
    "auclab.runs.experiment",
    "auclab.runs.screen.console",
    "auclab.solvers.newton.solver",
    "auclab.runs.sweeps.jobs",
    "pyarrow.parquet",
)


def load() -> None:
    """Import them, and load the compiled loops."""
    gc.disable()  # there is no garbage yet, and a collection would visit half a million objects
    for name in NAMES:
        import_module(name)
    from auclab._core.compiling import compile_loops

    compile_loops("values", "pairs", "sorting")
    gc.freeze()  # pages that no collection writes to stay shared with the workers
    gc.enable()


load()
