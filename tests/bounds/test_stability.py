"""Stability bounds: derived numbers, the comparison of the two, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from auclab._core.base import AuclabError
from auclab.bounds import pairwise_stability_bound, published_stability_bound

EXAMPLE = {"penalty": 0.25, "n_pos": 2000, "n_neg": 80000, "rho": 0.01}


def published(empirical_loss=0.35, a=0.5, **changes):
    return published_stability_bound(
        empirical_loss, a, **{"radius_pos": 0.75, "radius_neg": 0.75, **EXAMPLE, **changes}
    )


def pairwise(empirical_loss=0.35, a=0.5, **changes):
    return pairwise_stability_bound(empirical_loss, a, **{"diameter": 1.5, **EXAMPLE, **changes})


def test_published_bound_of_the_example():
    """θ = 0.5 · 1.5²/(2 · 0.25 · 2000) = 0.001125, 4mθ = 369, aR/√λ = 1.5, √(ln 100/164000) = 0.00529909."""
    bound = published()
    assert bound.slack == pytest.approx(2 * 0.001125 + (369 + 1 + 1.5) * math.sqrt(math.log(100) / 164000), rel=1e-14)
    assert bound.lower == pytest.approx(-1.32, abs=0.005)
    assert bound.vacuous


def test_pairwise_bound_of_the_example():
    """2aD²/(rλ) = 4.5, s = 1/2000 + 1/80000; λ(1 + r/2) = ½, η = min(√2, 3), aDη = ¾√2, B = ¾√2 + 1."""
    s = 1 / 2000 + 1 / 80000
    bound = pairwise()
    expected = 4.5 * s + (9 + 0.75 * math.sqrt(2) + 1) * math.sqrt(s * math.log(100) / 2)
    assert bound.slack == pytest.approx(expected, rel=1e-14)
    assert bound.lower == pytest.approx(0.268, abs=0.0005)
    assert not bound.vacuous


def test_simple_range_is_one_plus_a_times_diameter_over_root_penalty():
    """B = 1 + 1.5 = 2.5 in place of ¾√2 + 1."""
    s = 1 / 2000 + 1 / 80000
    difference = pairwise(sharp=False).slack - pairwise().slack
    assert difference == pytest.approx((1.5 - 0.75 * math.sqrt(2)) * math.sqrt(s * math.log(100) / 2), rel=1e-12)


def test_short_diameter_uses_the_second_norm_bound():
    """D = 0.1, λ(1 + r/2) = ½: D/½ = 0.2 < √2, so aDη = 0.5 · 0.1 · 0.2 = 0.01 and B = 0.02."""
    s = 1 / 2000 + 1 / 80000
    move = 2 * 0.5 * 0.01 / 0.5
    expected = move * s + (2 * move + 0.02) * math.sqrt(s * math.log(100) / 2)
    assert pairwise(diameter=0.1).slack == pytest.approx(expected, rel=1e-13)


def test_lp_norms_are_told_by_their_modulus():
    """p = 1.5 has r = 1, half of that of l2: θ doubles."""
    assert published(strong_convexity=1.0).slack - published().slack == pytest.approx(
        2 * 0.001125 + 369 * math.sqrt(math.log(100) / 164000), rel=1e-12
    )


def test_pairwise_is_at_least_as_strong_where_one_class_is_rare():
    """Minority share ≤ ¼ and m ln(1/ρ) ≥ 3.2: the published inequality then follows from the proved one."""
    rng = np.random.default_rng(8)
    for _ in range(4000):
        n_pos = int(10 ** rng.uniform(0, 5))
        n_neg = int(n_pos * 10 ** rng.uniform(math.log10(3), 3)) + 1
        rho = 10 ** rng.uniform(-8, -0.01)
        if (n_pos + n_neg) * math.log(1 / rho) < 3.2:
            continue
        if rng.random() < 0.5:
            n_pos, n_neg = n_neg, n_pos
        a, radius, penalty = 10 ** rng.uniform(-3, 3, size=3)
        sizes = {"penalty": penalty, "n_pos": n_pos, "n_neg": n_neg, "rho": rho}
        proved = pairwise(a=a, diameter=radius, **sizes).slack
        assert proved <= published(a=a, radius_pos=radius, radius_neg=0.0, **sizes).slack


def test_largest_ratios_of_the_two_slacks():
    """0.88 at a minority share of a quarter, 1.33 for balanced classes, wherever m ln(1/ρ) ≥ 3.2 (derivations 8.2)."""
    rng = np.random.default_rng(11)
    largest = [0.0, 0.0]
    for draw in range(20_000):
        n_pos = int(10 ** rng.uniform(0, 5))
        n_neg = 3 * n_pos if draw % 2 == 0 else n_pos
        rho = math.exp(-3.2 * 10 ** rng.uniform(0, 1) / (n_pos + n_neg))
        a, radius, penalty = 10 ** rng.uniform(-3, 3, size=3)
        sizes = {"penalty": penalty, "n_pos": n_pos, "n_neg": n_neg, "rho": rho}
        ratio = pairwise(a=a, diameter=radius, **sizes).slack
        ratio /= published(a=a, radius_pos=radius, radius_neg=0.0, **sizes).slack
        largest[draw % 2] = max(largest[draw % 2], ratio)
    assert largest[0] == pytest.approx(0.88, abs=0.01)
    assert largest[1] == pytest.approx(1.33, abs=0.01)


def test_pairwise_is_at_most_a_third_wider_for_balanced_classes():
    rng = np.random.default_rng(9)
    ratios = []
    for _ in range(2000):
        n = int(10 ** rng.uniform(2, 6))
        a, radius, penalty = 10 ** rng.uniform(-3, 3, size=3)
        sizes = {"penalty": penalty, "n_pos": n, "n_neg": n, "rho": 0.05}
        ratios.append(
            pairwise(a=a, diameter=radius, **sizes).slack
            / published(a=a, radius_pos=radius, radius_neg=0.0, **sizes).slack
        )
    assert 1.0 < max(ratios) < 1.34


def squared_ranksvm(pos, neg, penalty):
    """Solution w of the squared RankSVM with one feature, and its mean hinge."""
    d = np.subtract.outer(pos, neg)
    w = minimize_scalar(
        lambda w: np.maximum(1 - w * d, 0).mean() + penalty * w**2, bounds=(-5, 5), options={"xatol": 1e-9}
    ).x
    return w, np.maximum(1 - w * d, 0).mean()


def test_on_overlapping_uniform_classes():
    """x⁺ uniform on [−0.3, 0.7], x⁻ on [−0.7, 0.3], so D = 1.4: the risk on fresh pairs stays below the bound, the
    solution is no larger than η, and replacing one positive moves it by no more than 2D/(rλ n_pos)."""
    rng = np.random.default_rng(10)
    penalty, diameter, n_pos, n_neg = 0.4, 1.4, 60, 80
    fresh = np.subtract.outer(rng.uniform(-0.3, 0.7, 500), rng.uniform(-0.7, 0.3, 500))
    for _ in range(20):
        pos, neg = rng.uniform(-0.3, 0.7, n_pos), rng.uniform(-0.7, 0.3, n_neg)
        w, loss = squared_ranksvm(pos, neg, penalty)
        assert abs(w) <= min(1 / math.sqrt(2 * penalty), diameter / (2 * penalty))
        bound = pairwise(loss, 1.0, diameter=diameter, penalty=penalty, n_pos=n_pos, n_neg=n_neg, rho=0.05)
        assert bound.lower <= 1 - np.maximum(1 - w * fresh, 0).mean()
        pos[0] = -0.3 if pos[0] > 0.2 else 0.7
        moved, _ = squared_ranksvm(pos, neg, penalty)
        assert abs(moved - w) <= 2 * diameter / (2 * penalty * n_pos)


def test_slack_falls_with_data_and_penalty():
    slack = pairwise().slack
    assert pairwise(n_pos=4000).slack < slack
    assert pairwise(penalty=0.5).slack < slack
    assert pairwise(rho=0.05).slack < slack
    assert pairwise(a=1.0).slack > slack


def test_assumptions_are_shown_in_words():
    for bound in (published(), pairwise()):
        words = " | ".join(bound.assumptions)
        assert "a = 0.5" in words
        assert "before the sample was seen" in words
        assert "squared" in words or "‖w‖²" in words
        assert "modulus r = 2" in words
        assert "independent draws" in words
        assert math.isnan(bound.half_width)
    assert "as published" in published().assumptions[-1]
    assert not any("as published" in words for words in pairwise().assumptions)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rho": 0.0}, "rho"),
        ({"rho": 1.0}, "rho"),
        ({"penalty": 0.0}, "penalty"),
        ({"penalty": math.nan}, "penalty"),
        ({"strong_convexity": 0.0}, "l1, linf"),
        ({"n_pos": 0}, "n_pos=0"),
        ({"a": -1.0}, "a must"),
        ({"empirical_loss": -0.1}, "empirical_loss"),
        ({"empirical_loss": math.inf}, "empirical_loss"),
    ],
)
def test_refuses(changes, words):
    for bound in (published, pairwise):
        with pytest.raises(AuclabError, match=words):
            bound(**changes)


def test_refuses_negative_lengths():
    with pytest.raises(AuclabError, match="diameter"):
        pairwise(diameter=-1.0)
    with pytest.raises(AuclabError, match="radius_neg"):
        published(radius_neg=math.inf)
