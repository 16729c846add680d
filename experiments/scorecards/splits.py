"""Ten sets of medicine and credit, ten splits each: integer scorecards of 5 and 10 items against what is usual.

Scorers, each fitted on the training part (70 %, at most 2,000 rows) and measured on the rest, at most 5,000 rows:

* `card5`, `card10`: `ScorecardClassifier` with at most 5 or 10 items of 12 candidates, points −5 to 5;
* `rounded5`, `rounded10`: the practice. Of the same items an l1 logistic regression selects as many, a logistic
  regression almost without penalty is fitted on them, and its coefficients are divided by the largest modulus,
  multiplied by 5 and rounded;
* `logistic`: logistic regression of standardised columns; `ranksvm`: RankSVM with λ‖w‖², λ of 5 by 3 inner folds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split

from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Dataset, Labels
from auclab.estimators import AUCClassifier, ScorecardClassifier
from auclab.metrics import auc_score, bauc_score
from experiments.study import Row, main, values_and_means

SEEDS = {"smoke": 1, "default": 10, "full": 20}
SETS = (
    *("german_credit", "credit_approval", "pima", "heart_statlog", "breast_cancer", "breast_wisconsin_original"),
    *("breast_cancer_ljubljana", "liver_disorders", "mammography", "adult"),
)
ITEMS = (5, 10)
MOST_TRAIN, MOST_TEST, CANDIDATES = 2_000, 5_000, 12
#: Seconds of the search for a card.
SECONDS = {"smoke": 0.3, "default": 10.0, "full": 60.0}
PENALTIES = (1e-4, 1e-3, 1e-2, 0.1, 1.0)


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """A row per set, scorer and measure, and means over the sets."""
    sets = SETS[3:5] if scale == "smoke" else SETS
    measured = ((name, *each) for name in sets for each in _one(name, seed, SECONDS[scale]))
    yield from values_and_means(measured, seed)


def _one(name: str, seed: int, seconds: float) -> Iterator[tuple[str, dict[str, float]]]:
    """Test AUC and bAUC, size, seconds (processor time), and the gap of cards, of each scorer on one split."""
    data = load(name)
    train, test = train_test_split(np.arange(len(data.y)), test_size=0.3, random_state=seed, stratify=data.y)
    train, test = train[:MOST_TRAIN], test[:MOST_TEST]
    X, y, X_test, y_test = data.frame.iloc[train], data.y[train], data.frame.iloc[test], data.y[test]
    for count in ITEMS:
        begin = time.process_time()
        card = ScorecardClassifier(
            max_items=count, max_candidates=CANDIDATES, nominal=list(data.nominal), time_limit=seconds
        ).fit(X, y)
        spent = time.process_time() - begin
        numbers = _numbers(y_test, card.total(X_test).astype(float), card.card_.n_items, spent)
        yield f"card{count}", numbers | {"gap": card.solution_.gap}
        begin = time.process_time()
        points = rounded_logistic(card.encoder_.transform(X), y, count)
        spent = time.process_time() - begin
        yield f"rounded{count}", _numbers(y_test, card.encoder_.transform(X_test) @ points, np.sum(points != 0), spent)
    yield from _linear(data, X, y, X_test, y_test)


def _linear(data: Dataset, X: Any, y: Labels, X_test: Any, y_test: Labels) -> Iterator[tuple[str, dict[str, float]]]:
    prepare = standard(data)
    rows, rows_test = prepare.fit_transform(X, y), prepare.transform(X_test)
    ranksvm = AUCClassifier("ranksvm", squared=True)
    search = GridSearchCV(ranksvm, {"penalty": PENALTIES}, scoring="roc_auc", cv=3)
    for name, model in (("logistic", LogisticRegression(max_iter=2_000)), ("ranksvm", search)):
        begin = time.process_time()
        model.fit(rows, y)
        spent = time.process_time() - begin
        yield name, _numbers(y_test, model.decision_function(rows_test), rows.shape[1], spent)


def _numbers(y: Labels, scores: Array, size: int, seconds: float) -> dict[str, float]:
    return {"auc": auc_score(y, scores), "bauc": bauc_score(y, scores), "size": float(size), "seconds": seconds}


def rounded_logistic(X: Array, y: Labels, count: int) -> Array:
    """Points by rounding a logistic regression on `count` items that an l1 penalty selects.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    >>> rounded_logistic(X, (X[:, 0] > 0).astype(int), 1).tolist()
    [5.0, 0.0]
    """
    size = np.zeros(X.shape[1])
    for C in np.geomspace(1e-3, 10.0, 25):
        size = np.abs(LogisticRegression(C=C, l1_ratio=1.0, solver="liblinear", max_iter=2_000).fit(X, y).coef_[0])
        if np.count_nonzero(size) >= count:
            break
    chosen = np.isin(np.arange(size.size), np.argsort(-size, kind="stable")[:count]) & (size > 0)
    points = np.zeros(X.shape[1])
    if not chosen.any():
        return points
    coef = LogisticRegression(C=1e3, max_iter=5_000).fit(X[:, chosen], y).coef_[0]
    points[chosen] = np.rint(5.0 * coef / np.abs(coef).max())
    return points


if __name__ == "__main__":
    main(run_seed, SEEDS)
