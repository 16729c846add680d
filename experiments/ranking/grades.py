"""Grades of wine and rings of abalones: all pairs of different grades, regression, and one against the rest.

Ten splits of three data sets; half of the rows train, at most 2,000, and at most 5,000 others are ranked. λ, z and the
ridge are one of four, chosen by the share of right pairs on half of the training part. One against the rest is a
logistic regression for each grade, and the score the expected grade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier

from auclab._core.base import AuclabError
from auclab.datasets.catalogue import find_file
from experiments.ranking.compared import OWN, Compared, Fit, Index, Scorer, rows_of_splits
from experiments.study import Row, main

SEEDS = {"smoke": 1, "default": 10, "full": 50}
SETS = ("wine_quality_red", "wine_quality_white", "abalone")
MOST_TRAIN, MOST_TEST = 2_000, 5_000
#: Of the regression, in parts of the number of rows.
RIDGES = (1e-3, 1e-2, 0.1, 1.0)


def graded(name: str) -> Compared:
    """The rows of a data set with their grades.

    Raises
    ------
    AuclabError
        The file does not exist.
    """
    path = find_file(f"{name}.csv")
    if path is None:
        raise AuclabError(f"{name}.csv is not on the search path; put it into data/, or name its folder by AUCLAB_DATA")
    table = pd.read_csv(path)
    rows = pd.get_dummies(table.drop(columns="target"), drop_first=True)
    return Compared(rows.to_numpy(float), table["target"].to_numpy(float), "grades")


def regression(rows: Compared, ridge: float) -> Scorer:
    """Least squares of the grade, with a ridge."""
    model = Ridge(alpha=ridge * rows.y.size).fit(rows.X, rows.y)
    return lambda X: np.asarray(model.predict(X))


def one_against_rest(rows: Compared, part: float) -> Scorer:
    """The expected grade by a logistic regression for each."""
    model = OneVsRestClassifier(LogisticRegression(max_iter=2_000)).fit(rows.X, rows.y)
    return lambda X: np.asarray(model.predict_proba(X) @ model.classes_)


SCORERS: dict[str, tuple[Fit, Sequence[float]]] = {
    **OWN,
    "regression": (regression, RIDGES),
    "one_against_rest": (one_against_rest, (0.0,)),
}


def splits(seed: int, scale: str) -> Iterator[tuple[str, Compared, Index, Index]]:
    """The halves of each data set."""
    for name in SETS[:1] if scale == "smoke" else SETS:
        rows = graded(name)
        train, test = train_test_split(np.arange(rows.y.size), test_size=0.5, random_state=seed)
        yield name, rows, train[: 300 if scale == "smoke" else MOST_TRAIN], test[:MOST_TEST]


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """The share of right pairs and the buffered share of each scorer on new rows, and processor seconds."""
    yield from rows_of_splits("grades", seed, splits(seed, scale), SCORERS)


if __name__ == "__main__":
    main(run_seed, SEEDS)
