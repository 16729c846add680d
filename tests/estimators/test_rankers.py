"""Rankers of groups, grades and censored times: what they solve, and scikit-learn's ways to use them."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
import skops.io
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from auclab import AuclabError, BufferedAUC, RankSVM, certify, solve
from auclab.datasets.target import Roles
from auclab.estimators import AUCRanker, SurvivalRanker
from auclab.kernels import RBF
from auclab.metrics import (
    bauc_score,
    buffered_concordance,
    censored_pairs,
    concordance_index,
    grouped_auc,
    grouped_bauc,
    ordered_pairs,
)

#: Its optimum is unique; found to the last digits, rows with weights and repeated rows have the same one.
UNIQUE = {"penalty": 0.01, "squared": True}
LAST_DIGITS = 1e-12
SURVIVAL = [("died", bool), ("days", float)]


def survival(event, time):
    """A structured array, as scikit-survival's `Surv` makes it."""
    return np.array(list(zip(event, time, strict=True)), dtype=SURVIVAL)


class RankerOfTimes(SurvivalRanker):
    """`SurvivalRanker` of uncensored times as plain numbers, which scikit-learn's checks have."""

    def fit(self, X, y, sample_weight=None):
        time = sklearn.utils.validation.column_or_1d(y, warn=True) if y is not None else y
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if not np.isfinite(np.asarray(time, float)).all():
            raise ValueError("Input y contains infinity or NaN")
        return super().fit(X, survival(np.ones(len(time), bool), time), sample_weight)

    def score(self, X, y, sample_weight=None):
        return super().score(X, survival(np.ones(len(y), bool), y), sample_weight)


@pytest.fixture(scope="module")
def queries():
    """Thirty queries of ten documents with three grades; a column that is the query's alone misleads across them."""
    rng = np.random.default_rng(11)
    groups = np.repeat(np.arange(30), 10)
    X = rng.normal(size=(300, 4))
    own = rng.normal(0, 3, 30)[groups]
    X[:, 3] = own + 0.1 * X[:, 3]
    y = np.digitize(X[:, 0] - X[:, 1] + own + rng.normal(size=300), own[::10].mean() + np.array([-1.0, 1.5]))
    return X, y, groups


