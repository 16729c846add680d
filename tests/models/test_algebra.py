"""Models of Pyomo and CVXPY with constraints of one's own: what is added is part of the certificate, or named."""

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest

import auclab
from auclab._core.base import AuclabError
from auclab.models import build
from auclab.solvers.registry import is_linear
from programs import CONVEX, CVAR, LINEAR, label, overlapping

X, Y = overlapping(n_pos=9, n_neg=11)
EXACTLY = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def solve_pyomo(built):
    pyo.SolverFactory("highs").solve(built.model, timelimit=20)
    return auclab.certify(built)


@pytest.mark.parametrize("program", [*CONVEX, *CVAR], ids=label)
def test_cvxpy_without_additions_is_the_optimum(program):
    built = build(program, X, Y, "cvxpy")
    built.model.solve(**EXACTLY)
    found, solution = auclab.certify(built), auclab.solve(program, X, Y)
    assert found.objective == pytest.approx(solution.objective, abs=2e-6)
    assert found.gap <= 1e-6
    assert found.bound_for == "every w"


@pytest.mark.parametrize("program", [*LINEAR, *(p for p in CVAR if is_linear(p))], ids=label)
def test_pyomo_without_additions_is_the_optimum(program):
    found, solution = solve_pyomo(build(program, X, Y)), auclab.solve(program, X, Y)
    assert found.objective == pytest.approx(solution.objective, abs=2e-6)
    assert found.gap <= 1e-6


@pytest.mark.parametrize("language", ["pyomo", "cvxpy"])
@pytest.mark.parametrize(
    "program", [auclab.BufferedAUC(), auclab.RankSVM(0.05, norm="l1"), auclab.CSVM(0.05, norm="linf")]
)
def test_linear_constraints_of_ones_own_are_part_of_the_bound(program, language):
    """A bound on a coefficient, a row over the scores of two groups, and what the model was built with."""
    built = build(program, X, Y, language, constraints=auclab.Constraints(nonnegative=[0]))
    first, second = built.scores[:10], built.scores[10:]
    if language == "pyomo":
        built.model.groups = pyo.Constraint(expr=(-0.2, sum(first) / 10 - sum(second) / 10, 0.05))
        built.w[1].setub(0.1)
        found = solve_pyomo(built)
    else:
        difference = cp.sum(first) / 10 - cp.sum(second) / 10
        own = [difference <= 0.05, difference >= -0.2, built.w[1] <= 0.1]
        solved = cp.Problem(built.objective, [*built.constraints, *own])
        solved.solve(**EXACTLY)
        found = auclab.certify(built, solved=solved)
    mean = X[:10].mean(axis=0) - X[10:].mean(axis=0)
    names = [str(k) for k in range(X.shape[1])]
    row = dict(zip(names, mean, strict=True))
    rules = auclab.Constraints(
        nonnegative=[0],
        upper={1: 0.1},
        rows=[{"coefficients": row, "at_most": 0.05}, {"coefficients": row, "at_least": -0.2}],
    )
    solution = auclab.solve(program, X, Y, constraints=rules)
    assert found.objective == pytest.approx(solution.objective, abs=2e-6)
    assert found.gap <= 1e-6
    assert found.violation <= 1e-8
    assert found.bound_for == "every w that satisfies the 4 linear constraints on it"


def test_constraints_with_other_variables_are_left_out_and_named():
    """A budget with binaries: no duals, so no bound, until multipliers are given: those of all scorers."""
    program = auclab.RankSVM(0.02, norm="l1")
    built = build(program, X, Y)
    model = built.model
    model.dual.deactivate()
    model.used = pyo.Var(model.features, domain=pyo.Binary)
    model.above = pyo.Constraint(model.features, rule=lambda m, k: m.coef[k] <= 100 * m.used[k])
    model.below = pyo.Constraint(model.features, rule=lambda m, k: -m.coef[k] <= 100 * m.used[k])
    model.budget = pyo.Constraint(expr=sum(model.used[k] for k in model.features) <= 1)
    found = solve_pyomo(built)
    assert np.count_nonzero(abs(found.coef) > 1e-9) <= 1
    best = min(auclab.solve(program, X[:, [k]], Y).objective for k in range(X.shape[1]))
    assert found.objective == pytest.approx(best, abs=1e-6)
    everyone = auclab.solve(program, X, Y)
    judged = auclab.certify(built, multipliers=everyone.multipliers)
    assert judged.lower_bound == pytest.approx(everyone.lower_bound, abs=1e-9)
    assert judged.bound_for.startswith("every w, whether or not it satisfies above[0]")
    assert np.isnan(found.lower_bound)


def test_a_part_that_was_replaced_is_found():
    built = build(auclab.RankSVM(0.02, norm="l1"), X, Y)
    built.model.del_component("hinge")
    built.model.hinge = pyo.Constraint(expr=built.w[0] >= 0)
    built.model.dual.deactivate()
    with pytest.raises(AuclabError, match="'hinge' was replaced"):
        solve_pyomo(built)


def test_nonlinear_constraints_leave_a_bound_that_is_lower():
    built = build(auclab.RankSVM(0.01), X, Y, "cvxpy")
    solved = cp.Problem(built.objective, [*built.constraints, cp.norm(built.w, 2) <= 0.1])
    solved.solve(**EXACTLY)
    found, free = auclab.certify(built, solved=solved), auclab.solve(auclab.RankSVM(0.01), X, Y)
    assert found.lower_bound <= free.objective <= found.objective
    assert "whether or not it satisfies" in found.bound_for


@pytest.mark.parametrize("language", ["pyomo", "cvxpy"])
def test_a_model_is_printed_on_one_line_whatever_its_size(language):
    limits = auclab.Constraints(nonnegative=[0])
    built = build(auclab.CSVM(0.1), np.hstack([X] * 20), Y, language=language, constraints=limits)
    assert repr(built).endswith(f"20 rows, {20 * X.shape[1]} features, 20 margins, with constraints)")
    assert len(repr(built)) < 200


def test_columns_far_from_zero_keep_their_scores_and_intercept():
    moved = X + np.r_[50.0, np.zeros(X.shape[1] - 1)]
    program = auclab.CSVM(0.05, norm="l1")
    built = build(program, moved, Y)
    found = solve_pyomo(built)
    scores = np.array([pyo.value(score) for score in built.scores])
    np.testing.assert_allclose(scores, moved @ found.coef, atol=1e-7)
    assert found.objective == pytest.approx(program.value(found.coef, found.intercept, moved, Y), abs=1e-9)
    assert found.gap <= 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: build("bauc", X, Y, "ampl"), "language must be pyomo or cvxpy"),
        (lambda: build("exact_auc", X, Y), "is not convex here"),
        (lambda: auclab.certify(build("bauc", X, Y)), "no values yet"),
        (lambda: auclab.certify(build("bauc", X, Y, "cvxpy")), "no values yet"),
        (lambda: auclab.certify("bauc"), "or a solved model"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(AuclabError, match=message):
        call()


def test_constraints_of_another_kind_or_size_are_refused():
    with pytest.raises(AuclabError, match="constraints are a dict"):
        build("ranksvm", X, Y, "cvxpy", constraints={"nonnegative": [0]})
    stated = auclab.Constraints(nonnegative=[0]).on_columns(["0", "1", "2", "3", "4", "5", "6"])
    with pytest.raises(AuclabError, match="constraints are on 7 columns, but X has"):
        build("ranksvm", X, Y, "cvxpy", constraints=stated)
