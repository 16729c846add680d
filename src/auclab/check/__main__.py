"""``python -m auclab.check RUN``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from auclab.check.command import check_run


def main(arguments: Sequence[str] | None = None) -> int:
    """Check one run; exit codes: 0 confirmed, 1 refuted or not proved, 2 could not be checked."""
    parser = argparse.ArgumentParser("python -m auclab.check", description="Check the certificate of a stored run.")
    parser.add_argument("run", metavar="RUN", help="a folder, an id, the first letters of an id, a name, or: last")
    parser.add_argument("--store", default="mlruns", metavar="DIR", help="what tracking.dir or tracking.uri was")
    parser.add_argument("--allow", action="append", default=[], metavar="NAME", help="a name that may be built")
    parsed = parser.parse_args(arguments)
    return check_run(parsed.run, parsed.store, parsed.allow)


if __name__ == "__main__":
    sys.exit(main())
