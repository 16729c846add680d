"""The primal models in Pyomo and CVXPY state the program: their optimal value is the formulation's value there."""

import numpy as np
import pytest
from pyomo.contrib.solver.solvers.highs import Highs
from pyomo.environ import value

from auclab.formulations.problem import Problem
from auclab.models.cvxpy_model import to_cvxpy
from auclab.models.pyomo_model import to_pyomo
from auclab.samples.as_sample import as_sample
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


@pytest.mark.parametrize("program", [*LINEAR, *(p for p in CVAR if p.is_linear)], ids=label)
def test_pyomo(program):
    problem = Problem(program, as_sample(X, Y))
    model = to_pyomo(problem)
    Highs().solve(model)
    coef = np.array([value(model.coef[k]) for k in model.features])
    intercept = 0.0 if problem.over_pairs else value(model.intercept)
    check_optimum(problem, value(model.objective), coef, intercept)
