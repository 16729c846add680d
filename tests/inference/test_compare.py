"""The paired test: antisymmetric, invariant, right by hand, and true to its level."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_inference as twin
from auclab._core.base import AuclabError
from auclab.inference import compare_pairs, compare_scorers, estimate
from auclab.metrics import ordered_pairs
from strategies import Problem, grid_problems

FEW = settings(max_examples=20)
METRICS = [
    ("auc", {}),
    ("bauc", {}),
    ("scored_auc", {}),
    ("soft_auc", {"beta": 1.0}),
    ("partial_auc", {"max_fpr": 0.4, "standardized": "area"}),
]


def scorers(seed: int, n: int = 40, gain: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], n)
    common = rng.normal(size=2 * n) + y
    return y, common + 0.7 * rng.normal(size=2 * n) + gain * y, common + 0.7 * rng.normal(size=2 * n)


@pytest.mark.parametrize(("name", "options"), METRICS)
def test_is_antisymmetric(name, options):
    y, a, b = scorers(1)
    forth, back = compare_scorers(y, a, b, name, **options), compare_scorers(y, b, a, name, **options)
    assert back.difference == -forth.difference
    assert back.standard_error == pytest.approx(forth.standard_error)
    assert back.statistic == pytest.approx(-forth.statistic)
    assert back.p_value == pytest.approx(forth.p_value)
    assert back.interval == pytest.approx((-forth.interval[1], -forth.interval[0]))
    assert back.values == forth.values[::-1]


def test_is_invariant_where_the_metric_is():
    y, a, b = scorers(2)
    found = compare_scorers(y, a, b)
    assert compare_scorers(y, np.exp(a), 5 * b + 1e6).p_value == pytest.approx(found.p_value)
    order = np.random.default_rng(3).permutation(y.size)
    assert compare_scorers(y[order], a[order], b[order]).p_value == pytest.approx(found.p_value)
    buffered = compare_scorers(y, a, b, "bauc")
    assert compare_scorers(y, 2 * a + 1, 3 * b, "bauc").p_value == pytest.approx(buffered.p_value)


@FEW
@given(grid_problems(weights="any"), st.randoms(use_true_random=False))
def test_delong_variance_of_the_difference(problem, random):
    """The kernel of the difference, over all pairs, exact."""
    other = replace(
        problem,
        pos=[p + random.choice([-2.0, 0.0, 1.0]) for p in problem.pos],
        neg=[n + random.choice([-1.0, 0.0, 2.0]) for n in problem.neg],
    )
    y, a = problem.arguments
    found = compare_scorers(y, a, other.arguments[1], sample_weight=problem.sample_weight)
    kernel = twin.auc_kernel(Fraction(1, 2))
    means = tuple(
        [x - z for x, z in zip(first, second, strict=True)]
        for first, second in zip(twin.kernel_means(problem, kernel), twin.kernel_means(other, kernel), strict=True)
    )
    if any(sum(1 for w in weight if w) == 1 for weight in twin.weights(problem)):
        assert math.isnan(found.standard_error)
    else:
        assert found.standard_error**2 == pytest.approx(float(twin.variance(problem, means)), abs=1e-14)
        assert 0.0 <= found.p_value <= 1.0
        assert found.interval[0] - 1e-12 <= found.difference <= found.interval[1] + 1e-12
    assert -1.0 <= found.interval[0] <= found.interval[1] <= 1.0


def test_the_covariance_counts():
    """The same noise in both scorers leaves less doubt than two samples would."""
    y, a, b = scorers(4)
    paired = compare_scorers(y, a, b).standard_error
    apart = math.hypot(estimate(y, a).standard_error, estimate(y, b).standard_error)
    assert paired < 0.8 * apart


@pytest.mark.slow
def test_the_test_keeps_its_level_and_sees_a_difference():
    """400 tests of true hypotheses at 5 %: 4 standard deviations up to 9.4 %; a clear difference is found."""
    for name in ("auc", "bauc"):
        p_values = [compare_scorers(*scorers(seed), name).p_value for seed in range(400)]
        assert 0.006 < np.mean(np.array(p_values) < 0.05) < 0.094
        assert compare_scorers(*scorers(5, n=200, gain=1.0), name).p_value < 1e-4


class TestNoVariation:
    y = np.repeat([1, 0], 10)

    def test_a_scorer_and_a_monotone_map_of_it(self):
        s = np.random.default_rng(6).normal(size=20)
        found = compare_scorers(self.y, s, np.exp(s))
        assert (found.difference, found.statistic, found.p_value) == (0.0, 0.0, 1.0)
        share = 1 - 0.025 ** (1 / 10)
        assert found.interval == pytest.approx((-share, share))

    def test_right_against_wrong(self):
        """Ten disjoint pairs all differ by 1; if the mean were ≤ 0, that would have a chance of 2^−10 at most."""
        found = compare_scorers(self.y, self.y, 1 - self.y)
        assert found.statistic == math.inf
        assert found.p_value == pytest.approx(2 * 0.5**10)
        assert found.interval == pytest.approx((1 - 2 * (1 - 0.025 ** (1 / 10)), 1.0))

    def test_one_observation(self):
        found = compare_scorers([1, 0, 0], [1, 2, 0], [2, 1, 0])
        assert math.isnan(found.p_value)
        assert found.interval == (-1.0, 1.0)


@pytest.mark.parametrize("method", ["bootstrap", "half_sample"])
def test_resampled(method):
    y, a, b = scorers(7, gain=0.8)
    found = compare_scorers(y, a, b, method=method, resamples=1000)
    delong = compare_scorers(y, a, b)
    assert found.difference == delong.difference
    assert found.standard_error == pytest.approx(delong.standard_error, rel=0.15)
    voros = compare_scorers(y, a, b, "voros")
    assert voros.method == "half_sample"
    assert voros.interval[0] < voros.difference < voros.interval[1]


def test_bad_requests():
    with pytest.raises(AuclabError, match="covariance"):
        compare_scorers([1, 0], [1, 2], [2, 1], method="hanley_mcneil")
    with pytest.raises(AuclabError, match="lengths differ"):
        compare_scorers([1, 0], [1, 2], [2, 1, 3])
    with pytest.raises(AuclabError, match="scores_b"):
        compare_scorers([1, 0], [1, 2], [math.nan, 1])


def test_components_follow_the_observations_not_the_order_of_the_scores():
    """B reverses the positives only: AUC is equal, the components are not."""
    problem = Problem([3.0, 1.0], [2.0, 0.0])
    y, a = problem.arguments
    found = compare_scorers(y, a, [1.0, 3.0, 2.0, 0.0])
    assert found.difference == 0.0
    assert found.standard_error**2 == pytest.approx(0.25)  # D10 = ½, −½: S² = ½, and ½/2


@pytest.mark.parametrize("name", ["scores_a", "scores_b"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([1.0, math.nan, 3.0, 4.0], "{}[1] is nan; remove or replace it"),
        ([1.0, math.inf, 3.0, 4.0], "{}[1] is inf; remove or replace it"),  # differences of it count
        ([1.0, 2.0, 3.0], "{} has 3"),
        (["a", "b", "c", "d"], "{} must be numeric"),
        ([[1.0, 2.0]] * 4, "{} must be a non-empty one-dimensional array"),
    ],
)
def test_wrong_scores_are_called_by_their_name(name, wrong, message):
    """Of two lists of scores the user must know which one is wrong."""
    y, right = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    for compare, first in ((compare_scorers, y), (compare_pairs, ordered_pairs(y))):
        scores = {"scores_a": right, "scores_b": right} | {name: wrong}
        with pytest.raises(AuclabError, match=re.escape(message.format(name))):
            compare(first, scores["scores_a"], scores["scores_b"], "bauc")
