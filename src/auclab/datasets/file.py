"""The user's own file: csv, tsv, parquet or svmlight."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab.datasets.checksum import verified_sha256
from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.records import Dataset
from auclab.datasets.table import ALL, UNREADABLE, make_dataset, read_csv, unreadable
from auclab.datasets.unpacked import unpacked
from auclab.types import AuclabError

if TYPE_CHECKING:
    import pandas as pd

#: Missing values in csv and tsv files.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None")

CSV, TSV, PARQUET = (".csv", ".csv.gz"), (".tsv", ".tsv.gz"), (".parquet", ".pq")
SVMLIGHT = tuple(f".{ending}{packing}" for ending in ("svmlight", "libsvm", "svm") for packing in ("", ".gz", ".bz2"))


def load_file(
    path: str | Path | None = None,
    target: str | None = None,
    positive: Any = None,
    *,
    negative: Any = None,
    nominal: Sequence[str] | str = (),
    drop: Sequence[str] | str = (),
    name: str | None = None,
    sha256: str | None = None,
    citation: str = "",
) -> Dataset:
    r"""Load a table with a header row, or an svmlight file.

    Parameters
    ----------
    path : path
        Ends in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, or .svmlight, .libsvm, .svm (also .gz, .bz2).
    target : str
        Column with the labels; svmlight files need none.
    positive, negative : label or list of labels
        Compared as text. Without `negative` it is one side against the rest; `positive` may be left out for
        labels 0/1, −1/1 and False/True.
    nominal : list of str, or "ALL"
        Columns that are categories though they look like numbers; columns of text are categories anyway.
    drop : list of str
        Columns to leave out, such as an identifier.
    name : str, optional
        Name of the data set; the file's name if left out.
    sha256 : str, optional
        The file must have this checksum.
    citation : str
        Source of the data set.

    Returns
    -------
    Dataset
        `X` is a CSR matrix for svmlight files, a DataFrame for all others. In csv and tsv an empty field and
        ``? NA N/A NaN nan null None`` are missing values.

    Raises
    ------
    AuclabError
        No path, a file that is missing, empty or unreadable, an unknown ending, a column or label that does
        not occur, missing labels, or one class only.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "my.csv"
    >>> _ = path.write_text("size,y\n1.5,no\n2.5,yes\n", encoding="utf-8")
    >>> dataset = load_file(path, target="y", positive="yes")
    >>> dataset.name, dataset.X["size"].tolist(), dataset.y.tolist()
    ('my.csv', [1.5, 2.5], [0, 1])
    """
    if path is None:
        raise AuclabError("which file? Give dataset.path=my.csv dataset.target=COLUMN dataset.positive=LABEL")
    if "://" in str(path):
        raise AuclabError(f"{path} is an address; files of this machine are read: download it, and give its path")
    where = Path(path).expanduser()
    digest = verified_sha256(where, sha256)
    facts: dict[str, Any] = {
        "name": name or where.name,
        "sha256": digest,
        "source": str(where),
        "citation": citation,
    }
    if where.stat().st_size == 0:
        raise AuclabError(f"{where} is empty; a header row and at least two rows of data are needed")
    if where.name.lower().endswith(SVMLIGHT):
        return _read_svmlight(where, positive, negative, facts)
    frame = _read_frame(where, () if nominal == ALL else as_labels(nominal), ALL if nominal == ALL else target)
    if target is None:
        raise AuclabError(f"which column of {where} is the target? Give dataset.target; columns are {_listed(frame)}")
    unwanted = as_labels(drop)
    if absent := [column for column in unwanted if column not in frame.columns]:
        raise AuclabError(f"column {absent[0]!r}, to be dropped, is not there; columns are {_listed(frame)}")
    return make_dataset(
        frame.drop(columns=list(unwanted)),
        target=target,
        positive=positive,
        negative=negative,
        nominal=nominal,
        **facts,
    )


def _read_frame(path: Path, nominal: Sequence[str], target: str | None) -> pd.DataFrame:
    text = ALL if target == ALL else [*nominal, *([target] if target else [])]
    ending = path.name.lower()
    if ending.endswith(CSV):
        return read_csv(path, text=text, missing=MISSING, skipinitialspace=True)
    if ending.endswith(TSV):
        return read_csv(path, text=text, missing=MISSING, sep="\t")
    if ending.endswith(PARQUET):
        return _read_parquet(path)
    endings = ", ".join((*CSV, *TSV, *PARQUET, *SVMLIGHT))
    raise AuclabError(f"{path} has an unknown ending; a file ends in one of {endings}")


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd
    import psutil
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            n_rows, n_columns = file.metadata.num_rows, file.metadata.num_columns
        needed, present = 8 * n_rows * n_columns, psutil.virtual_memory().total
        if needed > present:  # a few bytes may describe any number of equal rows
            raise AuclabError(
                f"{path} has {n_rows:,} rows and {n_columns:,} columns, which take {needed / 1e9:,.0f} GB of memory, "
                f"and this machine has {present / 1e9:,.0f}; dataset=blocks reads files larger than memory"
            )
        return pd.read_parquet(path)
    except AuclabError:
        raise
    except UNREADABLE as error:
        raise unreadable(path, error) from error


def _read_svmlight(path: Path, positive: Any, negative: Any, facts: dict[str, Any]) -> Dataset:
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    try:
        with unpacked(path) as source:
            X, labels = load_svmlight_file(str(source) if source == path else source)
    except AuclabError:
        raise
    except UNREADABLE as error:
        raise unreadable(path, error) from error
    sides = binarise(pd.Series(labels, name="label"), positive, negative)
    return Dataset(X=X[sides.kept], y=sides.y, positive=sides.positive, negative=sides.negative, **facts)


def _listed(frame: pd.DataFrame) -> str:
    return ", ".join(map(str, frame.columns))
