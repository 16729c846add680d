"""AUCClassifierCV: the λ of a plain loop, as scikit-learn's own estimators with a path behave."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from auclab import CSVM, AuclabError, BufferedAUC, Constraints, PartialAUC, RankSVM, solve
from auclab.estimators import AUCClassifier, AUCClassifierCV
from auclab.estimators.inner_choice import choose, largest_jump
from auclab.metrics import auc_score, get_scorer
from auclab.samples.as_sample import as_sample
from auclab.solvers.path import InnerPath
from auclab.solvers.path_parameters import penalty_level, series_below
from programs import overlapping, separable


@pytest.mark.slow
@parametrize_with_checks([AUCClassifierCV(squared=True, penalties=2, cv=2, tolerance=1e-9)])
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "program",
    [
        RankSVM(1.0),
        RankSVM(1.0, squared=True),
        CSVM(1.0, squared=True),
        RankSVM(1.0, norm="l1"),
        PartialAUC(0.3, penalty=1.0),
    ],
    ids=str,
)
def test_the_choice_is_that_of_tight_solves(program):
    X, y = overlapping(3, 60, 80)
    penalties = [0.003, 0.03, 0.3]
    model = AUCClassifierCV(program, penalties=penalties, cv=4).fit(X, y)
    tight = np.empty((4, 3))
    for k, (train, test) in enumerate(StratifiedKFold(4).split(X, y)):
        for j, value in enumerate(penalties):
            fitted = solve(program.with_params(penalty=value), X[train], y[train], tolerance=1e-9)
            tight[k, j] = roc_auc_score(y[test], X[test] @ fitted.coef)
    means = tight.mean(axis=0)
    assert means[penalties.index(model.penalty_)] >= means.max() - 1e-12
    settled = (model.gaps_ <= 1e-5).all(axis=0)
    np.testing.assert_allclose(model.scores_[:, settled], tight[:, settled], atol=2e-3)
    np.testing.assert_allclose(model.scores_, tight, atol=0.05)
    alone = AUCClassifier(program.with_params(penalty=model.penalty_)).fit(X, y)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    assert model.intercept_ == alone.intercept_
    assert model.solution_.gap <= 1e-6


def test_of_equal_means_the_largest_penalty_wins_and_paths_stop_at_the_hard_margin():
    X, y = separable(2)
    model = AUCClassifierCV(squared=True, cv=3).fit(X, y)
    means = model.scores_.mean(axis=0)
    assert model.penalty_ == model.penalties_[means >= means.max() - 1e-12].max()
    path = InnerPath(RankSVM(1.0, squared=True), X, y, [1e-7, 1e-6, 1e-5])
    first, *others = [path.refined(k).coef for k in path.order]
    assert first.any()
    assert all(coef is first or np.shares_memory(coef, first) for coef in others)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_series_follows_the_scale_of_the_columns(scale):
    X, y = overlapping(5, 50, 50)
    model = AUCClassifierCV(cv=3).fit(scale * X, y)
    level = penalty_level(RankSVM(1.0), as_sample(scale * X, y))
    assert model.penalties_.size == 9
    assert level / 3.4 <= model.penalties_[-1] < level
    assert model.scores_.max() > 0.6


def test_w_is_0_from_the_level_on():
    X, y = overlapping(5, 50, 50)
    sample = as_sample(X, y)
    level = penalty_level(RankSVM(1.0), sample)
    assert not solve(RankSVM(1.001 * level), X, y).coef.any()
    assert solve(RankSVM(0.999 * level), X, y).coef.any()
    squared = RankSVM(1e3 * penalty_level(RankSVM(1.0, squared=True), sample), squared=True)
    w = solve(squared, X, y).coef
    assert w @ sample.mean_difference == pytest.approx(np.linalg.norm(w) * np.linalg.norm(sample.mean_difference))


def test_series_has_fixed_members():
    assert series_below(1.0, 3) == [0.03, 0.1, 0.3]
    assert series_below(1.0001, 2) == [0.3, 1.0]
    assert all(len(series_below(level, count)) == count for level in (1e-9, 0.31, 7e8) for count in (1, 2, 9, 30))


def test_groups_stay_together_and_weights_count():
    X, y = overlapping(7, 40, 40)
    groups = np.arange(80) // 4
    by_groups = AUCClassifierCV(penalties=[0.01, 0.1], cv=GroupKFold(4)).fit(X, y, groups=groups)
    given = AUCClassifierCV(penalties=[0.01, 0.1], cv=list(GroupKFold(4).split(X, y, groups))).fit(X, y)
    np.testing.assert_array_equal(by_groups.scores_, given.scores_)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, 80)
    rows = np.repeat(np.arange(80), weight)
    folds = [(np.flatnonzero(groups % 2 == k), np.flatnonzero(groups % 2 != k)) for k in (0, 1)]
    repeated = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    weighted = AUCClassifierCV(penalties=[0.01, 0.1], cv=folds).fit(X, y, sample_weight=weight)
    plain = AUCClassifierCV(penalties=[0.01, 0.1], cv=repeated).fit(X[rows], y[rows])
    assert weighted.penalty_ == plain.penalty_
    np.testing.assert_allclose(weighted.scores_, plain.scores_, atol=2e-3)


def test_it_is_an_estimator_of_scikit_learn():
    X, y = overlapping(9, 40, 50)
    names = np.array(["no", "yes"])[(y == y.max()).astype(int)]
    model = AUCClassifierCV(penalties=3, cv=3, norm="l2").fit(sp.csr_array(X), names)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()
    assert set(model.predict(X)) == {"no", "yes"}
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    signed = AUCClassifierCV(penalties=3, cv=3, constraints=Constraints(nonpositive=["c0"])).fit(frame, y)
    assert signed.coef_[0, 0] <= 0
    assert cross_val_score(make_pipeline(StandardScaler(), AUCClassifierCV(penalties=3, cv=2)), X, y, cv=2).size == 2


@pytest.mark.parametrize(
    "scoring", ["roc_auc", get_scorer("auc"), lambda model, X, y: roc_auc_score(y, model.decision_function(X))]
)
def test_scorers_of_scikit_learn_are_taken(scoring):
    X, y = overlapping(11, 40, 50)
    model, own = (AUCClassifierCV(penalties=3, cv=3, scoring=each).fit(X, y) for each in (scoring, "auc"))
    np.testing.assert_allclose(model.scores_, own.scores_)
    assert AUCClassifierCV(penalties=3, cv=3, scoring="accuracy").fit(X, y).scores_.max() > 0.5


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"formulation": BufferedAUC()}, "no parameter 'penalty'"),
        ({"penalties": 0}, "a number ≥ 1 or a list"),
        ({"penalties": []}, "a list of finite numbers"),
        ({"penalties": [-1.0]}, "penalty"),
        ({"cv": 1}, "at least two folds"),
    ],
)
def test_what_is_refused(parameters, words):
    with pytest.raises(AuclabError, match=words):
        AUCClassifierCV(**parameters).fit(*overlapping(1, 20, 20))


class _Fold:
    """Scores that are given level by level."""

    compiling = 0.0

    def __init__(self, levels, order, jump=0.0):
        self.levels, self.order, self.jump, self.at = np.array(levels), order, jump, {}

    def refined(self, k):
        self.at[k] = min(self.at.get(k, -1) + 1, len(self.levels) - 1)
        return self.levels[self.at[k], k], 0.5 ** self.at[k]

    def is_final(self, k):
        return self.at[k] == len(self.levels) - 1

    def is_null(self, k):
        return False


def test_only_close_values_are_improved():
    levels = [[0.80, 0.70, 0.79], [0.801, 0.702, 0.80], [0.80, 0.9, 0.803], [0.80, 0.9, 0.804]]
    folds = [_Fold(levels, [2, 1, 0]), _Fold(levels, [2, 1, 0])]
    choice = choose([lambda: folds[0], lambda: folds[1]], 3)
    # The largest change is 0.01, so that 0.702 cannot become the best; the last two stay close to the end.
    assert (choice.best, choice.selected) == (2, 2)
    assert folds[0].at == {0: 3, 1: 1, 2: 3}
    assert choice.scores[2].tolist() == [0.804, 0.804]


def test_values_stay_close_where_equal_rows_may_pass_others():
    levels = [[0.80, 0.79, 0.7999], [0.80, 0.79, 0.7999], [0.80, 0.81, 0.7999]]  # unchanged, and then a jump
    for jump, best in ((0.0, 0), (0.02, 1)):
        fold = _Fold(levels, [0, 1, 2], jump)
        assert choose([lambda fold=fold: fold], 3).best == best


def test_the_largest_jump_is_what_equal_rows_change_that_pass_others():
    X = np.array([[1.0, 2.0]] * 3 + [[0.0, 1.0]] * 2 + [[5.0, 5.0], [1.0, 2.0], [4.0, 4.0], [4.0, 4.0]])
    y = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0])
    assert largest_jump(X, y) == pytest.approx(3 / 4 * 2 / 5)
    assert largest_jump(sp.csr_array(X), y) == pytest.approx(3 / 4 * 2 / 5)
    # With that change the rows (1, 2) pass the rows (4, 4): their AUC differs by no more.
    scores = np.array([3.0] * 3 + [0.0] * 2 + [9.0, 3.0, 4.0, 4.0])
    moved = np.where(scores == 3.0, 5.0, scores)
    assert abs(auc_score(y, moved) - auc_score(y, scores)) == pytest.approx(largest_jump(X, y))
