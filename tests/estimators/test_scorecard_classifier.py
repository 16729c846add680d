"""Scorecards as a scikit-learn estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from auclab import AuclabError
from auclab.estimators import ScorecardClassifier
from auclab.estimators.scorecard_classifier import sign_constraints
from auclab.scorecards.items import Item


@pytest.mark.slow
@pytest.mark.covering
@parametrize_with_checks([ScorecardClassifier(time_limit=0.3), ScorecardClassifier(binning="tree", time_limit=0.3)])
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def table(seed=0, n_rows=200):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n_rows),
            "debt": np.where(rng.random(n_rows) < 0.1, np.nan, rng.exponential(size=n_rows)),
        }
    )
    logit = (X["age"] > 50) + 2.0 * (X["city"] == "Rome") + 2.0 * (X["debt"].fillna(0) > 1) - 2.0
    return X, np.where(logit + rng.normal(size=n_rows) > 0, "bad", "good")


def test_a_table_with_text_and_missing_values_becomes_a_card():
    X, y = table()
    model = ScorecardClassifier(max_items=4, time_limit=20).fit(X, y)
    assert model.card_.n_items <= 4
    assert model.card_.classes == ("bad", "good")
    totals = model.total(X)
    np.testing.assert_allclose(np.diff(model.decision_function(X)), np.diff(totals))
    assert totals.min() >= model.card_.range[0]
    assert totals.max() <= model.card_.range[1]
    assert model.score(X, y) > 0.75
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert ((shares[:, 1] > 0.5) == (model.predict(X) == "good")).all()


def test_new_values_have_no_points():
    X, y = table()
    model = ScorecardClassifier(max_items=4, time_limit=20).fit(X, y)
    other = pd.DataFrame({"age": [np.nan], "city": ["Lima"], "debt": [np.nan]})
    items = [each for each in model.card_.items if each.item.missing]
    assert model.total(other)[0] == sum(each.points for each in items)


def test_points_follow_the_signs():
    X, y = table(3)
    y = np.where(y == "bad", 1, 0)
    model = ScorecardClassifier(bins=4, max_items=None, signs={"age": -1, "debt": 1}, time_limit=20).fit(X, y)
    points = dict(zip(model.encoder_.get_feature_names_out(), model.solution_.coef, strict=True))
    for name, sign in (("age", -1), ("debt", 1)):
        own = [points[item.label] for item in model.encoder_.items_ if item.name == name and not item.missing]
        assert (sign * np.diff(own) >= 0).all()
    assert model.solution_.gap <= 1e-6


def test_bad_signs_are_refused():
    X, y = table()
    with pytest.raises(AuclabError, match="incme"):
        ScorecardClassifier(signs={"incme": 1}).fit(X, y)
    with pytest.raises(AuclabError, match="must be 1 or −1"):
        ScorecardClassifier(signs={"age": 2}).fit(X, y)


@pytest.mark.parametrize("shares", [(0.6, 0.05, 0.9), (0.05, 0.6, 0.9), (0.6, 0.9, 0.05)])
def test_signs_hold_across_bins_that_have_no_item(shares):
    x = np.repeat([0.0, 1.0, 2.0], [45, 10, 45])
    rng = np.random.default_rng(0)
    y = (rng.random(100) < np.repeat(shares, [45, 10, 45])).astype(int)
    for sign in (1, -1):
        card = ScorecardClassifier(least_share=0.2, signs={0: sign}, time_limit=10, cut_points={0: [0.5, 1.5]})
        totals = card.fit(x[:, None], y).total(np.array([[0.0], [1.0], [2.0]])).astype(float)
        assert (sign * np.diff(totals) >= 0).all()


def test_a_sign_of_a_nominal_feature_bounds_the_points_of_each_category():
    items = [Item(0, "city", category="Oslo"), Item(0, "city", category="Rome"), Item(1, "debt", high=1.0)]
    for sign, expected in ((1, ([0.0, 0.0], [np.inf, np.inf])), (-1, ([-np.inf, -np.inf], [0.0, 0.0]))):
        found = sign_constraints(items, {"city": sign}, ["city", "debt"])
        assert (found.lower[:2].tolist(), found.upper[:2].tolist()) == expected
        assert (found.lower[2], found.upper[2]) == (-np.inf, np.inf)
    assert sign_constraints(items, None, ["city", "debt"]) is None
