"""Files that are there whole, or as they were before."""

from __future__ import annotations

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
