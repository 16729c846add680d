"""The user's own file: csv, tsv, parquet or svmlight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from auclab.datasets.checksum import verified_sha256
from auclab.datasets.file_table import SVMLIGHT, FileSettings, read_table, refuse_empty
from auclab.datasets.labels import binarise
from auclab.datasets.records import Dataset
from auclab.datasets.refusals import Refusals
from auclab.datasets.table import ALL, make_dataset, reading
from auclab.datasets.unpacked import unpacked
from auclab.types import AuclabError, GroupWeights


def load_file(
    path: str | Path | None = None,
    target: str | None = None,
    positive: Any = None,
    *,
    negative: Any = None,
    group: str | None = None,
    time: str | None = None,
    event: str | None = None,
    graded: bool = False,
    group_weights: GroupWeights = "pairs",
    nominal: Sequence[str] | str = (),
    drop: Sequence[str] | str = (),
    missing: Sequence[str] | str = (),
    sep: str | None = None,
    decimal: str | None = None,
    decimal_comma: Sequence[str] | str = (),
    encoding: str | None = None,
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
        labels 0/1, −1/1 and False/True. Of times, the labels of an event.
    group : str, optional
        Column with the group of every row, such as its query: rows of one group are compared, and no others.
    time, event : str, optional
        Columns, in place of `target`, with times and whether they are those of an event or of censoring.
    graded : bool
        Whether the target are grades, numbers of which a larger one is better, and not two classes.
    group_weights : {"pairs", "groups"}
        Whether every pair counts the same, or every group that has a pair.
    nominal : list of str, or "ALL"
        Columns that are categories though they look like numbers; columns of text are categories anyway.
    drop : list of str
        Columns to leave out, such as an identifier.
    missing : list of str
        What is read as missing in csv and tsv files besides an empty field and ``? NA N/A NaN nan null None``.
    sep, decimal, encoding : str, optional
        How a csv or tsv file is written (`auclab.datasets.csv_format.csv_format`); found if left out, and noted.
    decimal_comma : list of str
        Columns with decimal commas in a file whose others have decimal points.
    name : str, optional
        Name of the data set; the file's name if left out.
    sha256 : str, optional
        The file must have this checksum.
    citation : str
        Source of the data set.

    Returns
    -------
    Dataset
        `X` is a CSR matrix for svmlight files, a DataFrame for all others. Its `notes` say how a csv file is written,
        where that is not usual.

    Raises
    ------
    AuclabError
        No path, a file that is missing, empty or unreadable, an unknown ending, two columns of one name, a column or
        label that does not occur, missing labels, one class only, or a column of numbers with cells that are none.

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
        raise AuclabError(f"{path} is an address, but only local files are read: download it, and give its path")
    where = Path(path).expanduser()
    digest = verified_sha256(where, sha256)
    facts: dict[str, Any] = {
        "name": name or where.name,
        "sha256": digest,
        "source": str(where),
        "citation": citation,
    }
    refuse_empty(where)
    if where.name.lower().endswith(SVMLIGHT):
        if said := [key for key, value in {"group": group, "time": time, "graded": graded}.items() if value]:
            raise AuclabError(
                f"dataset.{said[0]} names a column, and svmlight files have no names; give a csv or parquet file"
            )
        return _read_svmlight(where, positive, negative, facts)
    given = FileSettings.of(
        {
            **{"target": target, "nominal": nominal, "drop": drop, "missing": missing, "decimal_comma": decimal_comma},
            **{"sep": sep, "decimal": decimal, "encoding": encoding},
            **{"group": group, "time": time, "event": event, "graded": graded, "group_weights": group_weights},
        }
    )
    table = read_table(where, given)
    facts |= {"notes": table.notes, "written": table.written}
    refusals = Refusals()
    for check in (table.refuse_settings, table.refuse_cells):
        with refusals.collected():
            check(given)
    if given.roles.ranking and set(given.roles.ranking) <= set(table.frame) - set(given.lists["drop"]):
        with refusals.collected():
            roles = replace(given.roles, drop=table.there(given.lists["drop"]))
            categories = ALL if given.all_nominal else [*table.there(given.lists["nominal"]), *table.codes]
            sides = {"positive": positive, "negative": negative}
            dataset = make_dataset(table.frame, target=roles, nominal=categories, **sides, **facts)
    refusals.raise_all()
    return dataset


def _read_svmlight(path: Path, positive: Any, negative: Any, facts: dict[str, Any]) -> Dataset:
    import pandas as pd

    X, labels = read_svmlight(path)
    sides = binarise(pd.Series(labels, name="label"), positive, negative)
    return Dataset(X=X[sides.kept], y=sides.y, positive=sides.positive, negative=sides.negative, **facts)


def read_svmlight(path: Path, n_features: int | None = None) -> tuple[Any, Any]:
    """The CSR matrix and the labels of an svmlight file.

    Raises
    ------
    AuclabError
        Anything else.
    """
    from sklearn.datasets import load_svmlight_file

    with reading(path), unpacked(path) as source:
        X, labels = load_svmlight_file(str(source) if source == path else source, n_features=n_features)
    return X, labels
