"""Advice for a file given in place of a data set, a setting or a command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from auclab.types import AuclabError

_ENDINGS = re.compile(r"\.(csv|tsv|parquet|pq|svm|svmlight|libsvm)(\.gz|\.bz2)?$")


def is_file(word: str) -> bool:
    """Whether an argument names a file: by its suffix, or because the file exists.

    Examples
    --------
    >>> is_file("customers.csv"), is_file("my/rows.parquet"), is_file("ionosphere")
    (True, True, False)
    """
    name = word.strip("'\"")
    return bool(_ENDINGS.search(name.lower())) or (bool({"/", "."} & set(name)) and Path(name).expanduser().is_file())


def type_for_file(path: str) -> str:
    """The command that runs on a file, if it can be inspected; else the beginning of that command."""
    name = path.strip("'\"")
    if Path(name).expanduser().is_file():
        from auclab.datasets.inspection import inspect_file  # pandas

        try:
            found = inspect_file(name)
        except AuclabError:
            found = None
        if found is not None and found.command and not found.problems:
            return f"type {found.command}; auclab inspect {shlex.quote(name)} shows the table"
    from auclab.datasets.labels import override  # imports NumPy through its package

    begin = f"dataset=file {override('dataset.path', name)} dataset.target=COLUMN"
    return f"type {begin}; auclab inspect {shlex.quote(name)} proposes the whole command"
