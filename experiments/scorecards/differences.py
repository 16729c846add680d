"""Evaluation of the stored values of `splits`: means, paired tests on each set and over the sets; nothing is trained.

On a set the corrected paired t-test over the splits, with that set's ratio of test to training rows; over the sets
Wilcoxon's signed ranks of the mean differences. Neither is adjusted for how many tests there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from auclab._core.base import AuclabError
from auclab.runs.compare.paired import paired_test
from experiments.scorecards.splits import MOST_TEST, MOST_TRAIN, SETS
from experiments.study import FOLDER, VALUE, read

SPLITS = FOLDER / "scorecards" / "results" / "splits.csv"
SCORERS = ("card5", "rounded5", "card10", "rounded10", "logistic", "ranksvm")
PAIRS = (("card5", "rounded5"), ("card10", "rounded10"), ("card10", "logistic"), ("card10", "ranksvm"))
LEVEL = 0.05
#: Rows of the sets, for the ratio of test to training rows.
ROWS = {
    **{"german_credit": 1_000, "credit_approval": 690, "pima": 768, "heart_statlog": 270, "breast_cancer": 569},
    **{"breast_wisconsin_original": 699, "breast_cancer_ljubljana": 286, "liver_disorders": 345},
    **{"mammography": 11_183, "adult": 48_842},
}


@dataclass(frozen=True)
class Difference:
    """First minus second scorer: the mean of each set and its p-value, their mean, and the p-value over the sets."""

    first: str
    second: str
    by_set: pd.Series
    p_values: pd.Series
    mean: float
    signed_rank: float

    @property
    def better(self) -> int:
        """Sets on which the first has the larger mean."""
        return int((self.by_set > 0).sum())

    @property
    def significant(self) -> pd.Series:
        """Where the test of a set has p < .05."""
        return self.p_values < LEVEL


def kept_values() -> pd.DataFrame:
    """Columns ``set, measure, scorer, seed, value``.

    Raises
    ------
    AuclabError
        `splits` was not run.
    """
    if not SPLITS.exists():
        raise AuclabError(f"{SPLITS.name} is missing; run experiment=scorecards_splits first")
    rows = [row for row in read(SPLITS)[2] if row.claim_id.startswith(VALUE)]
    return pd.DataFrame(
        [(*row.claim_id.removeprefix(VALUE).split("."), row.variant, row.seed, row.value) for row in rows],
        columns=["set", "measure", "scorer", "seed", "value"],
    )


def means(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean over splits: a row per set, a column per scorer that has the measure."""
    table = values[values["measure"] == measure].pivot_table(index="set", columns="scorer", values="value")
    return table.loc[list(SETS), [scorer for scorer in SCORERS if scorer in table]]


def ratio(name: str) -> float:
    """Test to training rows of a split of a set: 3 to 7, except for the sets of which not all rows are taken.

    Examples
    --------
    >>> round(ratio("german_credit"), 3), ratio("adult")
    (0.429, 2.5)
    """
    test = -(-3 * ROWS[name] // 10)
    return min(test, MOST_TEST) / min(ROWS[name] - test, MOST_TRAIN)


def difference(values: pd.DataFrame, measure: str, first: str, second: str) -> Difference:
    """Of two scorers, with the tests."""
    table = values[values["measure"] == measure].pivot_table(index=["set", "seed"], columns="scorer", values="value")
    p_values = {}
    for name in SETS:
        of_splits = table.xs(name, level="set")
        p_values[name] = paired_test(
            of_splits[first], of_splits[second], test="corrected-t", test_train_ratio=ratio(name)
        ).p_value
    of_sets = means(values, measure)
    over = paired_test(of_sets[first], of_sets[second], test="wilcoxon")
    by_set = of_sets[first] - of_sets[second]
    return Difference(first, second, by_set, pd.Series(p_values), float(by_set.mean()), over.p_value)
