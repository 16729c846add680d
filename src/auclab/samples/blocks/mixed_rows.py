"""Rows with numbers and categories as they are in a file, before encoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab.types import Array, AuclabError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class MixedRows:
    """Rows of a block whose columns are numbers and categories.

    `numbers` (n_rows, n_numeric): NaN where a value is missing. `codes` (n_rows,): for every column of categories the
    place of each row's value in `values`, −1 where it is missing. `values`: for every column of categories the values
    that the codes stand for, none of them missing, none twice. `is_number`: for every column of the table whether it is
    one of `numbers` or of `codes`, either in their order.

    Examples
    --------
    >>> rows = MixedRows(np.array([[1.0], [2.0]]), (np.array([0, -1], np.int32),), (("red",),), (False, True))
    >>> rows[np.array([True, False])].to_frame(["colour", "size"]).to_numpy().tolist()
    [['red', 1.0]]
    """

    numbers: Array
    codes: tuple[NDArray[np.int32], ...]
    values: tuple[tuple[Any, ...], ...]
    is_number: tuple[bool, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.numbers), len(self.is_number)

    @property
    def nbytes(self) -> int:
        """Memory of the rows."""
        return self.numbers.nbytes + sum(codes.nbytes for codes in self.codes)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> MixedRows:
        """Some of the rows: a mask, a slice, or row numbers."""
        numbers = np.asfortranarray(self.numbers[rows])
        return MixedRows(numbers, tuple(codes[rows] for codes in self.codes), self.values, self.is_number)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise not_numbers()

    def to_frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """The rows with the names of the columns; missing categories are NaN."""
        import pandas as pd

        numbers = iter(self.numbers.T)
        texts = iter(
            np.array([*values, np.nan], dtype=object)[codes]
            for codes, values in zip(self.codes, self.values, strict=True)
        )
        found = {
            name: next(numbers) if number else next(texts) for name, number in zip(columns, self.is_number, strict=True)
        }
        return pd.DataFrame(found, columns=list(columns))


def not_numbers(names: Sequence[str] = ()) -> AuclabError:
    """The error for categories where numbers are needed."""
    named = f" ({', '.join(map(repr, names[:5]))}{', …' if len(names) > 5 else ''})" if names else ""
    return AuclabError(
        f"the table has columns of categories{named}, which are not numbers yet: encode it with a preprocessing of "
        "auclab.datasets.preprocess, such as standard(dataset).fit_transform(dataset.X), or drop these columns"
    )


def distinct_codes(codes: NDArray[np.integer], values: Sequence[Any]) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    """Codes and values in the form of `MixedRows`, from values of which some are missing or equal.

    Examples
    --------
    >>> codes, values = distinct_codes(np.array([0, 1, 2, 3, -1]), ["a", None, "b", "a"])
    >>> codes.tolist(), values
    ([0, -1, 1, 0, -1], ('a', 'b'))
    """
    found: dict[Any, int] = {}
    moved = np.empty(len(values) + 1, dtype=np.int32)
    moved[-1] = -1
    for place, value in enumerate(values):
        moved[place] = -1 if _is_missing(value) else found.setdefault(value, len(found))
    return moved[codes], tuple(found)


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA."""
    if value is None:
        return True
    same = value == value
    return not (same if isinstance(same, bool | np.bool_) else False)
