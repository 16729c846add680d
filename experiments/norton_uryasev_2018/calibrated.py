"""Sect. 4.2.1: whether bAUC sees what AUC cannot of scores that are probabilities, how good they are as such.

The paper names the two uses, disease detection and credit default, and shows no numbers. Here pima and german credit; a
seed is a split into two thirds and a third. Five classifiers, each as it is and with Platt's map, fitted by 5-fold
cross-validation inside the training part (`CalibratedClassifierCV`, one final fit on all of it), give ten scorers.
On the third that was not trained on: AUC, bAUC and the Brier score of each.

Platt's map of a classifier leaves the order and so the AUC as it is; ``agrees`` is how often bAUC then prefers the one
with the better Brier score. ``rank`` is Spearman's correlation over the ten between a metric and the Brier score, with
the sign by which 1 is full agreement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Dataset
from auclab.datasets.splits import holdout
from auclab.metrics import auc_score, bauc_score
from experiments.study import VALUE, Row, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}
SETS = ("german_credit", "pima")
MEASURES = {"auc": auc_score, "bauc": bauc_score, "brier": brier_score_loss}
AS_IS, PLATT = "as is", "platt"


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Measures of every scorer, agreement of AUC and bAUC with the Brier score."""
    smoke = scale == "smoke"
    for name in SETS[1:] if smoke else SETS:
        values = {}
        for key, scores, y in scored(load(name), seed, ("bayes", "logistic") if smoke else tuple(classifiers(seed))):
            values[key] = {measure: float(function(y, scores)) for measure, function in MEASURES.items()}
            for measure, value in values[key].items():
                yield Row(f"{VALUE}{name}.{measure}.{key[0]}", round(value, 6), seed, key[1])
        yield from _agreement(name, values, seed)


def _agreement(name: str, values: dict[tuple[str, str], dict[str, float]], seed: int) -> Iterator[Row]:
    pairs = [(values[key], values[key[0], PLATT]) for key in values if key[1] == AS_IS]
    change = {measure: np.array([after[measure] - before[measure] for before, after in pairs]) for measure in MEASURES}
    yield Row(f"s4.2.1.auc_change.{name}", float(np.abs(change["auc"]).max()), seed)
    yield Row(f"s4.2.1.agrees.{name}", float(np.mean(np.sign(change["bauc"]) == -np.sign(change["brier"]))), seed)
    yield Row(f"s4.2.1.brier_falls.{name}", float(np.mean(change["brier"] < 0)), seed)
    brier = [-each["brier"] for each in values.values()]
    ranks = {key: float(spearmanr([each[key] for each in values.values()], brier).statistic) for key in ("auc", "bauc")}
    for key, rank in ranks.items():
        yield Row(f"s4.2.1.rank.{name}.{key}", rank, seed)
    yield Row(f"s4.2.1.auc_less_bauc.{name}", ranks["auc"] - ranks["bauc"], seed)


def scored(
    data: Dataset, seed: int, names: tuple[str, ...]
) -> Iterator[tuple[tuple[str, str], np.ndarray, np.ndarray]]:
    """Classifier and map, probabilities and labels of the rows that were not trained on."""
    (split,) = holdout(data.y, test_size=1 / 3, seed=seed)
    prepare = standard(data)
    X_train = prepare.fit_transform(data.frame.iloc[split.train])
    X_test = prepare.transform(data.frame.iloc[split.test])
    for name in names:
        plain = classifiers(seed)[name].fit(X_train, data.y[split.train])
        mapped = CalibratedClassifierCV(classifiers(seed)[name], method="sigmoid", cv=5, ensemble=False)
        mapped.fit(X_train, data.y[split.train])
        for variant, model in ((AS_IS, plain), (PLATT, mapped)):
            yield (name, variant), model.predict_proba(X_test)[:, 1], data.y[split.test]


def classifiers(seed: int) -> dict[str, Any]:
    """The five, unfitted, scikit-learn's defaults."""
    return {
        "logistic": LogisticRegression(),
        "bayes": GaussianNB(),
        "forest": RandomForestClassifier(random_state=seed),
        "adaboost": AdaBoostClassifier(random_state=seed),
        "neighbours": KNeighborsClassifier(),
    }


if __name__ == "__main__":
    main(run_seed, SEEDS)
