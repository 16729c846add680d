"""All rows of a csv file as they are written: those of another length, and whole numbers that start with zeros.

`pandas.read_csv` fills up short rows, cuts long ones, and turns the postal code 01067 into the number 1067.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from auclab.datasets.csv_format import CsvFormat, ragged_row
from auclab.datasets.unpacked import unpacked

#: A whole number with zeros in front, which a number does not keep.
_WITH_ZEROS = r"^\s*0\d"


def leading_zeros(path: Path, written: CsvFormat, columns: Sequence[str]) -> list[str]:
    r"""Which of the `columns` have zeros in front of a whole number; a pass over the file at the speed of reading it.

    `written`: how the file is written. `columns`: those that hold whole numbers.

    Examples
    --------
    >>> import tempfile
    >>> from auclab.datasets.csv_format import csv_format
    >>> path = Path(tempfile.mkdtemp()) / "my.csv"
    >>> _ = path.write_text("code,size\n01067,1\n80331,2\n", encoding="utf-8")
    >>> leading_zeros(path, csv_format(path), ["code", "size"])
    ['code']
    """
    import pyarrow.compute as pc

    found: set[str] = set()
    with unpacked(path) as source:
        for batch in _batches(path, source, written, columns):
            for name in columns:
                if name not in found and pc.any(pc.match_substring_regex(batch.column(name), _WITH_ZEROS)).as_py():
                    found.add(name)
    return [name for name in columns if name in found]


def _batches(path: Path, source: Any, written: CsvFormat, columns: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv

    bad: list[Any] = []

    def keep(row: Any) -> str:
        bad.append(row)
        return "skip"

    names = list(written.header)
    read = csv.ReadOptions(use_threads=False, encoding=written.encoding, column_names=names, skip_rows=1)
    parse = csv.ParseOptions(delimiter=written.sep, newlines_in_values=True, invalid_row_handler=keep)
    # One column at least, without which no row is looked at.
    taken = list(columns) or names[:1]
    convert = csv.ConvertOptions(include_columns=taken, column_types=dict.fromkeys(taken, pa.string()))
    try:
        with csv.open_csv(source, read_options=read, parse_options=parse, convert_options=convert) as batches:
            for batch in batches:
                if bad:
                    break
                yield batch
    except pa.ArrowInvalid:  # a quote that does not end: pandas has read the file, and says what it has to
        pass
    if bad:
        first = bad[0]
        raise ragged_row(path, first.number - 1, first.actual_columns, first.text, len(names), written.sep)
