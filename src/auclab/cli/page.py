"""MLflow's command line as a process that ends with the one that started it, even if that was killed (kill -9)."""

from __future__ import annotations

import os
import runpy
import signal
import threading
import time

#: Seconds between two looks at the process that started this one.
POLL_SECONDS = 0.5


def main() -> None:
    """``mlflow`` with the arguments of this process, which leads a group of its own."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    runpy.run_module("mlflow", run_name="__main__", alter_sys=True)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)  # with the processes that the server has started
    os._exit(1)


if __name__ == "__main__":
    main()
