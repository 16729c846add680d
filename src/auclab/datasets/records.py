"""A data set, the rows of its training and test part, and the checksums of both."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError
from auclab._core.words import counted, did_you_mean, few
from auclab.datasets.target import Target, as_target
from auclab.samples.tables import in_memory

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse as sp

    from auclab.samples.blocks.table import BlockTable

Labels = NDArray[Any]


@dataclass(frozen=True)
class Dataset:
    """A data set as published: nothing is scaled, imputed or encoded yet.

    Attributes
    ----------
    name : str
    X : DataFrame, CSR matrix (sparse sources) or BlockTable (rows that are read from files), (n_samples, n_features)
        An array becomes a DataFrame with columns x0, x1, …; names of columns become text.
    y : array of shape (n_samples,)
        1 for the positive class and 0 for the other (booleans, and 1 and −1, become these); grades, or times, where
        `ranked` says so. The labels of a Series are in the order of the rows, whatever its index.
    nominal : tuple of str
        Columns that are categories whatever their dtype.
    positive, negative : str
        The labels of either class in the source.
    sha256, source, citation : str
        Checksum of the data, where they were read from, and the publication to cite.
    notes : tuple of str
        Findings from reading the data that are worth knowing before a solve.
    written : mapping
        `sep`, `decimal` and `encoding` of a csv file: new rows are read in the same way if their own format cannot be
        detected. `missing`: marks of missing values, `usual_missing`: those in upper and lower case. `forms`: how
        the numbers of columns with signs and units are written.
    text : tuple of str
        Columns of text whose words become features.
    ranked : Target, optional
        For groups, grades and times: which rows are compared, and which stay together in a split.
    aside : mapping of str to array
        Columns of the source that are not features; rows may be split by them.

    Raises
    ------
    AuclabError
        X is not a table, two of its columns have one name, or y has other values or another length.

    See Also
    --------
    auclab.datasets.load : Loads a data set by its name.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [30, 40, 50]})
    >>> data = Dataset("small", table, np.array([0, 1, 1]), positive="yes", negative="no")
    >>> data.n_pos, data.n_neg
    (2, 1)
    """

    name: str
    X: pd.DataFrame | sp.csr_matrix | sp.csr_array | BlockTable
    y: Labels
    nominal: tuple[str, ...] = ()
    positive: str = "1"
    negative: str = "0"
    sha256: str = ""
    source: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    written: Mapping[str, Any] = field(default_factory=dict)
    text: tuple[str, ...] = ()
    ranked: Target | None = None
    aside: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        X, y = _as_table(self.name, self.X), np.asarray(self.y)
        if y.shape != (X.shape[0],):
            raise AuclabError(
                f"data set {self.name}: X has {counted(X.shape[0], 'row')}, but there are "
                f"{' × '.join(map(str, y.shape))} labels; give one for each row"
            )
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y if self.ranked is not None else _as_classes(self.name, y))

    @property
    def target(self) -> Target:
        """What the rows are ranked by."""
        return Target(self.y) if self.ranked is None else self.ranked

    @property
    def census(self) -> str:
        """Number of rows of each class, or of groups, grades or events, with the labels of the source."""
        if not self.target.is_of_classes:
            return self.target.census
        # A label such as 2 would look like a second number.
        labelled = "" if all(str(each)[:1].isalpha() for each in (self.positive, self.negative)) else "labelled "
        return f"{self.n_pos} {labelled}{self.positive} (positive), {self.n_neg} {labelled}{self.negative}"

    def column(self, name: str) -> NDArray[Any]:
        """A column of the source, whether it is a feature or not.

        Raises
        ------
        AuclabError
            The column does not exist, or rows are read from files.
        """
        columns = list(self.frame.columns) if hasattr(self.X, "iloc") else []
        if name in self.aside:
            return self.aside[name]
        if name in columns:
            return np.asarray(self.frame[name])
        if not columns:
            raise AuclabError(f"split.column is {name!r}, and data set {self.name} has no named columns in memory")
        known = [*map(str, columns), *self.aside]
        raise AuclabError(f"split.column is {name!r}{did_you_mean(name, known)}; columns are {', '.join(known)}")

    @property
    def frame(self) -> pd.DataFrame:
        """`X` as a DataFrame.

        Raises
        ------
        AuclabError
            `X` is a sparse matrix, or its rows are read from files.
        """
        import pandas as pd

        if not isinstance(self.X, pd.DataFrame):
            raise AuclabError(f"data set {self.name!r} is a {type(self.X).__name__}, not a DataFrame; read its X")
        return self.X

    @property
    def n_pos(self) -> int:
        """Number of positive observations."""
        return int(np.count_nonzero(self.y == 1))

    @property
    def n_neg(self) -> int:
        """Number of negative observations."""
        return int(np.count_nonzero(self.y == 0))


def _as_table(name: str, X: Any) -> Any:
    """Features with a shape, and with names that are text where they have names."""
    if isinstance(X, np.ndarray) and X.ndim == 2:
        import pandas as pd

        return pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    if not (hasattr(X, "iloc") or hasattr(X, "indptr") or not in_memory(X)) or len(X.shape) != 2:
        raise AuclabError(
            f"data set {name}: X is a {type(X).__name__}; give a DataFrame, a CSR matrix, or an array with two axes"
        )
    if not hasattr(X, "iloc"):
        return X
    names = [str(column) for column in X.columns]
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise AuclabError(f"data set {name}: X has two columns named {twice!r}; rename one")
    return X if all(isinstance(column, str) for column in X.columns) else X.set_axis(names, axis=1)


def _as_classes(name: str, y: NDArray[Any]) -> NDArray[Any]:
    """Labels as 1 and 0."""
    if y.dtype == bool:
        return y.astype(np.int64)
    if not y.dtype.hasobject and np.isin(y, (0, 1)).all():
        return y
    found = sorted(set(y.tolist()), key=str)
    if found and set(found) <= {0, 1}:  # objects
        return y.astype(np.int64)
    if set(found) == {-1, 1}:
        return (y == 1).astype(np.int64)
    raise AuclabError(
        f"data set {name}: labels of a Dataset are 1 and 0, got {few(map(repr, found))}; give y == {found[-1]!r}, say"
    )


@dataclass(frozen=True)
class Split:
    """Row numbers of one training part and one test part; the test part may be empty (``split=none``).

    See Also
    --------
    auclab.Dataset : The rows that are split.

    Examples
    --------
    >>> import numpy as np
    >>> from auclab import Split
    >>> split = Split(train=np.array([0, 1, 3]), test=np.array([2]), name="by hand")
    >>> len(split.train), split.test.tolist()
    (3, [2])
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    name: str


