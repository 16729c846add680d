"""Where the solver that auto selected proves no optimum, others go on."""

import numpy as np
import pytest
import scipy.sparse as sp

from auclab import BufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.samples.as_sample import as_sample
from auclab.solvers import portfolio, reformulations
from auclab.solvers.monitor import Monitor
from auclab.solvers.portfolio import CANDIDATES, PROVED, combined, hand_over
from auclab.solvers.reformulations import run_solver
from auclab.solvers.solution import RawSolution
from auclab.solvers.verification import verify

TOLERANCE = 1e-6


def given(program):
    rng = np.random.default_rng(5)
    y = np.repeat([1, 0], [10, 14])
    return Problem(program, as_sample(rng.normal(size=(y.size, 3)) + 0.7 * y[:, None], y))


def attempt(problem, label, raw):
    return label, raw, verify(problem, raw, label, TOLERANCE)


@pytest.mark.parametrize("program", [RankSVM(0.05), BufferedAUC(), PartialAUC(0.5, 0.01)])
def test_another_solver_finishes(program):
    problem = given(program)
    first = attempt(problem, "highs", RawSolution.null(problem, Status.ITERATION_LIMIT))
    solution = hand_over(problem, first, TOLERANCE, Clock())
    assert solution.status in PROVED
    assert "highs ended with iteration_limit" in solution.notes[0]
    assert "went on" in solution.notes[0]


@pytest.mark.parametrize(("norm", "goes_on", "limit"), [("l2", True, 10.0), ("linf", False, 0.2)])
def test_newton_continues_cutting_planes_by_products_over_many_columns(norm, goes_on, limit, monkeypatch):
    """It refuses more than 2,000 columns with another norm, as it has no Hessian for them."""
    rng = np.random.default_rng(6)
    y = np.repeat([1, 0], [1_100, 1_300])  # more rows than columns: they are not rotated
    rows = sp.random_array((y.size, 2_100), density=0.01, rng=rng, format="csr")
    problem = Problem(RankSVM(0.01, norm=norm, squared=norm == "l2"), as_sample(rows, y))
    asked = []

    def noted(name, *args, **options):
        raw = run_solver(name, *args, **options)  # raises where the solver refuses
        asked.append(name)
        return raw

    monkeypatch.setattr(portfolio, "run_solver", noted)
    first = attempt(problem, "cutting_plane", RawSolution.null(problem, Status.ITERATION_LIMIT))
    solution = hand_over(problem, first, TOLERANCE, Clock(limit))
    assert ("newton" in asked) == goes_on
    assert solution.status is Status.OPTIMAL or not goes_on


def test_the_best_point_gets_the_best_multipliers():
    problem = given(RankSVM(0.05))
    exact = run_solver("newton", problem, Monitor(1e-9))
    point = RawSolution(exact.coef, exact.intercept, Status.ITERATION_LIMIT)  # proves nothing
    bound = RawSolution(0.9 * exact.coef, 0.0, Status.ITERATION_LIMIT, exact.multipliers)  # is not optimal
    attempts = [attempt(problem, "newton", point), attempt(problem, "clarabel", bound)]
    assert not any(solution.status in PROVED for _, _, solution in attempts)
    solution = combined(problem, attempts, TOLERANCE)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == attempts[0][2].objective
    assert any("multipliers of clarabel" in note for note in solution.notes)


def test_a_time_limit_is_not_exceeded_by_handing_over(monkeypatch):
    problem = given(RankSVM(0.05))
    first = attempt(problem, "highs", RawSolution.null(problem, Status.ITERATION_LIMIT))
    monkeypatch.setattr(portfolio, "run_solver", lambda *_: pytest.fail("it was asked"))
    solution = hand_over(problem, first, TOLERANCE, Clock(0.0))
    assert solution.status is Status.ITERATION_LIMIT


def test_a_solver_that_raises_no_words_is_failed_in_words(monkeypatch):
    def divide(problem, monitor, *, start=None, bins=None):
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(reformulations, "load_solver", lambda name: divide)
    solution = solve(RankSVM(0.1), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], solver="newton")
    assert solution.status is Status.FAILED
    assert not solution.coef.any()
    assert any("range of floating point" in note for note in solution.notes)


def test_every_solver_is_a_candidate():
    able = {"highs", "interior", "newton", "cutting_plane", "clarabel", "scs"}
    assert {candidate.solver for candidate in CANDIDATES} == able
