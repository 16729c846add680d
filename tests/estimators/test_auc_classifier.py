"""The scikit-learn façade."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_classifiers_one_label,
    check_estimator_cloneable,
    check_fit2d_1feature,
    check_fit2d_1sample,
    check_get_params_invariance,
    check_methods_subset_invariance,
    check_set_params,
    parametrize_with_checks,
)

from auclab import (
    CSVM,
    ECSVM,
    AuclabError,
    BufferedAUC,
    Constraints,
    GeneralizedBufferedAUC,
    PartialAUC,
    RankSVM,
    solve,
)
from auclab._core.forms import row_scores
from auclab.estimators import AUCClassifier, bauc_scorer, decision_threshold, formulation_named
from auclab.formulations import FORMULATIONS
from auclab.metrics import auc_score, bauc_score, get_scorer
from composed import run_here
from programs import CONVEX, CVAR, imbalanced, label, overlapping, separable

#: Exact AUC is a mixed-integer program: three samples of the checks would take ten minutes, the others 1.3 s at most.
#: Scorecards end by the gap: a search that ends by the clock may end elsewhere the next time.
LIMITS = {"exact_auc": {"time_limit": 2.0}, "scorecard": {"tolerance": 0.2, "time_limit": 60.0}}
EVERY = [
    *(AUCClassifier(name, **LIMITS.get(name, {})) for name in FORMULATIONS),
    AUCClassifier("csvm", class_weight="balanced", calibration="sigmoid"),
    *(AUCClassifier(name, kernel="rbf", tolerance=1e-6) for name in ("csvm", "ranksvm")),
]
#: A scorer of a wide space separates its training sample, and then the weights of the classes do not say where between
#: them to cut. Over points they are in the program.
OVER_PAIRS = {"check_class_weight_classifiers": "the threshold of pair programs is chosen on the training scores"}


@pytest.mark.slow
@pytest.mark.covering
@parametrize_with_checks(
    EVERY,
    expected_failed_checks=lambda model: OVER_PAIRS if model.kernel and model.formulation == "ranksvm" else {},
)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
def test_scikit_learn_checks(estimator, check):
    if estimator.kernel and check.func.__name__.startswith("check_sample_weight_equivalence"):
        estimator.set_params(tolerance=1e-9)
    check(estimator)


#: Those that fit few rows; .ci/release.py runs all, half a minute of one core.
OF_FEW_ROWS = [check_classifiers_one_label, check_fit2d_1feature, check_fit2d_1sample, check_methods_subset_invariance]


@pytest.mark.parametrize("check", OF_FEW_ROWS)
@pytest.mark.filterwarnings("ignore")
def test_without_a_formulation_it_passes_the_checks_of_few_rows(check):
    check("AUCClassifier", AUCClassifier())


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("check", [check_estimator_cloneable, check_get_params_invariance, check_set_params])
def test_objects_are_parameters_too(check, name):
    """What is fitted is that of the name (test_a_name_has_the_parameters_of_the_command_line)."""
    check("AUCClassifier", AUCClassifier(formulation_named(name)))


@pytest.mark.parametrize("program", [*CONVEX, *CVAR[:1]], ids=label)
def test_every_formulation_fits_and_predicts(program):
    X, y = overlapping(22, 40, 50)
    model = AUCClassifier(program).fit(X, y)
    assert model.solution_.formulation == program
    assert model.score(X, y) > 0.55
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])
    assert AUCClassifier(program).fit(sp.csr_array(X), y).solution_.objective == pytest.approx(
        model.solution_.objective, rel=1e-6
    )


def test_search_over_penalties_in_a_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    X, names = X[::4], np.array(["malignant", "benign"])[y[::4]]
    search = GridSearchCV(
        make_pipeline(StandardScaler(), AUCClassifier("ranksvm", penalty=0.1, norm="l1")),
        {"aucclassifier__penalty": [0.3, 0.03]},
        scoring=bauc_scorer,
        cv=3,
    ).fit(X, names)
    assert search.best_score_ > 0.8
    scores = search.best_estimator_.decision_function(X)
    assert search.score(X, names) == bauc_score(names, scores, pos_label="malignant")
    assert cross_val_score(AUCClassifier(RankSVM(0.1, "l1")), X[:, :3], names, scoring=bauc_scorer, cv=3).size == 3


def test_formulations_and_penalties_are_searched_in_one_grid():
    X, y = overlapping(24, 40, 60)
    names = np.array(["no", "yes"])[y.astype(int)]
    grid = {"formulation": ["bauc", "ranksvm", "csvm", "partial_auc"], "penalty": [0.01, 0.1]}
    search = GridSearchCV(AUCClassifier(), grid, scoring=get_scorer("bauc"), cv=3, error_score="raise").fit(X, names)
    scores = search.cv_results_["mean_test_score"].reshape(4, 2)
    assert np.isfinite(scores).all()
    assert scores[0, 0] == scores[0, 1]  # bAUC has no penalty
    assert scores[1, 0] != scores[1, 1]
    model = AUCClassifier("bauc", penalty=0.1, norm="l1").fit(X, y)
    assert model.ignored_parameters_ == ("penalty", "norm")
    assert AUCClassifier("ranksvm", penalty=0.1).fit(X, y).ignored_parameters_ == ()


def test_parameters_of_a_formulation_are_searched_by_their_path():
    X, y = overlapping(25, 40, 60)
    shared = RankSVM(0.5, "l1")
    model = make_pipeline(StandardScaler(), AUCClassifier(shared))
    assert model.get_params()["aucclassifier__formulation__penalty"] == 0.5
    grid = [
        {"aucclassifier__formulation__penalty": [0.01, 0.1]},
        {"aucclassifier__formulation": [CSVM(), RankSVM()], "aucclassifier__formulation__penalty": [0.02]},
        {"aucclassifier__formulation": [BufferedAUC(), "bauc"]},
        {"aucclassifier__formulation": ["ecsvm"], "aucclassifier__formulation__threshold": [-0.2]},
    ]
    search = GridSearchCV(model, grid, scoring=get_scorer("auc"), cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert shared == RankSVM(0.5, "l1")
    other = clone(model).set_params(aucclassifier__formulation__penalty=0.1)
    assert other[-1].formulation == RankSVM(0.1, "l1")
    assert model[-1].formulation is shared
    assert pickle.loads(pickle.dumps(other))[-1].formulation == RankSVM(0.1, "l1")
    changed = AUCClassifier(RankSVM()).set_params(formulation=ECSVM(), formulation__threshold=-0.3, solver="newton")
    assert (changed.formulation, changed.solver) == (ECSVM(-0.3), "newton")
    with pytest.raises(AuclabError, match="formulation bauc has no penalty; it has no parameters"):
        AUCClassifier(BufferedAUC()).set_params(formulation__penalty=0.1)
    with pytest.raises(ValueError, match="Invalid parameter 'penalti'"):
        AUCClassifier().set_params(penalti=0.1)


def test_a_name_has_the_parameters_of_the_command_line():
    X, y = overlapping(26)
    for name, program in FORMULATIONS.items():
        model = AUCClassifier(name, time_limit=5.0)
        assert model.fit(X, y).solution_.formulation == program()


@pytest.mark.parametrize("name", ["bauc", "ranksvm", "csvm"])
@pytest.mark.parametrize("rule", ["prior", "youden", ("cost", 1.0, 5.0), ("fpr", 0.1), 0.25])
def test_predictions_are_cut_where_the_rule_says(name, rule):
    X, y = overlapping(23, 30, 200)
    X = X + y[:, None]
    model = AUCClassifier(name, decision_threshold=rule).fit(X, y)
    scores = row_scores(X, model.coef_[0])
    cut = decision_threshold(y, scores, rule)
    assert model.intercept_[0] == -cut
    np.testing.assert_array_equal(model.predict(X), scores > cut)
    if rule == "prior":
        assert model.predict(X).sum() == 30


def test_the_threshold_that_is_not_chosen():
    X, y = overlapping(23, 30, 200)
    assert AUCClassifier("bauc").fit(X, y).predict(X).sum() == 30
    points = AUCClassifier("csvm").fit(X, y)
    assert points.intercept_[0] == points.solution_.intercept
    sure = AUCClassifier("ranksvm", calibration="sigmoid").fit(X, y)
    np.testing.assert_array_equal(sure.predict(X), sure.predict_proba(X)[:, 1] > 0.5)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("name", ["bauc", "csvm"])
def test_probabilities_are_those_of_new_rows(name, calibration):
    rng = np.random.default_rng(27)
    X = rng.normal(size=(4_000, 2))
    truth = expit(2.0 * X[:, 0] - X[:, 1] - 1.0)
    y = rng.uniform(size=truth.size) < truth
    model = AUCClassifier(name, calibration=calibration).fit(X[:2_000], y[:2_000])
    found = model.predict_proba(X[2_000:])
    assert found.shape == (2_000, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert abs(found[:, 1] - truth[2_000:]).mean() < 0.05
    assert brier_score_loss(y[2_000:], found[:, 1]) < 1.03 * brier_score_loss(y[2_000:], truth[2_000:])
    np.testing.assert_allclose(model.predict_log_proba(X[:5]), np.log(model.predict_proba(X[:5])))


def test_the_map_of_the_probabilities_has_not_seen_its_rows():
    # Labels that do not depend on 40 features: the scores separate the training rows and say nothing of others.
    rng = np.random.default_rng(28)
    X, y = rng.normal(size=(80, 40)), np.arange(80) % 2
    model = AUCClassifier("csvm", calibration="sigmoid").fit(X, y)
    assert auc_score(y, model.decision_function(X)) > 0.85
    assert abs(model.predict_proba(X)[:, 1] - 0.5).max() < 0.3
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    first = AUCClassifier("csvm", calibration="sigmoid", cv=folds).fit(X, y)
    second = AUCClassifier("csvm", calibration="sigmoid", cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_probabilities_only_where_they_are_asked_for():
    X, y = overlapping()
    assert not hasattr(AUCClassifier("bauc").fit(X, y), "predict_proba")
    assert hasattr(AUCClassifier("bauc", calibration="sigmoid"), "predict_proba")
    with pytest.raises(AuclabError, match="two observations of each class, got cv=5 and 1 of one class"):
        AUCClassifier("bauc", calibration="sigmoid").fit(*imbalanced())


def test_class_weights_are_weights_of_points_and_cancel_in_pairs():
    X, y = overlapping(29, 20, 100)
    weight = np.where(y == 1, 5.0, 1.0)
    plain, weighted = AUCClassifier("csvm").fit(X, y), AUCClassifier("csvm").fit(X, y, weight)
    for given in ("balanced", {1: 5.0}, {0: 1.0, 1: 5.0}):
        model = AUCClassifier("csvm", class_weight=given).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), weighted.decision_function(X), rtol=1e-5, atol=1e-6)
        assert model.predict(X).sum() > 1.5 * plain.predict(X).sum()
    pairs, balanced = (AUCClassifier("ranksvm", class_weight=given).fit(X, y) for given in (None, "balanced"))
    np.testing.assert_allclose(balanced.coef_, pairs.coef_, rtol=1e-4)
    assert balanced.predict(X).sum() > 1.5 * pairs.predict(X).sum()
    sure, costly = (
        AUCClassifier("ranksvm", calibration="sigmoid", class_weight=given).fit(X, y) for given in (None, {1: 4.0})
    )
    np.testing.assert_allclose(costly.predict_proba(X), sure.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(costly.predict(X), costly.predict_proba(X)[:, 1] > 0.2)
    path = AUCClassifier("csvm", class_weight="balanced").fit_path(X, y, [0.01])
    np.testing.assert_allclose(path[0].coef_, AUCClassifier("csvm", class_weight="balanced").fit(X, y).coef_, rtol=1e-3)


def test_the_point_of_separable_data_does_not_depend_on_the_order_of_the_rows():
    X, y = separable()
    turned = np.arange(y.size)[::-1]
    for program in (RankSVM(), CSVM(), RankSVM(squared=True), ECSVM(), GeneralizedBufferedAUC(), PartialAUC(0.3, 0.01)):
        one, other = AUCClassifier(program).fit(X, y), AUCClassifier(program).fit(X[turned], y[turned])
        np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-7)
        assert one.solution_.status == "optimal"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            AUCClassifier("ranksvn"),
            "formulation='ranksvn' is unknown (did you mean 'ranksvm'?); choose one of bauc, composed,",
        ),
        (AUCClassifier(RankSVM), "RankSVM is a class; pass an object of it, RankSVM()"),
        (AUCClassifier("ranksvm", penalty=-1.0), "penalty λ must be finite and ≥ 0"),
        (AUCClassifier("bauc", decision_threshold="best"), "a decision threshold is one of 'prior'"),
        (
            AUCClassifier("bauc", calibration="beta"),
            "calibration='beta' is unknown; choose one of sigmoid, isotonic",
        ),
        (AUCClassifier("bauc", class_weight="equal"), "class_weight must be None, 'balanced' or a dict, got 'equal'"),
        (AUCClassifier("bauc", class_weight={2: 1.0}), "class_weight has the label 2; the labels are [0.0, 1.0]"),
        (AUCClassifier("bauc", class_weight={1: -1.0}), "class weights must be finite, ≥ 0"),
        (AUCClassifier(RankSVM(1.0), penalty=2.0), "for a formulation given by name"),
    ],
)
def test_parameters_that_do_not_fit_are_named(model, words):
    X, y = overlapping()
    with pytest.raises(AuclabError) as refusal:
        clone(model).fit(X, y)
    assert words in str(refusal.value)


def test_formulations_are_found_by_name():
    assert formulation_named("csvm", penalty=0.5, norm="linf").norm == "linf"


@pytest.mark.parametrize(
    "given", [{"nonnegative": ["x"], "upper": {"y": 0.1}}, {"nonnegative": [0], "upper": {1: 0.1}}]
)
@pytest.mark.parametrize("kind", [dict, lambda given: Constraints(**given)])
def test_constraints_by_name_or_number(given, kind):
    """As a mapping or an object; clones have them; a pipeline's are those of its input."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["x", "y", "z"])
    y = (X["y"] - X["x"] + 0.5 * rng.normal(size=40) > 0).astype(int)
    model = clone(AUCClassifier("ranksvm", squared=True, constraints=kind(given))).fit(X, y)
    assert model.coef_[0, 0] == 0.0
    assert model.coef_[0, 1] == pytest.approx(0.1)
    assert model.solution_.gap <= 1e-6
    assert model.get_params()["constraints"] == kind(given)
    path = model.fit_path(X, y, [0.01, 0.1])
    assert all(each.coef_[0, 0] >= 0 for each in path)


