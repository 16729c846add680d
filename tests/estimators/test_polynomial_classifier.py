"""Gradient ascent on polynomial AUC: its parts against sums over all pairs, and the estimator around it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from auclab import AuclabError
from auclab.estimators import PolynomialAUCClassifier
from auclab.estimators.polynomial_classifier import best_angle, objective, scored, stable_ascent
from auclab.metrics import auc_score, polynomial_auc, polynomial_soft_auc
from auclab.metrics.polynomial import chebyshev_slopes, power_table, step_series
from auclab.samples.as_sample import as_sample
from programs import equal_means, overlapping, tied

NONE = np.empty(0), np.empty(0)


def pair_differences(X, y):
    X = np.asarray(X, float)
    return (X[y == 1][:, None, :] - X[y == 0][None, :, :]).reshape(-1, X.shape[1])


@pytest.mark.slow
@parametrize_with_checks([PolynomialAUCClassifier()])
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@given(seed=st.integers(0, 10_000), degree=st.sampled_from([1, 2, 9, 29, 61]), weighted=st.booleans())
def test_slopes_are_derivatives_over_all_pairs(seed, degree, weighted):
    rng = np.random.default_rng(seed)
    pos, neg = rng.uniform(-0.5, 0.5, rng.integers(1, 8)), rng.uniform(-0.5, 0.5, rng.integers(1, 8))
    u, v = (rng.uniform(0.1, 2, k.size) if weighted else np.ones(k.size) for k in (pos, neg))
    series, scale = step_series(degree, "chebyshev"), 1.3
    pairs = np.outer(u, v) / np.outer(u, v).sum() * series.deriv()((pos[:, None] - neg[None, :]) / scale) / scale
    found = chebyshev_slopes(series, pos, neg, *((u, v) if weighted else NONE), scale)
    size = degree**2
    np.testing.assert_allclose(found[0], pairs.sum(axis=1), atol=1e-13 * size)
    np.testing.assert_allclose(found[1], -pairs.sum(axis=0), atol=1e-13 * size)
    assert sum(map(np.sum, found)) == pytest.approx(0.0, abs=1e-13 * size)


@pytest.mark.parametrize("degree", [1, 5, 12])
def test_the_table_of_powers_is_the_polynomial_of_a_difference(degree):
    series = step_series(degree, "legendre")
    x, y = np.random.default_rng(degree).uniform(-0.5, 0.5, (2, 20))
    table = power_table(series)
    value = sum(table[k, m] * x**m * y ** (k - m) for k in range(degree + 1) for m in range(k + 1))
    np.testing.assert_allclose(value, series(x - y), atol=1e-10)


@given(seed=st.integers(0, 10_000), degree=st.sampled_from([1, 3, 29, 41]))
@settings(max_examples=40)
def test_the_angle_is_the_best_of_a_fine_grid(seed, degree):
    X, y = overlapping(seed % 50, 6, 7)
    sample, series = as_sample(X, y), step_series(degree, "chebyshev")
    w, g = np.random.default_rng(seed).normal(size=(2, 3))
    here, across = scored(sample, w), scored(sample, g)
    d = pair_differences(X, y)
    a, b = d @ here.coef, d @ across.coef
    assert max(abs(a).max(), abs(b).max()) == pytest.approx(1.0, rel=1e-12)

    def mean(angle):
        return series((np.outer(np.cos(angle), a) + np.outer(np.sin(angle), b)) / np.sqrt(2)).mean(axis=1)

    found = mean([best_angle(series, here, across, NONE)])[0]
    assert found >= mean(np.linspace(0, 2 * np.pi, 4_000)).max() - 1e-10


@pytest.mark.parametrize("kind", ["chebyshev", "legendre"])
def test_the_path_is_the_metric_and_does_not_fall(kind):
    X, y = overlapping(51, 30, 40)
    for steps in (1, 3, 50):
        model = PolynomialAUCClassifier(19, series=kind, max_iter=steps, tol=0.0)
        path = _path(model, X, y)
        assert path.size == model.n_iter_ + 1
        assert (np.diff(path) > 0).all()
        assert path[-1] == pytest.approx(polynomial_auc(y, X @ model.coef_[0], degree=19, series=kind), abs=1e-13)
        assert np.abs(pair_differences(X, y) @ model.coef_[0]).max() == pytest.approx(1.0, rel=1e-12)
        assert model.converged_ == (model.n_iter_ < steps)
    with pytest.warns(ConvergenceWarning, match="still rising after 1 steps"):
        PolynomialAUCClassifier(19, max_iter=1, tol=0.0).fit(X, y)


def test_the_end_is_a_local_maximum():
    X, y = overlapping(52, 40, 40)
    model = PolynomialAUCClassifier(15, tol=0.0, max_iter=500).fit(X, y)
    rng = np.random.default_rng(52)
    for size in (1e-3, 1e-2):
        for _ in range(200):
            coef = model.coef_[0] + size * np.linalg.norm(model.coef_[0]) * rng.normal(size=3)
            assert polynomial_auc(y, X @ coef, degree=15) <= model.objective_path_[-1] + 1e-7


def test_an_offset_costs_no_digits():
    X, y = overlapping(54, 60, 70)
    stable = PolynomialAUCClassifier().fit(X, y)
    moved = PolynomialAUCClassifier().fit(X + 1e9, y)
    assert moved.objective_path_[-1] == pytest.approx(stable.objective_path_[-1], abs=1e-4)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_scale_of_the_features_and_repetition_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = (overlapping if seed % 2 else tied)(seed % 30)
    weight = rng.integers(1, 4, y.size)
    model = PolynomialAUCClassifier(9, max_iter=4, tol=0.0)
    plain = _path(model, X, y)
    scale = 2.0 ** rng.integers(-8, 9, 3)
    np.testing.assert_allclose(_path(model, X * scale, y), plain, atol=1e-8)
    repeated = _path(model, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(_path(model, X, y, weight)[:2], repeated[:2], atol=1e-6)
    np.testing.assert_allclose(_path(model, sp.csr_array(X), y)[:2], plain[:2], atol=1e-8)


def _path(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, weight).objective_path_


def test_seeds_and_starts():
    X, y = overlapping(55, 30, 30)
    fits = [PolynomialAUCClassifier(init="random", random_state=seed).fit(X, y) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert fits[0].objective_path_[0] != fits[2].objective_path_[0]
    assert fits[0].objective_path_[-1] > fits[0].objective_path_[0]
    model = PolynomialAUCClassifier().fit(*equal_means())
    assert model.objective_path_[-1] >= 0.5 - 1e-12


def test_equal_rows_leave_the_weights_at_0():
    X, y = np.ones((6, 2)), [0, 0, 1, 1, 0, 1]
    model = PolynomialAUCClassifier().fit(X, y)
    assert not model.coef_.any()
    assert model.objective_path_.tolist() == [0.5]
    assert model.converged_


def test_it_ranks_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    model = PolynomialAUCClassifier().fit(X, 1 - y)
    assert auc_score(1 - y, model.decision_function(X)) > 0.995
    here = scored(as_sample(X - X.mean(axis=0), 1 - y), model.coef_[0])
    assert objective(step_series(29, "chebyshev"), here, NONE) == pytest.approx(model.objective_path_[-1], abs=1e-12)


def test_a_start_without_differences_is_no_start():
    sample = as_sample([[1.0, 0.0], [1.0, 1.0]], [1, 0])
    assert scored(sample, np.array([1.0, 0.0])) is None
    found = stable_ascent(sample, step_series(9, "chebyshev"), np.array([1.0, 0.0]), max_iter=5, tol=0.0)
    assert (found.coef.tolist(), found.converged) == ([0.0, 0.0], True)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"degree": 0}, "degree must be at least 1, got 0"),
        ({"degree": 2.5}, "degree must be a whole number, got 2.5"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"series": "fourier"}, "series='fourier' is unknown; choose one of chebyshev, legendre"),
        ({"init": "zeros"}, "init='zeros' is unknown; choose one of means, random"),
        ({"tol": -1.0}, "tol must be ≥ 0"),
        ({"tol": float("nan")}, "tol must be ≥ 0"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    with pytest.raises(AuclabError) as refusal:
        PolynomialAUCClassifier(**parameters).fit(*overlapping())
    assert words in str(refusal.value)


@pytest.mark.parametrize("beta", [3.0, 30.0])
def test_soft_auc_rises_above_that_of_every_direction_nearby(beta):
    X, y = overlapping(n_pos=60, n_neg=60, n_features=2)
    model = PolynomialAUCClassifier(beta=beta).fit(X, y)

    def scaled(w):
        scores = X @ w
        largest = np.abs(np.subtract.outer(scores[y == 1], scores[y == 0])).max()
        return polynomial_soft_auc(y, scores / largest, beta=beta, scale=1.0)

    assert (np.diff(model.objective_path_) >= 0).all()
    assert model.objective_path_[-1] == pytest.approx(scaled(model.coef_[0]), abs=1e-12)
    angle = np.arctan2(*model.coef_[0][::-1])
    around = [scaled(np.array([np.cos(a), np.sin(a)])) for a in angle + np.linspace(-0.3, 0.3, 61)]
    assert scaled(model.coef_[0]) >= max(around) - 1e-5


def test_a_steepness_below_zero_is_refused():
    with pytest.raises(AuclabError, match="beta"):
        PolynomialAUCClassifier(beta=-1.0).fit([[0.0], [1.0]], [0, 1])
