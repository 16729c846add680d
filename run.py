"""One experiment, or a sweep of them with -m. `python run.py --help` lists every choice."""

import os

from auclab.cli.run import PROGRAM_VARIABLE, main

if __name__ == "__main__":
    os.environ.setdefault(PROGRAM_VARIABLE, "python run.py")
    main()
