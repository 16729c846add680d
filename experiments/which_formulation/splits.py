"""Five scorers on every data set: one split into two thirds and one third per seed, every scorer tuned alike.

bAUC; of the two paths of scorers (`family`) one formulation each, RankSVM² over pairs and C-SVM² over points; logistic
regression and linear discriminant analysis.

Inside the training part the share (`methods`) is chosen by 5-fold cross-validation on AUC, the same folds for all; of
equal means the largest share. Then the scorer is fitted on the training part. Measured on the rest: AUC, bAUC, VOROS
(costs of 0 to 1), and the Brier score of a probability from the distance by Platt's map, fitted on the distances of
the held-out inner folds. Columns are standardised on the training part, nominal ones one-hot.

Data: every binary set at hand once. Left out: a9a, german_credit_numeric, covertype_numeric, breast_cancer, the other
solar flares and the aliases (the same rows as one that is in); adult and w8a (over 90 columns) and spambase (nearly
separable in 57), where tuning all takes more than a minute. Of a set of more than 2,000 rows each seed draws 2,000,
with 500 of the smaller class or all of it where there are fewer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Dataset, Labels
from auclab.datasets.splits import holdout, kfold
from auclab.metrics import auc_score, bauc_score, voros_score
from experiments.study import VALUE, Row, main
from experiments.which_formulation.methods import COMPARED, METHODS, Effort, Method, Scorer

SEEDS = {"smoke": 1, "default": 10, "full": 20}
SETS = (
    *("abalone", "breast_cancer_ljubljana", "breast_wisconsin_original", "covertype_sample"),
    *("credit_approval", "german_credit", "heart_statlog", "horse_colic", "house_votes", "ijcnn1", "ionosphere"),
    *("liver_disorders", "mammography", "monks1", "monks2", "monks3", "page_blocks", "phoneme", "pima", "satimage"),
    *("solar_flare_m", "sonar", "spect", "tic_tac_toe", "wdbc", "wine_quality_red"),
    *("wine_quality_white", "wpbc", "yeast"),
)
SMALL = ("liver_disorders", "heart_statlog")
SHARES = tuple(np.geomspace(0.9, 1e-3, 6))
FOLDS = 5
MAX_ROWS, MAX_MINORITY = 2000, 500
TEST_SIZE = 1 / 3
#: On inner folds, and for the scorer that is kept.
ROUGH, FINE = Effort(3e-3), Effort(1e-4)
METRICS: dict[str, Callable[[Labels, Array], float]] = {"auc": auc_score, "bauc": bauc_score, "voros": voros_score}


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Test values of every scorer on every set, and the share of solves that were certified."""
    smoke = scale == "smoke"
    shares = SHARES[::3] if smoke else SHARES
    certified: dict[str, list[bool]] = {name: [] for name in COMPARED}
    for name in SMALL if smoke else SETS:
        train, test = split(load(name), seed)
        for key in COMPARED:
            begin = time.process_time()
            scorer, platt, solved = tuned(METHODS[key], *train, shares, seed)
            seconds = time.process_time() - begin
            certified[key] += solved
            distance = scorer.distance(test[0])
            numbers = {metric: measure(test[1], distance) for metric, measure in METRICS.items()}
            numbers |= {"brier": float(np.mean((platt(distance) - test[1]) ** 2)), "seconds": seconds}
            for metric, value in numbers.items():
                yield Row(f"{VALUE}{name}.{metric}", round(value, 5), seed, key)
    for key, solved in certified.items():
        yield Row(f"certified.{key}", float(np.mean(solved)), seed)


def split(data: Dataset, seed: int) -> tuple[tuple[Array, Labels], tuple[Array, Labels]]:
    """Standardised training and test part."""
    rows = _drawn(data.y, seed)
    (parts,) = holdout(data.y[rows], test_size=TEST_SIZE, seed=seed)
    table, prepare = data.frame.iloc[rows], standard(data, missing_category=None)
    X_train = prepare.fit_transform(table.iloc[parts.train])
    X_test = prepare.transform(table.iloc[parts.test])
    return (X_train, data.y[rows][parts.train]), (X_test, data.y[rows][parts.test])


def _drawn(y: Labels, seed: int) -> NDArray[np.intp]:
    """All rows, or of many some; the smaller class is drawn first."""
    if len(y) <= MAX_ROWS:
        return np.arange(len(y))
    random, minority = np.random.default_rng(seed), int(np.mean(y) < 0.5)
    few = random.permutation(np.flatnonzero(y == minority))[:MAX_MINORITY]
    many = random.permutation(np.flatnonzero(y != minority))[: MAX_ROWS - len(few)]
    return np.sort(np.concatenate([few, many]))


def tuned(
    method: Method,
    X: Array,
    y: Labels,
    shares: Sequence[float],
    seed: int,
    measure: Callable[[Labels, Array], float] = auc_score,
    efforts: tuple[Effort, Effort] = (ROUGH, FINE),
) -> tuple[Scorer, Callable[[Array], Array], list[bool]]:
    """The scorer at the best share, its map from distances to probabilities, and which solves were certified."""
    held_out, scores = np.empty((len(shares), len(y))), np.empty((len(shares), FOLDS))
    solved: list[bool] = []
    for k, fold in enumerate(kfold(y, n_folds=FOLDS, seed=seed)):
        path = method(X[fold.train], y[fold.train], shares, efforts[0])
        held_out[:, fold.test] = [each.distance(X[fold.test]) for each in path]
        scores[:, k] = [measure(y[fold.test], row) for row in held_out[:, fold.test]]
        solved += [each.certified for each in path]
    best = int(np.argmax(scores.mean(axis=1).round(12)))  # the first, and shares descend
    scorer: Scorer = method(X, y, shares[best : best + 1], efforts[1])[0]
    return scorer, _platt(held_out[best], y), [*solved, scorer.certified]


def _platt(distance: Array, y: Labels) -> Callable[[Array], Array]:
    """Platt's map: a logistic function with his targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) for 1 and 0."""
    n_pos, n_neg = int((y == 1).sum()), int((y == 0).sum())
    target = np.where(y == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))
    unit = float(distance.std()) or 1.0
    column = (distance / unit)[:, None]
    model = LogisticRegression(C=1e6, solver="newton-cholesky", max_iter=200)
    both, labels = np.vstack([column, column]), np.repeat([1, 0], len(y))
    model.fit(both, labels, sample_weight=np.concatenate([target, 1 - target]))
    return lambda new: model.predict_proba((new / unit)[:, None])[:, 1]


if __name__ == "__main__":
    main(run_seed, SEEDS)
