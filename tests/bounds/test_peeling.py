"""Peeled stability against its twin; what it may and may not depend on."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference_bounds as reference
from auclab import RankSVM, solve
from auclab._core.base import AuclabError
from auclab.bounds import pairwise_stability_bound, peeled_stability_bound
from auclab.bounds.peeling import level_share


def sample(seed=0, n_pos=40, n_neg=60, lead=0.6):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n_pos + n_neg, 2))
    X[:n_pos, 0] += lead
    return X, np.repeat([1, 0], [n_pos, n_neg])


def test_shares_sum_to_rho():
    """Σ_{|k|≤K} = ρ (1 − (4/3)/(K + 2)) in closed form."""
    assert sum(level_share(0.3, k) for k in range(-98, 99)) == pytest.approx(0.3 * (1 - 4 / 3 / 100), rel=1e-12)


@given(
    seed=st.integers(0, 99),
    penalty=st.floats(-3, 3).map(lambda e: 10.0**e),
    rho=st.floats(0.001, 0.9),
    a0=st.floats(0.1, 10),
    r=st.sampled_from([2.0, 1.0]),
)
def test_equals_all_levels_over_all_pairs(seed, penalty, rho, a0, r):
    X, y = sample(seed)
    w = np.array([1.0, 0.2]) / (2 * penalty)
    far = np.linalg.norm(X[y == 1][:, None] - X[y == 0][None], axis=2).max() * 2
    bound = peeled_stability_bound(X, y, w, diameter=far, penalty=penalty, rho=rho, a0=a0, strong_convexity=r)
    scores = X @ w
    expected = reference.peeled_stability(scores[y == 1], scores[y == 0], far, penalty, rho, a0, r)
    assert bound.lower == pytest.approx(expected, abs=1e-9)
    assert bound.vacuous == (bound.lower <= 0)


def test_not_vacuous_where_there_is_enough_data_and_then_the_twin_agrees():
    X, y = sample(1, 2000, 2500, lead=1.5)
    scores = X[:, 0] * 0.5
    bound = peeled_stability_bound(X, y, [0.5, 0.0], diameter=2.7, penalty=3.0, rho=0.05)
    expected = reference.peeled_stability(scores[y == 1], scores[y == 0], 2.7, 3.0, 0.05, levels=range(-2, 4))
    assert bound.lower == pytest.approx(expected, rel=1e-9)
    assert 0 < bound.lower < 1
    assert not bound.vacuous


def test_costs_something_against_a_scale_fixed_in_advance():
    """At the level it picks, it is the pairwise bound with ρ_k in place of ρ."""
    X, y = sample(1, 2000, 3000, lead=1.5)
    w = np.array([0.5, 0.0])
    bound = peeled_stability_bound(X, y, w, diameter=2.7, penalty=3.0, rho=0.05)
    fixed = {"diameter": 2.7, "penalty": 3.0, "n_pos": 2000, "n_neg": 3000}
    scores = X @ w
    every = [
        pairwise_stability_bound(
            reference.hinge(scores[y == 1], scores[y == 0], 2.0**k), 2.0**k, rho=level_share(0.05, k), **fixed
        ).lower
        for k in range(-3, 5)
    ]
    assert bound.lower == pytest.approx(max(every), rel=1e-12)


@pytest.mark.parametrize("a", [0.7, 1.0, 1.9999999, 2.0, 3.3])
def test_between_levels_convexity_interpolates(a):
    X, y = sample(2)
    arguments = {"diameter": 2.2, "penalty": 1.0, "rho": 0.1}
    w = np.array([0.4, 0.1])

    def at(scale):
        return peeled_stability_bound(X, y, w, a=scale, **arguments).lower

    k = np.floor(np.log2(a))
    low, high = 2.0**k, 2.0 ** (k + 1)
    share = (a - low) / (high - low)
    assert at(a) == pytest.approx((1 - share) * at(low) + share * at(high), rel=1e-12)
    scores = X @ w
    single = 1 - reference.hinge(scores[y == 1], scores[y == 0], low)
    single -= reference.stability_slack(low, 2.2, 1.0, 40, 60, reference.share(0.1, int(k)))
    assert at(low) == pytest.approx(single, rel=1e-12)
    assert at(a) <= peeled_stability_bound(X, y, w, **arguments).lower + 1e-12


@pytest.mark.parametrize("factor", [1e-9, 1e-140, 1e9, 1e120])
def test_units_do_not_matter(factor):
    """x → cx, w → w/c, λ → c²λ, D → cD leave every hinge and U as they are."""
    X, y = sample(3, 3000, 3000, lead=1.4)
    w = np.array([0.5, 0.0])
    plain = peeled_stability_bound(X, y, w, diameter=2.6, penalty=3.0, rho=0.05)
    scaled = peeled_stability_bound(X * factor, y, w / factor, diameter=2.6 * factor, penalty=3.0 * factor**2, rho=0.05)
    assert scaled.lower == pytest.approx(plain.lower, rel=1e-9)
    assert plain.lower > 0


def test_a_common_offset_does_not_matter():
    X, y = sample(4, 2000, 2000, lead=1.5)
    X = np.round(X * 2**20) / 2**20
    plain = peeled_stability_bound(X, y, [0.5, 0.0], diameter=2.7, penalty=3.0, rho=0.05)
    moved = peeled_stability_bound(X + 2.0**30, y, [0.5, 0.0], diameter=2.7, penalty=3.0, rho=0.05)
    assert moved.lower == pytest.approx(plain.lower, rel=1e-9)


def test_sparse_and_other_labels():
    X, y = sample(5)
    arguments = {"diameter": 3.0, "penalty": 1.0, "rho": 0.1, "a": 1.5}
    plain = peeled_stability_bound(X, y, [0.3, 0.1], **arguments)
    assert peeled_stability_bound(sp.csr_matrix(X), y, [0.3, 0.1], **arguments).lower == pytest.approx(plain.lower)
    assert peeled_stability_bound(X, 2 * y - 1, [0.3, 0.1], **arguments) == plain


def test_a_gap_is_charged():
    X, y = sample(6)
    arguments = {"diameter": 3.0, "penalty": 0.5, "rho": 0.1, "a": 2.0}
    exact = peeled_stability_bound(X, y, [0.3, 0.1], **arguments)
    loose = peeled_stability_bound(X, y, [0.3, 0.1], optimality_gap=0.01, **arguments)
    # 2aD √(2ε/(λr)) = 12 √0.02
    assert loose.slack - exact.slack == pytest.approx(12 * np.sqrt(0.02), rel=1e-12)


def test_strong_convexity_keeps_a_loose_solution_near():
    """‖w − w_S‖ ≤ √(2ε/(λr)), on which the charge rests."""
    X, y = sample(7, lead=0.2)
    tight = solve(RankSVM(0.05, squared=True), X, y, solver="newton", tolerance=1e-9)
    for seed in range(20):
        w = tight.coef + np.random.default_rng(seed).normal(size=2) * 0.1
        excess = tight.formulation.value(w, 0.0, X, y) - tight.objective
        assert np.linalg.norm(w - tight.coef) <= np.sqrt(2 * excess / (0.05 * 2)) + 1e-4


def test_nothing_to_tell_apart():
    bound = peeled_stability_bound([[1.0]] * 4, [0, 1, 0, 1], [0.0], diameter=0.0, penalty=1.0, rho=0.05)
    assert (bound.lower, bound.slack, bound.vacuous) == (0.0, 0.0, True)


def test_words():
    X, y = sample(8)
    words = " | ".join(
        peeled_stability_bound(X, y, [0.1, 0.0], diameter=3.0, penalty=1.0, rho=0.05, a0=0.5).assumptions
    )
    assert "grid 2^k · 0.5 of scales was fixed before the sample was seen" in words
    assert "independent draws" in words
    assert "λ‖w‖²" in words


def test_a_coef_longer_than_any_minimiser():
    """‖w_S‖ ≤ min{1/√(2λ), D/(2λ)} = 0.5 at λ = 2, D = 3; with ε = 0.5 it may be √(0.5/2) longer."""
    X, y = sample(10)
    arguments = {"diameter": 3.0, "penalty": 2.0, "rho": 0.05}

    def is_met(w, **changes):
        words = peeled_stability_bound(X, y, w, **(arguments | changes)).assumptions
        return not any("NOT MET" in line for line in words)

    assert is_met([0.5, 0.0])
    assert not is_met([0.6, 0.0])
    assert is_met([0.6, 0.0], optimality_gap=0.5)


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 1.0, 100.0])
def test_a_solution_meets_what_is_assumed(penalty):
    X, y = sample(11)
    w = solve(RankSVM(penalty, squared=True), X, y, solver="newton").coef
    bound = peeled_stability_bound(X, y, w, diameter=2.2, penalty=penalty, rho=0.05)
    assert not any("NOT MET" in line for line in bound.assumptions)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"diameter": 0.1}, "too small"),
        ({"diameter": -1.0}, "diameter"),
        ({"penalty": 0.0}, "penalty"),
        ({"rho": 1.0}, "rho"),
        ({"a0": 0.0}, "a0"),
        ({"a": 0.0}, "a must"),
        ({"strong_convexity": 0.0}, "l1, linf"),
        ({"strong_convexity": 2.5}, "above 2"),
        ({"optimality_gap": -1.0}, "optimality_gap"),
        ({"coef": [1.0]}, "coef has shape"),
        ({"coef": [np.nan, 1.0]}, "not finite"),
        ({"coef": ["a", "b"]}, "numeric"),
        ({"y": np.ones(100)}, "two classes"),
    ],
)
def test_refuses(changes, words):
    X, y = sample(9)
    arguments = {"y": y, "coef": [0.3, 0.1], "diameter": 3.0, "penalty": 1.0, "rho": 0.05} | changes
    with pytest.raises(AuclabError, match=words):
        peeled_stability_bound(X, arguments.pop("y"), arguments.pop("coef"), **arguments)
