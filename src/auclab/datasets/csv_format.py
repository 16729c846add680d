"""How a text file is written: separator, decimals, encoding, quotes; and its rows.

`pandas.read_csv` fills up short rows, cuts long ones, and turns the postal code 01067 into the number 1067.
"""

from __future__ import annotations

import codecs
import csv
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean, few
from auclab.datasets.bad_cells import USUAL_MARKS
from auclab.datasets.cache import unpacked

#: Bytes that are read at once.
_PIECE = 1_048_576

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
    read = csv.ReadOptions(
        use_threads=False, encoding=written.encoding, column_names=names, skip_rows=int(written.has_names)
    )
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
        raise ragged_row(
            path, first.number - int(written.has_names), first.actual_columns, first.text, len(names), written.sep
        )


#: What may separate columns, the usual first.
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
#: Names by which `dataset.sep` may call a separator: a tab is hard to type.
_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|"}
#: Rows of the file that are looked at, and lines that hold them: a quoted field may have several.
_ROWS, _LINES = 1_000, 4_000
#: Marks at the start of a file, and the encoding that they say.
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
#: Bytes without a meaning in cp1252, which is latin-1 with more signs.
_NOT_IN_WINDOWS = (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")

_COMMA_NUMBER = re.compile(r"[-+]?\d+(\.\d{3})*,\d+")
_POINT_NUMBER = re.compile(r"[-+]?\d+(,\d{3})*\.\d+")
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d+)?")


@dataclass(frozen=True)
class CsvFormat:
    r"""How a csv file is written.

    `sep`, `decimal`, `encoding`: as `pandas.read_csv` takes them. `header`: names of the columns; one without a name is
    called as pandas does, such as ``Unnamed: 0``. `detected`: detected non-default format, in words. `has_names`:
    whether the first row has the names; they are x0, x1, … if not.
    """

    sep: str
    decimal: str
    encoding: str
    header: tuple[str, ...]
    detected: tuple[str, ...] = ()
    has_names: bool = True


def csv_format(
    path: Path,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    expected: Mapping[str, Any] | None = None,
) -> CsvFormat:
    r"""Find how a csv file is written, from all bytes (encoding) and its first 1,000 rows (the rest).

    `path`: plain, .gz or .bz2. `sep`: one sign, or comma, semicolon, tab, bar. `encoding`: a name that Python knows,
    such as utf-8, latin-1, cp1252, utf-16. `header`: whether the first row has the names of the columns; None refuses
    one that looks like data. `expected`: `sep`, `decimal`, `encoding` and `header` of a file of the same origin: used
    where this one does not show them.
    """
    detected: list[str] = []
    expected = expected or {}
    taken = _known_encoding(encoding) if encoding else _find_encoding(path, expected.get("encoding"))
    usual_sep = "\t" if ".tsv" in path.name.lower() else ","
    _refuse_binary(path, taken)
    lines = list(_first_lines(path, taken))
    separator = _known_separator(sep) if sep else _find_separator(lines, usual_sep, expected.get("sep"))
    rows = _parsed(lines, separator)
    if not rows or not any(map(str.strip, rows[0])):
        raise AuclabError(f"{path} cannot be read as a table: it has no header row; check the path and the format")
    has_names = expected.get("header", True) if header is None else bool(header)
    names, body = tuple(name.strip() or f"Unnamed: {k}" for k, name in enumerate(rows[0])), rows[1:]
    if not has_names:
        names, body = tuple(f"x{k}" for k in range(len(rows[0]))), rows
    elif header is None:
        detected += _number_names(path, rows)
    refuse_same_names(path, names)
    _refuse_ragged(path, names, body, separator)
    if decimal not in (None, ".", ","):
        raise AuclabError(f"dataset.decimal is {decimal!r}; the decimal separator is . or ,")
    mark = decimal or _decimal_sign(body, separator) or expected.get("decimal") or "."
    if sep is None and separator != usual_sep:
        detected.append(f"columns separated by {SEPARATORS.get(separator, repr(separator))}s")
    if has_names and (padded := [name for name in rows[0] if name.strip() not in ("", name)]):
        detected.append(f"blanks around names of columns are left out ({few(map(repr, padded))})")
    if decimal is None and mark == ",":
        detected.append("decimal commas")
    if encoding is None and taken != "utf-8":
        detected.append(f"encoding {taken}" + (" (it is not UTF-8)" if taken in ("cp1252", "latin-1") else ""))
    return CsvFormat(separator, mark, taken, names, tuple(detected), has_names)


def _known_encoding(name: str) -> str:
    try:
        codecs.lookup(str(name))
    except (LookupError, ValueError):
        known = ("utf-8", "latin-1", "cp1252", "utf-16", "iso-8859-15", "mac-roman", "cp1250", "cp1251")
        raise AuclabError(
            f"dataset.encoding is {name!r}, which Python does not know{did_you_mean(str(name), known)}; "
            f"usual ones are {', '.join(known)}"
        ) from None
    return str(name)


