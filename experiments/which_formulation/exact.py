"""How far is the best buffered AUC from the best AUC? Both exactly, where the mixed-integer program ends in seconds.

A sample of each set, as many positives as negatives, in its leading principal components (of standardised columns): two
of 60 + 60 rows, three of 30 + 30. AUC (strict: a tie counts 0) is maximised by branch and bound; what it cannot prove
in the time limit is reported. Beside it, on the same rows, what is lost by the scorer that maximises bAUC, by the best
of the bAUC_z (z of the shares of `splits`, chosen by that AUC: the family at its best), and by logistic regression.
The test AUC of each is on the rows that are left, at most 3,000.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Labels
from auclab.formulations import BufferedAUC, ExactAUC, GeneralizedBufferedAUC
from auclab.metrics import auc_score
from auclab.solvers import solve
from auclab.solvers.path import solve_path
from experiments.study import VALUE, Row, main
from experiments.which_formulation.splits import SHARES

SEEDS = {"smoke": 1, "default": 10, "full": 20}
SETS = (
    *("breast_cancer_ljubljana", "credit_approval", "german_credit", "heart_statlog", "horse_colic", "ionosphere"),
    *("liver_disorders", "phoneme", "pima", "sonar", "tic_tac_toe", "wdbc"),
)
#: Rows of each class by number of principal components.
SIZES = {2: 60, 3: 30}
TIME_LIMIT = 30.0
MAX_TEST = 3000


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """A row per set, number of components and scorer, and means over the sets."""
    smoke = scale == "smoke"
    for components, size in ({2: 15} if smoke else SIZES).items():
        found = []
        for name in SETS[:2] if smoke else SETS:
            numbers = _one(name, seed, components, size)
            found.append(numbers)
            for key, value in numbers.items():
                yield Row(f"{VALUE}{name}.{key}.d={components}", round(value, 6), seed)
        for key in found[0]:
            yield Row(f"{key}.d={components}", float(np.mean([numbers[key] for numbers in found])), seed)


def _one(name: str, seed: int, components: int, size: int) -> dict[str, float]:
    """What is lost against the best AUC on the sample, and test AUCs, for one set."""
    X, y, X_test, y_test = _sample(name, seed, components, size)
    best = solve(ExactAUC(), X, y, solver="highs", time_limit=TIME_LIMIT)
    top = 1 - best.objective
    bauc = solve(BufferedAUC(), X, y, solver="newton").coef
    slope = float(np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)))
    thresholds = [-share * slope for share in SHARES]
    family = solve_path(GeneralizedBufferedAUC(0.0), X, y, thresholds, parameter="threshold", solver="newton")
    coefs = [bauc, *(each.coef for each in family)]
    of_family = coefs[int(np.argmax([_strict(y, X @ coef) for coef in coefs]))]
    logistic = LogisticRegression(C=1e6).fit(X, y).coef_[0]
    scorers = {"exact": best.coef, "bauc": bauc, "family": of_family, "logistic": logistic}
    lost = {f"lost.{key}": top - _strict(y, X @ coef) for key, coef in scorers.items() if key != "exact"}
    test = {f"test.{key}": auc_score(y_test, X_test @ coef) for key, coef in scorers.items()}
    return {"train.exact": top, "unproved": best.objective - best.lower_bound, **lost, **test}


def _strict(y: Labels, scores: Array) -> float:
    return float(auc_score(y, scores, ties="strict"))


def _sample(name: str, seed: int, components: int, size: int) -> tuple[Array, Labels, Array, Labels]:
    """Principal components of a sample and of the rows that are left."""
    data, random = load(name), np.random.default_rng(seed)
    rows = np.concatenate([random.permutation(np.flatnonzero(data.y == label))[:size] for label in (0, 1)])
    left = random.permutation(np.setdiff1d(np.arange(len(data.y)), rows))[:MAX_TEST]
    prepare, reduce = standard(data, missing_category=None), PCA(components)
    X = reduce.fit_transform(prepare.fit_transform(data.frame.iloc[rows]))
    return X, data.y[rows], reduce.transform(prepare.transform(data.frame.iloc[left])), data.y[left]


if __name__ == "__main__":
    main(run_seed, SEEDS)
