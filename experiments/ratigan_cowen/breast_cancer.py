"""Tables 1 and 2: three classifiers of scikit-learn on the Wisconsin data.

Printed: scikit-learn's defaults, one stratified split of unnamed size and seed, no preprocessing. Ours: the defaults,
the default share of the test part (a quarter), and as many seeds as the scale says; logistic regression also on
standardised columns (variant ``scaled``), because its default stops before it has converged on the raw ones. Positive
is *benign*, 357 of 569, as printed. Naive Bayes also by its labels alone, a curve of one point (variant ``labels``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.datasets import load
from auclab.metrics import auc_score, roc_dominates, voros_score
from experiments.study import AGREE, Row, holds, main

SEEDS = {"smoke": 1, "default": 20, "full": 100}
LOW, HIGH = (0.0, 0.25), (0.75, 1.0)


def run(scale: str) -> Iterator[Row]:
    """AUROC and VOROS of the test part, a row per seed."""
    data = load("breast_cancer")
    X, y = data.frame.to_numpy(), 1 - data.y
    yield Row("data.positives", int(y.sum()))
    yield Row("data.negatives", int((1 - y).sum()))
    for seed in range(SEEDS[scale]):
        yield from _split(X, y, seed)


def _split(X: np.ndarray, y: np.ndarray, seed: int) -> Iterator[Row]:
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=seed)
    above = []
    scores = {key: held_out_scores(model, X_train, y_train, X_test) for key, model in classifiers(seed).items()}
    scores["naive", "labels"] = (scores["naive", "labels"] > 0.5).astype(float)
    for (name, variant), score in scores.items():
        auroc, voros = auc_score(y_test, score), voros_score(y_test, score)
        above.append(voros >= auroc)
        yield Row(f"table1.{name}.auroc", 100 * auroc, seed, variant)
        yield Row(f"table1.{name}.voros", 100 * voros, seed, variant)
        if name != "naive":
            yield Row(f"table2.{name}.low", 100 * voros_score(y_test, score, cost_range=LOW), seed, variant)
            yield Row(f"table2.{name}.high", 100 * voros_score(y_test, score, cost_range=HIGH), seed, variant)
    yield holds("voros_above_auroc", all(above), seed)
    forest, log = scores["forest", AGREE], scores["log", AGREE]
    low, high = (
        voros_score(y_test, forest, cost_range=ends) - voros_score(y_test, log, cost_range=ends) for ends in (LOW, HIGH)
    )
    yield from _crossing_rows(y_test, scores, seed)
    yield holds("table2.forest_wins_low", low > 0, seed)
    yield holds("table2.log_wins_high", high < 0, seed)


def _crossing_rows(y: np.ndarray, scores: dict[tuple[str, str], np.ndarray], seed: int) -> Iterator[Row]:
    """Whether a curve is nowhere below another, by probabilities of naive Bayes and by its labels."""
    for variant in (AGREE, "labels"):
        for name in ("log", "forest"):
            above = lies_above(y, scores[name, AGREE], scores["naive", variant])
            yield holds(f"figure4.{name}_dominates_naive", above, seed, variant)
    log, forest = scores["log", AGREE], scores["forest", AGREE]
    crossing = not lies_above(y, log, forest) and not lies_above(y, forest, log)
    yield holds("figure4.log_crosses_forest", crossing, seed)
    yield holds("table1.log_above_forest", auc_score(y, log) > auc_score(y, forest), seed)


def lies_above(y: np.ndarray, one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the ROC polygon of `one` is nowhere below that of `other`.

    Examples
    --------
    >>> y = np.array([1, 1, 0, 0])
    >>> right, wrong = np.array([4.0, 3, 2, 1]), np.array([4.0, 2, 3, 1])
    >>> lies_above(y, right, wrong), lies_above(y, wrong, right)
    (True, False)
    """
    (x, height), (x_other, height_other) = (roc_curve(y, scores)[:2] for scores in (one, other))
    return roc_dominates(x, height, x_other, height_other)


def classifiers(seed: int) -> dict[tuple[str, str], ClassifierMixin]:
    """By name and variant; the defaults, as printed."""
    return {
        ("log", AGREE): LogisticRegression(),
        ("log", "scaled"): make_pipeline(StandardScaler(), LogisticRegression()),
        ("forest", AGREE): RandomForestClassifier(random_state=seed),
        ("naive", AGREE): GaussianNB(),
        ("naive", "labels"): GaussianNB(),
    }


def held_out_scores(model: ClassifierMixin, X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Probabilities of the positive class after training."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the print's settings stop before convergence
        return model.fit(X, y).predict_proba(X_test)[:, 1]


if __name__ == "__main__":
    main(run)
