"""Rows and which of them are compared, linear scorers of them, how λ is chosen, and what a study measures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from auclab import BufferedAUC, GeneralizedBufferedAUC, RankSVM, solve
from auclab._core.base import Array
from auclab.formulations.base import Program
from auclab.inference import estimate_pairs
from auclab.losses import SquaredHinge
from auclab.samples.bicliques import LevelPairs, censored_pairs, ordered_pairs
from auclab.samples.ranked import RankedSample
from experiments.study import Row, values_and_means

#: λ of the hinge and −z in parts of ``‖Δ‖``, λ of the squared hinge in parts of ``‖Δ‖²/2``; Δ is the mean difference.
PARTS, SQUARED_PARTS = (0.3, 0.1, 0.03, 0.01), (1.0, 0.1, 0.01, 0.001)
Index = NDArray[np.intp]
#: From rows to scores.
Scorer = Callable[[Array], Array]


@dataclass(frozen=True)
class Compared:
    """Rows, and which of them are compared: of ``kind`` times `event` is used, of groups `groups`.

    Examples
    --------
    >>> rows = Compared(np.array([[0.0], [1.0], [2.0]]), np.array([3.0, 2.0, 1.0]), "times", event=np.array([1, 1, 1]))
    >>> rows.measures(rows.X[:, 0])     # the earliest event has the largest score
    {'auc': 1.0, 'bauc': 1.0}
    """

    X: Array
    y: Array
    kind: Literal["times", "groups", "grades"]
    event: Array | None = None
    groups: Array | None = None

    def part(self, rows: Index) -> Compared:
        """Some of the rows."""
        event, groups = (None if of is None else of[rows] for of in (self.event, self.groups))
        return Compared(self.X[rows], self.y[rows], self.kind, event, groups)

    @cached_property
    def pairs(self) -> LevelPairs:
        """The pairs that count."""
        if self.kind == "times":
            assert self.event is not None
            return censored_pairs(self.y, self.event)
        return ordered_pairs(self.y, self.groups)

    @property
    def given(self) -> dict[str, Any]:
        """What `auclab.solve` takes."""
        of_kind: dict[str, dict[str, Any]] = {
            "times": {"event": self.event},
            "groups": {"groups": self.groups},
            "grades": {"ordered": True},
        }
        return of_kind[self.kind]

    @cached_property
    def difference(self) -> float:
        """``‖Δ‖₂``."""
        return float(np.linalg.norm(RankedSample.of_pairs(self.X, self.pairs).mean_difference))

    def measures(self, scores: Array) -> dict[str, float]:
        """Concordance and its buffered share."""
        return {
            "auc": estimate_pairs(self.pairs, scores).value,
            "bauc": estimate_pairs(self.pairs, scores, "bauc").value,
        }

    def standardised(self, train: Index) -> Compared:
        """Columns in standard deviations of some rows; constant ones are 0."""
        spread = self.X[train].std(axis=0)
        X = (self.X - self.X[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        return Compared(np.where(spread > 0, X, 0.0), self.y, self.kind, self.event, self.groups)


#: From rows and a part of the unit to a scorer.
Fit = Callable[[Compared, float], Scorer]


def program_of(name: str, rows: Compared, part: float) -> Program:
    """A program of auclab with λ or −z a part of its unit."""
    unit = rows.difference
    if name == "bauc":
        return BufferedAUC()
    if name == "bauc_z":
        return GeneralizedBufferedAUC(-part * unit)
    if name == "hinge":
        return RankSVM(part * unit)
    return RankSVM(part * unit * unit / 2.0, squared=True, loss=SquaredHinge())


def own(name: str) -> Fit:
    """How a program of auclab is fitted; one that is not proved optimal is an error."""

    def fit(rows: Compared, part: float) -> Scorer:
        solution = solve(program_of(name, rows, part), rows.X, rows.y, **rows.given)
        assert str(solution.status).startswith("optimal"), (name, solution.status, solution.gap)
        return lambda X: np.asarray(X @ solution.coef)

    return fit


#: Of auclab: how it is fitted, and what is tried.
OWN: Mapping[str, tuple[Fit, Sequence[float]]] = {
    "hinge": (own("hinge"), PARTS),
    "squared_hinge": (own("squared_hinge"), SQUARED_PARTS),
    "bauc": (own("bauc"), (0.0,)),
    "bauc_z": (own("bauc_z"), PARTS),
}


def measured(
    train: Compared, halves: tuple[Index, Index], test: Compared, scorers: Mapping[str, tuple[Fit, Sequence[float]]]
) -> Iterator[tuple[str, dict[str, float], Array]]:
    """Name, measures and test scores of each scorer; what is tried is compared by the concordance of one half.

    Parameters
    ----------
    train, test : Compared
    halves : two int arrays
        Rows of the training part: fitted to the first, compared on the second, then fitted to both.
    scorers : mapping
        How each is fitted, and what is tried; the first of equals is taken.
    """
    fitted, compared = train.part(halves[0]), train.part(halves[1])
    for name, (fit, tried) in scorers.items():
        begin = time.process_time()
        values = [compared.measures(fit(fitted, part)(compared.X))["auc"] if len(tried) > 1 else 0.0 for part in tried]
        scorer = fit(train, tried[int(np.argmax(values))])
        spent = time.process_time() - begin
        scores = scorer(test.X)
        yield name, test.measures(scores) | {"seconds": spent}, scores


def rows_of_splits(
    study: str,
    seed: int,
    splits: Iterable[tuple[str, Compared, Index, Index]],
    scorers: Mapping[str, tuple[Fit, Sequence[float]]],
) -> Iterator[Row]:
    """The measures of each scorer on the test part of every data set, and their means over the data sets.

    Parameters
    ----------
    study : str
        What the names of the means begin with.
    seed : int
        Of the splits.
    splits : iterable of (name, Compared, int array, int array)
        Data set, its rows, and those of the training and the test part.
    scorers : mapping
        How each is fitted, and what is tried.
    """

    def of_each() -> Iterator[tuple[str, str, dict[str, float]]]:
        for name, rows, train, test in splits:
            halves = np.arange(0, train.size, 2), np.arange(1, train.size, 2)
            scaled = rows.standardised(train)
            for scorer, numbers, _ in measured(scaled.part(train), halves, scaled.part(test), scorers):
                yield name, scorer, numbers

    yield from values_and_means(of_each(), seed, study + ".{key}")
