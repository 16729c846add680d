"""Training and test parts: seeded, and stratified so that both classes keep their share in every part.

Every function takes the labels of a data set, 0/1 of shape (n_samples,), or its `Target`, and returns a list of
splits; the arguments after `y` come from one file of ``conf/split``. Rows that are compared within their group, or stay
together for another reason, are in one part of every split (`auclab.datasets.target_splits`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.datasets.records import Dataset, Split
from auclab.datasets.shuffled_rows import shuffled_rows
from auclab.datasets.target import Target, as_target
from auclab.datasets.target_splits import drawn_parts, folds_of
from auclab.sizes import AT_ONCE
from auclab.types import AuclabError
from auclab.validation import positive_mask
from auclab.wording import counted

#: Rows from which parts are drawn in arrays, and not by scikit-learn: the same rows.
MANY = AT_ONCE


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
    return _shuffled(y, n_repeats=1, test_size=test_size, seed=seed, names=["holdout"])


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
    return _shuffled(y, n_repeats=n_repeats, test_size=test_size, seed=seed, names=names)


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
    check_settings(n_folds=n_folds, fold=fold, seed=seed)
    rows: Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]
    if (target := _of_other_kind(y)) is not None:
        rows = folds_of(target, n_folds=n_folds, seed=seed)
    else:
        labels = _labels(y)
        check_rows(labels, n_folds=n_folds)
        from sklearn.model_selection import StratifiedKFold

        rows = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(labels, labels)
    splits = _splits(rows, [f"fold {i}" for i in range(n_folds)])
    return splits if fold is None else [splits[fold]]


def inner_folds(y: ArrayLike | Target, *, n_folds: int, seed: int, setting: str) -> list[Split]:
    """Folds of a training part, as `kfold` makes them; messages name the setting that asks for them.

    `n_folds` ≥ 2. `seed` ≥ 0.
    """
    if (target := _of_other_kind(y)) is not None:
        check_settings(n_folds=n_folds, seed=seed)
        parts = folds_of(target, n_folds=n_folds, seed=seed, setting=setting)
        return _splits(parts, [f"fold {i}" for i in range(n_folds)])
    check_rows(y, n_folds=n_folds, setting=setting)
    return kfold(y, n_folds=n_folds, seed=seed)


def none(y: ArrayLike | Target) -> list[Split]:
    """All observations for training, an empty test part.

    Examples
    --------
    >>> [split] = none([0, 1, 1])
    >>> split.train.tolist(), split.test.tolist()
    ([0, 1, 2], [])
    """
    target = _of_other_kind(y)
    size = len(_labels(y)) if target is None else target.y.size
    return [Split(np.arange(size), np.arange(0), "none")]


def split_rows(splitter: Any, dataset: Dataset) -> tuple[list[Split], Target]:
    """The splits of a data set, and its target, whose rows stay together on inner folds as they do there.

    `splitter`: a function of the labels or the target alone, such as ``functools.partial(holdout, test_size=0.3)``, or
    `auclab.datasets.split_by_column.ByColumn`.
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
    auclab.types.AuclabError: test_size is 3; it is a share between 0 and 1, and split=none has no test part
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


#: What to do with a class that has one observation, by the setting that asks for folds.
_WITHOUT_FOLDS = {
    "n_folds": "use split=none",
    "split.n_folds": "use split=none",
    "tune.folds": "use tune=none",
    "inner.folds": "take inner.folds=0",
    "decision.folds": "use decision.probability=none",
}


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
    auclab.types.AuclabError: 2 folds need 2 observations of each class, and there are 1 positive and 2 negatives; ...
    """
    if _of_other_kind(y) is not None:
        return  # refused where their parts are made
    labels = _labels(y)
    fewest = int(np.bincount(labels).min())
    if n_folds is not None and fewest < n_folds:
        raise AuclabError(
            f"{n_folds} folds need {n_folds} observations of each class, and there are {_census(labels)}; "
            + (f"use {setting}={fewest}" if fewest >= 2 else _WITHOUT_FOLDS[setting])
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


def _shuffled(y: ArrayLike | Target, *, n_repeats: int, test_size: float, seed: int, names: list[str]) -> list[Split]:
    check_settings(test_size=test_size, seed=seed)
    if (target := _of_other_kind(y)) is not None:
        return _splits(drawn_parts(target, n_repeats=n_repeats, test_size=test_size, seed=seed), names)
    labels = _labels(y)
    check_rows(labels, test_size=test_size)
    if labels.size >= MANY:
        drawn = shuffled_rows(labels == 1, test_size=test_size, n_repeats=n_repeats, seed=seed)
        splits = _splits(drawn, names)
    else:
        from sklearn.model_selection import StratifiedShuffleSplit

        shuffle = StratifiedShuffleSplit(n_repeats, test_size=test_size, random_state=seed)
        splits = _splits(shuffle.split(labels, labels), names)
    for split in splits:
        for part, rows in (("training part", split.train), ("test part", split.test)):
            Target(labels[rows]).check_part(part, "split")
    return splits


def _splits(rows: Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]], names: list[str]) -> list[Split]:
    return [Split(train, test, name) for (train, test), name in zip(rows, names, strict=True)]


def _of_other_kind(y: ArrayLike | Target) -> Target | None:
    """The target where it is more than the labels of two classes: groups, grades, times, or an order of the rows."""
    target = as_target(y)
    return None if target.is_plain else target


def _labels(y: ArrayLike | Target) -> NDArray[np.int8]:
    return np.asarray(positive_mask(as_target(y).y), dtype=np.int8)


def _census(labels: NDArray[np.int8]) -> str:
    n_neg, n_pos = np.bincount(labels, minlength=2).tolist()
    return f"{counted(n_pos, 'positive')} and {counted(n_neg, 'negative')}"
