"""Components against row and column means over all pairs, and against derivatives in the weights."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_inference as twin
import reference_metrics
from auclab import metrics
from auclab.inference.catalogue import estimable
from auclab.inference.components import Components, Observations
from strategies import WIDE, Problem, grid_problems, problems

FEW = settings(max_examples=20)  # exact arithmetic over all pairs takes milliseconds an example
PROBLEMS = st.one_of(problems(), problems(scores=WIDE))
TIES = {"strict": Fraction(0), "half": Fraction(1, 2), "upper": Fraction(1)}
#: More observations in a cell of the sigmoid or of the window than it has nodes, with ties.
CROWD = Problem([k % 7 * 0.1 + 0.01 * (k % 3) for k in range(90)], [k % 5 * 0.2 - 0.3 for k in range(70)])


def components(problem: Problem, name: str, **options) -> Components:
    observations = Observations.of(*problem.arguments, problem.sample_weight, None)
    return estimable(name, options).components(observations)


def check(problem: Problem, found: Components, means: twin.Means, scale: float = 1.0, tolerance: float = 1e-12) -> None:
    """Components, in the caller's order and without rows of weight 0, and the standard error."""
    for got, expected, weight in zip((found.pos, found.neg), means, twin.weights(problem), strict=True):
        kept = [float(e) for e, w in zip(expected, weight, strict=True) if w]
        assert got == pytest.approx(np.array(kept), abs=tolerance * scale)
    if min(found.pos.size, found.neg.size) == 1:
        assert math.isnan(found.standard_error)
        return
    exact = math.sqrt(float(twin.variance(problem, means) / Fraction(scale) ** 2)) * scale
    assert found.standard_error == pytest.approx(exact, abs=3 * tolerance * scale)


@FEW
@given(PROBLEMS, st.sampled_from(list(TIES)))
def test_auc(problem, ties):
    check(problem, components(problem, "auc", ties=ties), twin.kernel_means(problem, twin.auc_kernel(TIES[ties])))


@FEW
@given(grid_problems(weights="any"), st.integers(-3, 3).map(float))
def test_bauc_is_the_hinge_at_the_optimal_level(problem, threshold):
    found = components(problem, "bauc", threshold=threshold)
    means = twin.kernel_means(problem, twin.bauc_kernel(problem, threshold))
    steepest = max(1.0, *(abs(float(x)) for x in means[0] + means[1]))
    check(problem, found, means, steepest)


@FEW
@given(PROBLEMS)
def test_bauc_components_average_to_the_value(problem):
    found = components(problem, "bauc")
    assert found.pos @ found.share_pos == pytest.approx(found.value, abs=1e-12)
    size = max(1.0, np.abs(found.neg).max())
    assert found.neg @ found.share_neg == pytest.approx(found.value, abs=1e-12 * size)
    assert found.pos.max() <= 1.0 + 1e-15


@FEW
@given(PROBLEMS, st.sampled_from(["zero", "half"]))
def test_scored_auc(problem, ties):
    tied = Fraction(1, 2) if ties == "half" else Fraction(0)
    means = twin.kernel_means(problem, lambda p, n: tied if p == n else max(p - n, Fraction(0)))
    check(problem, components(problem, "scored_auc", ties=ties), means, spread(problem))


@FEW
@given(PROBLEMS)
def test_ferri_auc(problem):
    means = twin.kernel_means(problem, lambda p, n: (1 + p - n) / 2)
    check(problem, components(problem, "ferri_auc"), means, spread(problem))


@FEW
@given(PROBLEMS, st.sampled_from([0.5, 0.25, 3.0]), st.booleans())
def test_probabilistic_auc(problem, width, as_published):
    chosen = (
        reference_metrics.published_probabilistic_modifier if as_published else reference_metrics.probabilistic_modifier
    )
    modifier = chosen(width)
    # the printed modifier jumps, which rounded and exact differences need not agree on
    if as_published and problem.pos[0] != round(problem.pos[0]):
        return
    means = twin.kernel_means(problem, lambda p, n: modifier(p - n))
    found = components(problem, "probabilistic_auc", width=width, as_published=as_published)
    check(problem, found, means)


@FEW
@given(PROBLEMS, st.sampled_from([0.1, 1.0, 30.0]))
def test_soft_auc(problem, beta):
    means = twin.kernel_means(problem, sigmoid(beta))
    check(problem, components(problem, "soft_auc", beta=beta), means)


@pytest.mark.parametrize("beta", [0.3, 4.0, 50.0, 1e4])
def test_soft_auc_in_crowded_cells(beta):
    check(CROWD, components(CROWD, "soft_auc", beta=beta), twin.kernel_means(CROWD, sigmoid(beta)))


