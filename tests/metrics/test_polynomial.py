"""Polynomial AUC and soft-AUC against sums over all pairs, with coefficients from the defining integrals."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.polynomial import chebyshev, legendre
from scipy.special import expit

import reference_metrics as twin
from auclab._core.base import AuclabError
from auclab.metrics import (
    auc_score,
    polynomial_auc,
    polynomial_auc_gradient,
    polynomial_soft_auc,
    power_supports,
    soft_auc,
)
from auclab.metrics.polynomial import sigmoid_series, step_series
from strategies import WIDE, grid_problems, problems

PROBLEMS = st.one_of(problems(), problems(scores=WIDE))
DEGREES = st.sampled_from([1, 2, 3, 9, 29, 30, 61])
SERIES = ("chebyshev", "legendre")
EXPONENTS = st.sampled_from([0, -900, 900])  # powers of two that scale the scores


@cache
def integrated_step(degree, kind):
    """Coefficients of the step by integration: of cos kθ over [0, π/2], of P_k over [0, 1]."""
    orders = np.arange(1, degree + 1)
    if kind == "chebyshev":
        return np.concatenate(([0.5], 2 / (np.pi * orders) * np.sin(orders * np.pi / 2)))
    areas = [legendre.legval(1.0, legendre.legint(np.eye(degree + 1)[k], lbnd=0)) for k in orders]
    return np.concatenate(([0.5], (2 * orders + 1) / 2 * areas))


@cache
def integrated_sigmoid(steepness, degree):
    """(2/π) ∫₀^π σ(b cos θ) cos kθ dθ by the midpoint rule, which is exact for analytic periodic functions."""
    angles = (np.arange(40_000) + 0.5) * np.pi / 40_000
    values = expit(steepness * np.cos(angles))
    coefficients = [2 * np.mean(values * np.cos(k * angles)) for k in range(degree + 1)]
    return np.array([coefficients[0] / 2, *coefficients[1:]])


def largest(problem):
    return max(abs(x) for x, _ in problem.errors)


@pytest.mark.parametrize("degree", [1, 2, 5, 30, 61])
def test_coefficients_are_the_integrals(degree):
    for kind in SERIES:
        assert step_series(degree, kind).coef == pytest.approx(integrated_step(degree, kind), abs=1e-13)
    for steepness in (1e-9, 0.3, 10.0, 499.0, 501.0, 3000.0):
        expected = integrated_sigmoid(steepness, degree)
        assert sigmoid_series(steepness, degree).coef == pytest.approx(expected, abs=1e-14)
    # a sigmoid this steep is the step
    limit = step_series(degree, "chebyshev").coef
    assert sigmoid_series(1e12, degree).coef == pytest.approx(limit, abs=1e-15)


@given(
    PROBLEMS, DEGREES, st.sampled_from(SERIES), st.sampled_from([None, 1.0, 1.7, 1e3]), st.sampled_from([0, -900, 900])
)
def test_polynomial_auc_is_the_mean_of_the_polynomial(problem, degree, series, factor, exponent):
    y, s = problem.arguments
    size = largest(problem) * Fraction(factor or 1.0) or Fraction(1)
    evaluate = chebyshev.chebval if series == "chebyshev" else legendre.legval
    coefficients = integrated_step(degree, series)
    expected = twin.polynomial_mean(problem.errors, size, lambda t: float(evaluate(t, coefficients)))
    options = {"degree": degree, "series": series, "sample_weight": problem.sample_weight}
    scale = None if factor is None else np.ldexp(float(size), exponent)
    assert polynomial_auc(y, np.ldexp(s, exponent), scale=scale, **options) == pytest.approx(expected, abs=1e-12)


@given(PROBLEMS, DEGREES, st.sampled_from([1e-3, 1.0, 3.0, 10.0, 100.0, 1000.0]))
def test_polynomial_soft_auc_is_the_mean_of_the_polynomial(problem, degree, relative):
    size = largest(problem) or Fraction(1)
    coefficients = integrated_sigmoid(relative, degree)
    expected = twin.polynomial_mean(problem.errors, size, lambda t: float(chebyshev.chebval(t, coefficients)))
    options = {"beta": relative / float(size), "degree": degree, "sample_weight": problem.sample_weight}
    assert polynomial_soft_auc(*problem.arguments, **options) == pytest.approx(expected, abs=1e-12)


@given(PROBLEMS, st.sampled_from([1, 5, 13]))
def test_powers_give_the_same_at_low_degrees(problem, degree):
    options = {"degree": degree, "sample_weight": problem.sample_weight}
    for series in SERIES:
        stable = polynomial_auc(*problem.arguments, series=series, **options)
        assert polynomial_auc(*problem.arguments, series=series, basis="monomial", **options) == pytest.approx(
            stable, abs=1e-9
        )
    beta = 3 / (float(largest(problem)) or 1.0)
    stable = polynomial_soft_auc(*problem.arguments, beta=beta, **options)
    powers = polynomial_soft_auc(*problem.arguments, beta=beta, basis="monomial", **options)
    assert powers == pytest.approx(stable, abs=1e-9)


def test_powers_lose_their_digits_where_the_stable_form_keeps_them():
    """The coefficients grow like 2.4^degree: 2·10⁹ at degree 29, 2·10¹⁷ at 51."""
    rng = np.random.default_rng(0)
    y, s = np.repeat([1, 0], [60, 70]), rng.normal(size=130) + np.repeat([1, 0], [60, 70])
    differences = np.subtract.outer(s[y == 1], s[y == 0])
    for offset in (0.0, 1e6):
        for degree, low, high in ((19, 0, 1e-11), (29, 1e-12, 1e-8), (51, 1e-6, 10), (101, 1, np.inf)):
            exact = chebyshev.chebval(
                differences / np.abs(differences).max(), integrated_step(degree, "chebyshev")
            ).mean()
            error = {
                basis: abs(polynomial_auc(y, s + offset, degree=degree, basis=basis) - exact)
                for basis in ("chebyshev2d", "monomial")
            }
            assert error["chebyshev2d"] < 1e-9 * offset * 1e-6 + 5e-15
            assert low <= error["monomial"] < high


def test_high_degrees_approach_auc_with_half_ties():
    """Gaussian scores: some 1e-3 at degree 9, 1e-4 at 301; tied pairs are exactly ½ at any degree."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 600)
    s = np.round(rng.normal(size=600) + y, 1)
    auc = auc_score(y, s)
    for series in SERIES:
        errors = [abs(polynomial_auc(y, s, degree=degree, series=series) - auc) for degree in (1, 29, 301)]
        assert errors[0] > 1e-3
        assert errors[1] < 5e-3
        assert errors[2] < 1e-3


