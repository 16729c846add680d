"""A parameter chosen on inner folds.

All values are solved on every fold, first roughly and then once more. By how much their means have changed says how far
they may still change: a value whose mean is further than twice the largest change from the one that decides is taken to
be decided. Of a measure that counts pairs no change is not a sign that none follows, so that a change is at least the
smallest step between measures, and at least what equal rows change that pass others all at once (`largest_jump`). The
others are improved again, until one is left or all have their optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from auclab._core.base import Array, AuclabError
from auclab._core.forms import row_scores
from auclab._core.tolerances import ROUNDING
from auclab.samples.bicliques import group_numbers
from auclab.solvers.path import InnerPath, Point


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


#: By how many times the last change of the means another value may still be overtaken.
_MARGIN = 2.0


class InnerFold(Protocol):
    """The scorers of all values on one fold."""

    @property
    def order(self) -> Sequence[int]:
        """Positions of the values, the simplest scorer first."""

    def refined(self, k: int) -> tuple[float, float]:
        """Improve the scorer of a value; its measure on the held-out rows, and its relative gap."""

    def is_final(self, k: int) -> bool:
        """Whether the scorer cannot be improved."""

    def is_null(self, k: int) -> bool:
        """Whether the scorer is w = 0."""

    @property
    def jump(self) -> float:
        """How much the measure may change at once."""

    @property
    def compiling(self) -> float:
        """Seconds in which code was compiled."""


@dataclass(frozen=True)
class PathFold:
    """Scorers of a path.

    `measure`: of a point, on the held-out rows. `jump`: how much it may change at once.
    """

    path: InnerPath
    measure: Callable[[Point], float]
    jump: float = 0.0

    @property
    def order(self) -> Sequence[int]:
        """Positions of the values, the simplest scorer first."""
        return self.path.order

    def refined(self, k: int) -> tuple[float, float]:
        """Improve the scorer of a value; its measure on the held-out rows, and its relative gap."""
        point = self.path.refined(k)
        return self.measure(point), point.gap

    def is_final(self, k: int) -> bool:
        """Whether the scorer has its optimum."""
        return self.path.is_final(k)

    def is_null(self, k: int) -> bool:
        """Whether the scorer is w = 0."""
        return not self.path.point(k).coef.any()

    @property
    def compiling(self) -> float:
        """Seconds in which code was compiled."""
        return self.path.compiling


@dataclass(frozen=True)
class FittedFold:
    """Classifiers that were fitted to the end.

    `measure`: of a classifier, on the held-out rows.
    """

    classifiers: Sequence[Any]
    measure: Callable[[Any], float]
    order: Sequence[int]
    jump = 0.0

    def refined(self, k: int) -> tuple[float, float]:
        """The measure on the held-out rows, and the relative gap; NaN of a baseline."""
        classifier = self.classifiers[k]
        solution = getattr(classifier, "solution_", None)
        return self.measure(classifier), math.nan if solution is None else solution.gap

    def is_final(self, k: int) -> bool:
        """True."""
        return True

    def is_null(self, k: int) -> bool:
        """Whether the scorer is w = 0."""
        coef = getattr(self.classifiers[k], "coef_", None)
        return coef is not None and not np.any(coef)

    @property
    def compiling(self) -> float:
        """Seconds in which code was compiled."""
        solutions = [getattr(each, "solution_", None) for each in self.classifiers]
        return sum(solution.timings.compile for solution in solutions if solution is not None)


@dataclass(frozen=True)
class Choice:
    """What was measured, and what it says.

    `scores`, `gaps` (n_values, n_folds): the measure on the held-out rows, and the relative gaps of the scorers; NaN
    where nothing is proved. `best`, `selected`: the value with the largest mean (of several the simplest scorer's), and
    the one taken. `compiling`: seconds in which code was compiled.
    """

    scores: Array
    gaps: Array
    best: int
    selected: int
    compiling: float


def choose(folds: Sequence[Callable[[], InnerFold]], n_values: int, *, one_standard_error: bool = False) -> Choice:
    """The value that does best on the inner folds.

    The standard error is that of the mean over the folds, ``s/√folds``; its rule (Breiman, Friedman, Olshen & Stone
    1984) takes the simplest scorer whose mean is not below that of the best by more than the best's standard error.

    `folds`: each makes the scorers of one fold. Where all of the first are w = 0, the others are not made.
    """
    shape = n_values, len(folds)
    scores, gaps = np.empty(shape), np.empty(shape)
    made: list[InnerFold] = []
    for column, make in enumerate(folds):
        made.append(make())
        _refine(made, scores, gaps, made[0].order, [column])
        if column == 0 and all(made[0].is_null(k) for k in range(n_values)):
            scores[:], gaps[:] = scores[:, :1], gaps[:, :1]
            break
    order = list(made[0].order)
    close = np.ones(n_values, bool)
    while True:
        improvable = [k for k in order if close[k] and not all(fold.is_final(k) for fold in made)]
        if close.sum() == 1 or not improvable:
            break
        before = scores.mean(axis=1)
        _refine(made, scores, gaps, improvable, range(len(made)))
        means = scores.mean(axis=1)
        best, _, threshold = _decided(scores, order, one_standard_error)
        least = max(_step(scores), *(fold.jump for fold in made))
        change = max(float(abs(means - before)[close].max()), least / len(made))
        close &= abs(means - threshold) <= _MARGIN * change + ROUNDING
        close[best] = True
    best, selected, _ = _decided(scores, order, one_standard_error)
    return Choice(scores, gaps, best, selected, sum(fold.compiling for fold in made))


def _refine(
    folds: Sequence[InnerFold], scores: Array, gaps: Array, values: Sequence[int], columns: Sequence[int]
) -> None:
    for column in columns:
        for k in values:
            scores[k, column], gaps[k, column] = folds[column].refined(k)


def _step(scores: Array) -> float:
    """The smallest difference of two values on one fold, 0 where all are equal; of AUC a pair, or half of one.

    Examples
    --------
    >>> round(_step(np.array([[0.5, 0.9], [0.7, 0.9], [0.6, 0.9]])), 12)
    0.1
    """
    steps = np.diff(np.sort(scores, axis=0), axis=0)
    return float(steps[steps > ROUNDING].min(initial=math.inf)) if (steps > ROUNDING).any() else 0.0


def largest_jump(X: Any, y: ArrayLike) -> float:
    """By how much the AUC changes if the most equal rows of one class pass the most equal rows of the other.

    `X`: array or CSR matrix of shape (n_samples, n_features). `y` (n_samples,): two classes. Equal rows are those with
    equal scores by one vector of random numbers.

    Examples
    --------
    >>> largest_jump(np.array([[1.0], [1.0], [2.0], [1.0], [3.0], [3.0]]), [1, 1, 1, 0, 0, 0])   # 2/3 · 2/3
    0.4444444444444444
    """
    scores, labels = row_scores(X, np.random.default_rng(0).standard_normal(X.shape[1])), np.asarray(y)
    counts = [np.unique(scores[labels == label], return_counts=True)[1] for label in np.unique(labels)]
    return math.prod(float(each.max() / each.sum()) for each in counts)


def _decided(scores: Array, order: Sequence[int], one_standard_error: bool) -> tuple[int, int, float]:
    """The best value, the one taken, and the mean from which on values are allowed."""
    means = scores.mean(axis=1)
    best = simplest(means >= means.max() - ROUNDING, order)
    error = scores[best].std(ddof=1) / math.sqrt(scores.shape[1]) if one_standard_error else 0.0
    threshold = float(means[best] - error)
    return best, simplest(means >= threshold - ROUNDING, order), threshold


def simplest(allowed: NDArray[np.bool_], order: Sequence[int]) -> int:
    """The simplest scorer among those allowed.

    Examples
    --------
    >>> allowed = np.array([True, True, False])
    >>> simplest(allowed, [2, 1, 0]), simplest(allowed, [0, 1, 2])
    (1, 0)
    """
    return next(k for k in order if allowed[k])
