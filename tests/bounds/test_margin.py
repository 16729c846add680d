"""Margin bounds against their twins, and the complexities they rest on."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

import reference_bounds as reference
from auclab._core.base import AuclabError
from auclab.bounds import kernel_diameter, margin_bound, observed_radii, peeled_margin_bound
from auclab.bounds.margin import ball_complexity
from auclab.metrics import bpoe

DUAL = {"l2": 2, "l1": np.inf, "linf": 1}
ORDER = {"l2": 2, "l1": 1, "linf": np.inf}


def sample(seed=0, n_pos=40, n_neg=60, lead=0.6):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n_pos + n_neg, 2))
    X[:n_pos, 0] += lead
    return X, np.repeat([1, 0], [n_pos, n_neg])


def test_by_hand():
    """ΛD = 3, m̂ = 25: 2 · 3/5 + (3 + 1) √((1/25 + 1/100) ln(10)/2)."""
    bound = margin_bound(0.1, norm_bound=1.5, diameter=2.0, n_pos=100, n_neg=25, rho=0.1)
    assert bound.slack == pytest.approx(1.2 + 4 * math.sqrt(0.05 * math.log(10) / 2), rel=1e-14)
    assert bound.lower == pytest.approx(0.9 - bound.slack, rel=1e-14)
    assert bound.vacuous


@pytest.mark.parametrize("norm", ["l2", "l1", "linf"])
@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_complexity_is_at_least_that_of_any_points_of_the_ball(norm, n):
    rng = np.random.default_rng(n)
    for n_features in (1, 2, 7):
        limit = ball_complexity(norm, n, n_features)
        for trial in range(20):
            points = rng.normal(size=(n, n_features))
            points /= np.linalg.norm(points, DUAL[norm], axis=1, keepdims=True)
            if trial == 0:  # one feature at a time: the worst case for linf
                points = np.eye(n_features)[np.arange(n) % n_features]
            assert reference.sign_complexity(points, DUAL[norm]) <= limit + 1e-12


@settings(max_examples=40)
@given(
    seed=st.integers(0, 99),
    rho=st.floats(0.001, 0.9),
    norm=st.sampled_from(["l2", "l1", "linf"]),
    lead=st.floats(-0.5, 1.5),
    scale=st.sampled_from([1e-9, 1.0, 1e9]),
)
def test_peeled_equals_all_levels_over_all_pairs(seed, rho, norm, lead, scale):
    X, y = sample(seed, 8, 12, lead)
    w = np.array([1.0, -0.3])
    far = np.linalg.norm(X[y == 1][:, None] - X[y == 0][None], DUAL[norm], axis=2).max() * 1.1
    bound = peeled_margin_bound(X * scale, y, w, diameter=far * scale, rho=rho, norm=norm)
    scores = X @ w
    expected = reference.peeled_margin(
        scores[y == 1], scores[y == 0], np.linalg.norm(w, ORDER[norm]), far, rho, ball_complexity(norm, 8, 2)
    )
    assert bound.lower == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("norm", ["l2", "l1", "linf"])
def test_peeled_is_the_best_of_the_margin_bounds(norm):
    X, y = sample(1, 1500, 1000, lead=1.2)
    w = np.array([1.0, 0.1])
    far = {"l2": 2.4, "l1": 2.3, "linf": 3.4}[norm]
    bound = peeled_margin_bound(X, y, w, diameter=far, rho=0.05, norm=norm)
    pos, neg = (X @ w)[y == 1], (X @ w)[y == 0]
    fixed = {"diameter": far, "n_pos": 1500, "n_neg": 1000, "norm": norm, "n_features": 2}
    every = []
    for k in range(-2, 3):
        limit = 2.0**k / far
        scales = np.linspace(0.5, 1.0, 9) * limit / np.linalg.norm(w, ORDER[norm])
        loss = min(reference.hinge(pos, neg, a) for a in scales)
        every.append(margin_bound(loss, norm_bound=limit, rho=reference.share(0.05, k), **fixed).lower)
    assert 0.1 < bound.lower < 1
    assert bound.lower == pytest.approx(max(every), abs=5e-3)
    assert bound.lower >= max(every) - 1e-12


def test_does_not_depend_on_the_size_of_w():
    X, y = sample(2, 500, 500, lead=1.5)
    bounds = [peeled_margin_bound(X, y, np.array([c, 0.0]), diameter=2.7, rho=0.05) for c in (1e-200, 1.0, 1e200)]
    assert bounds[0].lower == pytest.approx(bounds[1].lower, rel=1e-9)
    assert bounds[2].lower == pytest.approx(bounds[1].lower, rel=1e-9)
    assert bounds[1].lower > 0


@pytest.mark.parametrize(
    ("pos", "neg", "a"),
    [
        ([1.0, 2.0], [0.0, 0.5], math.inf),  # separated
        ([1.0, 2.0], [1.0, 0.0], math.inf),  # touching: the hinge falls up to the second largest error and is then flat
        ([0.0, 1.0], [1.0, 0.0], 0.0),  # no lead
        ([0.0], [0.0], 0.0),
    ],
)
def test_best_scale_at_the_ends(pos, neg, a):
    from auclab.bounds.margin import _best_scale

    assert _best_scale(np.array(pos), np.array(neg)) == a
    most = 50.0
    best = reference.best_hinge(np.array(pos), np.array(neg), most)
    assert reference.hinge(np.array(pos), np.array(neg), min(a, most)) == pytest.approx(best)


def test_a_trivial_scorer_has_no_margin():
    X, y = sample(3)
    for coef in ([0.0, 0.0], [-1.0, 0.0]):
        bound = peeled_margin_bound(X, y, coef, diameter=3.0, rho=0.05)
        assert (bound.lower, bound.vacuous) == (0.0, True)


def test_kernel_rows_of_a_factor_are_features():
    """h = Σ β_k K(x_k, ·): with K = LLᵀ, scores Kβ = L(Lᵀβ) and ‖h‖² = βᵀKβ = ‖Lᵀβ‖². RBF: D = √2."""
    X, y = sample(4, 150, 150, lead=1.5)
    K = rbf_kernel(X, gamma=0.5)
    L = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
    beta = (2.0 * y - 1.0) / len(y)
    w = L.T @ beta
    assert np.linalg.norm(w) ** 2 == pytest.approx(beta @ K @ beta, rel=1e-6)
    bound = peeled_margin_bound(L, y, w, diameter=kernel_diameter("rbf"), rho=0.05)
    scores = K @ beta
    expected = reference.peeled_margin(
        scores[y == 1],
        scores[y == 0],
        math.sqrt(beta @ K @ beta),
        math.sqrt(2),
        0.05,
        1 / math.sqrt(150),
        levels=range(-1, 3),
    )
    assert expected > 0
    assert bound.lower == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("kernel", "options", "function"),
    [
        ("rbf", {}, lambda X: np.exp(-((X[:, None] - X[None]) ** 2).sum(2))),
        ("laplacian", {}, lambda X: np.exp(-abs(X[:, None] - X[None]).sum(2))),
        ("cosine", {}, lambda X: (X @ X.T) / np.linalg.norm(X, axis=1)[:, None] / np.linalg.norm(X, axis=1)),
        ("linear", {"radius": 1.5}, lambda X: X @ X.T),
        ("polynomial", {"radius": 1.5, "degree": 2}, lambda X: (X @ X.T + 1) ** 2),
        ("polynomial", {"radius": 1.5, "degree": 3}, lambda X: (X @ X.T + 1) ** 3),
        ("polynomial", {"radius": 1.5, "degree": 3, "coef0": 9.0}, lambda X: (X @ X.T + 9) ** 3),
    ],
)
def test_kernel_diameter_is_never_exceeded(kernel, options, function):
    angle = np.linspace(0, 2 * np.pi, 60)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X = np.concatenate([1.5 * circle, 0.7 * circle, 1e-3 * circle])
    K = function(X)
    apart = np.sqrt(np.maximum(np.diag(K)[:, None] + np.diag(K) - 2 * K, 0)).max()
    diameter = kernel_diameter(kernel, **options)
    assert apart <= diameter * (1 + 1e-9)
    assert diameter <= 1.5 * apart


def test_observed_radii_cover_all_pairs():
    X, y = sample(5)
    for norm, order in DUAL.items():
        apart = np.linalg.norm(X[y == 1][:, None] - X[y == 0][None], order, axis=2).max()
        assert apart <= sum(observed_radii(X, y, norm)) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"norm": "l1"}, "n_features"),
        ({"norm": "l3"}, "l3"),
        ({"norm_bound": -1.0}, "norm_bound"),
        ({"diameter": math.inf}, "diameter"),
        ({"n_pos": 0}, "n_pos=0"),
        ({"n_pos": 2.5}, "whole"),
        ({"rho": math.nan}, "rho"),
        ({"empirical_loss": -0.1}, "empirical_loss"),
    ],
)
def test_refuses(changes, words):
    arguments = {"empirical_loss": 0.1, "norm_bound": 1.0, "diameter": 1.0, "n_pos": 9, "n_neg": 9, "rho": 0.05}
    arguments |= changes
    with pytest.raises(AuclabError, match=words):
        margin_bound(arguments.pop("empirical_loss"), **arguments)


def test_a_diameter_the_sample_contradicts():
    X, y = sample(6)
    with pytest.raises(AuclabError, match="too small"):
        peeled_margin_bound(X, y, [1.0, 0.0], diameter=0.5, rho=0.05)


@pytest.mark.parametrize("call", [lambda: kernel_diameter("rbff"), lambda: kernel_diameter("linear")])
def test_kernels_refused(call):
    with pytest.raises(AuclabError, match="kernel"):
        call()


@pytest.mark.parametrize("shift", [-0.5, 0.0, 1.5])
def test_the_shifted_bound_holds_for_generalised_bauc(shift):
    """On a law of few atoms the truth is exact: the largest deviation over a grid of w stays below the slack."""
    random, n, rho, limit = np.random.default_rng(3), 60, 0.2, 1.0
    atoms, diameter = np.array([-0.5, 0.0, 0.5]), 1.0
    pos_law, neg_law = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2])
    weights = np.linspace(-limit, limit, 41)
    hinges = np.maximum(1.0 + shift - weights[:, None, None] * np.subtract.outer(atoms, atoms), 0.0)
    risk = np.einsum("wij,i,j->w", hinges, pos_law, neg_law)
    failures = 0
    for _ in range(200):
        pos, neg = random.multinomial(n, pos_law) / n, random.multinomial(n, neg_law) / n
        loss = np.einsum("wij,i,j->w", hinges, pos, neg)
        options = {"norm_bound": limit, "diameter": diameter, "n_pos": n, "n_neg": n, "rho": rho, "shift": shift}
        failures += any(margin_bound(each, **options).lower > 1.0 - r for each, r in zip(loss, risk, strict=True))
        if shift > 0.0:  # bAUC_z at a = 1, z = −shift is at least one minus the risk
            points = np.subtract.outer(atoms, atoms).ravel()
            share = np.outer(pos_law, neg_law).ravel()
            assert 1.0 - bpoe(-points * weights[-1], -shift, sample_weight=share) >= 1.0 - risk[-1] - 1e-12
    assert failures <= 0.2 * 200


def test_a_shift_below_minus_one_is_refused():
    with pytest.raises(AuclabError, match="shift"):
        margin_bound(0.1, norm_bound=1.0, diameter=1.0, n_pos=9, n_neg=9, rho=0.1, shift=-2.0)