def test_soft_error_is_that_of_the_approximation():
    """Largest errors on [−1, 1]: b = 3, degree 29: 8e-13; b = 10: 6e-5 at 29, 3e-9 at 61; b = 30: 4.3e-10 at 201."""
    t = np.linspace(-1, 1, 2001)
    for b, degree, most in ((3, 29, 1e-12), (10, 29, 7e-5), (10, 61, 4e-9), (30, 201, 5e-10)):
        error = np.abs(sigmoid_series(b, degree)(t) - expit(b * t)).max()
        assert most / 5 < error < most
    rng = np.random.default_rng(3)
    y, s = rng.integers(0, 2, 300), rng.normal(size=300)
    size = max(s[y == 1].max() - s[y == 0].min(), s[y == 0].max() - s[y == 1].min())
    value = polynomial_soft_auc(y, s, beta=10 / size, degree=201)
    assert value == pytest.approx(soft_auc(y, s, beta=10 / size), abs=1e-14)


@given(PROBLEMS, DEGREES)
def test_exchanging_the_classes_gives_the_complement(problem, degree):
    y, s = problem.arguments
    options = {"degree": degree, "sample_weight": problem.sample_weight}
    for series in SERIES:
        values = [polynomial_auc(labels, s, series=series, **options) for labels in (y, 1 - y)]
        assert sum(values) == pytest.approx(1.0, abs=1e-13)


