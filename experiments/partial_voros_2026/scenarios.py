"""The two scenarios of the public code on data at hand: which rule selects the model and threshold that cost least.

The paper's data (MIMIC-IV, eICU) need a signed agreement, so its table is not comparable; this is the same procedure on
mammography, page_blocks and satimage. A seed splits into a half that trains, a quarter that selects and a quarter that
tests. Ten models are trained; a rule selects one of them and, for each cost ratio of the scenario, a threshold that
keeps the limits on the selecting part. Its cost is the mean of ``t x + (1 − t)(1 − y)`` on the test part.

    pvoros   model by partial VOROS, the cheapest allowed threshold
    voros    model by VOROS without limits, then the same
    recall   model and threshold with the highest recall among the allowed
    auc      model by AUC, threshold by recall
    oracle   as recall, but the threshold has the highest recall on the test part: what the public code computes
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Labels
from auclab.datasets.splits import holdout
from auclab.metrics import auc_score
from experiments.partial_voros_2026.metric import Limits, best, partial_voros
from experiments.partial_voros_2026.statements import SCENARIOS
from experiments.study import VALUE, Row, main

SEEDS = {"smoke": 1, "default": 5, "full": 20}
DATA = {
    "smoke": ("page_blocks",),
    "default": ("mammography", "page_blocks", "satimage"),
    "full": ("mammography", "page_blocks", "satimage"),
}
RULES = ("pvoros", "voros", "recall", "auc", "oracle")
N_RATIOS = 20


@dataclass(frozen=True)
class Scored:
    """Labels and scores of one model on the part that selects and on the part that tests."""

    labels: Labels
    scores: Array
    test_labels: Labels
    test_scores: Array

    def rates(self, threshold: float) -> tuple[float, float]:
        """False and true positive rate on the test part."""
        predicted = self.test_scores >= threshold
        return float(predicted[self.test_labels == 0].mean()), float(predicted[self.test_labels == 1].mean())


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Mean cost and share of broken limits of every rule, over the data sets."""
    costs: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for name in DATA[scale]:
        models = _models(name, seed)
        for scenario, (precision, capacity, low, high) in SCENARIOS.items():
            ratios = np.linspace(low, high, N_RATIOS)
            for rule, outcome in _outcomes(models, precision, capacity, ratios).items():
                costs.setdefault((scenario, rule), []).append(outcome)
                yield Row(f"{VALUE}{scenario}.{rule}.{name}", outcome[0], seed)
    for (scenario, rule), found in costs.items():
        yield Row(f"{scenario}.cost.{rule}", float(np.mean([cost for cost, _ in found])), seed)
        yield Row(f"{scenario}.broken.{rule}", float(np.mean([broken for _, broken in found])), seed)


def _models(name: str, seed: int) -> list[Scored]:
    data = load(name)
    (outer,) = holdout(data.y, test_size=0.5, seed=seed)
    (inner,) = holdout(data.y[outer.test], test_size=0.5, seed=seed)
    select, test = outer.test[inner.train], outer.test[inner.test]
    prepare = standard(data)
    X = prepare.fit_transform(data.frame.iloc[outer.train])
    held_out = [prepare.transform(data.frame.iloc[rows]) for rows in (select, test)]
    found = []
    for model in _candidates(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, data.y[outer.train])
        scores = [model.predict_proba(part)[:, 1] for part in held_out]
        found.append(Scored(data.y[select], scores[0], data.y[test], scores[1]))
    return found


def _candidates(seed: int) -> list[ClassifierMixin]:
    trees = [DecisionTreeClassifier(max_depth=depth, random_state=seed) for depth in (2, 4, 6, 10)]
    forests = [RandomForestClassifier(50, max_depth=depth, random_state=seed) for depth in (2, 4, 8)]
    return [
        *trees,
        *forests,
        GaussianNB(),
        LogisticRegression(C=0.01, max_iter=1000),
        LogisticRegression(max_iter=1000),
    ]


def _outcomes(models: list[Scored], precision: float, capacity: float, ratios: Array) -> dict[str, tuple[float, bool]]:
    """Cost on the test part, and whether a limit is broken there, by rule."""
    limits = [Limits(int(m.labels.sum()), int((1 - m.labels).sum()), precision, capacity) for m in models]
    by_limit = _largest(
        [partial_voros(m.labels, m.scores, ratios, precision=precision, capacity=capacity) for m in models]
    )
    without = _largest([partial_voros(m.labels, m.scores, ratios) for m in models])
    recalls = [_most_recall(m, limit) for m, limit in zip(models, limits, strict=True)]
    by_recall, by_area = _largest([r for r, _ in recalls]), _largest([auc_score(m.labels, m.scores) for m in models])
    cheapest = {
        k: [point[2] for point in best(models[k].labels, models[k].scores, limits[k], ratios)]
        for k in (by_limit, without)
    }
    always = {k: [recalls[k][1]] * len(ratios) for k in (by_recall, by_area)}
    chosen = {
        "pvoros": (by_limit, cheapest[by_limit]),
        "voros": (without, cheapest[without]),
        "recall": (by_recall, always[by_recall]),
        "auc": (by_area, always[by_area]),
        "oracle": (by_recall, [_oracle(models[by_recall], limits[by_recall])] * len(ratios)),
    }
    return {rule: _cost(models[k], thresholds, precision, capacity, ratios) for rule, (k, thresholds) in chosen.items()}


def _largest(values: list[float]) -> int:
    return int(np.argmax(values))


def _allowed(model: Scored, limits: Limits) -> Array:
    """False and true positive rates and thresholds of the allowed points of the selecting part, shape (n, 3)."""
    fpr, tpr, thresholds = roc_curve(model.labels, model.scores, drop_intermediate=False)
    return np.column_stack([fpr, tpr, thresholds])[limits.allows(fpr, tpr)]


def _most_recall(model: Scored, limits: Limits) -> tuple[float, float]:
    points = _allowed(model, limits)
    k = int(np.argmax(points[:, 1]))
    return float(points[k, 1]), float(points[k, 2])


def _oracle(model: Scored, limits: Limits) -> float:
    """Of the allowed thresholds, the highest one with the largest recall on the test part."""
    thresholds = _allowed(model, limits)[:, 2]
    return float(thresholds[np.argmax([model.rates(threshold)[1] for threshold in thresholds])])


def _cost(
    model: Scored, thresholds: list[float], precision: float, capacity: float, ratios: Array
) -> tuple[float, bool]:
    limits = Limits(int(model.test_labels.sum()), int((1 - model.test_labels).sum()), precision, capacity)
    fpr, tpr = np.array([model.rates(threshold) for threshold in thresholds]).T
    t = np.array([limits.cost_share(ratio) for ratio in ratios])
    return float(np.mean(t * fpr + (1 - t) * (1 - tpr))), not bool(limits.allows(fpr, tpr).all())


if __name__ == "__main__":
    main(run_seed, SEEDS)