def test_names_behind_a_scaler_need_the_output_of_pandas():
    """The scaler gives an array; what the error advises works, and is what the columns' numbers give."""
    rng, y = np.random.default_rng(0), np.repeat([1, 0], 40)
    X = pd.DataFrame(rng.normal(size=(80, 3)) + y[:, None], columns=["age", "income", "debt"])
    named, numbered = ({"nonnegative": [a], "nonpositive": [b]} for a, b in (("age", "debt"), (0, 2)))

    def model(constraints):
        return make_pipeline(StandardScaler(), AUCClassifier("ranksvm", penalty=0.1, constraints=constraints))

    with pytest.raises(AuclabError, match=r"'age'.*have no names: .*set_output\(transform='pandas'\)"):
        model(named).fit(X, y)
    with_names = model(named).set_output(transform="pandas").fit(X, y)
    assert with_names[-1].coef_[0, 2] <= 0.0 <= with_names[-1].coef_[0, 0]
    np.testing.assert_allclose(with_names[-1].coef_, model(numbered).fit(X, y)[-1].coef_, atol=1e-9)
    with pytest.raises(AuclabError, match="have no names: give a DataFrame, or the number"):
        solve(RankSVM(0.1), X.to_numpy(), y, constraints=Constraints(**named))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nonegative": ["x"]}, r"did you mean 'nonnegative'\?.; settings are nonnegative, nonpositive"),
        ({"nonnegative": ["price"]}, "which the data do not have"),
        ([1.0], "must be Constraints, ColumnConstraints, a mapping or None"),
    ],
)
def test_constraints_that_are_none(given, message):
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 0.0, 1.0, 0.0]})
    with pytest.raises(AuclabError, match=message):
        AUCClassifier("bauc", constraints=given).fit(X, [0, 0, 1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_without_a_formulation_it_is_the_model_of_the_command_line(tmp_path, kernel):
    """RankSVM with λ‖w‖², λ chosen on the same inner folds, on the rows as they are."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    table["y"] = (table["a"] - 0.5 * table["b"] + rng.normal(size=80) > 0.4).astype(int)
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["dataset=file", f"dataset.path={tmp_path / 't.csv'}", "dataset.target=y", "split=none", "preprocess=none"]
    words += ["formulation=ranksvm", "formulation.squared=true", "tune=penalty", "bounds=none"]
    words += ["decision.probability=none", *([f"kernel={kernel}"] if kernel else [])]
    (fold,) = run_here(tmp_path / "out", *words).folds
    model = AUCClassifier(kernel=kernel).fit(table[list("abc")].to_numpy(), table["y"])
    assert model.solution_.formulation == fold.solution.formulation
    X = table[list("abc")].to_numpy()
    np.testing.assert_allclose(
        model.solution_.decision_function(X), fold.solution.decision_function(X), rtol=1e-6, atol=1e-9
    )
    # As many inner folds as rows of the smaller class.
    assert AUCClassifier().fit(X[:4], [0, 0, 1, 1]).solution_.status == "optimal"
    with pytest.raises(AuclabError, match="2 rows of each class, and one has 1; give a"):
        AUCClassifier().fit(X[:4], [0, 0, 0, 1])
    nested = AUCClassifier().set_params(formulation__penalty=0.25)
    assert nested.fit(X[:4], [0, 0, 1, 1]).solution_.formulation == RankSVM(0.25, squared=True)
    assert AUCClassifier(penalty=0.5).fit(X[:4], [0, 0, 1, 1]).solution_.penalty == 0.5
