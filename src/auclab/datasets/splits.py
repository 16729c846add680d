"""Training and test rows: at random, by folds, by a column, of groups, grades and times.

They are seeded, and stratified so that both classes keep their share in every part. Every function takes the labels of
a data set, 0/1 of shape (n_samples,), or its `Target`, and returns a list of splits; the arguments after `y` come from
one file of ``conf/split``. Rows that are compared within their group, or stay together for another reason, are in one
part of every split.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import AuclabError
from auclab._core.validation import positive_mask
from auclab._core.words import counted
from auclab.datasets.dates import find_dates
from auclab.datasets.labels import refuse_missing
from auclab.datasets.records import Dataset, Split
from auclab.datasets.target import Target, as_target, group_labels
from auclab.samples.tables import in_memory

#: Rows from which the parts of two classes are drawn in arrays: scikit-learn's lists take 86 bytes a row.
MANY = 1_048_576
Parts = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def holdout(y: ArrayLike | Target, *, test_size: float = 0.3, seed: int = 0) -> list[Split]:
    """One split into a training and a test part.

    Parameters
    ----------
    y : array of shape (n_samples,) or Target
        Binary labels, or what the rows are ranked by.
    test_size : float in (0, 1)
        Share of the observations in the test part.
    seed : int ≥ 0

    Returns
    -------
    list of one Split

    Raises
    ------
    AuclabError
        `test_size` out of range, or a class too small to be in both parts.

    Examples
    --------
    >>> [split] = holdout([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], test_size=0.5)
    >>> len(split.train), len(split.test)
    (5, 5)
    """
    return _splits(drawn_parts(y, n_repeats=1, test_size=test_size, seed=seed), ["holdout"])


def repeated(y: ArrayLike | Target, *, n_repeats: int = 10, test_size: float = 0.1, seed: int = 0) -> list[Split]:
    """`n_repeats` independent splits; Norton & Uryasev (2018), section 5.2, take 20 of 90 to 10.

    Parameters
    ----------
    y : array of shape (n_samples,) or Target
        Binary labels, or what the rows are ranked by.
    n_repeats : int ≥ 1
    test_size : float in (0, 1)
        Share of the observations in each test part.
    seed : int ≥ 0

    Returns
    -------
    list of Split

    Raises
    ------
    AuclabError
        A number out of range, or a class too small to be in both parts.

    Examples
    --------
    >>> splits = repeated([0, 1] * 10, n_repeats=3)
    >>> [(split.name, len(split.test)) for split in splits]
    [('repeat 1', 2), ('repeat 2', 2), ('repeat 3', 2)]
    """
    check_settings(n_repeats=n_repeats)
    names = [f"repeat {i + 1}" for i in range(n_repeats)]
    return _splits(drawn_parts(y, n_repeats=n_repeats, test_size=test_size, seed=seed), names)


def kfold(y: ArrayLike | Target, *, n_folds: int = 5, seed: int = 0, fold: int | None = None) -> list[Split]:
    """Cross-validation: every observation is in the test part of exactly one fold.

    Parameters
    ----------
    y : array of shape (n_samples,) or Target
        Binary labels, or what the rows are ranked by.
    n_folds : int ≥ 2
    seed : int ≥ 0
    fold : int in 0 … n_folds − 1, optional
        This fold only, to give each fold a run of its own in a sweep.

    Returns
    -------
    list of Split

    Raises
    ------
    AuclabError
        A number out of range, or fewer observations of a class than folds.

    Examples
    --------
    >>> [split.name for split in kfold([0, 1] * 3, n_folds=3)]
    ['fold 0', 'fold 1', 'fold 2']
    >>> [split.name for split in kfold([0, 1] * 3, n_folds=3, fold=1)]
    ['fold 1']
    """
    check_settings(fold=fold, n_folds=n_folds)
    splits = inner_folds(y, n_folds=n_folds, seed=seed, setting="n_folds")
    return splits if fold is None else [splits[fold]]


def inner_folds(y: ArrayLike | Target, *, n_folds: int, seed: int, setting: str) -> list[Split]:
    """Folds of a training part, as `kfold` makes them; messages name the setting that asks for them.

    `n_folds` ≥ 2. `seed` ≥ 0.
    """
    check_settings(n_folds=n_folds, seed=seed)
    check_rows(y, n_folds=n_folds, setting=setting)
    parts = folds_of(as_target(y), n_folds=n_folds, seed=seed, setting="split" if setting == "n_folds" else setting)
    return _splits(parts, [f"fold {i}" for i in range(n_folds)])


def none(y: ArrayLike | Target) -> list[Split]:
    """All observations for training, an empty test part.

    Examples
    --------
    >>> [split] = none([0, 1, 1])
    >>> split.train.tolist(), split.test.tolist()
    ([0, 1, 2], [])
    """
    size = len(_labels(y)) if as_target(y).is_plain else as_target(y).y.size
    return [Split(np.arange(size), np.arange(0), "none")]


def split_rows(splitter: Any, dataset: Dataset) -> tuple[list[Split], Target]:
    """The splits of a data set, and its target, whose rows stay together on inner folds as they do there.

    `splitter`: a function of the labels or the target alone, such as ``functools.partial(holdout, test_size=0.3)``, or
    `auclab.datasets.splits.ByColumn`.
    """
    if hasattr(splitter, "splits"):
        target = splitter.target(dataset)
        return splitter.splits(target), target
    target = dataset.target
    return list(splitter(dataset.y if target.is_plain else target)), target


def check_settings(
    *,
    test_size: float | None = None,
    seed: int | None = None,
    n_repeats: int | None = None,
    n_folds: int | None = None,
    fold: int | None = None,
) -> None:
    """Refuse what no splitter takes, before there are labels; what is left out is not looked at.

    Examples
    --------
    >>> check_settings(test_size=0.3, seed=0)
    >>> check_settings(test_size=3)
    Traceback (most recent call last):
        ...
    auclab.AuclabError: test_size is 3; it is a share between 0 and 1, and split=none has no test part
    """
    if test_size is not None and not 0.0 < test_size < 1.0:
        raise AuclabError(f"test_size is {test_size}; it is a share between 0 and 1, and split=none has no test part")
    if seed is not None and not 0 <= seed < 2**32:
        raise AuclabError(f"seed is {seed}; it must be ≥ 0 and below 2³²")
    if n_repeats is not None and n_repeats < 1:
        raise AuclabError(f"n_repeats is {n_repeats}; at least one split is needed")
    if n_folds is not None and n_folds < 2:
        raise AuclabError(f"n_folds is {n_folds}; cross-validation needs at least 2, split=holdout is a single split")
    if n_folds is not None and fold is not None and not 0 <= fold < n_folds:
        raise AuclabError(f"fold is {fold}; the {n_folds} folds are numbered 0 to {n_folds - 1}")


def check_rows(
    y: ArrayLike | Target, *, test_size: float | None = None, n_folds: int | None = None, setting: str = "n_folds"
) -> None:
    """Refuse labels of which too few are of a class for a split; what is left out is not looked at.

    The message calls the number of folds `setting`.

    Examples
    --------
    >>> check_rows([0, 0, 1, 1], n_folds=2)
    >>> check_rows([0, 0, 1], n_folds=2)
    Traceback (most recent call last):
        ...
    auclab.AuclabError: 2 folds need 2 observations of each class, and there are 1 positive and 2 negatives; ...
    """
    if not as_target(y).is_plain:
        return  # refused where their parts are made
    labels = _labels(y)
    fewest = int(np.bincount(labels).min())
    if n_folds is not None and fewest < n_folds:
        raise AuclabError(
            f"{n_folds} folds need {n_folds} observations of each class, and there are {_census(labels)}; "
            + (f"use {setting}={fewest}" if fewest >= 2 else "add rows, or do without folds")
        )
    if test_size is not None:
        n_test = math.ceil(test_size * len(labels))
        smaller = min(n_test, len(labels) - n_test)
        if fewest < 2 or smaller < 2:
            raise AuclabError(
                f"no stratified split with test_size={test_size} of {_census(labels)}: the training and the test "
                f"part need both classes, so at least two rows of each class, and the smaller part would have "
                f"{counted(smaller, 'row')}; add rows, or use split=none"
            )


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """The rows of one part of a split, of a DataFrame, a matrix, or a table in blocks.

    Examples
    --------
    >>> take_rows(np.array([[1.0], [2.0], [3.0]]), np.array([0, 2])).tolist()
    [[1.0], [3.0]]
    """
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _splits(rows: Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]], names: list[str]) -> list[Split]:
    return [Split(train, test, name) for (train, test), name in zip(rows, names, strict=True)]


def _labels(y: ArrayLike | Target) -> NDArray[np.int8]:
    return np.asarray(positive_mask(as_target(y).y), dtype=np.int8)


def _census(labels: NDArray[np.int8]) -> str:
    n_neg, n_pos = np.bincount(labels, minlength=2).tolist()
    return f"{counted(n_pos, 'positive')} and {counted(n_neg, 'negative')}"


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


def drawn_parts(y: ArrayLike | Target, *, n_repeats: int, test_size: float, seed: int) -> Parts:
    """Training and test rows of `n_repeats` draws; in time, of the one cut, the first rows and the last."""
    check_settings(test_size=test_size, seed=seed)
    check_rows(y, test_size=test_size)
    target = as_target(y)
    if target.order is not None:
        if n_repeats > 1:
            raise AuclabError("split=time has one hold-out part, the last rows; use split.n_folds for several")
        return _checked(target, [_cut(target.order, 1.0 - test_size, 1.0)])
    from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

    shuffle = partial(_checked, target)
    settings: dict[str, Any] = {"n_splits": n_repeats, "test_size": test_size, "random_state": seed}
    if target.is_plain and target.y.size >= MANY:
        return shuffle(_drawn_in_arrays(_labels(y), n_repeats, test_size, seed))
    rows = np.arange(target.y.size)
    if target.wholes is not None:
        _require_wholes(target.wholes, 2, "a training and a test part need", "use split=holdout")
        return shuffle(GroupShuffleSplit(**settings).split(rows, groups=target.wholes))
    strata = _large_strata(target, 2)
    few = strata is None or np.unique(strata).size > math.ceil(min(test_size, 1.0 - test_size) * rows.size)
    return shuffle((ShuffleSplit if few else StratifiedShuffleSplit)(**settings).split(rows, strata))


def _drawn_in_arrays(labels: NDArray[np.int8], n_repeats: int, test_size: float, seed: int) -> Parts:
    """The rows of either class are drawn by themselves, then mixed."""
    from sklearn.model_selection import train_test_split

    rng = np.random.RandomState(seed)
    found = []
    for _ in range(n_repeats):
        classes = [np.flatnonzero(labels == side) for side in (0, 1)]
        drawn = [train_test_split(rows, test_size=test_size, random_state=rng) for rows in classes]
        train, test = (rng.permutation(np.concatenate(parts)) for parts in zip(*drawn, strict=True))
        found.append((train, test))
    return found


def folds_of(target: Target, *, n_folds: int, seed: int, setting: str = "split") -> Parts:
    """Training and test rows of folds; in time, each is trained on all stretches before the one that is tested."""
    checked = partial(_checked, target, setting=setting)
    if target.order is not None:
        ends = np.arange(1, n_folds + 1) / (n_folds + 1)
        return checked([_cut(target.order, end, end + ends[0]) for end in ends])
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    rows = np.arange(target.y.size)
    shuffled: dict[str, Any] = {"shuffle": True, "random_state": seed}
    if target.wholes is not None:
        key = "split.n_folds" if setting == "split" else setting
        _require_wholes(target.wholes, n_folds, f"{key}={n_folds} needs", "use fewer folds")
        strata = _large_strata(target, n_folds) if target.is_of_classes else None
        kind: Any = GroupKFold if strata is None else StratifiedGroupKFold
        return checked(kind(n_folds, **shuffled).split(rows, strata, groups=target.wholes))
    strata = _large_strata(target, n_folds)
    kind = KFold if strata is None else StratifiedKFold
    return checked(kind(n_folds, **shuffled).split(rows, strata))


def _checked(target: Target, parts: Iterable[tuple[Any, Any]], setting: str = "split") -> Parts:
    """The parts, where each has rows that can be compared."""
    found = [(np.asarray(train), np.asarray(test)) for train, test in parts]
    for train, test in found:
        target.take(train).check_part("training part", setting)
        target.take(test).check_part("test part", setting)
    return found


def _cut(order: NDArray[np.intp], first: float, last: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows before the share `first` of all rows, and those from there to `last`; rows of one time are not parted."""
    place = np.argsort(order, kind="stable")
    times = order[place]

    def end(share: float) -> int:
        """The number of rows before the time that is nearest to a share of the rows."""
        at = round(share * order.size)
        return order.size if at >= order.size else int(np.searchsorted(times, times[at]))

    cut, stop = end(first), end(last)
    return np.sort(place[:cut]), np.sort(place[cut:stop])


def _require_wholes(wholes: NDArray[Any], needed: int, what: str, advice: str) -> None:
    if (there := np.unique(wholes).size) < needed:
        raise AuclabError(
            f"{what} {needed} groups of rows that stay together, and there {'is' if there == 1 else 'are'} {there}: "
            f"give a column with more values, or {advice}"
        )


def _large_strata(target: Target, fewest: int) -> NDArray[np.int64] | None:
    """The strata of a target, None where one has too few rows to be in every part."""
    strata = target.strata
    return strata if np.bincount(strata).min() >= fewest else None
