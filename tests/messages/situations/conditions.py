"""Conditions under which an expression is evaluated: attributes replaced, a working folder, variables."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, chdir
from pathlib import Path
from typing import Any
from unittest import mock


def under(replaced: Mapping[str, Any], do: Callable[[], Any]) -> Any:
    """What `do` returns while attributes, ``{"package.module.name": value}``, are replaced."""
    with ExitStack() as stack:
        for name, value in replaced.items():
            stack.enter_context(mock.patch(name, value))
        return do()


def raising(error: BaseException) -> Callable[..., Any]:
    """A function that raises the error, whatever it is given."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise error

    return refuse


def giving(value: Any) -> Callable[..., Any]:
    """A function that returns the value, whatever it is given."""
    return lambda *_, **__: value


def in_folder(do: Callable[[], Any]) -> Any:
    """What `do` returns in an empty working folder."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return do()


def new_folder() -> Path:
    """An empty folder that is kept until the process ends."""
    made = tempfile.TemporaryDirectory()
    _KEPT.append(made)
    return Path(made.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def without(library: str, do: Callable[[], Any]) -> Any:
    """What `do` returns where a library is not installed."""
    with mock.patch.dict(sys.modules, {library: None}):
        return do()
