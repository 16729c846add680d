"""The command `auclab`: run an experiment, list and compare runs, rerun one, write a report.

Only what a command needs is imported: a help page needs only the standard library.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from auclab.cli.arguments import RenamedOption, all_commands
from auclab.cli.process import run_as_program


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; exit codes: 0 done, 1 failed or results differ, 2 usage error."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    if typed[:1] == ["run"]:  # Hydra parses its arguments, including --help
        from auclab.cli.run import main as run

        run(typed[1:])
        return
    parser = all_commands()
    parsed = _parse(parser, typed)
    if parsed.command is None:
        parser.print_help()
        return
    from auclab.pipeline.screen.console import plain_errors

    with plain_errors(lambda line: SystemExit(1), stopped="the store is as it was"):
        code: int = getattr(import_module(f"auclab.cli.{parsed.module}"), parsed.command)(parsed)
    sys.exit(code)


def _parse(parser: argparse.ArgumentParser, typed: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a command; options may come before, between and after the others."""
    commands = _commands_of(parser)
    if not typed or typed[0] not in commands:
        return parser.parse_args(typed)
    own = commands[typed[0]]
    with warnings.catch_warnings(record=True) as hints:
        warnings.simplefilter("always", category=RenamedOption)
        parsed = own.parse_intermixed_args(typed[1:])
    for hint in dict.fromkeys(str(each.message) for each in hints):
        sys.stderr.write(f"note: {hint}\n")
    return parsed


def program() -> None:
    """Entry point of the process."""
    run_as_program(main)


def _commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command by its name."""
    (found,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found.choices)


if __name__ == "__main__":
    program()
