"""The steps of newton on a set of programs, all of which it proves."""

import numpy as np
import pytest

from auclab import AuclabError, RankSVM, solve
from auclab._core.base import Status
from auclab.datasets import load
from auclab.regularisers.faces import L1Face
from auclab.solvers.newton import active_set_step, solver
from auclab.solvers.newton.continuation import Continuation
from auclab.solvers.newton.steps import _QuadraticModel
from auclab.solvers.path import solve_path
from auclab.solvers.smoothed.pair_loss import PairLoss
from newton_programs import PROGRAMS, rare_columns, solved, sparse


@pytest.mark.slow
def test_all_programs_are_proved_in_few_steps():
    found = {name: solved(name) for name in PROGRAMS}
    unproved = {name: solution.gap for name, solution in found.items() if solution.status is not Status.OPTIMAL}
    assert not unproved
    assert sum(solution.iterations for solution in found.values()) <= 966, found  # 921


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("max_iter", [1, 3])
@pytest.mark.parametrize(
    "name",
    [
        "dense points l2",
        "dense hardest l2",
        "dense pairs z<0",
        "subsampled points l2",
        "sparse pairs l1",
        "sparse hardest l2",
        "wide pairs l1",
        "text points l2²",
        "grades ranked l2",
        "signs pairs bauc",
    ],
)
def test_max_iter_is_the_number_of_newton_steps(name, max_iter):
    solution = solved(name, max_iter=max_iter)
    assert solution.iterations <= max_iter
    assert solution.status is Status.ITERATION_LIMIT
    assert 0.0 <= solution.lower_bound <= solution.objective
    # The bound is valid: below the optimum.
    assert solution.lower_bound <= solved(name).objective


def test_max_iter_holds_over_all_rounds_of_a_working_set_of_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4_000)) + 0.4 * y[:, None] * (np.arange(4_000) < 10)
    solution = solve(RankSVM(0.05, "l1"), X, y, solver="newton", max_iter=1)
    assert (solution.iterations, solution.status) == (1, Status.ITERATION_LIMIT)
    assert 0.0 <= solution.lower_bound <= solution.objective


def test_impossible_numbers_are_refused():
    X, y, _ = PROGRAMS["dense pairs l2"][1]()
    for options in ({"max_iter": 0}, {"subsample_size": 0}, {"first_width": 0.01}, {"least_width": 0.0}):
        with pytest.raises(AuclabError, match="must"):
            solve(RankSVM(0.1), X, y, solver="newton", **options)


def count(names):
    """The steps over some programs."""
    return sum(solved(name, time_limit=20.0).iterations for name in names)


@pytest.mark.parametrize(
    ("owner", "rule", "without", "names", "saved"),
    [
        (Continuation, "_extrapolated", lambda *_: None, ["breast_cancer hardest l2", "sparse hardest l2"], 10),
        (solver, "_may_be_separator", lambda *_: False, ["apart points l2²", "apart pairs l2"], 5),
        (Continuation, "_ended_early", lambda *_: False, ["sparse hardest l2"], 50),
    ],
    ids=["start on the line through two minima", "hard-margin separator", "more exact minima at one width"],
)
def test_a_rule_saves_steps(owner, rule, without, names, saved, monkeypatch):
    with_rule = count(names)
    monkeypatch.setattr(owner, rule, without)
    assert count(names) >= with_rule + saved


def calls(owner, name, monkeypatch):
    """A list that grows by the first argument of every call of a function."""
    found, function = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda first, *rest: found.append(first) or function(first, *rest))
    return found


def test_the_hessian_of_a_wide_minimum_of_sparse_rows_replaces_narrow_ones(monkeypatch):
    X, y, _ = sparse(20_000, 60, noise=6.0)
    losses = calls(PairLoss, "hessian", monkeypatch)

    def of_all_rows():
        losses.clear()
        assert solve(RankSVM(0.01), X, y, solver="newton").status is Status.OPTIMAL
        return sum(loss.sample.n_pos + loss.sample.n_neg == y.size for loss in losses)

    borrowed = of_all_rows()
    monkeypatch.setattr(Continuation, "_borrows_from_wide", False)
    assert of_all_rows() >= 2 * borrowed, borrowed


def test_a_point_with_entries_cut_off_saves_factorisations(monkeypatch):
    factorisations = calls(active_set_step, "solve_positive_definite", monkeypatch)
    X, y, _ = rare_columns()

    def number():
        factorisations.clear()
        assert solve(RankSVM(0.001, "l1"), X, y, solver="newton").status is Status.OPTIMAL
        return len(factorisations)

    cut_off = number()
    monkeypatch.setattr(L1Face, "projected", lambda face, _: np.full(face.size, np.nan))
    assert number() >= 1.5 * cut_off, cut_off


def test_a_step_with_an_l2_norm_takes_few_linear_systems(monkeypatch):
    X, y = load("breast_cancer").X, load("breast_cancer").y
    steps = calls(_QuadraticModel, "minimum", monkeypatch)
    systems = calls(_QuadraticModel, "solved", monkeypatch)
    solve_path(RankSVM(1.0), (X - X.mean(axis=0)) / X.std(axis=0), y, np.geomspace(0.3, 0.003, 9))
    assert len(systems) <= 1.5 * len(steps), (len(systems), len(steps))
