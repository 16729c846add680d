"""Complexity of linear classes: closed forms, draws, and their errors."""

import math

import numpy as np
import pytest

import reference_bounds as reference
from auclab._core.base import AuclabError
from auclab.bounds import linear_complexity

DUAL = {"l2": 2, "l1": np.inf, "linf": 1}
X = np.random.default_rng(0).normal(size=(9, 3))


@pytest.mark.parametrize("norm", ["l2", "l1", "linf"])
def test_rademacher_is_covered_by_every_way(norm):
    """Against all 2⁹ signs."""
    exact = 2.0 * 9 * reference.sign_complexity(X, DUAL[norm])
    for draws in (None, 500):
        found = linear_complexity(X, norm_bound=2.0, norm=norm, kind="rademacher", draws=draws, rho=1e-6)
        assert exact <= found.upper
        assert found.upper < 3 * exact
    assert found.value == pytest.approx(exact, abs=found.error)


@pytest.mark.parametrize("norm", ["l2", "l1", "linf"])
def test_gaussian_draws_agree_with_the_closed_form(norm):
    many = linear_complexity(X, norm_bound=1.0, norm=norm, draws=200_000, rho=1e-6)
    closed = linear_complexity(X, norm_bound=1.0, norm=norm)
    if norm == "linf":
        assert many.value == pytest.approx(closed.value, abs=many.error)
        assert "exact" in closed.method
    if norm == "l2":
        assert many.value - many.error <= closed.value <= 1.2 * many.value  # Jensen, in three dimensions
    if norm == "l1":
        assert closed.value == pytest.approx(many.value, abs=closed.error)  # drawn as well


def test_one_feature_is_exact():
    """sup = |Σ γ_i x_i|, normal with standard deviation ‖x‖: mean √(2/π)‖x‖ for every norm."""
    x = np.array([[3.0], [4.0]])
    for norm in ("l1", "linf", "l2"):
        found = linear_complexity(x, norm_bound=1.0, norm=norm, draws=100_000, rho=1e-6)
        assert found.value == pytest.approx(5 * math.sqrt(2 / math.pi), abs=found.error)


def test_error_is_the_one_of_the_draws():
    """Of 300 means of 20 draws, no more than ρ = 0.2 may lie below the truth by more than the error."""
    truth = linear_complexity(X, norm_bound=1.0, norm="linf").value
    found = [linear_complexity(X, norm_bound=1.0, norm="linf", draws=20, rho=0.2, seed=k) for k in range(300)]
    assert np.mean([one.upper < truth for one in found]) <= 0.2


def test_of_the_distribution():
    """In the unit ball Λ√m is never exceeded in l2; the sampled one adds what a sample may lack."""
    points = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert linear_complexity(points, norm_bound=2.0, radius=1.0).upper == pytest.approx(2 * 3.0)
    of_sample = linear_complexity(points, norm_bound=1.0, norm="linf")
    of_law = linear_complexity(points, norm_bound=1.0, norm="linf", radius=2.0, rho=0.05)
    extra = 2 * 2.0 * math.sqrt(2 / math.pi) * math.sqrt(9 * math.log(20) / 2)
    assert of_law.upper - of_sample.upper == pytest.approx(extra, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"norm": "l3"}, "l3"),
        ({"kind": "cauchy"}, "kind"),
        ({"norm_bound": -1.0}, "norm_bound"),
        ({"draws": 0}, "draws"),
        ({"rho": 1.0}, "rho"),
        ({"radius": math.nan}, "radius"),
    ],
)
def test_refuses(changes, words):
    with pytest.raises(AuclabError, match=words):
        linear_complexity(X, **({"norm_bound": 1.0} | changes))


@pytest.mark.parametrize("features", [np.ones(3), [[np.nan]], [["a"]]])
def test_refuses_features(features):
    with pytest.raises(AuclabError, match="X must"):
        linear_complexity(features, norm_bound=1.0)
