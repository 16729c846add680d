# ruff: noqa: F401  what is imported is used by the expressions
"""What the expressions of tables/cli.csv may use besides: commands, typed in this process, on a small store."""

from __future__ import annotations

import contextlib
import io
import shlex
import shutil
import socket
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from auclab.cli.arguments import all_commands
from auclab.cli.doctor import Finding
from auclab.cli.main import _parse
from auclab.cli.run import _end
from auclab.cli.ui import _await, _show, free_port
from messages.situations.comparison import one_run, without_files
from messages.situations.conditions import giving, in_folder, new_folder, raising, under
from messages.situations.pipeline import rows_file, scorer
from messages.situations.stores import copied, store
from messages.situations.tracking import kept_run


def typed(words: str, place: Path | None = None) -> int:
    """The exit code of a command on the store, or on another one."""
    return plain(f"{words} --store {shlex.quote(str(place or store()))}")


def plain(words: str) -> int:
    """The exit code of a command."""
    parsed = _parse(all_commands(), shlex.split(words))
    code: int = getattr(import_module(f"auclab.cli.{parsed.module}"), parsed.command)(parsed)
    return code


def run_id(number: int = 0) -> str:
    """A run of the store."""
    return str(one_run(number)["run_id"].iloc[0])


def file(ending: str) -> str:
    """A file that can be written."""
    return str(new_folder() / f"new{ending}")


def waiting(*words: str) -> int:
    """`auclab push`, where a run waits below ./outputs."""
    folder = kept_run().folder

    def push() -> int:
        shutil.copytree(folder, Path("outputs") / "run")
        return plain(shlex.join(["push", *words]))

    return in_folder(push)


def pushed_twice() -> int:
    """A run that is sent, and sent again."""
    folder = kept_run().folder
    plain(f"push {folder}")
    return plain(f"push {folder}")


def page(answers: bool | None) -> None:
    """A server of MLflow's page that answers, does not, or has ended."""
    process = SimpleNamespace(poll=giving(3 if answers is None else None), returncode=3)
    replaced = {
        "auclab.cli.ui.START_SECONDS": 0.2 if answers is False else 60.0,
        "auclab.cli.ui.time": SimpleNamespace(monotonic=iter([0.0, 0.1, 1e3, 1e3]).__next__, sleep=giving(None)),
        "auclab.cli.ui.urlopen": giving(contextlib.nullcontext()) if answers else raising(OSError("refused")),
    }
    under(replaced, lambda: _await(5000, process, io.BytesIO(b"port taken")))


def served(tables: int) -> int:
    """`auclab ui`, whose server ends at once, with so many tables for parent runs."""
    server = SimpleNamespace(poll=giving(0))
    replaced = {
        "auclab.cli.sweep_tables.attach_tables": giving(tables),
        "auclab.cli.ui._server": giving(contextlib.nullcontext(server)),
        "auclab.cli.ui._await": giving(None),
    }
    return under(replaced, lambda: typed("ui"))


def doctor(state: str) -> int:
    """`auclab doctor`, where everything is in this state."""
    finding = [Finding("core", state, "text")]
    names = ("machine", "libraries", "extras", "compiled_loops", "store", "data_folders")
    return under({f"auclab.cli.doctor.{name}": giving(finding) for name in names}, lambda: typed("doctor"))


def ended_with(line: str | None) -> None:
    """A command of `auclab run` that ends with this line."""
    with contextlib.suppress(SystemExit):
        if line is not None:
            _end(line)