@pytest.mark.parametrize("width", [0.01, 0.2, 5.0])
def test_probabilistic_auc_in_crowded_windows(width):
    modifier = reference_metrics.probabilistic_modifier(width)
    found = components(CROWD, "probabilistic_auc", width=width)
    check(CROWD, found, twin.kernel_means(CROWD, lambda p, n: modifier(p - n)))


@FEW
@given(grid_problems(weights="any"))
def test_any_modifier(problem):
    found = components(problem, "gauc", modifier=lambda t: t * np.abs(t))
    check(problem, found, twin.kernel_means(problem, lambda p, n: (p - n) * abs(p - n)), spread(problem) ** 2)


#: Ends are binary fractions: at 0.3, the twin's Fraction is not the 3/10 of a rate, and its step ends inside a kink.
BANDS = st.sampled_from([(0.0, 1.0), (0.0, 0.5), (0.25, 0.75), (0.125, 0.1875), (0.5, 1.0), (0.0, 0.3125)])


@FEW
@given(problems(most=5, weights="integer"), BANDS)
def test_partial_auc_is_the_derivative_in_the_weights(problem, band):
    low, high = band
    means = twin.influence(problem, lambda moved: twin.partial_area(moved, low, high))
    check(problem, components(problem, "partial_auc", min_fpr=low, max_fpr=high, standardized=False), means)


@FEW
@given(PROBLEMS, BANDS)
def test_partial_auc_of_one_positive_is_its_component(problem, band):
    options = {"min_fpr": band[0], "max_fpr": band[1], "standardized": "mcclish"}
    found = components(problem, "partial_auc", **options)
    _, v = twin.weights(problem)
    kept = [p for p, u in zip(problem.pos, twin.weights(problem)[0], strict=True) if u]
    for component, score in zip(found.pos, kept, strict=True):
        y, s = [1] + [0] * len(problem.neg), [score, *problem.neg]
        alone = metrics.partial_auc(y, s, sample_weight=[1.0, *map(float, v)], **options)
        assert component == pytest.approx(alone, abs=1e-12)


@FEW
@given(PROBLEMS)
def test_a_full_band_has_the_components_of_auc(problem):
    whole, auc = components(problem, "partial_auc", standardized="area"), components(problem, "auc")
    assert whole.pos == pytest.approx(auc.pos, abs=1e-12)
    assert whole.neg == pytest.approx(auc.neg, abs=1e-12)


@FEW
@given(problems(most=5, weights="integer"), st.sampled_from([[1], [0, 2], [1, -3, 2]]), st.sampled_from(list(TIES)))
def test_weighted_auc_is_the_derivative_in_the_weights(problem, coefficients, ties):
    def value(moved: Problem) -> Fraction:
        return reference_metrics.weighted_auc(moved, coefficients, "average", TIES[ties])

    def weight(s):
        return np.polynomial.polynomial.polyval(s, np.array(coefficients, float))

    found = components(problem, "weighted_auc", weight=weight, ties=ties)
    check(problem, found, twin.influence(problem, value), tolerance=2e-12)


@FEW
@given(problems(weights="none", most=6).filter(lambda p: min(len(p.pos), len(p.neg)) > 1))
def test_delong_is_the_jackknife(problem):
    def auc(part: Problem) -> float:
        return metrics.auc_score(*part.arguments)

    error = components(problem, "auc").standard_error
    assert error**2 == pytest.approx(twin.jackknife_variance(problem, auc), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "options"),
    [("bauc", {}), ("bauc", {"threshold": -0.5}), ("partial_auc", {"max_fpr": 0.3, "standardized": False})],
)
def test_standard_errors_are_near_the_jackknife(name, options):
    rng = np.random.default_rng(7)
    problem = Problem(rng.normal(1.5, 1, 60).tolist(), rng.normal(0, 1, 80).tolist())
    estimated = estimable(name, options)
    brute = twin.jackknife_variance(problem, lambda part: estimated.function(*part.arguments, **options))
    assert components(problem, name, **options).standard_error == pytest.approx(math.sqrt(brute), rel=0.05)


def test_delong_by_hand():
    """Positives 0, negatives ±1 in equal numbers m: V10 = ½, V01 = 0 or 1, so SE² = ¼·2m/(2m − 1)/(2m)."""
    found = components(Problem([0.0] * 5, [-1.0] * 4 + [1.0] * 4), "auc")
    assert found.value == 0.5
    assert found.standard_error**2 == pytest.approx(0.25 / 7)


def spread(problem: Problem) -> float:
    """Size of the differences."""
    scores = problem.pos + problem.neg
    return max(1.0, max(scores) - min(scores))


def sigmoid(beta: float) -> twin.Kernel:
    return lambda p, n: Fraction(reference_metrics.sigmoid(float((p - n) * Fraction(beta))))
