"""One experiment, or a sweep of them with -m. `python run.py --help` lists every choice."""

import os

from auclab.cli.main import run_as_program
from auclab.cli.run import main
from auclab.runs.sweeps.sweep import PROGRAM_VARIABLE

if __name__ == "__main__":
    os.environ.setdefault(PROGRAM_VARIABLE, "python run.py")
    run_as_program(main)
