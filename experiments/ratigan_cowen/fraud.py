"""Table 5 and Figure 6: logistic regression on one principal component of the credit card data, M1 and M2.

Printed: a model of the first and one of the second component; no split is mentioned, and with one column the model only
decides which end is fraud, so all rows are fitted and measured. VOROS on the interval of the table's header (variant
``as_published``), of the text (``text``) and of independent ranges (``corrected``); the t at which both cost the same.

Needs a download: the data set ``creditcard``, from OpenML or as the file creditcard.csv.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab._core.base import Array, AuclabError
from auclab.datasets import load
from auclab.datasets.records import Labels
from auclab.metrics import auc_score, voros_from_points
from auclab.metrics.costs import Hull, hull_costs, hull_crossings, scorer_hull
from experiments.ratigan_cowen.formulas import fraud_intervals
from experiments.study import Row, holds, main

MODELS = {"m1": "V1", "m2": "V2"}


def run(scale: str) -> Iterator[Row]:
    """Counts, AUROC and VOROS of both models, who is better where, the crossing (all scales are the same)."""
    data = load("creditcard")
    yield Row("fraud.records", len(data.y))
    yield Row("fraud.frauds", int(data.y.sum()))
    scores = {name: fitted_scores(data.frame[[column]].to_numpy(float), data.y) for name, column in MODELS.items()}
    hulls = {name: scorer_hull(data.y, score) for name, score in scores.items()}
    for name, score in scores.items():
        yield Row(f"table5.{name}.auroc", 100 * auc_score(data.y, score))
    for variant, ends in fraud_intervals().items():
        values = {name: voros_from_points(*points, cost_range=ends) for name, points in hulls.items()}
        for name, value in values.items():
            yield Row(f"table5.{name}.voros", 100 * value, variant=variant)
        yield holds("table5.m1_above_m2", values["m1"] > values["m2"], variant=variant)
    yield Row("fraud.crossing", crossing(hulls["m1"], hulls["m2"]))


def fitted_scores(X: Array, y: Labels) -> Array:
    """Log odds of a logistic regression, scikit-learn's default on a standardised column."""
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y).decision_function(X)


def crossing(one: Hull, other: Hull) -> float:
    """The cost share t in (0, 1) at which the best points of two hulls cost the same.

    Of several the one is taken with most on either side, by the largest |difference| up to the next.

    Raises
    ------
    AuclabError
        One of the two is nowhere the dearer one.

    Examples
    --------
    (0, ½) against (½, 1), mirror images of each other:

    >>> crossing((np.array([0, 0, 1]), np.array([0, 0.5, 1])), (np.array([0, 0.5, 1]), np.array([0, 1, 1])))
    0.5
    """
    found = hull_crossings(one, other)
    if not found.size:
        raise AuclabError("one curve is nowhere dearer than the other: they cross at no cost share")
    shares = np.linspace(0.0, 1.0, 10_001)
    apart = np.abs(hull_costs(*one, shares) - hull_costs(*other, shares))
    sides = np.split(apart, np.searchsorted(shares, found))
    return float(found[np.argmax([min(left.max(), right.max()) for left, right in pairwise(sides)])])


if __name__ == "__main__":
    main(run)
