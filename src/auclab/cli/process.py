"""Fast start and end of the command's process: by default both take longer than a small solve."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import time
from collections.abc import Callable

from auclab._core.words import show_in_any_encoding

#: Allocations before the first garbage collection: importing the libraries creates half a million permanent objects.
_ALLOCATIONS = 1_000_000

#: `time.monotonic` when this process began, if it runs a command.
_begun: list[float] = []


def begun() -> float | None:
    """`time.monotonic` when the process of the command began; None in any other process."""
    return _begun[0] if _begun else None


def run_as_program(main: Callable[[], None]) -> None:
    """Call `main`, and end the process right after its exit handlers.

    The interpreter would tear down each module first, which takes a second or more once SciPy, scikit-learn and MLflow
    are imported. Exit handlers registered by libraries run as usual, and the exit code is that of `main`.
    """
    gc.set_threshold(_ALLOCATIONS)
    show_in_any_encoding()
    _begun[:] = [time.monotonic() - time.process_time()]  # until here, one thread that did nothing but compute
    code = 1

    def leave() -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    atexit.register(leave)  # handlers run last to first, so this one is the last
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
