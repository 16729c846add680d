"""The learners and the protocol of Tables 2 and 3 against plain twins."""

import numpy as np
import pandas as pd
import pytest
from experiments.learners import J48, NaiveBayes, fill, logistic_scores, read_table
from experiments.vanderlooy_huellermeier_2008 import table2, table3
from experiments.vanderlooy_huellermeier_2008.regret import METRICS, Outcome, Parts, mean_regret, verify, wins
from sklearn.naive_bayes import CategoricalNB

from auclab.datasets.records import Dataset


def table_of(X, y, nominal, monkeypatch):
    data = Dataset("any", pd.DataFrame(X), np.asarray(y), nominal)
    monkeypatch.setattr("experiments.learners.table.load", lambda name: data)
    return read_table("any")


@pytest.fixture
def mixed(monkeypatch):
    """Three nominal features and one numeric, with gaps in the second and the last."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 60)
    X = {
        "colour": random.choice(["red", "green", "blue"], 60),
        "size": random.choice(["small", "large", None], 60, p=[0.6, 0.3, 0.1]).astype(object),
        "shape": np.where(random.random(60) < 0.7, np.where(y == 1, "round", "flat"), "odd"),
        "weight": np.where(random.random(60) < 0.1, np.nan, random.integers(0, 9, 60) + y),
    }
    return table_of(X, y, ("colour", "size", "shape"), monkeypatch)


def test_tables_have_indicators_codes_and_owners(mixed):
    assert mixed.columns.shape == (60, 3 + 1 + 3 + 1)
    assert mixed.owner.tolist() == [0, 0, 0, 1, 2, 2, 2, 3]
    assert mixed.arity.tolist() == [3, 2, 3, 0]
    gaps = np.isnan(mixed.columns)
    np.testing.assert_array_equal(gaps.any(axis=1), np.isnan(mixed.cells).any(axis=1))
    np.testing.assert_array_equal(mixed.cells[:, 3], mixed.columns[:, -1])
    np.testing.assert_array_equal(mixed.cells[:, 2], mixed.columns[:, 4:7].argmax(axis=1))


def test_gaps_are_filled_from_the_training_part_alone(mixed):
    train = np.arange(30)
    filled = fill(mixed, train)
    assert not np.isnan(filled).any()
    weight, size = mixed.columns[:, -1], mixed.columns[:, 3]
    assert filled[np.isnan(weight), -1] == pytest.approx(np.nanmean(weight[:30]))
    mode = float(np.nanmean(size[:30]) > 0.5)
    assert (filled[np.isnan(size), 3] == mode).all()
    np.testing.assert_array_equal(filled[~np.isnan(weight), -1], weight[~np.isnan(weight)])


def test_naive_bayes_on_nominal_features_is_the_one_of_scikit_learn(mixed):
    train, rows = np.arange(40), np.arange(40, 60)
    kept = np.array([True, False, True, False])
    scores = NaiveBayes(mixed, train, rows).scores(kept)
    prior = (mixed.labels[train].sum() + 1) / 42
    twin = CategoricalNB(alpha=1.0, min_categories=3, class_prior=[1 - prior, prior])
    twin.fit(mixed.cells[train][:, kept], mixed.labels[train])
    np.testing.assert_allclose(scores, twin.predict_proba(mixed.cells[rows][:, kept])[:, 1], rtol=1e-12)


def test_a_missing_value_is_no_evidence(mixed):
    train, rows = np.arange(40), np.arange(60)
    bayes = NaiveBayes(mixed, train, rows)
    assert (bayes.evidence[np.isnan(mixed.cells)] == 0).all()
    assert (bayes.evidence[:, 2] != 0).any()


def test_leaves_hold_the_training_counts(mixed):
    train = np.arange(40)
    complete = train[~np.isnan(mixed.cells[train]).any(axis=1)]
    tree = J48.grow(mixed.cells[complete], mixed.labels[complete], mixed.arity, np.ones(4, bool))
    plain, corrected = (tree.scores(mixed.cells[complete], mixed.arity, laplace=laplace) for laplace in (False, True))
    assert np.sum(plain) == pytest.approx(mixed.labels[complete].sum())  # each leaf predicts its own share
    assert (np.abs(corrected - 0.5) <= np.abs(plain - 0.5)).all()


def test_logistic_regression_solves_its_equations_and_ignores_the_removed(mixed):
    train, rows = np.arange(60), np.arange(60)
    columns = fill(mixed, train)
    kept = np.array([True, True, False, True])
    scores = logistic_scores(mixed, columns, train, rows, kept)
    residual = mixed.labels - scores
    own = columns[:, kept[mixed.owner]]
    assert np.abs(own.T @ residual).max() < 1e-2
    changed = columns.copy()
    changed[:, mixed.owner == 2] = np.random.default_rng(1).random((60, 3))
    np.testing.assert_array_equal(logistic_scores(mixed, changed, train, rows, kept), scores)


def test_parts_are_half_a_tenth_and_four_tenths_of_both_classes():
    labels = np.arange(200) < 60
    parts = Parts.draw(labels, np.random.default_rng(3))
    assert [len(parts.train), len(parts.validation), len(parts.test)] == [100, 20, 80]
    assert [labels[rows].sum() for rows in (parts.train, parts.validation, parts.test)] == [30, 6, 24]
    assert sorted(np.concatenate([parts.train, parts.held_out])) == list(range(200))


def test_candidates_leave_out_different_triples():
    kept, repeated = (table2._kept_features(6, np.random.default_rng(0), distinct) for distinct in (True, False))
    assert len({tuple(mask) for mask in kept}) == len(kept) == 10
    assert len({tuple(mask) for mask in repeated}) < len(repeated) == 10
    assert {int(mask.sum()) for mask in kept + repeated} == {3}


def test_a_candidate_that_is_best_everywhere_costs_nothing():
    random = np.random.default_rng(0)
    labels = np.tile([True, False], 20)
    noise = [random.random(40) for _ in range(4)]
    for outcome in verify(labels, [*noise, np.where(labels, 0.95, 0.05)], 10).values():
        assert {name: outcome.regret(name) for name in METRICS} == dict.fromkeys(METRICS, 0.0)
        assert outcome.chance <= outcome.worst


def test_a_tree_without_a_split_is_the_best_where_ties_count_one():
    labels = np.tile([True, True, False, False], 3)
    leaf, split = np.full(12, 0.5), np.tile([0.9, 0.4, 0.5, 0.1], 3)
    half, one = (verify(labels, [leaf, split], 4)[variant] for variant in ("", "ties one"))
    assert (half.regret("auc"), half.regret("sauc")) == (0.0, 0.0)
    # AUC takes the leaf, whose pairs are all tied, and sAUC the tree with AUC ¾
    assert (one.regret("auc"), one.regret("sauc")) == (0.0, 0.25)


def test_ties_cost_their_mean_and_wins_take_the_first():
    best = {"auc": np.array([True, True, False]), "sauc": np.array([False, False, True])}
    runs = [Outcome(np.array([0.9, 0.7, 0.8]), best), Outcome(np.array([0.6, 0.8, 0.8]), best)]
    assert mean_regret(runs, "auc") == pytest.approx((0.1 + 0.1) / 2)
    assert mean_regret(runs, "sauc") == pytest.approx((0.1 + 0.0) / 2)
    assert wins(runs, "auc", "sauc") == (0.5, 0.5)


@pytest.mark.needs_tables("monks1.csv")
@pytest.mark.parametrize("study", [table2, table3])
def test_a_seed_gives_the_same_rows_again(study, monkeypatch):
    monkeypatch.setitem(study.DATA_SETS, "smoke", ("monks1",))
    first, again, other = (list(study.run_seed(seed, "smoke")) for seed in (0, 0, 1))
    assert first == again
    assert [row.value for row in first] != [row.value for row in other]
