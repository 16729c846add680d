"""Models of the dual, of windows and of bundles: their optimum is that of the program, and their sums are its value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_programs as reference
from auclab import CSVM, BufferedAUC, RankSVM, solve
from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.models.bundle import Cuts, LinearMaster, minimise_model, project_on_level
from auclab.models.dual_lp import Fixed, Region, solve_dual
from auclab.models.hard_margin import all_margins, hard_margin, marginals
from auclab.models.window import solve_cone, window_around
from auclab.regularisers import norm_named
from auclab.samples.as_sample import as_sample
from programs import CONVEX, LINEAR, label, overlapping, separable

X, Y = overlapping(n_pos=6, n_neg=8)


@pytest.mark.parametrize("program", LINEAR, ids=label)
def test_the_dual_has_the_optimum_of_the_printed_primal(program):
    problem = Problem(program, as_sample(X, Y))
    point = solve_dual(program, all_margins(problem))
    assert point.status is Status.OPTIMAL
    assert point.value == pytest.approx(reference.optimal_value(program, X, Y), rel=1e-9)
    # The row duals are a primal point that attains it, and the weights are within their capacities.
    assert problem.objective(point.coef, point.intercept) == pytest.approx(point.value, rel=1e-8)
    pos, neg = marginals(problem, point.weights)
    assert pos.shape == (6,)
    assert neg.shape == (8,)
    if problem.over_pairs:
        assert pos.sum() == pytest.approx(neg.sum()) == pytest.approx(point.weights.sum())


@pytest.mark.parametrize("program", CONVEX, ids=label)
def test_the_cone_program_has_the_optimum(program):
    problem = Problem(program, as_sample(X, Y))
    margins = all_margins(problem)
    far = Region(np.zeros(3), np.full(3, 1e4))
    point = solve_cone(program, margins, Fixed(0.0, np.zeros(3)), far)
    expected = solve(program, X, Y, solver="clarabel").objective
    assert point.value == pytest.approx(expected, rel=1e-6)
    assert problem.objective(point.coef, point.intercept) == pytest.approx(expected, rel=1e-6)


def test_a_box_keeps_w_inside_and_only_raises_the_value():
    problem = Problem(BufferedAUC(), as_sample(X, Y))
    free = solve_dual(problem.program, all_margins(problem))
    box = Region(np.array([1.0, -1.0, 0.5]), np.full(3, 0.25))
    boxed = solve_dual(problem.program, all_margins(problem), region=box)
    assert (np.abs(boxed.coef - box.center) <= 0.25 + 1e-9).all()
    assert boxed.value > free.value
    assert boxed.value == pytest.approx(problem.objective(boxed.coef, 0.0), rel=1e-9)


@pytest.mark.parametrize("program", CONVEX, ids=label)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_a_window_and_the_sums_outside_it_are_the_mean_hinge(program, seed):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.1, 2.0, Y.size) if seed % 2 else None
    problem = Problem(program, as_sample(np.round(X, 1), Y, weight))
    coef, intercept = rng.normal(size=3), float(rng.normal())
    window = window_around(problem, coef, intercept, int(rng.integers(1, 30)))
    fixed, shift = window.fixed(problem), 1.0 - program.threshold * norm_named(program.regulariser.name)(coef)
    signs = 0.0 if window.margins.signs is None else window.margins.signs
    undecided = np.maximum(shift - window.margins.directions @ coef - signs * intercept, 0.0)
    decided = shift * fixed.total - fixed.gradient @ coef - fixed.balance * intercept
    assert decided + window.margins.capacity @ undecided == pytest.approx(
        problem.objective(coef, intercept) - program.regulariser.value(coef), rel=1e-10, abs=1e-12
    )


@pytest.mark.parametrize("program", [BufferedAUC(), CSVM(0.0)], ids=label)
def test_the_hard_margin_separator_is_the_shortest(program):
    features, labels = separable()
    problem = Problem(program, as_sample(features, labels))
    found = hard_margin(problem)
    coef, intercept = found.coef, found.intercept
    margins = all_margins(problem)
    signs = 0.0 if margins.signs is None else margins.signs
    assert (margins.directions @ coef + signs * intercept).min() == pytest.approx(1.0, rel=1e-9)
    rng = np.random.default_rng(0)
    for step in np.logspace(-3, 0, 60):
        other, shift = coef + step * rng.normal(size=3), intercept + step * rng.normal()
        smallest = (margins.directions @ other + signs * shift).min()
        assert smallest <= 0 or np.linalg.norm(other) / smallest >= np.linalg.norm(coef) * (1 - 1e-9)
    assert hard_margin(Problem(program, as_sample(X, Y))) is None
    pos, neg = found.multipliers
    np.testing.assert_allclose(problem.sample.combine(pos, neg), coef, atol=1e-8)
    assert min(pos.min(), neg.min()) >= 0
    assert pos.sum() == pytest.approx(neg.sum())
    assert pos.sum() == pytest.approx(coef @ coef * (1.0 if problem.over_pairs else 0.5))


def test_a_model_of_two_cuts_by_hand():
    # loss ≥ 1 − x and loss ≥ 0.2 + x with the penalty 0.1 |x|: they meet at x = 0.4, where the value is 0.64.
    program, unit = RankSVM(0.1, "l1"), np.ones(1)
    constants, slopes = np.array([1.0, 0.2]), np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    master = LinearMaster(program, unit)
    for constant, slope in zip(constants, slopes, strict=True):
        master.add(constant, slope)
    center = np.zeros(3)
    cuts = Cuts(constants, slopes)
    for point in (master.minimise(center), minimise_model(program, unit, cuts, center)):
        assert point.value == pytest.approx(0.64, rel=1e-6)
        assert point.theta[0] == pytest.approx(0.4, rel=1e-6)
        # g = Σ weights·slope has |g| = λ: 0.55 − 0.45.
        assert point.weights == pytest.approx([0.55, 0.45], rel=1e-6)
    boxed = master.minimise(center, 0.1)
    assert boxed.boxed
    assert boxed.theta[0] == pytest.approx(0.1)
    assert boxed.value == pytest.approx(0.91)
    # The nearest point to 0 where the model is at most 0.82: 1 − 0.9 x = 0.82.
    step, _ = project_on_level(program, unit, cuts, center, 0.82, np.ones(2), 1.0)
    assert step[0] == pytest.approx(0.2, rel=1e-6)


def test_a_large_program_ends_when_it_is_told_to():
    """Ctrl-C is noted by a handler, and not raised, while HiGHS computes in another thread."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 20)), np.arange(400) % 2
    problem = Problem(BufferedAUC(), as_sample(X + 0.1 * y[:, None], y))
    point = solve_dual(problem.program, all_margins(problem), stopped=lambda: Status.INTERRUPTED)
    assert point.status is Status.FAILED
