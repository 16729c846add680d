"""Every solver on every program it can take: one optimum, certified."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import reference_programs as reference
from auclab import solve
from auclab._core.base import Status
from auclab.solvers.registry import SOLVERS, capable_solvers, encodings, load_solver
from programs import CONVEX, CVAR, LINEAR, PROBLEMS, label, overlapping


def solvers_of(program):
    """The solvers that can take the program; interior takes partial AUC only where no hinge is left."""
    return [name for name in capable_solvers(program) if name != "interior" or not program.comparisons.hardest]


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("data", PROBLEMS)
@pytest.mark.parametrize("program", [*CONVEX, *CVAR], ids=label)
def test_capable_solvers_agree_and_certify(program, data):
    X, y = PROBLEMS[data]
    solutions = [solve(program, X, y, solver=name) for name in solvers_of(program)]
    assert len(solutions) >= 2
    for solution in solutions:
        assert solution.status is Status.OPTIMAL, (solution.solver, solution.certificate)
        assert solution.gap <= 1e-6
        assert solution.objective >= solution.lower_bound - 1e-12
        assert solution.objective == pytest.approx(solutions[0].objective, rel=1e-6, abs=1e-9)
        expected = reference.objective(program, solution.coef, solution.intercept, X, y)
        assert solution.objective == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("data", PROBLEMS)
@pytest.mark.parametrize("program", LINEAR, ids=label)
def test_all_encodings_of_the_pairs_have_the_optimum_of_the_printed_program(program, data):
    X, y = PROBLEMS[data]
    expected = reference.optimal_value(program, X, y)
    for encoding in ("auto", *encodings(program)):
        solution = solve(program, X, y, solver="highs", encoding=encoding)
        assert solution.status is Status.OPTIMAL
        assert solution.objective == pytest.approx(expected, rel=1e-8, abs=1e-10), encoding
        assert solution.gap <= 1e-8


@pytest.mark.parametrize("program", [*CONVEX, *CVAR], ids=label)
def test_weights_are_repetitions(program):
    X, y = overlapping(8)
    weight = np.random.default_rng(8).integers(0, 4, y.size)
    weight[[0, -1]] = 1
    repeated = solve(program, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = solve(program, X, y, sample_weight=weight)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-6)
    assert weighted.gap <= 1e-6


@pytest.mark.parametrize("program", LINEAR, ids=label)
def test_weighted_linear_programs_in_every_encoding(program):
    X, y = overlapping(9)
    weight = np.random.default_rng(9).uniform(0.1, 3.0, y.size)
    expected = reference.optimal_value(program, X, y, weight)
    for encoding in ("auto", *encodings(program)):
        solution = solve(program, X, y, solver="highs", encoding=encoding, sample_weight=weight)
        assert solution.objective == pytest.approx(expected, rel=1e-8), encoding
        assert solution.gap <= 1e-8


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(
    ("program", "name"),
    [
        pytest.param(program, name, id=f"{label(program)}-{name}")
        for program in (*CONVEX, *CVAR)
        for name in solvers_of(program)
    ],
)
def test_sparse_is_dense(program, name):
    X, y = overlapping(10)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = solve(program, X, y)  # the solvers agree on dense rows, as above
    sparse = solve(program, sp.csr_array(X), y, solver=name)
    assert sparse.gap <= 1e-6
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-6)


@pytest.mark.parametrize("encoding", ["full", "dual", "aggregated"])
def test_a_window_smaller_than_the_pairs_still_finds_the_exact_optimum(encoding):
    # 40 × 60 = 2,400 pairs; from the second step on the window holds fewer than all of them.
    X, y = overlapping(11, 40, 60, 8)
    program = LINEAR[1]
    reference_value = solve(program, X, y, solver="highs", encoding="dual").objective
    assert solve(program, X, y, solver="highs", encoding=encoding).objective == pytest.approx(reference_value, rel=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_registered_solver_can_be_loaded(name):
    parameters = inspect.signature(load_solver(name)).parameters
    assert list(parameters)[:2] == ["problem", "monitor"]
