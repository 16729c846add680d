"""Selection by a metric on a validation part, and what it costs on the test part: the protocol of Sect. 4.

A tie of a positive and a negative counts ½ in eq. (2). The numbers of Table 2 come out where it counts 1, in selection
and on the test part: reading ``ties one``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from sklearn.model_selection import train_test_split

from auclab.metrics import auc_score, bauc_score, probabilistic_auc, scored_auc, soft_auc, voros_score
from experiments.learners import Floats, Integers, Mask, Table, read_table
from experiments.study import AGREE, AS_PUBLISHED, CORRECTED, VALUE, Row, holds
from experiments.vanderlooy_huellermeier_2008.data_sets import SETS

#: What a tied pair counts in AUC, by the variant of the rows.
TIES: Mapping[str, Literal["half", "upper"]] = {AGREE: "half", "ties one": "upper"}
#: Metrics other than AUC; their modifiers settle the ties.
OTHERS = {
    "sauc": scored_auc,
    "soft": lambda y, s: soft_auc(y, s, beta=10.0),
    "prob": lambda y, s: probabilistic_auc(y, s, width=0.1),
    "prob_printed": lambda y, s: probabilistic_auc(y, s, width=0.1, as_published=True),
    "bauc": bauc_score,
    "voros": voros_score,
}
METRICS = ("auc", *OTHERS)
#: Columns of the print, with the two readings of eq. (5), and ours, by claim and variant.
COLUMNS = {
    **{("auc", AGREE): "auc", ("sauc", AGREE): "sauc", ("soft", AGREE): "soft"},
    **{("prob", CORRECTED): "prob", ("prob", AS_PUBLISHED): "prob_printed"},
    **{("bauc", AGREE): "bauc", ("voros", AGREE): "voros"},
}
#: The four of the paper, and the six pairs of its Figs. 4 and 5.
PUBLISHED = ("auc", "sauc", "soft", "prob")
PAIRS = tuple((one, other) for i, one in enumerate(PUBLISHED) for other in PUBLISHED[i + 1 :])
#: Values closer than this are tied: they are means of the same pairs in another order.
_TIE = 1e-12


@dataclass(frozen=True)
class Parts:
    """Rows of the training, validation and test part."""

    train: Integers
    validation: Integers
    test: Integers

    @classmethod
    def draw(cls, labels: Mask, random: np.random.Generator) -> Parts:
        """Half, a tenth and four tenths of the rows, stratified."""
        seeds = [int(seed) for seed in random.integers(2**31, size=2)]
        train, rest = train_test_split(np.arange(len(labels)), train_size=0.5, stratify=labels, random_state=seeds[0])
        validation, test = train_test_split(rest, train_size=0.2, stratify=labels[rest], random_state=seeds[1])
        return cls(train, validation, test)

    @property
    def held_out(self) -> Integers:
        """Validation and test rows, in this order."""
        return np.concatenate([self.validation, self.test])


@dataclass(frozen=True)
class Outcome:
    """One run: test AUC of the candidates, and which of them have the best value of a metric of `METRICS`.

    Examples
    --------
    >>> outcome = Outcome(np.array([0.5, 0.75, 1.0]), {"auc": np.array([True, True, False])})
    >>> outcome.regret("auc"), outcome.first("auc"), outcome.last("auc"), outcome.chance, outcome.worst
    (0.375, 0.5, 0.25, 0.25, 0.5)
    """

    test: Floats
    best: Mapping[str, Mask]

    @property
    def loss(self) -> Floats:
        """What each candidate has less than the best one on the test part."""
        return self.test.max() - self.test

    def regret(self, metric: str) -> float:
        """Loss of the selected candidate; of one drawn among those that tie, in the mean."""
        return float(self.loss[self.best[metric]].mean())

    def first(self, metric: str) -> float:
        """Loss of the first candidate that ties."""
        return float(self.loss[self.best[metric]][0])

    def last(self, metric: str) -> float:
        """Loss of the last candidate that ties."""
        return float(self.loss[self.best[metric]][-1])

    @property
    def chance(self) -> float:
        """Mean loss of a candidate drawn at random."""
        return float(self.loss.mean())

    @property
    def worst(self) -> float:
        """Loss of the worst candidate."""
        return float(self.loss.max())


def verify(labels: Mask, scores: Sequence[Floats], n_validation: int) -> dict[str, Outcome]:
    """Rate candidates, whose scores have the validation rows before the test rows, by each reading of `TIES`.

    Examples
    --------
    Both order the validation pair, so they have the same AUC, but the first by a wider margin; on the test part
    the first has AUC 0 and the second 1:

    >>> labels = np.array([True, False, True, False])
    >>> outcome = verify(labels, [np.array([0.9, 0.1, 0.1, 0.9]), np.array([0.6, 0.4, 0.9, 0.1])], 2)[""]
    >>> outcome.regret("auc"), outcome.regret("sauc")
    (0.5, 1.0)
    """
    validation = [(labels[:n_validation], each[:n_validation]) for each in scores]
    others = {name: _best([metric(*part) for part in validation]) for name, metric in OTHERS.items()}
    found = {}
    for variant, ties in TIES.items():
        test = np.array([auc_score(labels[n_validation:], each[n_validation:], ties=ties) for each in scores])
        found[variant] = Outcome(test, {"auc": _best([auc_score(*part, ties=ties) for part in validation]), **others})
    return found


def _best(values: Sequence[float]) -> Mask:
    return np.array(values) >= max(values) - _TIE


def mean_regret(runs: Sequence[Outcome], metric: str) -> float:
    """Over runs, a candidate among those that tie drawn at random."""
    return float(np.mean([run.regret(metric) for run in runs]))


def wins(runs: Sequence[Outcome], one: str, other: str) -> tuple[float, float]:
    """Share of runs in which `one` selected the better candidate, and in which `other` did; of ties the first.

    Examples
    --------
    >>> best = {"auc": np.array([True, False]), "sauc": np.array([False, True])}
    >>> wins([Outcome(np.array([0.8, 0.7]), best), Outcome(np.array([0.7, 0.7]), best)], "auc", "sauc")
    (0.5, 0.0)
    """
    gaps = np.array([run.first(other) - run.first(one) for run in runs])
    return float((gaps > _TIE).mean()), float((gaps < -_TIE).mean())


@cache
def read_tables(names: tuple[str, ...]) -> Mapping[str, Table]:
    """Data sets by their names of Table 1, read once a process."""
    return {name: read_table(SETS[name]) for name in names}


def of_variant(by_set: Mapping[str, Sequence[Mapping[str, Outcome]]], variant: str) -> dict[str, list[Outcome]]:
    """The outcomes of one reading of `TIES`, by data set."""
    return {name: [run[variant] for run in runs] for name, runs in by_set.items()}


def reading_rows(
    pattern: str, by_set: Mapping[str, Sequence[Outcome]], seed: int, variant: str, with_mean: bool = True
) -> Iterator[Row]:
    """Mean regrets of the four metrics of the paper in a reading that is not the plain one, by data set."""
    for column in PUBLISHED:
        means = [mean_regret(runs, column) for runs in by_set.values()]
        for name, value in zip(by_set, means, strict=True):
            yield Row(f"{pattern.format(name)}.{column}", value, seed, variant)
        if with_mean:
            yield Row(f"{pattern.format('mean')}.{column}", float(np.mean(means)), seed, variant)


def regret_rows(pattern: str, by_set: Mapping[str, Sequence[Outcome]], seed: int) -> Iterator[Row]:
    """A row per data set and column, and their means over the data sets; `pattern` has {} for the data set."""
    for (column, variant), metric in COLUMNS.items():
        means = [mean_regret(runs, metric) for runs in by_set.values()]
        for name, value in zip(by_set, means, strict=True):
            yield Row(f"{pattern.format(name)}.{column}", value, seed, variant)
        yield Row(f"{pattern.format('mean')}.{column}", float(np.mean(means)), seed, variant)
    spread = np.array([np.mean([(run.chance, run.worst) for run in runs], axis=0) for runs in by_set.values()])
    for column, values in zip(("chance", "worst"), spread.T, strict=True):
        for name, value in zip(by_set, values, strict=True):
            yield Row(f"{VALUE}{pattern.format(name)}.{column}", float(value), seed)
        yield Row(f"{pattern.format('mean')}.{column}", float(values.mean()), seed)


def win_rows(figure: str, by_set: Mapping[str, Sequence[Outcome]], seed: int) -> Iterator[Row]:
    """Shares of wins of the six pairs by data set; how often a metric does as well as AUC, over all sets."""
    for name, runs in by_set.items():
        for one, other in PAIRS:
            first, second = wins(runs, one, other)
            yield Row(f"{VALUE}{figure}.{name}.{one}_over_{other}", first, seed)
            yield Row(f"{VALUE}{figure}.{name}.{other}_over_{one}", second, seed)
    equal = {m: 1 - np.mean([sum(wins(runs, "auc", m)) for runs in by_set.values()]) for m in METRICS}
    for (column, variant), metric in COLUMNS.items():
        if metric != "auc":
            yield Row(f"{figure}.equal.{column}", float(equal[metric]), seed, variant)
    yield holds(f"{figure}.often_equal", bool(min(equal["soft"], equal["prob"]) > 0.5), seed)
