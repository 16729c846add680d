"""Programs whose optimum is w = 0 for every λ: seen before anything is solved, and no others."""

import numpy as np
import pytest

import auclab
from auclab.comparisons import Points
from auclab.formulations import CSVM, ECSVM, Composed, PartialAUC
from auclab.formulations.problem import Problem
from auclab.regularisers import ElasticNet
from auclab.samples.as_sample import as_sample
from auclab.solvers.inner_path import InnerPath
from auclab.solvers.null_in_advance import null_in_advance

rng = np.random.default_rng(0)
#: 8 positives of 100 in the middle of the negatives, less one unit of the first column.
X = rng.normal(size=(100, 3))
Y = np.r_[np.ones(8), np.zeros(92)]
X[:8] = 0.2 * X[:8] + [1.0, 0.0, 0.0]
HOPELESS = [
    CSVM(1e-3),
    CSVM(1e-3, "l1"),
    CSVM(1e-3, squared=True),
    ECSVM(-1e-3),
    PartialAUC(0.2, 1e-3),
    PartialAUC(0.2),
]
HOPELESS += [PartialAUC(0.2), Composed(Points(), regulariser=ElasticNet(1e-3, 0.5))]


@pytest.mark.parametrize("program", HOPELESS, ids=lambda program: program.equation())
def test_w_is_proved_to_be_0_without_a_step(program):
    found = auclab.solve(program, X, Y)
    assert not found.coef.any()
    assert found.null_for_every_value
    assert found.iterations == 0
    assert found.gap <= 1e-6
    assert any("w = 0 is optimal" in note for note in found.notes)


@pytest.mark.parametrize("program", [CSVM(1e-3), PartialAUC(0.2, 1e-3)], ids=["csvm", "partial_auc"])
def test_a_solver_without_the_look_ahead_comes_to_the_same(program, monkeypatch):
    here = auclab.solve(program, X, Y)
    monkeypatch.setattr("auclab.solvers.dispatch.null_in_advance", lambda problem: None)
    there = auclab.solve(program, X, Y, solver="clarabel")
    assert there.objective == pytest.approx(here.objective, rel=1e-9)
    assert not there.coef.any()


def test_weights_of_the_classes_and_other_rows_are_not_hopeless():
    balanced = np.where(Y == 1, 92 / 8, 1.0)
    found = auclab.solve(CSVM(1e-3), X, Y, sample_weight=balanced)
    assert found.coef.any()
    assert not found.null_for_every_value
    away = X + np.outer(Y, [5.0, 0.0, 0.0])
    for program in (CSVM(1e-3), PartialAUC(0.2, 1e-3)):
        assert null_in_advance(Problem(program, as_sample(away, Y))) is None
        assert auclab.solve(program, away, Y).coef.any()


def test_a_large_penalty_is_not_taken_for_a_hopeless_program():
    away = X + np.outer(Y, [5.0, 0.0, 0.0])
    found = auclab.solve(CSVM(1e3), away, Y)
    assert not found.coef.any()
    assert not found.null_for_every_value


def test_constraints_that_exclude_0_exclude_the_answer():
    at_least = auclab.Constraints(lower={0: 0.1})
    found = auclab.solve(CSVM(1e-3), X, Y, constraints=at_least)
    assert found.coef[0] >= 0.1 - 1e-9
    allowed = auclab.solve(CSVM(1e-3), X, Y, constraints=auclab.Constraints(nonnegative=[0]))
    assert not allowed.coef.any()
    assert allowed.null_for_every_value
    assert str(allowed.status) == "optimal"


def test_a_path_of_values_is_not_solved(monkeypatch):
    monkeypatch.setattr("auclab.solvers.inner_path.following_solution", None)
    path = InnerPath(ECSVM(-1.0), X, Y, [-1.0, -0.01, 0.0], parameter="threshold")
    assert all(not path.refined(k).coef.any() for k in path.order)
    assert all(path.is_final(k) for k in path.order)