@pytest.fixture(scope="module")
def patients():
    """Two hundred patients, half of them censored."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(200, 3))
    time, censored = rng.exponential(np.exp(-X[:, 0] + 0.5 * X[:, 1])), rng.exponential(1.0, 200)
    return X, survival(time <= censored, np.minimum(time, censored))


@pytest.mark.slow
@pytest.mark.covering
@parametrize_with_checks([AUCRanker(**UNIQUE), RankerOfTimes(**UNIQUE)])
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
def test_scikit_learn_checks(estimator, check):
    if check.func.__name__.startswith("check_sample_weight_equivalence"):
        estimator.set_params(tolerance=LAST_DIGITS)
    check(estimator)


@pytest.mark.parametrize("weights", ["pairs", "groups"])
def test_the_program_is_that_of_solve_and_its_optimum_the_metric(queries, weights):
    X, y, groups = queries
    model = AUCRanker("bauc", group_weights=weights).fit(X, y, groups=groups)
    direct = solve(BufferedAUC(), X, y, groups=groups, group_weights=weights)
    assert model.solution_.gap <= 1e-6
    assert model.solution_.objective == pytest.approx(direct.objective, abs=1e-6)
    assert 1 - model.solution_.objective == pytest.approx(
        grouped_bauc(y, model.predict(X), groups, weights=weights), abs=1e-6
    )
    assert model.score(X, y, groups) == grouped_auc(y, X @ model.coef_, groups, weights=weights)
    assert model.score(X, y, groups) > 0.7


def test_grades_without_groups(queries):
    X, y, _ = queries
    model = AUCRanker("bauc").fit(X, y)
    assert 1 - model.solution_.objective == pytest.approx(grouped_bauc(y, model.predict(X)), abs=1e-6)
    two = AUCRanker("bauc").fit(X, y > 1)
    assert 1 - two.solution_.objective == pytest.approx(bauc_score(y > 1, two.predict(X)), abs=1e-6)


def test_times(patients):
    X, y = patients
    model = SurvivalRanker("bauc").fit(X, y)
    time, event = y["days"], y["died"]
    assert model.solution_.gap <= 1e-6
    assert 1 - model.solution_.objective == pytest.approx(buffered_concordance(time, event, model.predict(X)), abs=1e-6)
    assert model.score(X, y) == concordance_index(time, event, model.predict(X))
    assert model.score(X, y) > 0.7
    assert model.coef_[0] > 0 > model.coef_[1]
    # the order of the fields does not matter, nor their names, nor whole days
    other = np.array(list(zip(np.ceil(100 * time), event, strict=True)), dtype=[("t", int), ("e", bool)])
    assert SurvivalRanker("bauc").fit(X, other).score(X, other) > 0.7


@pytest.mark.parametrize("kinds", [(float, int), (int, np.uint8), (float, bool)])
def test_events_may_be_whole_numbers_in_either_field(kinds):
    rng = np.random.default_rng(8)
    X, time, event = rng.normal(size=(50, 2)), rng.integers(1, 9, 50), rng.random(50) < 0.6
    plain = SurvivalRanker("ranksvm", **UNIQUE).fit(X, survival(event, time))
    fields = [("days", kinds[0]), ("died", kinds[1])]
    for names, columns in ((fields, (time, event)), (fields[::-1], (event, time))):
        other = SurvivalRanker("ranksvm", **UNIQUE).fit(X, np.array(list(zip(*columns, strict=True)), dtype=names))
        np.testing.assert_array_equal(other.coef_, plain.coef_)
    both = np.array(list(zip(event, event, strict=True)), dtype=[("died", int), ("days", int)])
    with pytest.raises(AuclabError, match="a boolean field"):
        plain.fit(X, both)


@pytest.mark.slow
@pytest.mark.parametrize("of_times", [False, True])
def test_rows_of_any_kind_and_weights(queries, patients, of_times):
    X, y = patients if of_times else queries[:2]
    model = (SurvivalRanker if of_times else AUCRanker)(**UNIQUE, tolerance=LAST_DIGITS)
    plain = clone(model).fit(X, y)
    assert plain.predict(X).shape == (len(X),)
    np.testing.assert_allclose(clone(model).fit(sp.csr_array(X), y).coef_, plain.coef_, atol=1e-5)
    names = list("abcd")[: X.shape[1]]
    assert clone(model).fit(pd.DataFrame(X, columns=names), y).feature_names_in_.tolist() == names
    counts = np.random.default_rng(0).integers(0, 3, len(X))
    weighted, repeated = clone(model).fit(X, y, sample_weight=counts), np.repeat(np.arange(len(X)), counts)
    np.testing.assert_allclose(weighted.coef_, clone(model).fit(X[repeated], y[repeated]).coef_, atol=1e-5)
    assert weighted.score(X, y, sample_weight=counts) == pytest.approx(weighted.score(X[repeated], y[repeated]))


def test_cross_validation_with_groups(queries):
    X, y, groups = queries
    with sklearn.config_context(enable_metadata_routing=True):
        model = AUCRanker("ranksvm", penalty=0.01)
        model.set_fit_request(groups=True).set_score_request(groups=True)
        scores = cross_val_score(model, X, y, cv=GroupKFold(5), params={"groups": groups})
        piped = make_pipeline(StandardScaler(), model)
        found = cross_validate(piped, X, y, cv=GroupKFold(5), params={"groups": groups}, return_estimator=True)
        search = GridSearchCV(
            AUCRanker(RankSVM(0.1)).set_fit_request(groups=True).set_score_request(groups=True),
            {"formulation__penalty": [0.01, 1.0], "group_weights": ["pairs", "groups"]},
            cv=GroupKFold(3),
        ).fit(X, y, groups=groups)
    for k, (train, test) in enumerate(GroupKFold(5).split(X, y, groups)):
        fold = AUCRanker("ranksvm", penalty=0.01).fit(X[train], y[train], groups[train])
        assert scores[k] == pytest.approx(fold.score(X[test], y[test], groups[test]), abs=1e-3)
        assert len(found["estimator"][k][-1].coef_) == 4
    assert search.cv_results_["mean_test_score"].shape == (4,)
    assert search.best_estimator_.formulation.penalty == search.best_params_["formulation__penalty"]


def test_cross_validation_of_times(patients):
    X, y = patients
    search = GridSearchCV(SurvivalRanker("ranksvm"), {"penalty": [0.01, 0.1], "loss": ["hinge", "squared_hinge"]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.65


@pytest.mark.parametrize("of_times", [False, True])
def test_copies_and_files(queries, patients, of_times, tmp_path):
    X, y = patients if of_times else queries[:2]
    model = (SurvivalRanker if of_times else AUCRanker)("ranksvm", penalty=0.1).fit(X, y)
    assert not hasattr(clone(model), "coef_")
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
    skops.io.dump(model, tmp_path / "model.skops")
    unknown = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("auclab.", "scipy.sparse.")) for name in unknown)
    assert skops.io.load(tmp_path / "model.skops", trusted=unknown).predict(X).tolist() == model.predict(X).tolist()


def test_parameters():
    model = AUCRanker(RankSVM(0.1), group_weights="groups")
    assert model.get_params()["formulation__penalty"] == 0.1
    assert model.set_params(formulation__penalty=0.2).formulation == RankSVM(0.2)
    fitted = AUCRanker("bauc", penalty=0.1).fit([[0.0], [1.0]], [0, 1])
    assert fitted.ignored_parameters_ == ("penalty",)


@pytest.mark.parametrize("word", ["pairs", "groups", "equal"])
def test_one_word_for_the_weights_of_groups(word):
    """All pairs have the same weight or all groups: by one name in programs, estimators, metrics and data sets."""
    X, y, groups = np.array([[0.0], [2.0], [1.0], [3.0]]), [0, 1, 0, 1], [1, 1, 2, 2]
    times = survival([1, 1, 1, 1], [4.0, 1.0, 3.0, 2.0])
    uses = {
        "solve": lambda: solve(RankSVM(0.1), X, y, groups=groups, group_weights=word),
        "certify": lambda: certify(RankSVM(0.1), X, y, [1.0], groups=groups, group_weights=word),
        "AUCRanker": lambda: AUCRanker(RankSVM(0.1), group_weights=word).fit(X, y, groups=groups),
        "SurvivalRanker": lambda: SurvivalRanker(RankSVM(0.1), group_weights=word).fit(X, times, groups=groups),
        "ordered_pairs": lambda: ordered_pairs(y, groups, group_weights=word),
        "censored_pairs": lambda: censored_pairs([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0], groups, group_weights=word),
        "grouped_auc": lambda: grouped_auc(y, X[:, 0], groups, weights=word),
        "grouped_bauc": lambda: grouped_bauc(y, X[:, 0], groups, weights=word),
        "dataset": lambda: Roles("y", "group", group_weights=word),
    }
    for use in uses.values():
        if word == "equal":
            with pytest.raises(AuclabError, match=r"pairs.*groups"):
                use()
        else:
            use()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: AUCRanker().fit(X, [1, 1, 1]), "no two rows can be compared"),
        (lambda X: AUCRanker().fit(X, [0, 1, 2], groups=[1, 2, 3]), "two rows of one group"),
        (lambda X: AUCRanker().fit(X, [0, 1, 2], sample_weight=[0, 0, 0]), "every sample_weight is zero"),
        (lambda X: AUCRanker(group_weights="equal").fit(X, [0, 1, 2]), "group_weights='equal' is unknown"),
        (lambda X: SurvivalRanker().fit(X, [1.0, 2.0, 3.0]), "got fields none, but list"),
        (lambda X: SurvivalRanker().fit(X, np.zeros(3, [("a", float), ("b", float)])), "a: float64, b: float64"),
        (lambda X: SurvivalRanker().fit(X, survival([0, 0, 0], [1, 2, 3])), "an event before the time of another"),
        (lambda X: SurvivalRanker().fit(X, survival([1, 1], [1, 2])), "inconsistent numbers of samples"),
        (lambda X: SurvivalRanker().fit(X, survival([1, 1, 1], [1, np.nan, 2])), "is nan"),
    ],
)
def test_errors_say_what_came(call, message):
    with pytest.raises((AuclabError, ValueError), match=message):
        call([[0.0], [1.0], [2.0]])


def test_surv_of_scikit_survival(patients):
    Surv = pytest.importorskip("sksurv.util", reason="reads scikit-survival's arrays where it is installed").Surv
    X, y = patients
    model = SurvivalRanker("ranksvm", penalty=0.1).fit(X, Surv.from_arrays(y["died"], y["days"]))
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("order", ["C", "F"])
def test_equal_rows_have_equal_scores(order):
    rng = np.random.default_rng(0)
    X = np.tile(rng.normal(size=(1, 37)), (53, 1))
    X[::7] = rng.normal(size=(8, 37))
    model = AUCRanker(penalty=0.01).fit(X, np.arange(53) % 3)
    model.coef_ = rng.normal(size=37)
    scores = model.predict(np.asarray(X, order=order))
    assert np.unique(scores[np.arange(53) % 7 > 0]).size == 1


def test_a_kernel_ranks_what_no_line_ranks(queries, patients):
    """The objective is that of `solve`; a later fit without a kernel has coefficients again."""
    (X, _, groups), times = queries, patients[0]
    y = (X[:, 0] ** 2 < 0.5).astype(int)
    model = AUCRanker("ranksvm", penalty=0.01, kernel="rbf", gamma=0.5).fit(X[:, :2], y, groups=groups)
    direct = solve(RankSVM(0.01), X[:, :2], y, groups=groups, kernel=RBF(0.5))
    assert model.solution_.objective == direct.objective
    assert model.solution_.gap <= 1e-3
    assert model.score(X[:, :2], y, groups) > 0.95
    np.testing.assert_array_equal(model.predict(X[:9, :2]), direct.decision_function(X[:9, :2]))
    again = pickle.loads(pickle.dumps(clone(model).fit(X[:, :2], y, groups=groups)))
    np.testing.assert_array_equal(again.predict(X[:9, :2]), model.predict(X[:9, :2]))
    assert not hasattr(model, "coef_")
    assert model.set_params(kernel=None).fit(X[:, :2], y, groups=groups).coef_.shape == (2,)

    of_times = SurvivalRanker("ranksvm", penalty=0.01, kernel="rbf", gamma=0.5)
    outcome = survival(np.ones(200, bool), times[:, 0] ** 2)
    assert of_times.fit(times, outcome).score(times, outcome) > 0.9
    assert SurvivalRanker("ranksvm", penalty=0.01).fit(times, outcome).score(times, outcome) < 0.7
