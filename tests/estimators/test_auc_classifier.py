"""The scikit-learn façade."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from auclab import AuclabError, RankSVM, formulations
from auclab.estimators import AUCClassifier, bauc_scorer, formulation_named
from auclab.metrics import bauc_score
from programs import CONVEX, CVAR, label, overlapping


@parametrize_with_checks([AUCClassifier()])
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
def test_scikit_learn_checks(estimator, check):
    check(estimator)


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


def test_the_intercept_of_a_pair_formulation_separates_best():
    X, y = overlapping(23, 30, 200)
    model = AUCClassifier("bauc").fit(X, y)
    scores = X @ model.coef_[0]

    def youden(cut):
        return (scores[y == 1] > cut).mean() - (scores[y == 0] > cut).mean()

    assert youden(-model.intercept_[0]) == pytest.approx(max(youden(s) for s in scores - 1e-12))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AUCClassifier("ranksvm"), "formulation=ranksvm takes"),
        (AUCClassifier("bauc", penalty=1.0), "formulation=bauc takes"),
        (AUCClassifier("svm"), "choose one of bauc, csvm, ecsvm, exact_auc, generalized_bauc, partial_auc, ranksvm"),
        (AUCClassifier(RankSVM(1.0), penalty=2.0), "belong to a formulation given by name"),
    ],
)
def test_parameters_that_do_not_fit_are_named(model, words):
    X, y = overlapping()
    with pytest.raises(AuclabError) as refusal:
        clone(model).fit(X, y)
    assert words in str(refusal.value)


def test_formulations_are_found_by_name():
    assert formulation_named("csvm", penalty=0.5, norm="linf").norm == "linf"


def test_every_program_of_the_package_has_a_name():
    programs = {program for program in map(vars(formulations).get, formulations.__all__) if hasattr(program, "name")}
    assert programs == set(formulations.FORMULATIONS.values())
