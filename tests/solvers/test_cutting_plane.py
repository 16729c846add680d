"""The bundle solver by itself: limits, history, many features, forgetting, degenerate data."""

from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp

from auclab import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, RankSVM, solve
from auclab._core.base import NORMS, Status
from auclab.solvers import cutting_plane
from programs import CONVEX, label, overlapping, separable

FEW = [
    BufferedAUC(),
    *(RankSVM(0.02, norm) for norm in NORMS),
    *(RankSVM(0.02, norm, squared=True) for norm in NORMS),
    *(GeneralizedBufferedAUC(-0.1, norm) for norm in NORMS),
    CSVM(0.02, "l1"),
    CSVM(0.02, squared=True),
    ECSVM(-0.1),
]
OTHERS = [pytest.param(program, marks=pytest.mark.weekly) for program in CONVEX if program not in FEW]


def sparse_text(seed=0, n_rows=24, n_features=520):
    """Rows of few words, as text has them: more features than rows."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n_rows, n_features), density=0.05, rng=rng, format="csr")
    scores = X @ rng.normal(size=n_features)
    return X, (scores + 0.5 * scores.std() * rng.normal(size=n_rows) > np.median(scores)).astype(int)


def well_formed(solution):
    """A bound that rises, a value that falls, and no bound above any value."""
    _, values, bounds = np.array(solution.history).T
    assert (np.diff(values) <= 0).all()
    assert (np.diff(bounds) >= 0).all()
    assert (bounds <= solution.objective + 1e-12).all()
    assert bounds[-1] <= solution.lower_bound + 1e-10  # from which rounding is charged


@pytest.mark.parametrize("program", FEW, ids=label)
def test_history_is_monotone_and_ends_where_the_certificate_is(program):
    solution = solve(program, *overlapping(1, 30, 40, 5), solver="cutting_plane")
    well_formed(solution)
    assert solution.history[-1][1] == pytest.approx(solution.objective, rel=1e-9)
    assert solution.gap <= 1e-6


@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.001), RankSVM(0.005, "l1")], ids=label)
def test_a_limit_of_cuts_keeps_the_best_point_and_an_honest_bound(program):
    X, y = overlapping(2, 60, 80, 8)
    optimum = solve(program, X, y, solver="cutting_plane").objective
    before = np.inf
    for most in (2, 5, 12):
        solution = solve(program, X, y, solver="cutting_plane", max_iters=most, tolerance=1e-12)
        assert solution.status is Status.ITERATION_LIMIT
        assert solution.iterations == most
        assert solution.lower_bound <= optimum <= solution.objective * (1 + 1e-12)
        assert solution.objective <= before
        well_formed(solution)
        before = solution.objective


def test_a_time_limit_is_kept_to_within_a_step(monkeypatch):
    solve(RankSVM(0.1), *overlapping(), solver="cutting_plane")  # loads and compiles, in real seconds
    looks = count()  # at the clock, a tenth of a second each
    monkeypatch.setattr("auclab.models.timings.perf_counter", lambda: 0.1 * next(looks))
    X, y = overlapping(3, 60, 60, 10)
    solution = solve(RankSVM(1e-4), X, y, solver="cutting_plane", time_limit=9.0, tolerance=1e-13)
    assert solution.status is Status.TIME_LIMIT
    seconds = [seconds for seconds, _, _ in solution.history]
    assert seconds[-1] <= 9.0 + np.diff(seconds).max()
    assert solution.objective < 1.0
    assert solution.lower_bound > 0
    well_formed(solution)


@pytest.mark.parametrize("program", [program for program in FEW if program.regulariser.name != "linf"], ids=label)
def test_many_features_have_the_optimum_of_clarabel(program):
    X, y = sparse_text()
    solution = solve(program, X, y, solver="cutting_plane")
    reference = solve(program, X, y, solver="clarabel", tolerance=1e-8)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(reference.objective, rel=2e-6, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("program", [*FEW, *OTHERS], ids=label)
def test_the_spaces_for_many_features_change_no_optimum(program, monkeypatch):
    # Collinear and constant columns leave the span without a dimension for some cuts.
    X, y = overlapping(20, 20, 25, 4)
    X = np.round(64 * X)  # the sums are exact: otherwise a w of 1e16 could use their rounding
    X = np.c_[X, X @ [1.0, -1.0, 0.0, 2.0], np.full(len(X), 3.0)]
    whole = solve(program, X, y, solver="cutting_plane", tolerance=1e-8)
    monkeypatch.setattr(cutting_plane, "DENSE_FEATURES", 2)
    small = solve(program, X, y, solver="cutting_plane", tolerance=1e-7)
    assert small.status is Status.OPTIMAL
    assert small.objective == pytest.approx(whole.objective, rel=2e-7, abs=1e-9)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("program", [*FEW, CSVM(0.02), ECSVM(-0.1, "l1")], ids=label)
def test_a_bundle_that_forgets_still_certifies(program, many, monkeypatch):
    X, y = overlapping(4, 60, 70, 6)
    expected = solve(program, X, y, solver="cutting_plane", tolerance=1e-8)
    monkeypatch.setattr(cutting_plane, "_MIN_CUTS", 8)
    forgotten = []
    keep = cutting_plane.BundleSolve._drop_inactive
    monkeypatch.setattr(cutting_plane.BundleSolve, "_drop_inactive", lambda run: (forgotten.append(1), keep(run)))
    if many:
        monkeypatch.setattr(cutting_plane, "DENSE_FEATURES", 4)
    solution = solve(program, X, y, solver="cutting_plane")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(expected.objective, rel=2e-6)
    if expected.iterations > 40:
        assert forgotten


@pytest.mark.parametrize("program", [RankSVM(0.02), CSVM(0.01, "l1"), BufferedAUC()], ids=label)
def test_marginals_made_anew_are_those_that_were_kept(program, monkeypatch):
    X, y = overlapping(5, 30, 40, 5)
    kept = solve(program, X, y, solver="cutting_plane")
    monkeypatch.setattr(cutting_plane, "KEPT_BYTES", 0)
    anew = solve(program, X, y, solver="cutting_plane")
    np.testing.assert_array_equal(anew.multipliers, kept.multipliers)
    assert anew.gap <= 1e-6


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("program", FEW, ids=label)
def test_weights_are_repetitions_and_sparse_is_dense(program, many, monkeypatch):
    if many:
        monkeypatch.setattr(cutting_plane, "DENSE_FEATURES", 2)
    X, y = overlapping(6, 15, 20, 4)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    weight = np.random.default_rng(6).integers(1, 4, y.size)
    limits = {"solver": "cutting_plane", "tolerance": 1e-7}
    weighted = solve(program, X, y, sample_weight=weight, **limits)
    repeated = solve(program, np.repeat(X, weight, axis=0), np.repeat(y, weight), **limits)
    sparse = solve(program, sp.csr_array(X), y, sample_weight=weight, **limits)
    assert weighted.status is repeated.status is sparse.status is Status.OPTIMAL
    assert repeated.objective == pytest.approx(weighted.objective, rel=2e-7)
    assert sparse.objective == pytest.approx(weighted.objective, rel=2e-7)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.0), CSVM(0.0), ECSVM(0.0)], ids=label)
def test_separable_without_a_penalty_ends_at_zero(program, many, monkeypatch):
    # Any longer w is optimal too: the masters have unbounded solutions.
    if many:
        monkeypatch.setattr(cutting_plane, "DENSE_FEATURES", 2)
    solution = solve(program, *separable(), solver="cutting_plane")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == solution.lower_bound == 0.0
    assert any("separable" in note for note in solution.notes)
    assert np.isfinite(solution.coef).all()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("over", ["pairs", "points"])
def test_constant_features_are_not_used_by_a_penalised_program(over, norm):
    X, y = overlapping(7)
    program = RankSVM(0.02, norm) if over == "pairs" else CSVM(0.02, norm)
    plain = solve(program, X, y, solver="cutting_plane", tolerance=1e-8)
    constant = solve(program, np.c_[X, np.ones(y.size), np.zeros(y.size)], y, solver="cutting_plane", tolerance=1e-8)
    assert constant.status is Status.OPTIMAL
    if norm == "linf":
        assert constant.objective <= plain.objective * (1 + 1e-7)
    else:
        np.testing.assert_allclose(constant.coef[-2:], 0.0, atol=1e-5)
    assert constant.objective == pytest.approx(plain.objective, rel=1e-6)


def test_features_without_any_direction_leave_the_working_set_empty(monkeypatch):
    monkeypatch.setattr(cutting_plane, "DENSE_FEATURES", 2)
    X = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]])
    solution = solve(CSVM(0.01, "l1"), X, [1, 1, 0, 0, 0], solver="cutting_plane")
    reference = solve(CSVM(0.01, "l1"), X, [1, 1, 0, 0, 0], solver="highs")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(reference.objective, rel=1e-6)
