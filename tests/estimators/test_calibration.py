"""Maps from scores to probabilities."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.model_selection import PredefinedSplit

from auclab import AuclabError
from auclab.estimators import AUCClassifier
from auclab.estimators.calibration import fit_calibration, held_out_scores


def sample(seed=0, size=2000, slope=1.5, offset=-1.0):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=size)
    return (rng.uniform(size=size) < expit(slope * s + offset)).astype(int), s


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_are_those_the_labels_were_drawn_with(method):
    y, s = sample(size=20_000)
    found = fit_calibration(y, s, method)
    grid = np.linspace(-1.5, 1.5, 13)
    np.testing.assert_allclose(found(grid), expit(1.5 * grid - 1.0), atol=0.02 if method == "sigmoid" else 0.06)
    assert (np.diff(found(np.linspace(-9, 9, 500))) >= 0).all()


def test_the_sigmoid_is_that_of_platt():
    y, s = sample(1, 60)
    target = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / ((1 - y).sum() + 2))

    def loss(x):
        p = expit(x[0] * s + x[1])
        return -(target * np.log(p) + (1 - target) * np.log(1 - p)).sum()

    best = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).x
    np.testing.assert_allclose(fit_calibration(y, s)(s), expit(best[0] * s + best[1]), atol=1e-7)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_units_weights_and_the_score_of_a_probability(method):
    y, s = sample(2, 200)
    weight = np.random.default_rng(3).integers(0, 4, y.size)
    found = fit_calibration(y, s, method, sample_weight=weight)
    repeated = fit_calibration(np.repeat(y, weight), np.repeat(s, weight), method)
    np.testing.assert_allclose(found(s), repeated(s), atol=1e-9)
    np.testing.assert_allclose(found.in_units(3.0, 5.0)(3.0 * s + 5.0), found(s), atol=1e-12)
    cut = found.score_at(0.4)
    assert found(cut) == pytest.approx(0.4)
    assert ((s > cut) == (found(s) > 0.4)).all()
    assert found.as_dict()["method"] == method


def test_separated_classes_and_scores_that_say_nothing_have_finite_probabilities():
    y, s = np.repeat([0, 1], 5), np.arange(10.0)
    p = fit_calibration(y, s)(s)
    assert (p > 0).all()
    assert (p < 1).all()
    assert (np.diff(p) > 0).all()
    for scores in (np.zeros(10), -s):
        flat = fit_calibration(y, scores)
        np.testing.assert_allclose(flat(scores), 0.5)
        assert flat.score_at(0.6) == np.inf
        assert flat.score_at(0.4) == -np.inf
    assert fit_calibration(y, -s, "isotonic").score_at(0.6) == np.inf
    assert fit_calibration(y, -s, "isotonic").score_at(0.4) == -np.inf


def test_scores_of_folds_do_not_depend_on_the_length_of_their_scorers():
    _, s = sample(4, 30)
    folds = [(np.arange(10, 30), np.arange(10)), (np.arange(20), np.arange(20, 30))]
    lengths = iter([1.0, 1e6])

    def fit(train):
        factor = next(lengths)
        return lambda rows: factor * s[rows] - factor

    rows, scores = held_out_scores(fit, folds)
    assert rows.tolist() == [*range(10), *range(20, 30)]
    for (train, test), part in zip(folds, (scores[:10], scores[10:]), strict=True):
        np.testing.assert_allclose(part, (s[test] - s[train].mean()) / s[train].std())


def test_an_unknown_method_is_named():
    with pytest.raises(AuclabError, match="calibration='beta' is unknown; choose one of sigmoid, isotonic"):
        fit_calibration([0, 1], [0.0, 1.0], "beta")


def test_rows_of_weight_zero_do_not_count_in_a_calibration():
    """Three of the negatives count: folds of all rows would have some without any."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80) > 0
    weight = np.ones(80)
    weight[np.flatnonzero(~y)[3:]] = 0.0
    model = AUCClassifier("ranksvm", penalty=0.01, calibration="sigmoid")
    probability = model.fit(X, y, weight).predict_proba(X)
    without = model.fit(X[weight > 0], y[weight > 0]).predict_proba(X)
    np.testing.assert_allclose(probability, without, atol=1e-6)


def test_folds_of_the_caller_are_of_all_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0
    weight = np.where(np.arange(60) % 4 == 0, 0.0, 1.0)
    rows, settings = weight > 0, {"penalty": 0.01, "calibration": "sigmoid", "tolerance": 1e-10}
    model = AUCClassifier("ranksvm", cv=PredefinedSplit(np.arange(60) % 3), **settings)
    without = AUCClassifier("ranksvm", cv=PredefinedSplit(np.arange(60)[rows] % 3), **settings).fit(X[rows], y[rows])
    np.testing.assert_allclose(model.fit(X, y, weight).predict_proba(X), without.predict_proba(X), atol=1e-6)
