"""Buffered AUC and its companions against exact rational arithmetic over all pairs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from auclab._core.base import AuclabError
from auclab.metrics import auc_score, auc_threshold, bauc_score, bpoe, broc_curve, buffered_auc, ranking_superquantile
from strategies import GRID, WIDE, grid_problems, problems

# a z that differs from the mean error by less than 30 digits counts as equal to it, hence no z of 10⁻²³²
THRESHOLDS = st.one_of(st.just(0.0), st.integers(-4, 4).map(float), st.floats(-3, 3).map(lambda z: round(z, 9)))


@given(st.one_of(problems(), problems(scores=WIDE)), THRESHOLDS, st.data())
def test_value_is_the_minimum_over_gamma(problem, z, data):
    if data.draw(st.booleans(), label="z is an error or next to one"):
        z = data.draw(st.sampled_from([n - p for n in problem.neg for p in problem.pos]))
        if z != 0.0:
            z = data.draw(st.sampled_from([z, float(np.nextafter(z, np.inf)), float(np.nextafter(z, -np.inf))]))
    expected = reference.buffered(problem.errors, z)
    options = {"threshold": z, "sample_weight": problem.sample_weight}
    value = bauc_score(*problem.arguments, **options)
    result = buffered_auc(*problem.arguments, **options)
    assert value == pytest.approx(float(1 - expected.bpoe), abs=1e-15)
    assert result.value == pytest.approx(value, abs=2e-16)
    assert np.isnan(result.gamma_left) == (expected.gamma_left is None)


@given(grid_problems(weights="integer"), st.integers(-4, 4).map(float))
def test_minimisers_and_areas_are_exact_on_a_grid(problem, z):
    expected = reference.buffered(problem.errors, z)
    result = buffered_auc(*problem.arguments, threshold=z, sample_weight=problem.sample_weight)
    if expected.gamma_left is None:
        assert result.value == float(1 - expected.bpoe)
        assert all(
            np.isnan([result.gamma_left, result.gamma_right, result.theta, result.area_closed, result.area_open])
        )
        return
    assert result.gamma_left == expected.gamma_left
    assert result.gamma_right == expected.gamma_right
    assert result.area_closed == float(expected.area_closed)
    assert result.area_open == float(expected.area_open)
    assert result.theta == pytest.approx(float(expected.theta), abs=1e-15)
    assert (result.theta == 1.0) == (expected.gamma_left < expected.gamma_right)


@given(problems(), THRESHOLDS)
def test_areas_enclose_the_value(problem, z):
    result = buffered_auc(*problem.arguments, threshold=z, sample_weight=problem.sample_weight)
    if np.isnan(result.gamma_left):
        return
    assert result.area_open - 1e-15 <= result.value <= result.area_closed + 1e-15
    atom = result.area_closed - result.area_open
    assert result.value == pytest.approx(result.area_open + result.theta * atom, abs=1e-15)


@given(problems(), THRESHOLDS)
def test_gamma_is_one_of_the_differences(problem, z):
    result = buffered_auc(*problem.arguments, threshold=z, sample_weight=problem.sample_weight)
    if np.isnan(result.gamma_left):
        return
    differences = np.subtract.outer(problem.neg, problem.pos)
    assert result.gamma_left in differences
    assert result.gamma_right in differences
    assert result.gamma_left <= result.gamma_right < z


@given(problems(), THRESHOLDS)
def test_area_under_the_step_curve_is_the_closed_area(problem, z):
    options = {"threshold": z, "sample_weight": problem.sample_weight}
    result = buffered_auc(*problem.arguments, **options)
    if np.isnan(result.gamma_left):
        with pytest.raises(AuclabError, match="no curve"):
            broc_curve(*problem.arguments, **options)
        return
    fpr, tpr, gamma = broc_curve(*problem.arguments, **options)
    assert gamma == result.gamma_left
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0.0, 0.0, 1.0, 1.0)
    steps = np.stack([np.diff(fpr), np.diff(tpr)])
    assert (steps >= 0).all()
    assert ((steps > 0).sum(axis=0) == 1).all()  # every edge goes up or right, none is empty
    assert np.trapezoid(tpr, fpr) == pytest.approx(result.area_closed, abs=2e-15)


@given(problems(), st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)))
def test_superquantile_of_the_errors(problem, level):
    expected = float(reference.superquantile(problem.errors, level))
    value = ranking_superquantile(*problem.arguments, level, sample_weight=problem.sample_weight)
    assert value == pytest.approx(expected, abs=1e-13)


@given(problems())
def test_auc_threshold_turns_bauc_into_the_strict_auc(problem):
    y, s = problem.arguments
    weight = problem.sample_weight
    z0 = auc_threshold(y, s, sample_weight=weight)
    assert z0 == pytest.approx(float(reference.mean_at_or_above_zero(problem.errors)), rel=1e-15, abs=0)
    strict = auc_score(y, s, ties="strict", sample_weight=weight)
    if any(x >= 0 for x, _ in problem.errors):
        assert bauc_score(y, s, threshold=z0, sample_weight=weight) == pytest.approx(strict, abs=1e-15)
    else:
        assert z0 == 0.0
        assert bauc_score(y, s, threshold=z0, sample_weight=weight) == 1.0


@given(problems())
def test_is_a_lower_bound_of_the_strict_auc(problem):
    y, s = problem.arguments
    weight = problem.sample_weight
    value = bauc_score(y, s, sample_weight=weight)
    strict = auc_score(y, s, ties="strict", sample_weight=weight)
    assert value <= strict + 1e-15
    assert strict <= auc_score(y, s, sample_weight=weight) <= auc_score(y, s, ties="upper", sample_weight=weight)
    mean = sum(x * w for x, w in problem.errors)
    assert (value > 0) == (mean < 0)


@given(problems(), THRESHOLDS, st.floats(0, 3))
def test_does_not_decrease_in_the_threshold(problem, z, step):
    options = {"sample_weight": problem.sample_weight}
    low = bauc_score(*problem.arguments, threshold=z, **options)
    assert low <= bauc_score(*problem.arguments, threshold=z + step, **options) + 1e-14


@given(grid_problems(weights="integer"), THRESHOLDS, st.sampled_from([2.0**-500, 0.25, 8.0, 2.0**500]))
def test_scales_with_the_scores(problem, z, factor):
    y, s = problem.arguments
    options = {"sample_weight": problem.sample_weight}
    plain = buffered_auc(y, s, threshold=z, **options)
    scaled = buffered_auc(y, s * factor, threshold=z * factor, **options)
    assume(z == 0.0 or abs(z) > 1e-100)
    assert scaled.value == plain.value
    np.testing.assert_equal(
        [scaled.theta, scaled.gamma_left / factor, scaled.gamma_right / factor],
        [plain.theta, plain.gamma_left, plain.gamma_right],
    )


@given(problems(scores=GRID), THRESHOLDS, st.integers(-1000, 1000))
def test_a_shift_of_the_scores_changes_nothing(problem, z, shift):
    y, s = problem.arguments
    weight = problem.sample_weight
    assert bauc_score(y, s + shift, threshold=z, sample_weight=weight) == pytest.approx(
        bauc_score(y, s, threshold=z, sample_weight=weight), abs=1e-15
    )


@given(grid_problems(weights="integer"), THRESHOLDS)
def test_integer_weights_are_repeated_rows_and_zero_weights_absent_ones(problem, z):
    y, s = problem.arguments
    weight = np.ones(y.size, int) if problem.sample_weight is None else problem.sample_weight.astype(int)
    rows = np.repeat(y, weight), np.repeat(s, weight)
    assert bauc_score(y, s, threshold=z, sample_weight=weight) == pytest.approx(
        bauc_score(*rows, threshold=z), abs=1e-15
    )
    weighted, repeated = (
        buffered_auc(y, s, threshold=z, sample_weight=weight),
        buffered_auc(*rows, threshold=z),
    )
    np.testing.assert_equal(
        [weighted.gamma_left, weighted.gamma_right, weighted.area_closed, weighted.area_open],
        [repeated.gamma_left, repeated.gamma_right, repeated.area_closed, repeated.area_open],
    )
    assert auc_threshold(y, s, sample_weight=weight) == auc_threshold(*rows)
    if not np.isnan(repeated.gamma_left):
        for ours, theirs in zip(
            broc_curve(y, s, threshold=z, sample_weight=weight), broc_curve(*rows, threshold=z), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)


@given(problems(weights="none"), THRESHOLDS)
def test_duplicating_every_row_changes_nothing(problem, z):
    y, s = problem.arguments
    twice = np.tile(y, 2), np.tile(s, 2)
    assert bauc_score(*twice, threshold=z) == pytest.approx(bauc_score(y, s, threshold=z), abs=1e-14)
    assert ranking_superquantile(*twice, 0.3) == pytest.approx(ranking_superquantile(y, s, 0.3), abs=1e-13)


@given(problems(weights="none", scores=GRID), THRESHOLDS)
def test_is_one_minus_bpoe_of_the_list_of_errors(problem, z):
    y, s = problem.arguments
    errors = np.subtract.outer(problem.neg, problem.pos).ravel()
    assert bauc_score(y, s, threshold=z) == pytest.approx(1 - bpoe(errors, z), abs=1e-15)


@pytest.mark.parametrize("n_pos", [1, 300, 20_000])
def test_large_samples_agree_with_their_errors_listed(n_pos):
    """Above 2¹⁵ scores the search starts from a thinned-out problem; 20000 · 4 errors can still be listed."""
    rng = np.random.default_rng(3)
    pos, neg = rng.normal(size=n_pos) + 1, rng.normal(size=80_000 // n_pos if n_pos > 1 else 40_000)
    pos, neg = pos - pos.mean() + 1, neg - neg.mean()
    y, s = np.repeat([1, 0], [pos.size, neg.size]), np.concatenate([pos, neg])
    errors = np.subtract.outer(neg, pos).ravel()
    for z in (-0.3, 0.0, 0.7):
        result = buffered_auc(y, s, threshold=z)
        descending = np.sort(errors)[::-1]
        k = int(np.flatnonzero(np.cumsum(descending - z) < 0)[0])
        assert result.gamma_left == descending[k]
        assert bauc_score(y, s, threshold=z) == pytest.approx(1 - bpoe(errors, z), abs=1e-13)
        assert result.area_closed == pytest.approx(np.mean(errors <= result.gamma_left), abs=1e-15)


@pytest.mark.parametrize("step", [1.0, 2.0**-12, 2.0**-30])
def test_large_weighted_samples_with_ties(step):
    """Multiples of a step with whole weights: sums over the 160,000 errors are exact, from few levels to many."""
    rng = np.random.default_rng(4)
    n, p = (np.round(rng.normal(size=size) / step) * step for size in (40_000, 4))
    p += 1.0 - p.min() + n.mean().round()
    v, u = rng.integers(0, 4, n.size), rng.integers(1, 4, p.size)
    y, s, w = np.repeat([1, 0], [4, n.size]), np.concatenate([p, n]), np.concatenate([u, v])
    errors, weight = np.subtract.outer(n, p).ravel(), np.outer(v, u).ravel()
    order = np.argsort(-errors, kind="stable")
    errors, weight = errors[order], weight[order]
    for z in (-0.5, 0.0, 0.25):
        k = int(np.flatnonzero(np.cumsum(weight * (errors - z)) < 0)[0])
        level = errors[k]
        result = buffered_auc(y, s, threshold=z, sample_weight=w)
        assert result.gamma_left == level
        above = errors > level
        tail = weight[above].sum() + (weight * (errors - z))[above].sum() / (z - level)
        assert result.value == pytest.approx(1 - tail / weight.sum(), abs=1e-14)
        assert result.area_closed == pytest.approx(weight[~above].sum() / weight.sum(), abs=1e-15)
        assert result.area_open == pytest.approx(weight[errors < level].sum() / weight.sum(), abs=1e-15)
        assert bauc_score(y, s, threshold=z, sample_weight=w) == pytest.approx(result.value, abs=2e-16)


def test_exact_to_the_last_digits_on_an_offset():
    """Scores at 10⁹ with spread 1: sums of raw scores keep seven digits, the value has all of them."""
    rng = np.random.default_rng(5)
    pos, neg = 1e9 + rng.normal(size=16) + 0.7, 1e9 + rng.normal(size=18)
    expected = 1 - reference.buffered(reference.pair_errors(pos, neg), 0.0).bpoe
    y, s = np.repeat([1, 0], [16, 18]), np.concatenate([pos, neg])
    assert bauc_score(y, s) == pytest.approx(float(expected), rel=4e-16)
    assert bauc_score(1 - y, -s) == pytest.approx(float(expected), rel=4e-16)


class TestTable:
    """The degenerate cases one by one; every number can be had by hand."""

    def test_errors_with_two_atoms(self):
        """ξ = −1 six times, +1 four times: the tail of mean 0 is 8 of 10, the curve counts 6 as right."""
        y, s = [0] + [1] * 10, [0.0] + [1.0] * 6 + [-1.0] * 4
        result = buffered_auc(y, s)
        assert (result.value, result.area_closed, result.area_open) == (0.2, 0.6, 0.0)
        assert result.theta == pytest.approx(1 / 3, abs=1e-16)
        assert (result.gamma_left, result.gamma_right) == (-1.0, -1.0)

    def test_hundred_errors(self):
        """30 errors of sum 1, the next one −1: AUC 0.70, bAUC 0.69, and the interval is not a point."""
        errors = np.concatenate([-2.0 - np.arange(69), [-1.0], np.full(29, 1 / 32), [3 / 32]])
        assert errors[70:].sum() == 1.0
        y, s = [0] + [1] * 100, np.concatenate([[0.0], -errors])
        assert auc_score(y, s, ties="strict") == 0.70
        result = buffered_auc(y, s)
        assert result.value == 0.69
        assert (result.gamma_left, result.gamma_right) == (-2.0, -1.0)
        assert result.theta == 1.0
        assert result.area_closed == 0.69

    @pytest.mark.parametrize(
        ("pos", "neg", "value"),
        [
            ([2.0, 3.0], [0.0, 1.0], 1.0),  # separated
            ([1.0, 1.0, 3.0], [0.0, 1.0], 4 / 6),  # touching: two of six pairs tied at the largest error
            ([1.0], [1.0], 0.0),  # constant
            ([1.0, 2.0], [1.0, 2.0], 0.0),  # identical classes
            ([0.0], [1.0], 0.0),  # reversed
            ([1.0] * 9 + [-9.0], [0.0], 0.0),  # AUC 0.9, yet the means coincide
        ],
    )
    def test_value_at_zero(self, pos, neg, value):
        y, s = np.repeat([1, 0], [len(pos), len(neg)]), pos + neg
        assert bauc_score(y, s) == value
        assert np.isnan(buffered_auc(y, s).gamma_left)

    @pytest.mark.parametrize(("z", "value"), [(-2.0, 0.0), (-1.0, 0.0), (-0.999, 1.0), (0.0, 1.0)])
    def test_one_score_in_each_class(self, z, value):
        assert bauc_score([1, 0], [1.0, 0.0], threshold=z) == value

    def test_at_the_largest_error(self):
        y, s = [1, 1, 0, 0], [3.0, 1.0, 2.0, 0.0]  # errors −3, −1, −1, 1
        assert bauc_score(y, s, threshold=1.0) == 0.75
        assert bauc_score(y, s, threshold=np.nextafter(1.0, 2.0)) == 1.0
        assert bauc_score(y, s, threshold=np.nextafter(1.0, 0.0)) == pytest.approx(0.75, abs=1e-15)

    def test_at_the_largest_rounded_difference(self):
        """z = 0.3 − 0.1 as doubles subtract them is the largest error, whatever the exact difference is."""
        y, s = [1, 1, 0], [0.1, 0.2, 0.3]
        assert bauc_score(y, s, threshold=0.3 - 0.1) == 0.5

    def test_thresholds_far_outside(self):
        tiny = [1e-300, 0.0]
        assert bauc_score([1, 0], tiny, threshold=1e300) == 1.0
        assert bauc_score([1, 0], tiny, threshold=-1e300) == 0.0

    def test_no_wrong_pair_has_threshold_zero(self):
        assert auc_threshold([1, 0], [1.0, 0.0]) == 0.0

    def test_ties_at_zero_only(self):
        y, s = [1, 1, 0], [1.0, 0.0, 0.0]
        assert auc_threshold(y, s) == 0.0
        assert bauc_score(y, s, threshold=0.0) == auc_score(y, s, ties="strict") == 0.5

    def test_rows_without_weight_do_not_set_the_largest_error(self):
        y, s = [1, 1, 0, 0], [1.0, -5.0, 0.0, 9.0]
        assert bauc_score(y, s, sample_weight=[1, 0, 1, 0]) == 1.0

    def test_tiny_weights(self):
        y, s = [0] + [1] * 10, [0.0] + [1.0] * 6 + [-1.0] * 4
        assert bauc_score(y, s, sample_weight=np.full(11, 1e-200)) == pytest.approx(0.2, abs=1e-16)


@pytest.mark.parametrize(
    ("y", "s", "options", "words"),
    [
        ([1, 1], [0.1, 0.2], {}, "two classes"),
        ([0, 1], [0.1, np.inf], {}, "finite"),
        ([0, 1], [0.1, np.nan], {}, "finite"),
        ([0, 1], [0.1, 0.2], {"threshold": np.inf}, "threshold"),
        ([0, 1], [0.1, 0.2], {"sample_weight": [0, 1]}, "negative class"),
        ([0, 1], [-1.7e308, 1.7e308], {}, "largest double"),
    ],
)
def test_refuses_what_has_no_differences(y, s, options, words):
    with pytest.raises(AuclabError, match=words):
        bauc_score(y, s, **options)


def test_error_without_a_curve_says_which_side():
    with pytest.raises(AuclabError, match=r"no curve: no error exceeds.*bAUC is 1.0"):
        broc_curve([1, 0], [1.0, 0.0])
    with pytest.raises(AuclabError, match=r"no curve: the mean error.*bAUC is 0.0"):
        broc_curve([1, 0], [0.0, 1.0])


def test_importing_the_metrics_loads_nothing_heavy():
    heavy = "matplotlib", "mlflow", "cvxpy", "pyomo", "hydra", "sklearn", "pandas"
    code = f"import sys, auclab.metrics; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