@given(problem=grid_problems(weights="integer"), basis=st.sampled_from(["chebyshev2d", "monomial"]))
def test_integer_weights_are_repeated_rows(problem, basis):
    y, s = problem.arguments
    repeats = np.ones(y.size, int) if problem.sample_weight is None else problem.sample_weight.astype(int)
    rows = np.repeat(y, repeats), np.repeat(s, repeats)
    for metric in (
        lambda y, s, **o: polynomial_auc(y, s, degree=9, basis=basis, **o),
        lambda y, s, **o: polynomial_soft_auc(y, s, beta=0.7, degree=9, basis=basis, **o),
    ):
        assert metric(y, s, sample_weight=repeats) == pytest.approx(metric(*rows), abs=1e-12)
        assert metric(np.tile(y, 2), np.tile(s, 2)) == pytest.approx(metric(y, s), abs=1e-12)


def test_the_sums_of_many_scores_keep_their_digits():
    """Ten thousand scores of either class at two places, in and out of step with the chunks of the kernel."""
    y, s = np.repeat([1, 0, 1], [7001, 9999, 3000]), np.repeat([1.0, 0.0, -1.0], [7001, 9999, 3000])
    share = 7001 / 10001
    expected = share * step_series(29, "chebyshev")(1.0) + (1 - share) * step_series(29, "chebyshev")(-1.0)
    assert polynomial_auc(y, s) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("constant", [0.0, 0.3, -1e9, 5e-324])
def test_constant_scores(constant):
    y, s = [0, 1, 1], [constant] * 3
    for basis in ("chebyshev2d", "monomial"):
        assert polynomial_auc(y, s, basis=basis) == pytest.approx(0.5, abs=1e-15)
        assert polynomial_auc(y, s, basis=basis, scale=2.0) == pytest.approx(0.5, abs=1e-15)
        assert polynomial_soft_auc(y, s, beta=2.0, basis=basis) == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda y, s: polynomial_auc([1, 1, 1], s), "two classes are needed, but all 3 labels"),
        (lambda y, s: polynomial_auc(y, [0.0, np.inf, 1.0]), r"y_score\[1\] is inf"),
        (lambda y, s: polynomial_auc(y, [-1.5e308, 1.0, 1.5e308]), "range from"),
        (lambda y, s: polynomial_auc(y, s, degree=0), "at least 1, got 0"),
        (lambda y, s: polynomial_auc(y, s, degree=2.5), "whole number, got 2.5"),
        (lambda y, s: polynomial_auc(y, s, degree=501, basis="monomial"), "got 501"),
        (lambda y, s: polynomial_auc(y, s, series="taylor"), "series must be"),
        (lambda y, s: polynomial_auc(y, s, basis="powers"), "basis must be"),
        (lambda y, s: polynomial_auc(y, s, scale=0.0), "scale must be above 0"),
        (lambda y, s: polynomial_auc(y, s, scale=0.1), "largest difference .* is 0.19.*, above scale=0.1"),
        (lambda y, s: polynomial_soft_auc(y, s, beta=-1.0), "beta must be above 0, got -1.0"),
        (lambda y, s: polynomial_soft_auc(y, s, beta=1.0, degree=0), "at least 1"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError, match=words):
        call([0, 1, 1], [0.1, 0.2, 0.3])


@st.composite
def rows_and_weights(draw):
    """Labels, rows at quarters, weights of the scores, and weights of the rows or None."""
    n_pos, n_neg, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    quarters = st.integers(-8, 8).map(lambda value: value / 4)
    X = draw(arrays(float, (n_pos + n_neg, columns), elements=quarters))
    coef = draw(arrays(float, columns, elements=quarters))
    weight = draw(st.none() | arrays(float, n_pos + n_neg, elements=st.sampled_from([1.0, 2.0, 3.0])))
    return np.repeat([1, 0], [n_pos, n_neg]), X, coef, weight


