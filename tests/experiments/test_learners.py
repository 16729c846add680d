"""Learners by Weka's rules: small cases by hand, a brute-force search of the root, and what Weka documents."""

import doctest
import itertools
import math

import numpy as np
import pytest
from experiments.learners import (
    J48,
    NaiveBayes,
    Table,
    j48,
    logistic,
    logistic_scores,
    naive_bayes,
    real_adaboost,
    table,
)
from experiments.learners import weka as weka_module
from experiments.learners.weka import describe
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.tree import DecisionTreeClassifier


def grow(cells, labels, arity):
    cells, arity = np.array(cells, dtype=float), np.array(arity)
    return J48.grow(cells, np.array(labels, dtype=bool), arity, np.ones(len(arity), bool))


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        *(pytest.param(module, marks=pytest.mark.weekly) for module in (j48, logistic, naive_bayes)),
        *(real_adaboost, table, weka_module),
    ],
    ids=lambda module: module.__name__,
)
def test_docstrings_run(module):
    assert doctest.testmod(module).failed == 0


def test_a_nominal_feature_has_a_branch_for_each_value():
    cells = [[0]] * 3 + [[1]] * 3 + [[2]] * 2
    tree = grow(cells, [1, 1, 1, 0, 0, 0, 1, 0], [4])
    assert describe(tree, [4]) == [
        "a0 = v0: pos (3.0)", "a0 = v1: neg (3.0)", "a0 = v2: neg (2.0/1.0)", "a0 = v3: neg (0.0)"
    ]  # fmt: skip
    # the value that no row has gets the shares of all eight rows
    assert tree.scores(np.array([[3.0]]), np.array([4])).tolist() == [(4 + 1) / (8 + 2)]
    assert tree.scores(np.array([[2.0]]), np.array([4]), laplace=False).tolist() == [0.5]


def test_a_missing_value_goes_down_every_branch_by_its_share():
    cells = [[0]] * 3 + [[1]] * 5 + [[np.nan]]
    tree = grow(cells, [1] * 3 + [0] * 5 + [1], [2])
    assert tree.bags[1:].tolist() == [[0.0, 3 + 3 / 8], [5.0, 5 / 8]]
    leaves = [(3.375 + 1) / (3.375 + 2), (0.625 + 1) / (5.625 + 2)]
    assert tree.scores(np.array([[0.0], [1.0]]), np.array([2])) == pytest.approx(leaves)
    # and again when it is scored: the shares of the branches are 3.375 and 5.625 of 9
    mixed = leaves[0] * 3.375 / 9 + leaves[1] * 5.625 / 9
    assert tree.scores(np.array([[np.nan]]), np.array([2])) == pytest.approx(mixed)


def test_a_threshold_is_a_value_of_the_table_and_costs_its_number():
    # gain of 3|3 is 1 bit; five thresholds, of which those with two rows on either side are tried: 3
    tree = grow([[1], [2], [3], [10], [11], [12]], [0, 0, 0, 1, 1, 1], [0])
    assert tree.threshold[0] == 3.0
    assert math.isclose(1 - math.log2(3) / 6, 0.7358, abs_tol=1e-4)
    # one error in each half: gain .0817 bits, less than log2(3)/6 = .264
    assert grow([[1], [2], [3], [10], [11], [12]], [0, 1, 0, 1, 0, 1], [0]).feature.tolist() == [-1]


def test_a_subtree_without_fewer_errors_becomes_a_leaf():
    # the split has gain, but both branches say "neg": 2 of 6 and 1 of 7 errors are the 3 of the root
    cells = [[0]] * 6 + [[1]] * 7
    labels = [1] * 2 + [0] * 4 + [1] + [0] * 6
    tree = grow(cells, labels, [2])
    assert tree.feature[0] == -1
    assert tree.scores(np.array([[0.0]]), np.array([2])).tolist() == [(3 + 1) / (13 + 2)]


def entropy(labels):
    shares = [labels.mean(), 1 - labels.mean()]
    return -sum(share * math.log2(share) for share in shares if share)


def root_by_search(cells, labels):
    """Feature and rows below the threshold by trying all of them, complete numeric features."""
    found = []
    least = min(max(0.1 * len(labels) / 2, 2), 25)
    for feature in range(cells.shape[1]):
        values = np.unique(cells[:, feature])
        cuts = [(a + b) / 2 for a, b in itertools.pairwise(values)]
        masks = [cells[:, feature] <= cut for cut in cuts]
        masks = [mask for mask in masks if min(mask.sum(), (~mask).sum()) >= least]
        gains = [
            entropy(labels) - mask.mean() * entropy(labels[mask]) - (~mask).mean() * entropy(labels[~mask])
            for mask in masks
        ]
        if gains:
            best = int(np.argmax(gains))
            gain = gains[best] - math.log2(len(gains)) / len(labels)
            if gain > 1e-6:
                found.append((feature, masks[best], gain, gain / entropy(masks[best])))
    if not found:
        return None
    mean = np.mean([gain for _, _, gain, _ in found])
    return max((each for each in found if each[2] >= mean - 1e-3), key=lambda each: each[3])


