"""Files that are there whole, or as they were before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A temporary path to write to; at the end it replaces `path`, or is removed after an exception.

    An existing `path` is replaced, not written to: it may be a link to any file of the user. Readers see the file of
    before, or all of the new one.
    """
    draft = path.with_name(f".{uuid4().hex[:8]}-{path.name}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def folders_with(folder: Path, name: str) -> list[Path]:
    """The folder and those below it that have something of this name, in order.

    Unlike `Path.rglob` before Python 3.13, it passes over folders that another process removes meanwhile.
    """
    return sorted(Path(place) for place, folders, files in os.walk(folder) if name in folders or name in files)
