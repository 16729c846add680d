"""Risk from censored times on five data sets of scikit-survival: our programs, Cox and FastSurvivalSVM, ten splits.

Half of the patients train, at most 2,000, and the others are ranked. Numbers are standardised, missing ones filled by
the median, nominal columns are one-hot. λ, z and Cox's ridge are one of four, chosen by the concordance of half of the
training part. FastSurvivalSVM minimises the program of `squared_hinge` except for tied times, with the same λ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from auclab._core.base import Array, AuclabError
from experiments.ranking.compared import OWN, SQUARED_PARTS, Compared, Fit, Index, Scorer, rows_of_splits
from experiments.study import Row, main

SEEDS = {"smoke": 1, "default": 10, "full": 50}
#: Data set to its columns of event and time, and those that are left out: the cause of death tells who died.
SETS = {
    "veterans_lung_cancer": ("Status", "Survival_in_days", ()),
    "whas500": ("fstat", "lenfol", ()),
    "gbsg2": ("cens", "time", ()),
    "breast_cancer": ("e.tdm", "t.tdm", ()),
    "flchain": ("death", "futime", ("chapter",)),
}
MOST_TRAIN = 2_000
#: Cox's ridge.
RIDGES = (0.1, 1.0, 10.0, 100.0)


def patients(name: str) -> Compared:
    """The patients of a data set with a time above 0.

    Raises
    ------
    AuclabError
        scikit-survival is not installed.
    """
    try:
        from sksurv import datasets
    except ImportError as error:
        raise AuclabError("the data sets are those of scikit-survival: pip install 'auclab[survival]'") from error
    event, time, left_out = SETS[name]
    table, outcome = getattr(datasets, f"load_{name}")()
    table = table.drop(columns=list(left_out))
    numbers = table.select_dtypes("number").astype(float)
    nominal = pd.get_dummies(table.drop(columns=list(numbers)), drop_first=True)
    rows = pd.concat([numbers.fillna(numbers.median()), nominal], axis=1).to_numpy(float)
    kept = outcome[time] > 0
    return Compared(rows[kept], outcome[time][kept].astype(float), "times", event=outcome[event][kept].astype(float))


def _outcome(rows: Compared) -> Array:
    """As scikit-survival has it."""
    assert rows.event is not None
    return np.array(list(zip(rows.event == 1, rows.y, strict=True)), [("event", bool), ("time", float)])


def cox(rows: Compared, ridge: float) -> Scorer:
    """Cox's proportional hazards with a ridge."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    model = CoxPHSurvivalAnalysis(alpha=ridge).fit(rows.X, _outcome(rows))
    return lambda X: np.asarray(model.predict(X))


def fast_svm(rows: Compared, part: float) -> Scorer:
    """scikit-survival's squared hinge; its scores rise with the time."""
    from sksurv.svm import FastSurvivalSVM

    penalty = part * rows.difference**2 / 2.0
    model = FastSurvivalSVM(alpha=1.0 / (penalty * rows.pairs.n_pairs), max_iter=100, random_state=0)
    model.fit(rows.X, _outcome(rows))
    return lambda X: np.asarray(-(X @ model.coef_))


SCORERS: dict[str, tuple[Fit, Sequence[float]]] = {**OWN, "cox": (cox, RIDGES), "fast_svm": (fast_svm, SQUARED_PARTS)}


def splits(seed: int, scale: str) -> Iterator[tuple[str, Compared, Index, Index]]:
    """The halves of each data set, with as many events in each."""
    for name in list(SETS)[:1] if scale == "smoke" else SETS:
        rows = patients(name)
        assert rows.event is not None
        train, test = train_test_split(np.arange(rows.y.size), test_size=0.5, random_state=seed, stratify=rows.event)
        yield name, rows, train[:MOST_TRAIN], test


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Concordance and buffered concordance of each scorer on new patients, and processor seconds."""
    yield from rows_of_splits("survival", seed, splits(seed, scale), SCORERS)


if __name__ == "__main__":
    main(run_seed, SEEDS)
