"""Tables: reading csv files, and splitting a table into features and target."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean
from auclab.datasets.cache import unpacked
from auclab.datasets.csv_format import CsvFormat
from auclab.datasets.labels import as_labels
from auclab.datasets.records import Dataset
from auclab.datasets.target import Roles

if TYPE_CHECKING:
    import pandas as pd

#: What reading a damaged file or one of another format raises; errors of pandas and pyarrow are ValueErrors.
UNREADABLE = (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)

ALL = "ALL"


def read_csv(
    path: Path, *, text: Sequence[str] | str = (), missing: Sequence[str] = ("",), **options: Any
) -> pd.DataFrame:
    """A csv file, plain or gzipped, in UTF-8 unless `options` say otherwise; columns `text` (or ALL) stay text."""
    import pandas as pd

    kinds: Any = str if text == ALL else dict.fromkeys(text, str)
    settings: Mapping[str, Any] = {"encoding": "utf-8", "low_memory": False, **options}
    options = {"dtype": kinds, "keep_default_na": False, "na_values": list(missing), "compression": None, **settings}
    with reading(path), unpacked(path) as source:
        return pd.read_csv(source, **options)


def read_text(path: Path, written: CsvFormat, *, text: Sequence[str] | str, missing: Sequence[str]) -> pd.DataFrame:
    """A csv file that is written in some way."""
    return read_csv(
        path,
        text=text, missing=missing, sep=written.sep, decimal=written.decimal, encoding=written.encoding,
        skipinitialspace=True, names=list(written.header), header=0 if written.has_names else None, index_col=False,
    )  # fmt: skip


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what damaged files raise into an `AuclabError` with the reason."""
    try:
        yield
    except AuclabError:
        raise
    except UNREADABLE as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).strip()
        raise AuclabError(
            f"{path} cannot be read as a table: {reason or type(error).__name__}; check the path and the format"
        ) from error


def make_dataset(
    frame: pd.DataFrame,
    *,
    target: str | Roles,
    positive: Any,
    negative: Any = None,
    nominal: Sequence[str] | str | None = None,
    columns: Sequence[str] | None = None,
    **facts: Any,
) -> Dataset:
    """Split `frame` into features and what its rows are ranked by.

    `target`: column with the labels of two classes, or the columns that are not features. `positive`, `negative`: see
    `auclab.datasets.labels.binarise`; rows of neither class are left out. Of times, the labels of an event. `nominal`:
    columns that are categories. `columns`: features to keep; all but the target if left out. `**facts`: the other
    fields of `Dataset`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"], "y": ["no", "yes"]})
    >>> dataset = make_dataset(table, target="y", positive="yes", nominal=["colour"], name="toy")
    >>> dataset.y.tolist(), dataset.nominal, dataset.negative
    ([0, 1], ('colour',), 'no')
    """
    if frame.empty:
        raise AuclabError(f"data set {facts.get('name', '')!r} has no rows; at least one of each class is needed")
    frame = frame.rename(columns=str)
    roles = target if isinstance(target, Roles) else Roles(target)
    for key, column in roles.named.items():
        _require([] if column is None else [column], frame, f"{key} column")
    others = roles.columns
    features = [name for name in frame.columns if name not in others] if columns is None else list(as_labels(columns))
    _require(features, frame, "feature")
    if not features:
        only = " and ".join(map(repr, others))
        raise AuclabError(
            f"no features: {only} is the only column; columns are separated by commas, or by tabs in .tsv"
            if len(others) == 1
            else f"no features: {only} are the only columns"
        )
    categories = features if nominal == ALL else list(as_labels(nominal))
    _require(categories, frame, "nominal column")
    categories = [name for name in categories if name in features]
    ranked = roles.ranked(frame, positive, negative)
    # One representation of text whatever reader made it: str objects, NaN where missing.
    X = frame.loc[ranked.kept, features].astype(dict.fromkeys(categories, object)).reset_index(drop=True)
    y = ranked.target
    return Dataset(
        X=X, y=y.y, nominal=tuple(categories), positive=ranked.positive, negative=ranked.negative,
        ranked=None if y.is_of_classes else y, aside=roles.aside(frame, ranked.kept), **facts,
    )  # fmt: skip


def _require(required: Sequence[str], frame: pd.DataFrame, role: str) -> None:
    for name in required:
        if name not in frame.columns:
            columns = [str(column) for column in frame.columns]
            raise AuclabError(
                f"{role} {name!r} does not exist{did_you_mean(name, columns)}; columns are {', '.join(columns)}"
            )
