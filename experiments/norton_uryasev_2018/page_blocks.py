"""Figures 5 and 6: AUC and bAUC of logistic regression and an SVM on page blocks, and how far their scores spread.

Not named: the positive class, the split, preprocessing, the SVM's kernel and parameters. Here: all blocks but text
are positive (560 of 5,473), a quarter is tested, scikit-learn's default parameters, a row per split. Plain rows:
standardised columns, linear kernel. Variants: ``raw`` columns (logistic regression then stops at its default of 100
steps), and the default SVM, Gaussian kernel, on standardised (``gaussian``) and raw columns (``gaussian raw``). The
spread of scores is the distance from their 5 % to their 95 % quantile, of log odds and of the SVM's decision function,
as in the two histograms.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from auclab.datasets import load
from auclab.metrics import auc_score, bauc_score
from experiments.study import AGREE, Row, holds, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}


def run(scale: str) -> Iterator[Row]:
    """AUC and bAUC of the test part."""
    data = load("page_blocks")
    X, y = data.frame.to_numpy(dtype=float), data.y
    if scale == "smoke":
        X, y = X[::5], y[::5]
    for seed in range(SEEDS[scale]):
        X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=seed)
        values, spread = {}, {}
        for (name, variant), model in classifiers().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the default number of steps is the point
                scores = model.fit(X_train, y_train).decision_function(X_test)
            auc, bauc = auc_score(y_test, scores), bauc_score(y_test, scores)
            values[name, variant] = np.array([auc, bauc])
            spread[name, variant] = float(np.subtract(*np.quantile(scores, [0.95, 0.05])))
            yield Row(f"figure5.{name}.auc", auc, seed, variant)
            yield Row(f"figure5.{name}.bauc", bauc, seed, variant)
        auc_gap, bauc_gap = np.abs(values["lr", AGREE] - values["svm", AGREE])
        yield holds("figure5.auc_gap_small", bool(auc_gap < bauc_gap), seed)
        for machine in (AGREE, "gaussian", "gaussian raw"):
            yield from _pair_rows(values, spread, machine, seed)


def _pair_rows(
    values: dict[tuple[str, str], Any], spread: dict[tuple[str, str], float], machine: str, seed: int
) -> Iterator[Row]:
    """Logistic regression against one of the SVMs, on the same columns."""
    regression, svm = ("lr", "raw" if "raw" in machine else AGREE), ("svm", machine)
    yield holds("figure5.lr_larger_bauc", bool(values[regression][1] > values[svm][1]), seed, machine)
    yield Row("figure6.spread", spread[svm] / spread[regression], seed, machine)
    yield holds("figure6.concentrated", spread[svm] < spread[regression], seed, machine)


def classifiers() -> dict[tuple[str, str], Any]:
    """By name and variant, unfitted."""
    return {
        ("lr", AGREE): make_pipeline(StandardScaler(), LogisticRegression()),
        ("lr", "raw"): LogisticRegression(),
        ("svm", AGREE): make_pipeline(StandardScaler(), SVC(kernel="linear")),
        ("svm", "gaussian"): make_pipeline(StandardScaler(), SVC()),
        ("svm", "gaussian raw"): SVC(),
    }


if __name__ == "__main__":
    main(run)
