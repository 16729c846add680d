"""The command `auclab`: run an experiment, list and compare runs, use their models, write a report.

Only what a command needs is imported: a help page needs only the standard library.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from auclab.cli.arguments import all_commands
from auclab.cli.process import run_as_program


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; exit codes: 0 done, 1 failed or results differ, 2 usage error."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    if typed[:1] == ["run"]:  # Hydra parses its arguments, including --help
        from auclab.cli.run import main as run

        run(typed[1:])
        return
    parsed = parse(typed)
    if parsed.command is None:
        all_commands().print_help()
        return
    from auclab.runs.screen.console import plain_errors

    with plain_errors(lambda line: SystemExit(1), stopped="the store is as it was"):
        code: int = getattr(import_module(f"auclab.cli.{parsed.module}"), parsed.command)(parsed)
    sys.exit(code)


def parse(typed: Sequence[str]) -> argparse.Namespace:
    """Parse the words of a command; its options may come before, between and after the others."""
    parser = all_commands()
    own = parser.commands.get(typed[0]) if typed else None
    return parser.parse_args(typed) if own is None else own.parse_intermixed_args(typed[1:])


def program() -> None:
    """Entry point of the process."""
    run_as_program(main)


if __name__ == "__main__":
    program()
