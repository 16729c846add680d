"""Figure 7 and the z₀ of Sect. 6: bROC curves from bAUC up to AUC, for one logistic regression on pima.

Scores are rounded to two digits, so that there are ties. ``as_published`` takes the z at which γ* = 0, which is the
mean of the errors above 0 and gives the AUC that counts ties as right; ``corrected`` takes E[ξ | ξ ≥ 0] (erratum N7).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.datasets import load
from auclab.metrics import auc_score, auc_threshold, bauc_score, broc_curve
from experiments.study import AS_PUBLISHED, CORRECTED, Row, holds, main

SEEDS = {"smoke": 1, "default": 10, "full": 30}
CURVES = 6


def run(scale: str) -> Iterator[Row]:
    """Order of the curves and the value at z₀, a row per split into halves."""
    data = load("pima")
    X, y = data.frame.to_numpy(dtype=float), data.y
    for seed in range(SEEDS[scale]):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
        scores = np.round(model.decision_function(X_test), 2)
        auc = auc_score(y_test, scores, ties="strict")
        errors = np.round(np.subtract.outer(scores[y_test == 0], scores[y_test == 1]).ravel(), 2)
        printed = float(errors[errors > 0].mean())
        yield Row("s6.z0", bauc_score(y_test, scores, threshold=printed) - auc, seed, AS_PUBLISHED)
        z0 = auc_threshold(y_test, scores)
        yield Row("s6.z0", bauc_score(y_test, scores, threshold=z0) - auc, seed, CORRECTED)
        yield holds("figure7.family", _in_order(y_test, scores, z0), seed)
        yield holds("prop2.lower_bound", bauc_score(y_test, scores) <= auc, seed)


def _in_order(y: np.ndarray, scores: np.ndarray, z0: float) -> bool:
    """Whether the curves rise with z, from that of bAUC to z₀, at every false positive rate; γ* rises to 0."""
    gammas, curves = [], []
    rates = (np.arange(200) + 0.5) / 200
    for z in np.linspace(0, z0, CURVES):
        fpr, tpr, gamma = broc_curve(y, scores, threshold=z)
        gammas.append(gamma)
        curves.append(tpr[np.searchsorted(fpr, rates, side="left")])
    rising = (np.diff(curves, axis=0) >= 0).all() and (np.diff(gammas) >= 0).all()
    return bool(rising and gammas[-1] <= 0)


if __name__ == "__main__":
    main(run)