#: Rows of a table in blocks up to which this process reads them for a checksum.
MOST_STREAMED = 5_000_000


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file, in hexadecimal digits."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise AuclabError(f"{path} is a device or a pipe; give the path of a file with data")
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise AuclabError(
            f"{path} cannot be read: {error.strerror or error}; check the path and its permissions"
        ) from error


def verified_sha256(path: Path, expected: str | None) -> str:
    """SHA-256 of a file that must equal `expected`, unless that is None."""
    actual = file_sha256(path)
    if expected is not None and actual != expected.lower():
        raise AuclabError(
            f"{path} is not the file that was expected: its SHA-256 is {actual}, expected {expected}; "
            "put the right file there, or accept this one with dataset.sha256=null"
        )
    return actual


def array_sha256(*arrays: NDArray[Any]) -> str:
    """SHA-256 of the bytes of arrays in row order, one after the other."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def part_sha256(X: Any, y: NDArray[Any] | Target) -> str:
    """SHA-256 of prepared features and their labels: every digit and every label counts.

    `X` (n_samples, n_features): Float64; an array and a table in blocks with the same rows have one checksum. Above
    `MOST_STREAMED` rows that of a table is made of the checksums of its blocks, which are computed where the rows are
    read. `y` (n_samples,), or Target: 1 for the positive class, 0 for the other; or what the rows are ranked by: of
    grades and times, events and groups every value counts.
    """
    digest = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}".encode())
    if hasattr(X, "stream") and X.shape[0] > MOST_STREAMED:
        for part in X.run(_sha256_of_rows):
            digest.update(part)
        return _with_target(digest, y)
    if hasattr(X, "indptr"):
        parts = [X.indptr.astype(np.int64), X.indices.astype(np.int64), np.asarray(X.data, dtype=np.float64)]
    else:
        parts = X.stream() if hasattr(X, "stream") else [X]
    for part in parts:
        digest.update(np.ascontiguousarray(part, dtype=None if hasattr(X, "indptr") else np.float64).data)
    return _with_target(digest, y)


def table_sha256(X: Any, y: Target) -> str:
    """SHA-256 of the features that a function returned, in memory: names of columns, every cell and every target."""
    if hasattr(X, "indptr"):
        return part_sha256(X, y)
    import pandas as pd

    digest = hashlib.sha256("\0".join(X.columns).encode())
    digest.update(pd.util.hash_pandas_object(X, index=False).to_numpy().data)
    return _with_target(digest, y)


def _with_target(digest: Any, y: NDArray[Any] | Target) -> str:
    """The checksum of rows with their targets."""
    target = as_target(y)
    if target.is_of_classes:
        digest.update(target.y.astype(np.int8).data)
        return str(digest.hexdigest())
    digest.update(target.kind.encode())
    for name, values in target.columns.items():
        digest.update(name.encode())
        digest.update("\0".join(values.tolist()).encode() if name == "group" else values.astype(np.float64).data)
    return str(digest.hexdigest())


def _sha256_of_rows(rows: Any, argument: Any) -> bytes:
    """A task: the checksum of a block."""
    return hashlib.sha256(np.ascontiguousarray(rows, dtype=np.float64).data).digest()
