"""Folds of a training part, for calibrations and choices that look at held-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from auclab.samples.bicliques import group_numbers
from auclab.types import Array, AuclabError


def stratified_folds(
    cv: Any,
    positive: NDArray[np.bool_],
    weight: Array | None,
    *,
    groups: ArrayLike | None = None,
    hint: str,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and test rows; of observations with a weight above 0, as a fold may have no others of a class.

    `cv`: an int is the number of stratified folds in the order of the rows, fewer if a class has fewer observations.
    `groups` (n_samples,): for a splitter that keeps groups together. `hint`: what to try where there are too few
    observations.

    Examples
    --------
    >>> folds = stratified_folds(2, np.array([False, True, False, True]), None, hint="")
    >>> [test.tolist() for _, test in folds]
    [[0, 1], [2, 3]]
    """
    counted = np.ones(positive.size, bool) if weight is None else weight > 0
    if not isinstance(cv, int | np.integer):
        of_rows = None if groups is None else group_numbers(groups, positive.size)
        try:
            splitter = check_cv(cv, positive, classifier=True)
            found = list(splitter.split(np.empty((positive.size, 0)), positive, of_rows))
            folds = [(np.asarray(train), np.asarray(test)) for train, test in found]
        except (TypeError, ValueError) as error:
            raise AuclabError(f"cv={cv!r:.60} has no folds (train, test): {error}") from error
        for train, test in folds:
            yield train[counted[train]], test[counted[test]]
        return
    fewest = int(min((positive & counted).sum(), (~positive & counted).sum()))
    if cv < 2 or fewest < 2:
        raise AuclabError(
            f"inner folds need at least two folds and two observations of each class, got cv={cv} and {fewest} of one "
            f"class; {hint}"
        )
    rows, stratified = np.flatnonzero(counted), StratifiedKFold(min(int(cv), fewest))
    for train, test in stratified.split(np.empty((rows.size, 0)), positive[rows]):
        yield rows[train], rows[test]
