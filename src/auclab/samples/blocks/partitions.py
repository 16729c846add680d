"""Columns that the names of folders hold: ``year=2024/month=1/part-0.parquet``, as Hive and Spark write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from urllib.parse import unquote

from auclab.types import AuclabError

#: The folder of rows whose value is missing.
MISSING = "__HIVE_DEFAULT_PARTITION__"


def files_below(folder: Path, endings: Sequence[str]) -> list[Path]:
    """Files of a folder and of its folders ``name=value``, in the order of their paths.

    Other folders are not looked into; names that start with ``_`` or ``.`` are left out there.
    """
    inside = list(folder.iterdir())
    found = [path for path in inside if path.suffix in endings and not (path.is_dir() and looked_into(path.name))]
    for path in found:
        if not path.is_file():  # rows would be missing silently
            what = "is a folder" if path.is_dir() else "is a link to a file that does not exist"
            raise AuclabError(f"{path} {what}; move its files into {folder}, or give it as the path")
    for inner in inside:
        if inner.is_dir() and looked_into(inner.name):
            found += files_below(inner, endings)
    return sorted(found)


def looked_into(name: str) -> bool:
    """Whether a folder of this name is read: ``name=value``, without ``_`` or ``.`` as the first character."""
    return "=" in name and name[0] not in "._"


def partition_values(files: Sequence[PurePath], folder: PurePath) -> dict[str, list[int | float | str]]:
    """For every partition column the value of each file; numbers where all values are numbers, a missing one NaN.

    Examples
    --------
    >>> files = [Path("data/y=0/a.parquet"), Path("data/y=1/b.parquet")]
    >>> partition_values(files, Path("data"))
    {'y': [0, 1]}
    """
    rows = [_pairs(file, folder) for file in files]
    names = list(rows[0]) if rows else []
    for file, row in zip(files, rows, strict=True):
        if list(row) != names:
            raise AuclabError(
                f"{file} lies in folders of {', '.join(row) or 'no columns'}, and {files[0]} in those of "
                f"{', '.join(names) or 'none'}; the files of a folder make one table"
            )
    return {name: _numbers([row[name] for row in rows]) for name in names}


def _pairs(file: PurePath, folder: PurePath) -> Mapping[str, str]:
    """Names and values of the folders between `folder` and a file."""
    if folder not in file.parents:
        return {}
    parts = [unquote(part).partition("=") for part in file.relative_to(folder).parts[:-1]]
    return {name: value for name, _, value in parts}


def _numbers(values: list[str]) -> list[int | float | str]:
    """Values as whole numbers, or as numbers, or as they are."""
    for kind in (int, float):
        try:
            return [float("nan") if value == MISSING else kind(value) for value in values]
        except ValueError:
            continue
    return list(values)
