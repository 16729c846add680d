"""AUCClassifier over a kernel's space: searches, calibration, and a stored model."""

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from auclab import AuclabError, RankSVM
from auclab.estimators import AUCClassifier
from auclab.kernels import RBF, Laplacian
from auclab.metrics import auc_score, get_scorer
from auclab.runs.tracking.model import TRUSTED

RANKSVM = RankSVM(1e-3, squared=True)


def rings(seed=0, m=160):
    """A sample that no linear scorer ranks."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    return X, ((X**2).sum(axis=1) + 0.3 * rng.normal(size=m) < 1.3).astype(int)


def test_a_kernel_ranks_what_no_linear_scorer_does():
    X, y = rings()
    model = AUCClassifier(RANKSVM, kernel="rbf", gamma=0.5).fit(X, y)
    new, labels = rings(1)
    assert auc_score(labels, model.decision_function(new)) > 0.95
    assert auc_score(labels, AUCClassifier(RANKSVM).fit(X, y).decision_function(new)) < 0.7
    assert not hasattr(model, "coef_")
    assert model.solution_.gap <= 1e-3
    assert model.score(new, labels) > 0.85
    assert model.solution_.kernel == RBF(0.5)
    np.testing.assert_allclose(model.decision_function(sp.csr_array(new)), model.decision_function(new))


def test_refitting_without_the_kernel_is_linear_again():
    X, y = rings()
    model = AUCClassifier(RANKSVM, kernel=Laplacian(1.0)).fit(X, y)
    model.set_params(kernel=None).fit(X, y)
    assert model.coef_.shape == (1, 2)
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")


def test_kernels_and_penalties_in_one_search():
    X, y = rings()
    grid = {
        "aucclassifier__kernel": [None, "rbf"],
        "aucclassifier__penalty": [1e-3, 1e-2],
        "aucclassifier__gamma": [1.0],
    }
    pipeline = make_pipeline(StandardScaler(), AUCClassifier("ranksvm", squared=True))
    search = GridSearchCV(pipeline, grid, scoring=get_scorer("auc"), cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["aucclassifier__kernel"] == "rbf"
    assert search.best_score_ > 0.9


@pytest.mark.slow
def test_a_precomputed_matrix_is_searched_and_calibrated_by_rows_and_columns():
    X, y = rings(2, 90)
    K = RBF(0.5).between(X, X)
    given = AUCClassifier("csvm", squared=True, kernel="precomputed", calibration="sigmoid", cv=3, tolerance=1e-7)
    own = AUCClassifier("csvm", squared=True, kernel="rbf", gamma=0.5, calibration="sigmoid", cv=3, tolerance=1e-7)
    np.testing.assert_allclose(given.fit(K, y).predict_proba(K), own.fit(X, y).predict_proba(X), atol=1e-3)
    searches = [
        GridSearchCV(model.set_params(calibration=None), {"penalty": [1e-3, 1e-2]}, cv=3) for model in (given, own)
    ]
    scores = [search.fit(rows, y).cv_results_["mean_test_score"] for search, rows in zip(searches, (K, X), strict=True)]
    np.testing.assert_allclose(*scores)


def test_a_path_of_penalties_is_a_fit_for_each():
    X, y = rings(4, 80)
    model = AUCClassifier("ranksvm", squared=True, kernel="rbf", tolerance=1e-5)
    for penalty, fitted in zip((1e-3, 1e-1), model.fit_path(X, y, [1e-3, 1e-1]), strict=True):
        alone = AUCClassifier(RankSVM(penalty, squared=True), kernel="rbf", tolerance=1e-5).fit(X, y)
        assert fitted.solution_.objective == pytest.approx(alone.solution_.objective, rel=1e-4)
    with pytest.raises(AuclabError, match="solver=highs supports linear scorers"):
        AUCClassifier("ranksvm", solver="highs", kernel="rbf").fit_path(X, y, [0.1])


def test_parameters_beside_a_kernel_that_is_an_object_are_refused():
    X, y = rings()
    for wrong in ({"gamma": 2.0}, {"degree": 2}, {"coef0": 0.0}):
        with pytest.raises(AuclabError, match=r"for a kernel given by name; set it on RBF\(gamma=0.5\)"):
            AUCClassifier(RANKSVM, kernel=RBF(0.5), **wrong).fit(X, y)


def test_a_squared_csvm_is_scikit_learns_svc():
    X, y = rings(3)
    model = AUCClassifier("csvm", penalty=1e-3, squared=True, kernel="rbf", gamma=0.5, tolerance=1e-7).fit(X, y)
    svc = SVC(C=1 / (2 * 1e-3 * y.size), gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=2e-3)


def test_models_are_stored_by_skops(tmp_path):
    X, y = rings()
    model = AUCClassifier(RANKSVM, kernel="rbf", gamma=0.5).fit(X, y)
    skops.io.dump(model, tmp_path / "model.skops")
    unknown = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert set(unknown) <= TRUSTED
    loaded = skops.io.load(tmp_path / "model.skops", trusted=unknown)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_mistakes_are_named():
    X, y = rings()
    with pytest.raises(AuclabError, match="did you mean 'rbf'"):
        AUCClassifier(RANKSVM, kernel="rfb").fit(X, y)
    with pytest.raises(AuclabError, match="norm l2"):
        AUCClassifier("ranksvm", norm="l1", kernel="rbf").fit(X, y)
