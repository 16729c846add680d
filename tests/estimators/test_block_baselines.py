"""Logistic regression and linear discriminant analysis of rows in blocks are those of all rows in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from auclab.estimators.baselines import LinearDiscriminant, Logistic
from auclab.samples.blocks import open_parquet

WEIGHTS = [None, "balanced", {0: 1.0, 1: 5.0}]


@pytest.fixture(scope="module", params=["apart", "collinear", "one class in a block"])
def data(request, tmp_path_factory):
    """Rows, labels, and the rows as a table of blocks of different sizes, one of them of a single row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [1.0, 100.0, 1e-3, 1.0] + [0.0, 1e4, 0.0, 5.0]
    y = (X[:, 0] + rng.normal(size=300) > 1).astype(int)
    if request.param == "collinear":
        X[:, 3] = 2.0 * X[:, 0] - 1.0
    if request.param == "one class in a block":
        order = np.argsort(-y, kind="stable")
        X, y = X[order], y[order]
    folder = tmp_path_factory.mktemp("blocks")
    for k, (first, last) in enumerate([(0, 100), (100, 101), (101, 300)]):
        rows = pd.DataFrame(X[first:last], columns=list("abcd"))
        rows.assign(y=y[first:last]).to_parquet(folder / f"{k}.parquet", index=False)
    return X, y, open_parquet(folder, target="y")[0], request.param == "collinear"


@pytest.mark.parametrize("weight", WEIGHTS, ids=str)
def test_discriminants_are_those_of_scikit_learn(data, weight):
    X, y, table, collinear = data
    ours, other = (LinearDiscriminant().fit(rows, y, weight) for rows in (table, X))
    difference = ours.decision_function(X) - other.decision_function(X)
    assert np.abs(difference).max() <= 1e-8 * np.abs(other.decision_function(X)).max()
    if not collinear:  # else coefficients are not unique
        assert ours.coef == pytest.approx(other.coef, rel=1e-8)
    assert np.isfinite(ours.coef).all()
    assert ours.library.startswith("auclab")


@pytest.mark.parametrize("weight", WEIGHTS, ids=str)
def test_logistic_regression_has_the_one_minimum(data, weight):
    """The gradient vanishes, and scikit-learn run to 1e-12 is nowhere better."""
    X, y, table, _ = data
    ours = Logistic(C=0.7).fit(table, y, weight)
    balanced = {k: y.size / (2 * (y == k).sum()) for k in (0, 1)}
    of_class = balanced if weight == "balanced" else weight or {0: 1.0, 1: 1.0}
    weights, sign = np.array([of_class[label] for label in y]), 2 * y - 1

    def value(coef, intercept):
        return 0.5 * coef @ coef + 0.7 * weights @ np.logaddexp(0.0, -sign * (X @ coef + intercept))

    slope = -weights * sign / (1 + np.exp(sign * (X @ ours.coef + ours.intercept)))
    assert 0.7 * slope @ (X - X.mean(axis=0)) + ours.coef == pytest.approx(0.0, abs=1e-4)
    assert slope.sum() == pytest.approx(0.0, abs=1e-5)
    other = LogisticRegression(C=0.7, tol=1e-12, max_iter=20_000, class_weight=weight).fit(X, y)
    assert value(ours.coef, ours.intercept) <= value(other.coef_[0], other.intercept_[0]) * (1 + 1e-12)
    assert ours.iterations <= 30


def test_separable_rows_have_a_minimum_too(tmp_path):
    pd.DataFrame({"a": [0.0, 1.0, 1e3, 1e3 + 1], "y": [0, 0, 1, 1]}).to_parquet(tmp_path / "a.parquet", index=False)
    X, y = np.array([[0.0], [1.0], [1e3], [1e3 + 1]]), np.array([0, 0, 1, 1])
    ours = Logistic(C=1e4).fit(open_parquet(tmp_path, target="y")[0], y)
    assert ours.notes == ()
    assert (np.sign(ours.decision_function(X)) == 2 * y - 1).all()
