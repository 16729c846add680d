"""Training and test parts by a column: groups that stay whole, and rows that are tested later than they are trained on.

Classes of the files ``conf/split/grouped.yaml`` and ``time.yaml``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.dates import find_dates
from auclab.datasets.labels import refuse_missing
from auclab.datasets.records import Dataset, Split
from auclab.datasets.roles import group_labels
from auclab.datasets.splits import check_settings, holdout, kfold
from auclab.datasets.target import Target
from auclab.samples.tables import in_memory
from auclab.types import AuclabError


@dataclass(frozen=True)
class ByColumn:
    """A hold-out part, or folds.

    `column`: of the source, whether it is a feature or not. `test_size` in (0, 1): share of the rows in the test part;
    of no effect with folds. `n_folds` ≥ 2: number of folds in place of one hold-out part. `fold`: this fold only.
    `seed` ≥ 0.
    """

    column: str | None = None
    test_size: float = 0.3
    n_folds: int | None = None
    fold: int | None = None
    seed: int = 0

    name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.fold is not None and self.n_folds is None:
            raise AuclabError(f"split.fold is {self.fold}, and there are no folds; give split.n_folds")
        check_settings(test_size=self.test_size, seed=self.seed, n_folds=self.n_folds, fold=self.fold)

    def target(self, dataset: Dataset) -> Target:
        """The target of a data set whose rows are split by the column."""
        raise NotImplementedError

    def splits(self, target: Target) -> list[Split]:
        """The splits of such a target."""
        if self.n_folds is None:
            (split,) = holdout(target, test_size=self.test_size, seed=self.seed)
            return [replace(split, name=self.name)]
        return kfold(target, n_folds=self.n_folds, seed=self.seed, fold=self.fold)


class Grouped(ByColumn):
    """Rows with one value of the column, such as a customer, are all in the training or all in the test part.

    Without a column these are the groups of the data set.

    See Also
    --------
    Timed : Later rows are tested.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]})
    >>> customers = np.array(["a", "a", "b", "b"])
    >>> dataset = Dataset("toy", X, np.array([0, 1, 0, 1]), aside={"customer": customers})
    >>> by_customer = Grouped("customer", test_size=0.5)
    >>> [split] = by_customer.splits(by_customer.target(dataset))
    >>> customers[split.train].tolist(), customers[split.test].tolist()
    (['a', 'a'], ['b', 'b'])
    """

    name = "grouped"

    def target(self, dataset: Dataset) -> Target:
        """The target of a data set whose groups stay whole.

        Raises
        ------
        AuclabError
            No such column, missing values, no column and no groups.
        """
        target = dataset.target
        if self.column is None:
            if target.groups is None:
                raise AuclabError(
                    "split=grouped needs the column whose values stay together: split.column=customer, or dataset.group"
                )
            return target
        _require_memory(dataset, "grouped")
        import pandas as pd

        return target.split_by(together=group_labels(pd.Series(dataset.column(self.column), name=self.column)))


class Timed(ByColumn):
    """Rows are trained on before they are tested on, in the order of a column of numbers or dates.

    Rows of one time are in one part. Fold k of K tests the (k + 2)th of K + 1 equal stretches of time, and trains on
    all before it.

    See Also
    --------
    Grouped : Rows of one group in one part.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"year": [2021.0, 2019.0, 2020.0, 2022.0]})
    >>> dataset = Dataset("toy", X, np.array([0, 1, 0, 1]))
    >>> [split] = Timed("year", test_size=0.5).splits(Timed("year").target(dataset))
    >>> split.train.tolist(), split.test.tolist()
    ([1, 2], [0, 3])
    """

    name = "time"

    def target(self, dataset: Dataset) -> Target:
        """The target of a data set whose rows follow each other.

        Raises
        ------
        AuclabError
            No column, or one whose values are neither numbers nor dates of one form, or are missing.
        """
        _require_memory(dataset, "time")
        if self.column is None:
            raise AuclabError("split=time needs the column that says when a row was seen: split.column=date")
        return dataset.target.split_by(order=_ranks(dataset.column(self.column), self.column))


def _require_memory(dataset: Dataset, choice: str) -> None:
    if not in_memory(dataset.X):
        raise AuclabError(f"split={choice} needs the rows in memory, and X is in blocks; use split=holdout")


def _ranks(values: NDArray[Any], name: str) -> NDArray[np.intp]:
    """The place of every value in time, from 0 on; equal for equal times."""
    import pandas as pd

    column = pd.Series(values, name=name)
    refuse_missing(column, "split.column")
    if column.dtype.kind not in "biufM":
        numbers = pd.to_numeric(column, errors="coerce")
        if numbers.notna().all():
            column = numbers
        else:
            written = find_dates(column)
            if written is None or written.other or len(written.formats) > 1:
                neither = column[numbers.isna()] if written is None or not written.other else written.other
                example = next(iter(neither))
                raise AuclabError(
                    f"split.column {name!r} has {example!r}, and rows are ordered by numbers or by dates of one form, "
                    "such as 2024-05-31"
                )
            column = pd.to_datetime(column.str.strip(), format=written.formats[0], utc=True)
    return np.asarray(np.unique(column.to_numpy(), return_inverse=True)[1], dtype=np.intp)
