"""The interior-point method for few rows against Clarabel on the printed model, working sets against all columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import auclab.solvers.column_generation as column_generation
from auclab import CSVM, ECSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, Status, solve
from auclab.formulations import Composed
from auclab.formulations.problem import Problem
from auclab.regularisers import ElasticNet, Norm, norm_named
from auclab.samples.as_sample import as_sample
from auclab.solvers.column_generation import column_limits
from auclab.solvers.interior import why_not
from auclab.solvers.interior_system import top_factors
from auclab.solvers.portfolio import select_solver
from auclab.solvers.registry import SOLVERS
from programs import CONVEX, CVAR, overlapping, tied
from programs import label as label_of

WITH_NORM, HARDEST = (
    [program for program in programs if SOLVERS["interior"].capabilities.why_not(program) is None]
    for programs in (CONVEX, CVAR)
)


def label(program):
    """A readable test id."""
    return program.regulariser.equation() if program.name == "composed" else label_of(program)


STRENGTHS = (1e-3, 0.05, 0.3, 3.0)
MORE = [
    *(RankSVM(strength, norm) for strength in STRENGTHS for norm in ("l1", "linf")),
    *(CSVM(strength, norm) for strength in STRENGTHS for norm in ("l1", "linf")),
    *(RankSVM(strength, norm, squared=True) for strength in STRENGTHS for norm in ("l1", "l2", "linf")),
    *(Composed(over, regulariser=ElasticNet(0.05, 0.1)) for over in ("pairs", "points")),
    Composed("pairs", regulariser=ElasticNet(0.05, 0.1), threshold=-0.05),
    *(ECSVM(-strength, norm) for strength in (0.05, 0.3) for norm in ("l1", "linf")),
]


def wide(seed=0, n_rows=24, n_columns=60, shift=0.4):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3 == 0
    X = rng.normal(size=(n_rows, n_columns))
    X[y, :5] += shift
    return X, y


def sparse(seed=0):
    X, y = wide(seed)
    return sp.csr_array(np.where(abs(X) > 1.0, X, 0.0)), y


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("data", [wide, sparse, overlapping, tied])
@pytest.mark.parametrize("program", [*WITH_NORM, *MORE], ids=label)
def test_the_optimum_is_that_of_the_printed_model(program, data):
    X, y = data()
    found = solve(program, X, y, solver="interior")
    assert found.gap <= 1e-6
    assert found.status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN)
    twin = solve(program, X, y, solver="clarabel")
    assert found.objective == pytest.approx(twin.objective, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("program", HARDEST, ids=label)
def test_partial_auc_is_solved_where_no_hinge_is_left(program):
    found = solve(program.with_params(penalty=1e-3), *wide(), solver="interior")
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(found.formulation.regulariser.value(found.coef), rel=1e-9)


def test_partial_auc_with_hinges_left_is_not_claimed():
    X, y = wide()
    found = solve(PartialAUC(0.3, 0.3, "l1"), X, y, solver="interior")
    assert found.status is Status.FAILED
    assert "only where an optimal w leaves no hinge" in " ".join(found.notes)


@pytest.mark.parametrize("program", [RankSVM(0.3, "l1"), CSVM(0.1, "linf"), RankSVM(0.5, squared=True)], ids=label)
def test_weights_are_repeated_rows(program):
    X, y = wide(2)
    weight = np.arange(24) // 3 % 3.0
    found = solve(program, X, y, solver="interior", sample_weight=weight)
    repeated = np.repeat(np.arange(24), weight.astype(int))
    twin = solve(program, X[repeated], y[repeated], solver="interior")
    assert found.gap <= 1e-6
    assert found.objective == pytest.approx(twin.objective, rel=3e-6)


@pytest.mark.parametrize("program", [RankSVM(50.0, "l1"), RankSVM(50.0, "linf"), ECSVM(-9.0, "l1")])
def test_a_large_penalty_leaves_w_at_0(program):
    found = solve(program, *wide(), solver="interior")
    assert found.status is Status.OPTIMAL
    assert not found.coef.any()


def test_what_it_does_not_take_is_said():
    X, y = wide()
    with pytest.raises(AuclabError, match="solver=interior cannot solve bauc: it needs a norm in the program"):
        solve(BufferedAUC(), X, y, solver="interior")
    for program in (RankSVM(0.1), GeneralizedBufferedAUC(-0.1)):
        with pytest.raises(
            AuclabError, match=r"solver=interior cannot solve .*: it takes λ‖w‖² in norm l2, and neither"
        ):
            solve(program, X, y, solver="interior")
    with pytest.raises(AuclabError, match="solver=interior holds every pair"):
        solve(PartialAUC(0.3, 9.0, "l1"), X, y, solver="interior")
    drawn = np.random.default_rng(0).normal(size=(4_100, 2))
    many = Problem(RankSVM(0.1, "l1"), as_sample(drawn, np.arange(4_100) % 2))
    assert "at most 4,000" in why_not(many)


def test_a_norm_whose_ball_is_a_box_is_read_from_its_epigraph():
    assert top_factors(norm_named("linf"), 4).tolist() == [1.0] * 4
    assert top_factors(norm_named("l1"), 4) is None
    assert top_factors(norm_named("l2"), 4) is None


def test_auto_takes_it_for_few_rows_with_many_columns():
    X, y = wide(0, 60, 900)
    assert select_solver(Problem(RankSVM(0.1, "linf"), as_sample(X, y)))[0] == "interior"
    assert select_solver(Problem(RankSVM(0.1, squared=True), as_sample(X, y)))[0] == "interior"
    assert select_solver(Problem(RankSVM(0.1), as_sample(X, y)))[0] == "newton"
    assert select_solver(Problem(BufferedAUC(), as_sample(X, y)))[0] == "newton"
    many, labels = wide(0, 1_200, 1_200)
    assert select_solver(Problem(RankSVM(0.1, squared=True), as_sample(many, labels)))[0] == "cutting_plane"
    assert select_solver(Problem(CSVM(0.1, squared=True), as_sample(many, labels)))[0] == "interior"
    assert select_solver(Problem(RankSVM(0.1, "linf"), as_sample(X[:, :20], y)))[0] != "interior"


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("solver", ["interior", "newton"])
@pytest.mark.parametrize(
    "program",
    [
        RankSVM(0.05, "l1"),
        RankSVM(0.3, "l1"),
        RankSVM(0.1, "l1", squared=True),
        CSVM(0.05, "l1"),
        GeneralizedBufferedAUC(-0.1, "l1"),
        Composed("points", regulariser=Norm("l1", 0.02, squared=True)),
        Composed("pairs", regulariser=ElasticNet(0.05, 0.1)),
    ],
    ids=label,
)
def test_a_working_set_of_columns_ends_at_the_optimum_over_all(program, solver, monkeypatch):
    X, y = wide(3, 40, 400)
    sizes = []
    restricted = column_generation._restricted

    def counted(problem, used):
        sizes.append(used.size)
        return restricted(problem, used)

    monkeypatch.setattr(column_generation, "_restricted", counted)
    monkeypatch.setattr(column_generation, "_LEAST", 100)
    found = solve(program, X, y, solver=solver)
    assert column_limits(Problem(program, as_sample(X, y))) is not None
    assert sizes[0] < 100
    assert max(sizes) < 400
    assert found.gap <= 1e-6
    over_all = solve(program, X, y, solver="clarabel")
    assert found.objective == pytest.approx(over_all.objective, rel=2e-6, abs=1e-9)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("kind", [RankSVM, CSVM])
@pytest.mark.parametrize("shape", [(100, 2_000), (200, 2_000)])
def test_wide_tables_are_certified(kind, norm, shape):
    for penalty in (0.01, 0.1, 0.3):
        found = solve(kind(penalty, norm), *wide(0, *shape))
        assert found.status is Status.OPTIMAL
        assert found.gap <= 1e-6


def test_steps_end_where_they_no_longer_halve_the_gap():
    """At the tolerance, not far below it: 17 steps before, each of the last ones a little better."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 600)), rng.random(100) < 0.4
    X[y, :20] += 0.3
    found = solve(RankSVM(0.1, "linf"), X, y, solver="interior")
    assert found.gap <= 1e-6
    assert found.iterations <= 14