@pytest.mark.parametrize("seed", range(20))
def test_the_root_is_that_of_a_search(seed):
    random = np.random.default_rng(seed)
    cells = random.normal(size=(40, 3))
    labels = cells @ random.normal(size=3) + random.normal(size=40) > 0
    expected = root_by_search(cells, labels)
    feature_of, threshold_of, *_ = j48._grow(cells, labels.astype(np.intp), np.zeros(3, np.intp), np.arange(3))
    if expected is None:
        assert feature_of[0] == -1
    elif feature_of[0] >= 0:  # else it was collapsed
        feature, mask, *_ = expected
        assert feature_of[0] == feature
        assert ((cells[:, feature] <= threshold_of[0]) == mask).all()


def test_kernels_that_do_not_stop_early_are_a_sum_of_normals():
    learnt, labels = np.array([0.0, 1.0, 2.0, 4.0, 0.5]), np.array([True, True, True, True, False])
    gap, width = 4.0 / 4, 4 / math.sqrt(4)  # 0, .5, 1, 2, 4: mean gap 1; all but .5 are multiples of it
    expected = np.mean([norm.cdf(1.5, c, width) - norm.cdf(0.5, c, width) for c in (0, 1, 2, 4)])
    assert naive_bayes.kernel_masses(learnt, labels, np.array([1.0]))[0] == pytest.approx([expected], rel=1e-12)
    assert gap == 1.0
    # the negatives' .5 is rounded to 0, the even neighbour, and has deviation 1/6
    assert naive_bayes.kernel_masses(learnt, labels, np.array([0.0]))[1] == pytest.approx([1 - 2 * norm.cdf(-3)])


def test_naive_bayes_counts_and_leaves_out_what_is_missing():
    cells = np.array([[0.0], [0.0], [1.0], [np.nan], [1.0]])
    data = Table.of(np.array([True, True, False, False, False]), cells, np.array([2]))
    rows = np.arange(5)
    found = NaiveBayes(data, rows, rows).scores(np.ones(1, bool))
    odds = (3 / 4) * (3 / 4) / ((4 / 4) * (1 / 4))  # priors 3 : 4, P(0 | +) = 3/4, P(0 | −) = 1/4
    assert found[0] == pytest.approx(odds / (1 + odds))
    assert found[3] == pytest.approx(3 / 7)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_regression_has_the_least_loss(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 4))
    X = np.column_stack([X, X[:, 0] - X[:, 1]])  # a column that the others determine: only the ridge decides
    labels = X @ random.normal(size=5) + random.normal(size=60) > 0.3
    y, ridge = np.where(labels, 1.0, -1.0), 1e-3

    def loss(w):
        return np.logaddexp(0, -y * (X @ w[1:] + w[0])).sum() + ridge * w[1:] @ w[1:]

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-9})
    weights = logistic.fit(X, labels, ridge)
    assert loss(weights) <= best.fun + 1e-7
    assert weights == pytest.approx(best.x, abs=1e-3)


def test_logistic_scores_leave_out_constant_columns():
    random = np.random.default_rng(0)
    cells = np.column_stack([random.normal(size=30), np.full(30, 5.0)])
    data = Table.of(cells[:, 0] + random.normal(size=30) > 0, cells, np.zeros(2, int))
    rows = np.arange(30)
    both = logistic_scores(data, data.columns, rows, rows, np.ones(2, bool))
    assert both == pytest.approx(logistic_scores(data, data.columns, rows, rows, np.array([True, False])))


def test_boosting_multiplies_weights_by_the_root_of_the_odds():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2))
    y = (X.sum(axis=1) + random.normal(size=80) > 0).astype(int)
    model = real_adaboost.RealAdaBoost(n_estimators=2, random_state=0).fit(X, y)
    first = DecisionTreeClassifier(max_depth=1).fit(X, y)
    share = first.predict_proba(X)[:, 1]
    weights = np.sqrt(np.where(y == 1, (1 - share) / share, share / (1 - share)))
    second = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=weights)
    odds = np.prod([tree.predict_proba(X)[:, 1] / tree.predict_proba(X)[:, 0] for tree in (first, second)], axis=0)
    assert model.predict_proba(X)[:, 1] == pytest.approx(np.sqrt(odds) / (1 + np.sqrt(odds)))


def test_a_fully_grown_tree_is_boosted_alone_and_has_hard_scores():
    random = np.random.default_rng(1)
    X, y, new = random.normal(size=(60, 3)), random.integers(0, 2, 60), random.normal(size=(40, 3))
    model = real_adaboost.RealAdaBoost(DecisionTreeClassifier(), random_state=0).fit(X, y)
    assert len(model.estimators_) == 1
    assert len(np.unique(model.predict_proba(new)[:, 1])) == 2
    assert (model.predict(new) == model.estimators_[0].predict(new)).all()
