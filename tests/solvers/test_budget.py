"""Memory is estimated before it is asked for, a time limit includes the building of the model, every solve ends."""

import math
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from auclab import CSVM, AuclabError, BufferedAUC, ExactAUC, PartialAUC, RankSVM, solve
from auclab._core.base import Status
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.models.window import window_around
from auclab.samples.as_sample import as_sample
from auclab.solvers.budget import Indivisible, margin_bytes
from auclab.solvers.solution import RawSolution
from auclab.solvers.verification import finish_exactly, verify


def data(size, n=3):
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], size)
    return rng.normal(size=(2 * size, n)) + 0.5 * y[:, None], y


@pytest.mark.parametrize(
    ("program", "options"),
    [
        (BufferedAUC(), {"solver": "highs", "encoding": "full"}),
        (BufferedAUC(), {"solver": "highs", "encoding": "dual"}),
        (PartialAUC(0.5), {"solver": "highs"}),
        (RankSVM(0.1), {"solver": "clarabel"}),
        (RankSVM(0.1), {"solver": "scs"}),
    ],
)
def test_pairs_beyond_the_memory_are_refused_with_the_estimate(monkeypatch, program, options):
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=1e8))
    X, y = data(500)  # 250,000 pairs: 0.25 GB or more
    with pytest.raises(AuclabError, match=r"250,000 pairs, about \d.*GB, and 0.1 GB .*use solver="):
        solve(program, X, y, **options)


def test_an_estimate_for_exact_auc_with_many_features(monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=1e8))
    X, y = data(50, n=5_000)
    with pytest.raises(AuclabError, match="fewer observations or features"):
        solve(ExactAUC(), X, y)


def test_estimates_grow_with_pairs_and_nonzeros():
    X, y = data(20)
    problem = Problem(BufferedAUC(), as_sample(X, y))
    assert margin_bytes(problem, "highs encoding=dual") == 400 * (700 + 3 * 100)
    assert margin_bytes(problem, "highs encoding=full") == 400 * 5_000


@pytest.mark.slow
def test_a_time_limit_includes_the_building_of_the_model(monkeypatch, capfd):
    looks = count()  # at the clock, a tenth of a second each; 90,000 rows need 180
    monkeypatch.setattr("auclab.models.timings.perf_counter", lambda: 0.1 * next(looks))
    X, y = data(300)
    solution = solve(RankSVM(0.01, "l1"), X, y, solver="highs", encoding="full", time_limit=3.0)
    assert solution.status is Status.TIME_LIMIT
    assert 30 < next(looks) < 40
    assert any("time limit" in note for note in solution.notes)
    assert "ERROR" not in capfd.readouterr().err


@pytest.mark.parametrize(("solver", "size"), [("clarabel", 150_000), ("scs", 25_000)])
def test_a_model_that_cannot_be_factorised_in_time_is_refused_with_the_estimate(monkeypatch, solver, size):
    X, y = data(size, n=10)
    for tried in ("clarabel.solve_cone", "scs.to_cvxpy"):
        monkeypatch.setattr(f"auclab.solvers.{tried}", lambda *_: pytest.fail("it was tried"))
    with pytest.raises(AuclabError, match=rf"solver={solver} on .* points takes about .* s .*; use solver=newton"):
        solve(CSVM(0.01), X, y, solver=solver, time_limit=0.5)


def test_compiling_that_takes_longer_than_expected_is_the_last_that_is_done(monkeypatch):
    monkeypatch.setattr("auclab.solvers.scs.indivisible", lambda *_: Indivisible(1e-9, 0.2, 0.2))
    monkeypatch.setattr("auclab.solvers.scs._LEAST_COMPILING", 1e-9)
    solution = solve(RankSVM(0.01), *data(20), solver="clarabel", time_limit=10.0)
    assert solution.status is Status.TIME_LIMIT
    assert any("left no time for clarabel" in note for note in solution.notes)


def test_the_rest_of_a_limit_is_what_rational_arithmetic_gets():
    X, y = data(25, n=3)
    problem = Problem(BufferedAUC(), as_sample(X, y))
    unproved = verify(problem, RawSolution.null(problem, Status.FAILED), "highs", 1e-6)
    assert finish_exactly(problem, unproved, 1e-6, Clock(0.0)) is unproved
    assert finish_exactly(problem, unproved, 1e-6, Clock()).status is Status.OPTIMAL


def test_the_default_limit_is_told(monkeypatch):
    monkeypatch.setattr("auclab.solvers.budget.DEFAULT_TIME_LIMIT", 0.2)
    X, y = data(300)
    solution = solve(RankSVM(0.01, "l1"), X, y, solver="highs", encoding="full")
    assert solution.status is Status.TIME_LIMIT
    assert any("default limit of 0.2 s" in note for note in solution.notes)


@pytest.mark.parametrize("solver", ["highs", "clarabel", "newton", "cutting_plane", "scs"])
def test_an_infinite_limit_is_none(solver):
    X, y = data(6)
    assert solve(RankSVM(0.1, "l1"), X, y, solver=solver, time_limit=math.inf).status is Status.OPTIMAL


def test_constant_columns_are_no_key_error():
    X, y = data(8)
    constant = np.c_[X, np.full(y.size, 7.0)]
    for program in (BufferedAUC(), RankSVM(0.1, "l1"), PartialAUC(0.5)):
        solution = solve(program, constant, y, solver="highs", encoding="full")
        assert solution.coef[-1] == 0.0
        assert solution.objective == pytest.approx(solve(program, X, y).objective, abs=1e-9)
    nothing = solve(BufferedAUC(), np.full((y.size, 1), 7.0), y, solver="highs", encoding="full")
    assert (nothing.objective, nothing.coef.tolist()) == (1.0, [0.0])


def test_a_window_of_many_features_has_fewer_margins(monkeypatch):
    sizes = []

    def watched(problem, coef, intercept, n_wanted):
        sizes.append(n_wanted)
        return window_around(problem, coef, intercept, n_wanted)

    monkeypatch.setattr("auclab.solvers.windows.window_around", watched)
    monkeypatch.setattr("auclab.solvers.windows._MAX_ENTRIES", 4_000)
    X, y = data(60, n=5)
    solution = solve(BufferedAUC(), X, y, solver="highs", encoding="aggregated")
    assert solution.status is Status.OPTIMAL
    assert max(sizes) <= 800  # of 3,600; the first window would have 2,000
