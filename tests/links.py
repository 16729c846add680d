"""Symbolic links, which Windows makes only for accounts with that right."""

from pathlib import Path

import pytest


def link(path: Path, target: Path) -> None:
    """Make `path` a link to `target`; skip the test if this account cannot."""
    try:
        path.symlink_to(target)
    except (NotImplementedError, OSError) as error:
        pytest.skip(f"no symbolic links here: {error}")
