"""MLflow's command line in a process that ends with its parent, even if that is killed (kill -9)."""

from __future__ import annotations

import os
import runpy

from auclab.tracking.processes import end_with, process_of


def main() -> None:
    """``mlflow`` with the arguments of this process."""
    end_with(process_of(os.getppid()))
    runpy.run_module("mlflow", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
