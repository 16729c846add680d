"""The primal models in Pyomo and CVXPY state the program: their optimal value is the formulation's value there."""

import numpy as np
import pytest
from pyomo.contrib.solver.solvers.highs import Highs
from pyomo.environ import value

from auclab._core.base import AuclabError
from auclab.formulations import RankSVM
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.models.cvxpy_model import to_cvxpy
from auclab.models.hard_margin import marginals
from auclab.models.pyomo_model import row_multipliers, to_pyomo, write_model
from auclab.regularisers import norm_named
from auclab.samples.as_sample import as_sample
from auclab.solvers.registry import is_linear
from programs import CONVEX, CVAR, LINEAR, label, overlapping

X, Y = overlapping(n_pos=5, n_neg=7)


def check_optimum(problem, optimum, coef, intercept):
    """The model's value is that of its point, and no point nearby is better."""
    assert problem.objective(coef, intercept) == pytest.approx(optimum, abs=1e-6)
    rng = np.random.default_rng(0)
    for step in np.logspace(-3, 0, 40):
        shift = rng.normal(0.0, step, coef.size + 1)
        moved = intercept if problem.over_pairs else intercept + shift[-1]
        assert problem.objective(coef + shift[:-1], moved) >= optimum - 1e-6


@pytest.mark.parametrize("program", [*CONVEX, *CVAR], ids=label)
def test_cvxpy(program):
    problem = Problem(program, as_sample(X, Y))
    model = to_cvxpy(problem)
    optimum = model.problem.solve(solver="CLARABEL") * model.unit
    check_optimum(problem, optimum, model.coef.value, 0.0 if model.intercept is None else float(model.intercept.value))


@pytest.mark.parametrize("program", [*LINEAR, *(p for p in CVAR if is_linear(p))], ids=label)
def test_pyomo(program):
    problem = Problem(program, as_sample(X, Y))
    model = to_pyomo(problem)
    Highs().solve(model)
    coef = np.array([value(model.coef[k]) for k in model.features])
    intercept = 0.0 if problem.over_pairs else value(model.intercept)
    check_optimum(problem, value(model.objective), coef, intercept)


def constraints_of(seed):
    """Bounds, rows and an equation that some points satisfy with room to spare."""
    rng = np.random.default_rng(seed)
    n = X.shape[1]
    inside, rows = rng.normal(0.0, 0.1, n), rng.normal(0.0, 1.0, (3, n))
    limit = rows @ inside + np.array([0.1, 0.0, 0.1])
    lower = np.where(rng.random(n) < 0.5, inside - 0.05, -np.inf)
    return ColumnConstraints.of(n, lower=lower, matrix=rows, limit=limit, equal=[False, True, False])


def lagrangian_bound(problem, weights, mu):
    """``S − μ·c`` if ``‖g − Aᵀμ‖_* ≤ λ − z S``: the dual value of unsquared programs, and by how much it is missed."""
    matrix, limit, _ = problem.constraints.all_rows()
    left = problem.sample.combine(*marginals(problem, weights)) - matrix.T @ mu
    program = problem.program
    size = norm_named(program.regulariser.name).dual(left) if program.uses_norm else abs(left).max()
    return weights.sum() - mu @ limit, size - program.regulariser.weight + program.threshold * weights.sum()


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("program", [p for p in CONVEX if not p.regulariser.squared], ids=label)
def test_cvxpy_with_constraints(program, seed):
    problem = Problem(program, as_sample(X, Y), constraints_of(seed))
    units = None if seed % 2 else 2.0 ** np.arange(-1, X.shape[1] - 1)
    model = to_cvxpy(problem, units)
    optimum = model.problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10) * model.unit
    assert problem.constraints.violation(model.coef.value) <= 1e-7
    mu = model.row_multipliers()
    bound, missed = lagrangian_bound(problem, model.weights(), mu)
    assert (bound, missed) == (pytest.approx(optimum, abs=1e-6), pytest.approx(min(missed, 0.0), abs=1e-6))
    assert (mu[~problem.constraints.all_rows()[2]] >= 0).all()


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("program", LINEAR, ids=label)
def test_pyomo_with_constraints(program, seed):
    problem = Problem(program, as_sample(X, Y), constraints_of(seed))
    model, in_cvxpy = to_pyomo(problem), to_cvxpy(problem)
    result = Highs().solve(model)
    optimum = value(model.objective)
    in_cvxpy.problem.solve(solver="CLARABEL")
    assert optimum == pytest.approx(in_cvxpy.problem.value * in_cvxpy.unit, abs=1e-6)
    duals = result.solution_loader.get_duals()
    mu = row_multipliers(model, duals.__getitem__)
    weights = np.array([duals[row] for row in model.hinge.values()])
    bound, missed = lagrangian_bound(problem, weights, mu)
    assert (bound, missed) == (pytest.approx(optimum, abs=1e-7), pytest.approx(min(missed, 0.0), abs=1e-7))


def test_a_row_without_a_coefficient_is_decided():
    satisfied = ColumnConstraints.of(2, matrix=[[0.0, 0.0], [1.0, 0.0]], limit=[1.0, 0.0])
    sample = as_sample(X[:, :2], Y)
    model = to_pyomo(Problem(RankSVM(0.1, norm="l1"), sample, satisfied))
    duals = Highs().solve(model).solution_loader.get_duals()
    assert row_multipliers(model, duals.__getitem__).shape == (2,)
    with pytest.raises(AuclabError, match="has only zeros"):
        to_pyomo(Problem(RankSVM(0.1, norm="l1"), sample, ColumnConstraints.of(2, matrix=[[0.0, 0.0]], limit=[-1.0])))


def test_no_model_in_pyomo_and_no_file_takes_another_loss_for_the_hinge(tmp_path):
    problem = Problem(RankSVM(0.1, loss="squared_hinge"), as_sample([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]))
    with pytest.raises(AuclabError, match="the hinge alone"):
        to_pyomo(problem)
    with pytest.raises(AuclabError, match="the hinge alone"):
        write_model(problem, tmp_path / "model.lp", ["age"])
    assert not list(tmp_path.iterdir())
