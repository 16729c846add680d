"""Which solver "auto" stands for, and that a solve without progress makes way for another."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from auclab import CSVM, BufferedAUC, ExactAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.samples.as_sample import as_sample
from auclab.solvers.budget import CLARABEL_ENTRIES, SMALL_ENTRIES
from auclab.solvers.dispatch import solve_problem
from auclab.solvers.monitor import Monitor, Patience
from auclab.solvers.portfolio import CANDIDATES, HIGHS_PAIRS, _from_point, patience, select_solver
from auclab.solvers.reformulations import run_solver
from auclab.solvers.registry import load_solver
from auclab.solvers.solution import RawSolution
from auclab.solvers.verification import verify


def problem(program, size=40, n=3):
    rng = np.random.default_rng(3)
    y = np.repeat([1, 0], [size // 2, size - size // 2])
    return Problem(program, as_sample(rng.normal(size=(size, n)) + 0.6 * y[:, None], y))


@pytest.mark.parametrize(
    ("program", "size", "n", "solver"),
    [
        (BufferedAUC(), 40, 3, "highs"),  # 400 pairs
        (BufferedAUC(), 100, 3, "newton"),
        (RankSVM(0.1), 40, 3, "newton"),
        (PartialAUC(0.5), 40, 3, "newton"),
        (RankSVM(0.1, "l1"), 100, 2_001, "interior"),
        (RankSVM(0.1, "l1"), 3_000, 2_001, "cutting_plane"),
        (CSVM(0.1), 100, 10, "clarabel"),
        (CSVM(0.1), CLARABEL_ENTRIES // 10 + 1, 10, "newton"),
        (CSVM(0.1, "l1"), SMALL_ENTRIES // 10, 10, "highs"),
        (CSVM(0.1, "l1"), SMALL_ENTRIES // 10 + 1, 10, "newton"),
        (GeneralizedBufferedAUC(0.1), 40, 3, "highs"),
        (ExactAUC(), 40, 3, "highs"),
    ],
)
def test_what_auto_selects(program, size, n, solver):
    assert HIGHS_PAIRS == 1_000
    name, reason = select_solver(problem(program, size, n))
    assert name == solver
    assert reason.startswith(f"auto selected {solver}: ")


@pytest.mark.parametrize(
    ("program", "solver"),
    [
        (RankSVM(1e-3, squared=True), "newton"),
        (GeneralizedBufferedAUC(-0.05), "newton"),
        (RankSVM(1e-3, "l1"), "cutting_plane"),
        (PartialAUC(0.5, 1e-3), "cutting_plane"),
        (CSVM(1e-3), "cutting_plane"),
    ],
)
def test_sparse_rows_with_many_columns_go_to_newton_where_products_with_them_suffice(program, solver):
    rng = np.random.default_rng(0)
    X = sp.random_array((4_100, 2_001), density=0.002, rng=rng, format="csr")
    name, _ = select_solver(Problem(program, as_sample(X, np.arange(4_100) % 2)))
    assert name == solver


@pytest.mark.slow
def test_a_small_table_needs_no_modelling_language():
    code = (
        "import sys, numpy as np; from auclab import BufferedAUC, CSVM, solve; "
        "X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2; "
        "programs = BufferedAUC(), CSVM(0.01), CSVM(0.01, norm='l1'); "
        "assert [str(solve(program, X, y).status) for program in programs] == ['optimal'] * 3; "
        "assert not {'cvxpy', 'pyomo'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("program", [CSVM(0.02), CSVM(0.003, squared=True), CSVM(0.003, "linf", squared=True)])
def test_few_points_have_the_same_optimum_with_and_without_cvxpy(monkeypatch, program):
    given = problem(program)
    direct = solve_problem(given, "clarabel", tolerance=1e-8, clock=Clock())
    monkeypatch.setattr("auclab.solvers.clarabel.solve_points", lambda *_: None)
    modelled = solve_problem(given, "clarabel", tolerance=1e-8, clock=Clock())
    assert direct.status is modelled.status is Status.OPTIMAL
    assert direct.objective == pytest.approx(modelled.objective, rel=1e-7)


class Time:
    """One that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The clock of the solves."""
    made = Time()
    monkeypatch.setattr("auclab.models.timings.perf_counter", made)
    return made


def test_a_monitor_without_progress_ends_the_solve_only_where_another_waits(clock):
    waited = Patience()

    def stopped_after(seconds, *records):
        monitor = Monitor(patience=waited)
        for record in records:
            monitor.record(*record)
        clock.now += seconds
        return monitor.stopped()

    assert stopped_after(0.1, (1.0, 0.0)) is None
    waited.seconds = 0.05
    assert stopped_after(0.01, (1.0, 0.0)) is None
    assert stopped_after(0.07) is None  # nothing was recorded: twice as long
    assert not waited.ran_out
    assert stopped_after(0.07, (1.0, 0.0)) is Status.ITERATION_LIMIT
    assert waited.ran_out


def test_a_monitor_ends_the_solve_at_its_limit(clock):
    monitor = Monitor(clock=Clock(2.0))
    clock.now = 1.5
    assert monitor.stopped() is None
    assert monitor.call_limit == monitor.remaining == 0.5
    clock.now = 2.5
    assert monitor.stopped() is Status.TIME_LIMIT


def test_progress_is_a_smaller_gap_or_a_lower_objective(clock):
    monitor = Monitor(patience=Patience(0.2))
    monitor.record(1.0, 0.0)
    for objective, bound, progress in [(1.0, 0.1, False), (1.0, 0.3, True), (0.9, 0.3, True), (0.9, 0.301, False)]:
        clock.now += 0.125
        monitor.record(objective, bound)
        assert (monitor.call_limit > 0.125) == progress
        if not progress:
            monitor._progress = (clock.now, *monitor._progress[1:])


def test_a_solver_that_stalls_hands_its_point_on(monkeypatch, clock):
    """Newton's place is taken by one that records its point and waits; cutting planes end the solve."""
    given = problem(RankSVM(0.05), size=200)
    true = load_solver

    def waiting(problem, monitor, *, start=None):
        monitor.record(1.0, 0.0)
        while (status := monitor.stopped()) is None:
            clock.now += 0.01
        return RawSolution(problem.sample.mean_difference, 0.0, status)

    monkeypatch.setattr(
        "auclab.solvers.reformulations.load_solver", lambda name: waiting if name == "newton" else true(name)
    )
    monkeypatch.setattr("auclab.solvers.portfolio.patience", lambda seconds: 0.5)
    solution = solve_problem(given, "auto", tolerance=1e-6, clock=Clock(10.0))
    assert solution.status is Status.OPTIMAL
    assert clock.now == pytest.approx(0.5, abs=0.02)
    assert solution.solver == "cutting_plane"
    assert any(
        "newton made no progress for 0.5 s" in note and "cutting_plane went on" in note for note in solution.notes
    )
    named = solve_problem(given, "newton", tolerance=1e-6, clock=Clock(0.5))  # not in auto: to the end of its time
    assert named.status is Status.TIME_LIMIT


def test_the_point_is_the_start_of_the_next_solver():
    given = problem(RankSVM(0.05))
    newton = next(candidate for candidate in CANDIDATES if candidate.solver == "newton")
    exact = run_solver("newton", given, Monitor(1e-9))

    def started(raw):
        return _from_point(newton, [("highs", raw, verify(given, raw, "highs", 1e-12))]).options.get("start")

    near = RawSolution(exact.coef * 1.01, 0.0, Status.ITERATION_LIMIT, exact.multipliers)
    assert started(near)[0] is near.coef
    assert started(RawSolution.null(given, Status.ITERATION_LIMIT)) is None


def test_patience_leaves_time_for_another():
    assert patience(None) == patience(float("inf")) == 60.0
    assert patience(100.0) == 30.0
    assert patience(0.1) == 2.0