@given(rows_and_weights(), st.sampled_from([1, 2, 5, 9]), st.sampled_from(["chebyshev2d", "monomial"]), st.booleans())
def test_the_gradient_is_that_over_all_pairs(problem, degree, basis, soft):
    y, X, coef, weight = problem
    scale, beta = 100.0, 0.05 if soft else None  # differences are at most 2 · 3 · 2 · 2
    series = sigmoid_series(beta * scale, degree) if soft else step_series(degree, "chebyshev")
    shares = np.ones(y.size) if weight is None else weight
    expected, total = np.zeros(coef.size), 0.0
    for i, j in itertools.product(np.flatnonzero(y == 1), np.flatnonzero(y == 0)):
        d = X[i] - X[j]
        expected += shares[i] * shares[j] * series.deriv()(d @ coef / scale) * d / scale
        total += shares[i] * shares[j]
    options = {"degree": degree, "scale": scale, "sample_weight": weight}
    found = polynomial_auc_gradient(y, X, coef, beta=beta, basis=basis, **options)
    np.testing.assert_allclose(found, expected / total, atol=1e-13)
    # the slope of the metric itself, s fixed
    value, measure = (polynomial_soft_auc, {"beta": beta}) if soft else (polynomial_auc, {})
    ends = [value(y, X @ (coef + step * found), **measure, **options) for step in (1e-2, -1e-2)]
    assert (ends[0] - ends[1]) / 2e-2 == pytest.approx(found @ found, abs=1e-6)


def test_the_gradient_without_a_scale_takes_the_largest_difference_and_keeps_its_digits():
    rng = np.random.default_rng(0)
    y, X, coef = np.repeat([1, 0], 20), rng.normal(size=(40, 3)), rng.normal(size=3)
    d = (X[:20, None] - X[None, 20:]).reshape(-1, 3)
    scale = np.abs(d @ coef).max()
    expected = (step_series(29, "chebyshev").deriv()(d @ coef / scale)[:, None] * d / scale).mean(axis=0)
    for offset, size in ((0.0, 1.0), (1e6, 1.0), (0.0, 1e-300)):
        found = polynomial_auc_gradient(y, X + offset, coef * size)
        np.testing.assert_allclose(found * size, expected, rtol=1e-6, atol=1e-9)
    weight = np.r_[np.ones(40), 0.0]  # a row without weight does not set the scale
    found = polynomial_auc_gradient(np.r_[y, 1], np.vstack([X, 100 * X[:1]]), coef, sample_weight=weight)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@given(rows_and_weights(), st.integers(1, 6))
def test_supports_are_sums_of_powers_and_add_up(problem, degree):
    _, X, coef, weight = problem
    scores, shares = X @ coef, np.ones(len(X)) if weight is None else weight
    found = power_supports(scores, degree, sample_weight=weight)
    of_rows = power_supports(scores, degree, features=X, sample_weight=weight)
    for order in range(degree + 1):
        assert found[order] == pytest.approx(sum(shares * scores**order), rel=1e-13)
        np.testing.assert_allclose(of_rows[order], (shares * scores**order) @ X, rtol=1e-12, atol=1e-9)
    for part in (slice(0, 1), slice(1, None)):
        of_part = None if weight is None else weight[part]
        found = found - power_supports(scores[part], degree, sample_weight=of_part)
    np.testing.assert_allclose(found, 0.0, atol=1e-12 * np.abs(scores).max(initial=1.0) ** degree * 24)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: polynomial_auc_gradient([1, 0], [[1.0], [2.0]], [1.0, 2.0]), "a column for each of 2 weights"),
        (lambda: polynomial_auc_gradient([1, 0], [1.0, 2.0], [1.0]), r"got the shape \(2,\)"),
        (lambda: polynomial_auc_gradient([1, 1], [[1.0], [2.0]], [1.0]), "class"),
        (lambda: polynomial_auc_gradient([1, 0], [[1.0], [2.0]], [1.0], beta=0.0), "beta"),
        (lambda: polynomial_auc_gradient([1, 0], [[1.0], [2.0]], [1.0], degree=0), "degree must be at least 1"),
        (lambda: power_supports([1.0, 2.0], 2, features=[[1.0]]), "a row for each of 2 observations"),
        (lambda: power_supports([1.0, 2.0], 501), "powers overflow"),
    ],
)
def test_what_a_gradient_or_supports_refuse(call, message):
    with pytest.raises(AuclabError, match=message):
        call()
