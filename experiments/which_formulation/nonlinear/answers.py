"""Evaluation of results/splits.csv: means, paired tests on each set and over the sources; nothing is trained.

A set counts where every scorer has all splits. On a set the corrected paired t-test over its splits, with its ratio of
test to training rows, and Holm's correction over the sets. Over the sets: those of one source share rows, so that
differences are averaged within sources, and Wilcoxon's signed ranks and the interval of the mean are over sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pandas as pd

from auclab.runs import holm, rank_columns
from auclab.runs.compare.paired import Ranking, mean_interval, paired_test
from experiments.which_formulation.nonlinear.scorers import SCORERS
from experiments.which_formulation.nonlinear.splits import RESULTS, SPLITS, Result, read

MEASURES = ("auc", "bauc", "partial_auc", "voros")
LEVEL = 0.05
#: Kernel against linear: the second is subtracted.
KERNEL_PAIRS = (
    ("bauc_z_rbf", "bauc_z_linear"),
    ("ranksvm2_rbf", "ranksvm2_linear"),
    ("csvm2_rbf", "csvm2_linear"),
    ("partial_rbf", "partial_linear"),
    ("svc", "logistic"),
)
TREES_PAIRS = tuple(
    (key, "lightgbm")
    for key in ("bauc_z_rbf", "ranksvm2_rbf", "partial_rbf", "csvm2_rbf", "svc", "ranksvm2_linear", "logistic")
)
#: The same functions and another loss.
LOSS_PAIRS = (
    ("ranksvm2_linear", "logistic"),
    ("ranksvm2_rbf", "csvm2_rbf"),
    ("ranksvm2_rbf", "svc"),
    ("bauc_z_rbf", "ranksvm2_rbf"),
    ("partial_rbf", "ranksvm2_rbf"),
)


@dataclass(frozen=True)
class Difference:
    """First minus second scorer by a measure.

    `by_set` are means over splits with their `p_values`, also after Holm's correction over the sets; `by_source` the
    means of a source's sets, which `mean`, `interval` (95 %, Student), `median` and `signed_rank` are of. `adjusted` is
    `signed_rank` after Holm's correction over the comparisons that are made together.
    """

    first: str
    second: str
    measure: str
    by_set: pd.Series
    p_values: pd.Series
    p_holm: pd.Series
    by_source: pd.Series
    mean: float
    interval: tuple[float, float]
    median: float
    signed_rank: float
    adjusted: float = float("nan")

    @property
    def wins(self) -> tuple[int, int]:
        """Sources on which the first has the larger mean, and the second."""
        return int((self.by_source > 0).sum()), int((self.by_source < 0).sum())

    @property
    def clear(self) -> tuple[list[str], list[str]]:
        """Names of the sets on which the first is better, and worse, with p < .05 after Holm's correction."""
        clear = self.p_holm < LEVEL
        return tuple(sorted(map(str, self.by_set.index[clear & side])) for side in (self.by_set > 0, self.by_set < 0))  # type: ignore[return-value]

    def significant(self, *, corrected: bool = False) -> tuple[int, int]:
        """Sets on which the first is better with p < .05, and worse."""
        clear = (self.p_holm if corrected else self.p_values) < LEVEL
        return int((clear & (self.by_set > 0)).sum()), int((clear & (self.by_set < 0)).sum())


@cache
def kept_values(path: Path = RESULTS) -> pd.DataFrame:
    """The rows of complete sets, a column for each field."""
    table = pd.DataFrame([vars(row) for row in read(path)[2] if row.scorer])
    complete = table[table["auc"].notna()].groupby("set").size()
    return table[table["set"].isin(complete[complete == SPLITS * len(SCORERS)].index)].reset_index(drop=True)


def left_out(path: Path = RESULTS) -> list[Result]:
    """The rows that say why a set is missing, and failures."""
    return [row for row in read(path)[2] if not row.scorer or row.auc != row.auc]


def means(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean over splits: a row per set, a column per scorer."""
    return values.pivot_table(index="set", columns="scorer", values=measure)[list(SCORERS)]


def sources(values: pd.DataFrame) -> pd.Series:
    """Source of each set."""
    return values.groupby("set")["source"].first()


def source_means(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Means of the sets of each source."""
    return means(values, measure).groupby(sources(values)).mean()


def ranking(values: pd.DataFrame, measure: str, scorers: Sequence[str] = tuple(SCORERS)) -> Ranking:
    """Of scorers over the sources."""
    return rank_columns(source_means(values, measure)[list(scorers)], alpha=LEVEL)


def difference(values: pd.DataFrame, measure: str, first: str, second: str) -> Difference:
    """Of two scorers, with the tests."""
    table = values.pivot_table(index=["set", "split"], columns="scorer", values=measure)
    ratios = ratio(values)
    p_values = {}
    for name, of_splits in table.groupby(level="set"):
        test = paired_test(
            of_splits[first], of_splits[second], test="corrected-t", test_train_ratio=float(ratios[str(name)])
        )
        p_values[str(name)] = test.p_value
    of_sets = pd.Series(p_values)
    by_set = (table[first] - table[second]).groupby(level="set").mean()
    by_source = by_set.groupby(sources(values)).mean()
    return Difference(
        first=first,
        second=second,
        measure=measure,
        by_set=by_set,
        p_values=of_sets,
        p_holm=pd.Series(holm(of_sets.tolist()), of_sets.index),
        by_source=by_source,
        mean=float(by_source.mean()),
        interval=mean_interval(by_source),
        median=float(by_source.median()),
        signed_rank=paired_test(by_source, 0 * by_source, test="wilcoxon").p_value,
    )


def differences(values: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> dict[str, list[Difference]]:
    """Of every pair by every measure, with Holm's correction over all of them."""
    found = [difference(values, measure, *pair) for measure in MEASURES for pair in pairs]
    adjusted = holm([each.signed_rank for each in found])
    every = [replace(each, adjusted=float(p)) for each, p in zip(found, adjusted, strict=True)]
    return {measure: [each for each in every if each.measure == measure] for measure in MEASURES}


def ratio(values: pd.DataFrame) -> pd.Series:
    """Test to training rows of each set."""
    first = values.groupby("set")[["n_test", "n_train"]].first()
    return first["n_test"] / first["n_train"]


def seconds(values: pd.DataFrame) -> pd.Series:
    """Median over sets and splits of the processor seconds that every scorer takes to tune and fit."""
    return values.groupby("scorer")["seconds"].median().loc[list(SCORERS)]


def certificates(values: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """Of the fits with a certificate: how many, how many within the tolerance, and how many with w = 0."""
    table = values[values["gap"].notna()]
    groups = table.groupby("scorer")
    found = pd.DataFrame(
        {
            "fits": groups.size(),
            "proved": groups["gap"].agg(lambda gaps: int((gaps <= 1.01 * tolerance).sum())),
            "null": groups["size"].agg(lambda sizes: int((sizes == 0).sum())),
        }
    )
    return found.loc[[key for key in SCORERS if key in found.index]]
