"""The certificate: a bound on every w, from multipliers that any transport plan could have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_programs as reference
from auclab import BufferedAUC, Certificate, RankSVM, Solution, solve
from auclab._core.base import Status
from auclab._core.hinge import transport_factor
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.certificate import certify
from auclab.solvers.solution import RawSolution
from auclab.solvers.verification import verify
from programs import CONVEX, label, overlapping


@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_transport_factor_is_the_largest_feasible_one(seed, weighted):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 6, 2)
    share_pos, share_neg = (rng.uniform(0.2, 1, k) if weighted else np.ones(k) for k in (rows, columns))
    share_pos, share_neg = share_pos / share_pos.sum(), share_neg / share_neg.sum()
    pos = rng.uniform(0, 1, rows) * share_pos * rng.integers(0, 2, rows)
    neg = rng.uniform(0, 1, columns) * share_neg
    if pos.sum() == 0:
        return
    pos, neg = pos / pos.sum(), neg / neg.sum()
    factor = transport_factor(pos, neg, share_pos, share_neg)
    capacity = np.outer(share_pos, share_neg)
    assert reference.transport_exists(factor * (1 - 1e-6) * pos, factor * (1 - 1e-6) * neg, capacity)
    if factor < 1:
        assert not reference.transport_exists(factor * (1 + 1e-4) * pos, factor * (1 + 1e-4) * neg, capacity)


@pytest.mark.slow
@pytest.mark.parametrize("program", CONVEX, ids=label)
@given(seed=st.integers(0, 10_000))
def test_no_multipliers_whatever_prove_a_bound_above_the_optimum(program, seed):
    """Weak duality: random junk as multipliers must never give a bound above the true optimum."""
    X, y = overlapping(12)
    problem = Problem(program, as_sample(X, y))
    best = _OPTIMA.setdefault(label(program), solve(program, X, y, solver="clarabel"))
    rng = np.random.default_rng(seed)
    noise = rng.choice([0.0, 1e-3, 0.3, 3.0])
    true = best.multipliers
    junk = np.abs(true * (1 + noise * rng.normal(size=true.size)) + noise / true.size * rng.normal(size=true.size))
    certificate, _ = certify(
        problem, best.coef, best.intercept, (junk[problem.sample.positive], junk[~problem.sample.positive])
    )
    assert certificate.lower_bound <= best.objective * (1 + 1e-9) + 1e-12


_OPTIMA: dict = {}


def test_feasible_multipliers_stay_as_they_are():
    X, y = overlapping(13)
    problem = Problem(RankSVM(0.05, "l1"), as_sample(X, y))
    solution = solve(problem.program, X, y)
    pos, neg = solution.multipliers[y == 1], solution.multipliers[y == 0]
    repaired = problem.program.comparisons.feasible(problem.sample, pos, neg)
    np.testing.assert_allclose(repaired[0], pos, rtol=1e-12)
    np.testing.assert_allclose(repaired[1], neg, rtol=1e-12)
    assert pos.sum() == pytest.approx(neg.sum(), rel=1e-12)


def test_a_claim_of_a_solver_is_verified():
    X, y = overlapping(14)
    problem = Problem(BufferedAUC(), as_sample(X, y))
    true = solve(BufferedAUC(), X, y)
    half = (0.5 * true.multipliers[y == 1], 0.5 * true.multipliers[y == 0])
    claim = RawSolution(true.coef * 1.1, 0.0, Status.OPTIMAL, half)
    verified = verify(problem, claim, "boaster", 1e-6)
    assert verified.status is Status.ITERATION_LIMIT
    assert verified.gap > 0.4
    assert verify(problem, RawSolution(true.coef, 0.0, Status.OPTIMAL), "silent", 1e-6).status is Status.ITERATION_LIMIT
    nowhere = verify(problem, RawSolution(np.full(3, np.nan), 0.0, Status.OPTIMAL), "lost", 1e-6)
    assert nowhere.status is Status.FAILED
    assert nowhere.objective == 1.0


def test_a_limit_is_never_called_optimal():
    X, y = overlapping(15, 60, 80, 10)
    for options in (
        {"solver": "scs", "max_iters": 5},
        {"solver": "clarabel", "time_limit": 1e-9},
        {"solver": "highs", "encoding": "full", "time_limit": 1e-9},
        {"solver": "highs", "encoding": "dual", "time_limit": 1e-9},
        {"solver": "highs", "encoding": "aggregated", "time_limit": 1e-9},
    ):
        solution = solve(BufferedAUC(), X, y, **options)
        assert solution.status in (Status.TIME_LIMIT, Status.ITERATION_LIMIT), options
        assert np.isfinite(solution.coef).all()
        assert solution.objective <= 1.5 or options["solver"] == "scs"


def test_the_bound_of_a_homogeneous_program_names_its_radius():
    X, y = overlapping(16)
    certificate = solve(BufferedAUC(), X, y, solver="clarabel").certificate
    assert certificate.dual_residual < 1e-9
    assert certificate.norm_bound > 1.0
    assert solve(RankSVM(0.05), X, y).certificate.norm_bound == np.inf


def test_gap_and_residual_are_what_the_docstring_says():
    # Positive 3, negative 0, λ = 1: with the full pair ‖Σ q d‖ = 3, so the multipliers violate the constraint by 2 and
    # are scaled by ⅓ to meet it; the bound is ⅓, and at w = ½ the objective is 0 + ½.
    problem = Problem(RankSVM(1.0), as_sample([[3.0], [0.0]], [1, 0]))
    certificate, multipliers = certify(problem, np.array([0.5]), 0.0, (np.ones(1), np.ones(1)))
    assert certificate.dual_residual == pytest.approx(2.0)
    assert certificate.lower_bound == pytest.approx(1 / 3)
    assert multipliers[0] == pytest.approx(1 / 3)
    assert certificate.gap == pytest.approx((0.5 - 1 / 3) / 0.5)
    # Below an objective of 1e-3 the gap is absolute, in units of 1e-3.
    small, _ = certify(problem, np.array([2e-4]), 0.0, (np.zeros(1), np.zeros(1)), objective=2e-4)
    assert small.absolute_gap == pytest.approx(2e-4)
    assert small.gap == pytest.approx(0.2)
    assert "max(|objective|, 1e-3)" in Certificate.__doc__
    assert "max(|objective|, 1e-3)" in Solution.gap.__doc__
    # A squared penalty has no such constraint, and no multipliers have no residual.
    assert (
        certify(Problem(RankSVM(1.0, squared=True), problem.sample), np.ones(1), 0.0, (np.ones(1),) * 2)[
            0
        ].dual_residual
        == 0.0
    )
    assert np.isnan(certify(problem, np.ones(1), 0.0, None)[0].dual_residual)


@pytest.mark.parametrize("coef", [0.0, 0.01, 5.0])
def test_a_bound_without_a_penalty_is_charged_for_the_residual(coef):
    # Without a penalty the same multipliers violate ‖Σ q d‖ ≤ 0; the bound holds within the radius it is charged for,
    # ten times as long as w, or as one whose scores differ by 1: a short w is no sign that the optimum is.
    problem = Problem(BufferedAUC(), as_sample([[1.001], [-0.999], [1.0], [-1.0]], [1, 1, 0, 0]))
    half = np.full(2, 0.5)
    certificate, _ = certify(problem, np.array([coef]), 0.0, (half, half))
    spread = problem.sample.spread[0]
    assert certificate.dual_residual == pytest.approx(0.001 / spread)
    assert certificate.norm_bound == pytest.approx(10 * max(1.0, coef * spread))
    assert certificate.lower_bound == pytest.approx(1 - certificate.norm_bound * 0.001 / spread)