def _known_separator(name: str) -> str:
    sign = _NAMES.get(str(name).lower(), str(name))
    if len(sign) != 1 or sign.isalnum():
        raise AuclabError(f"dataset.sep is {name!r}; it is one character, or one of {', '.join(SEPARATORS.values())}")
    return sign


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The unpacked bytes of a file."""
    with unpacked(path) as source:
        if source is not path:
            yield source
            return
        with path.open("rb") as stream:
            yield stream


def _find_encoding(path: Path, expected: str | None = None) -> str:
    """UTF-8 if all bytes are, UTF-16 if it is marked as such, else what is expected, or Windows in Western Europe."""
    with opened(path) as stream:
        piece = stream.read(_PIECE)
        for mark, name in _MARKS.items():
            if piece.startswith(mark):
                return name
        decoder = codecs.getincrementaldecoder("utf-8")()
        is_utf8, is_windows = True, True
        while piece and (is_utf8 or is_windows):
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                is_utf8 = False
            is_windows = is_windows and not any(byte in piece for byte in _NOT_IN_WINDOWS)
            piece = stream.read(_PIECE)
    if is_utf8:
        return "utf-8"
    if expected and not expected.lower().startswith("utf"):
        return expected
    return "cp1252" if is_windows else "latin-1"


def _refuse_binary(path: Path, encoding: str) -> None:
    with opened(path) as stream:
        has_zeros = b"\x00" in stream.read(_PIECE)
    if has_zeros and not encoding.lower().startswith(("utf-16", "utf-32", "utf_16", "utf_32", "utf16", "utf32")):
        raise AuclabError(f"{path} cannot be read as a table: it is not text; check the path and the format")


def _first_lines(path: Path, encoding: str) -> Iterator[str]:
    with opened(path) as stream:
        try:
            yield from itertools.islice(codecs.getreader(encoding)(stream), _LINES)
        except UnicodeError as error:
            raise AuclabError(
                f"{path} cannot be read as a table: it is not {encoding}; leave out dataset.encoding to have it "
                "detected, or give the right one (latin-1, cp1252, utf-16)"
            ) from error


def _parsed(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The first rows, without empty lines."""
    reader = csv.reader(iter(lines), delimiter=separator, skipinitialspace=True)
    try:
        rows = list(itertools.islice((row for row in reader if len(row) > 1 or any(map(str.strip, row))), _ROWS))
    except csv.Error:  # a quote that never ends
        return []
    return rows[:-1] if len(lines) == _LINES and len(rows) < _ROWS else rows  # the last may be cut


def _find_separator(lines: Sequence[str], usual: str, expected: str | None = None) -> str:
    """The sign that splits the header and every row into equally many fields, the most of them."""
    best, most = usual, 1
    for separator in dict.fromkeys([expected or usual, usual, *SEPARATORS]):
        rows = _parsed(lines, separator)
        width = len(rows[0]) if rows else 0
        if width > most and all(len(row) == width for row in rows):
            best, most = separator, width
    return best


def _decimal_sign(body: Sequence[Sequence[str]], separator: str) -> str | None:
    """The sign before decimals that most numbers of each column have; None if no number tells, or columns differ.

    Where commas separate columns too, 1,234 in quotes may be a thousand, and only points are unambiguous.
    """
    signs = set()
    for column in itertools.zip_longest(*body, fillvalue=""):
        fields = [field.strip() for field in column]
        commas = 0 if separator == "," else sum(bool(_COMMA_NUMBER.fullmatch(field)) for field in fields)
        points = sum(bool(_POINT_NUMBER.fullmatch(field) and not _THOUSANDS.fullmatch(field)) for field in fields)
        if commas or points:
            signs.add("," if commas > points else ".")
    return signs.pop() if len(signs) == 1 else "." if signs else None


def _number_names(path: Path, rows: Sequence[Sequence[str]]) -> list[str]:
    """Refuse a first row that is data; a note where it may be: it has numbers where the rows below have them."""

    def is_number(field: str) -> bool:
        return bool(_NUMBER.fullmatch(field.strip()))

    first, columns = rows[0], list(zip(*rows[1:], strict=False))
    if not any(map(is_number, first)) or len(columns) != len(first):
        return []
    for name, column in zip(first, columns, strict=True):
        given = [field for field in column if field.strip().lower() not in USUAL_MARKS]
        if is_number(name) != all(map(is_number, given)):
            return []
    # Names are whole numbers such as years, each once, and do not occur in their column.
    numbers = [name for name in first if is_number(name)]
    as_text = any(name in column for name, column in zip(first, columns, strict=True) if not is_number(name))
    if as_text or len(set(numbers)) < len(numbers) or not all(name.strip().isdigit() for name in numbers):
        raise AuclabError(
            f"{path} seems to have no header row: its first row is {few(map(repr, first))}; dataset.header=false reads "
            "it as data, of columns x0, x1, …, and dataset.header=true takes it as names"
        )
    return [f"names of columns are numbers ({few(map(repr, numbers))}); dataset.header=false takes them as data"]


def refuse_same_names(path: Path, header: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    if twice:
        names = ", ".join(repr(name) for name in twice)
        raise AuclabError(
            f"{path} has columns of the same name: {names} ({header.count(twice[0])} times); give every column a name "
            "of its own in the header row"
        )


def _refuse_ragged(path: Path, header: Sequence[str], body: Sequence[Sequence[str]], separator: str) -> None:
    """Reject rows of another length, which pandas would fill up, or take for rows with a label in front."""
    for number, row in enumerate(body, start=1):
        if len(row) != len(header):
            raise ragged_row(path, number, len(row), ", ".join(row), len(header), separator)


def ragged_row(path: Path, number: int, n_fields: int, text: str, n_columns: int, separator: str) -> AuclabError:
    """The error for a row with more or fewer fields than the header; rows are counted from 1."""
    kind = SEPARATORS.get(separator, repr(separator))
    return AuclabError(
        f"{path} cannot be read as a table: row {number} has {n_fields} fields, separated by {kind}, and the "
        f"header row has {n_columns}; the row starts with {text[:40]!r}: repair it (text with a "
        f"{kind} belongs in quotes), or give dataset.sep"
    )
