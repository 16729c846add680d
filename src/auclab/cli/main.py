"""The command `auclab`: run an experiment, list and compare runs, rerun one, write a report.

Only what a command needs is imported: a page of help needs the standard library alone.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

from auclab.cli.arguments import RenamedOption, all_commands
from auclab.cli.process import run_as_program


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; exit codes: 0 done, 1 cannot be done or not the same, 2 not understood."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    if typed[:1] == ["run"]:  # Hydra parses its arguments, --help among them
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
        from auclab.cli import commands

        code: int = getattr(commands, parsed.command)(parsed)
    sys.exit(code)


def _parse(parser: argparse.ArgumentParser, typed: Sequence[str]) -> argparse.Namespace:
    """The words of a command; of its own words the options may stand before, between and after the others."""
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
    """The command as the process's own work."""
    run_as_program(main)


def _commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command by its name."""
    (found,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found.choices)


if __name__ == "__main__":
    program()
