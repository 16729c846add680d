"""The structured solver where generic ones end: many pairs, bad scales, ties, imbalance."""

import os
import signal
import time

import numpy as np
import pytest
import scipy.sparse as sp

from auclab import CSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab._core.base import NORMS, Status
from auclab.datasets import load
from auclab.solvers.monitor import interruptible, progress_to
from programs import CONVEX, label, overlapping


def artificial(size):
    data = load("artificial", n_pos=size, n_neg=size, seed=0)
    return data.X.to_numpy(), data.y


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("program", CONVEX, ids=label)
@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_clarabel(program, seed):
    X, y = overlapping(100 + seed, 25, 30, 4)
    solution = solve(program, X, y, solver="newton", tolerance=1e-8)
    reference = solve(program, X, y, solver="clarabel", tolerance=1e-8)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-7, abs=1e-10)
    assert solution.gap <= 1e-7


@pytest.mark.parametrize(
    "program",
    [
        BufferedAUC(),
        *(RankSVM(0.01, norm) for norm in NORMS),
        RankSVM(1e-3, squared=True),
        *(GeneralizedBufferedAUC(-0.05, norm) for norm in NORMS),
    ],
    ids=label,
)
def test_certified_over_millions_of_pairs(program):
    X, y = artificial(5_000)  # 2.5·10⁷ pairs
    solution = solve(program, X, y, solver="newton")
    assert solution.status is Status.OPTIMAL
    assert solution.gap <= 1e-6
    assert len(solution.history) >= 1


def test_the_exact_optimum_is_that_of_the_windows():
    X, y = artificial(3_000)
    windows = solve(BufferedAUC(), X, y, solver="highs", encoding="aggregated")
    assert windows.gap <= 1e-9
    assert solve(BufferedAUC(), X, y, solver="newton").objective == pytest.approx(windows.objective, rel=1e-6)


def test_bad_scales_change_nothing():
    X, y = artificial(5_000)
    scales = 10.0 ** np.linspace(-3, 3, X.shape[1])
    plain, scaled = (solve(BufferedAUC(), data, y, solver="newton") for data in (X, X * scales))
    assert scaled.status is Status.OPTIMAL
    assert scaled.iterations <= 1.5 * plain.iterations + 1
    np.testing.assert_allclose(scaled.coef * scales, plain.coef, rtol=1e-3)


def test_few_positives_against_many():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0.7, 1, (30, 5)), rng.normal(0, 1, (30_000, 5))])
    solution = solve(BufferedAUC(), X, np.r_[np.ones(30), np.zeros(30_000)], solver="newton")
    assert solution.status is Status.OPTIMAL


def test_binary_features_tie_heavily():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((1500, 8)) < 0.5, rng.random((4000, 8)) < 0.4]).astype(float)
    y = np.r_[np.ones(1500), np.zeros(4000)]
    solution = solve(BufferedAUC(), X, y, solver="newton", time_limit=60)
    assert solution.status is Status.OPTIMAL
    assert solution.gap <= 1e-6


def test_sample_weights_over_millions_of_pairs():
    X, y = artificial(4_000)
    weight = np.random.default_rng(0).integers(1, 3, y.size)
    weighted = solve(RankSVM(0.01), X, y, solver="newton", sample_weight=weight)
    repeated = solve(RankSVM(0.01), np.repeat(X, weight, axis=0), np.repeat(y, weight), solver="newton")
    assert weighted.gap <= 1e-6
    assert weighted.objective == pytest.approx(repeated.objective, rel=2e-6)


def test_a_time_limit_gives_a_point_and_says_so():
    X, y = artificial(20_000)
    solution = solve(RankSVM(0.01), X, y, solver="newton", time_limit=1e-3)
    assert solution.status is Status.TIME_LIMIT
    assert solution.objective < 1.0


def test_too_many_features_for_a_cone_are_refused():
    X, y = np.eye(2001)[:40], np.arange(40) % 2
    with pytest.raises(AuclabError, match="n = 2001 features"):
        solve(RankSVM(0.01, norm="linf"), X, y, solver="newton")


@pytest.mark.parametrize("program", [RankSVM(0.1), RankSVM(0.01, squared=True), GeneralizedBufferedAUC(-0.2)], ids=str)
def test_many_features_go_by_products_of_the_hessian(program, monkeypatch):
    X, y = overlapping(np.random.default_rng(0), 200, 100, 8)
    dense = solve(program, X, y, solver="newton")
    monkeypatch.setattr("auclab.solvers.newton.minimise.NEWTON_FEATURES", 4)
    by_products = solve(program, sp.csr_array(X), y, solver="newton", tolerance=1e-5)
    assert by_products.gap <= 1e-5
    assert by_products.objective == pytest.approx(dense.objective, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "other"),  # with every pair of 600 rows, Clarabel took four times as long
    [(RankSVM(1e-2), "cutting_plane"), (CSVM(1e-3), "clarabel"), (CSVM(1e-4, squared=True), "clarabel")],
    ids=str,
)
def test_rare_one_hot_features(program, other):
    """Columns of ones in one row of three hundred, standardised: a few multipliers decide whether the dual holds."""
    rng = np.random.default_rng(1)
    codes = rng.choice(40, p=np.arange(1, 41) ** -1.5 / np.sum(np.arange(1, 41) ** -1.5), size=(600, 2))
    X = np.hstack([np.eye(40)[codes[:, 0]], np.eye(40)[codes[:, 1]], rng.normal(size=(600, 3))])
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    y = (X[:, -3] + X[:, 0] + rng.normal(size=600) > 0).astype(int)
    solution = solve(program, X, y, solver="newton")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(solve(program, X, y, solver=other).objective, rel=2e-6)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="raises SIGINT in its own process")
@pytest.mark.parametrize("run", [lambda work: work(), interruptible], ids=["main thread", "another thread"])
def test_ctrl_c_ends_a_solve_with_its_best_point(run):
    """The first report comes before the first certificate; what was reached by then is the answer."""
    X, y = artificial(20_000)
    seen = []

    def press(progress):
        seen.append(progress)
        if len(seen) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(3.0)  # until the main thread has passed it on, on a busy machine too

    usual = signal.getsignal(signal.SIGINT)
    with progress_to(press):
        solution = run(lambda: solve(BufferedAUC(), X, y, solver="newton", tolerance=1e-9))
    assert solution.status is Status.INTERRUPTED
    assert solution.objective < 0.5
    assert solution.gap > 1e-9
    assert len(seen) == len(solution.history)
    assert signal.getsignal(signal.SIGINT) is usual


def test_history_never_claims_less_than_the_objective():
    """Not even from a subsample, whose objective may be lower."""
    X, y = artificial(20_000)
    solution = solve(BufferedAUC(), X, y, solver="newton")
    objectives = [value for _, value, _ in solution.history]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == pytest.approx(solution.objective, rel=1e-12)
    assert all(bound <= solution.objective * (1 + 1e-12) for _, _, bound in solution.history)


@pytest.mark.parametrize(
    "program",
    [
        RankSVM(1e-6, squared=True),
        RankSVM(1e-8),
        PartialAUC(0.3, 1e-6, squared=True),
        CSVM(1e-4, squared=True),
    ],
    ids=label,
)
def test_separable_rows_take_few_steps(program):
    """The hard-margin separator, proved by its multipliers; the smoothed path takes thousands of steps to it."""
    rng, y = np.random.default_rng(120), np.repeat([1, 0], [40, 80])
    X = rng.normal(size=(120, 100)) + 0.3 * y[:, None]
    found = solve(program, X, y, solver="newton")
    assert found.status is Status.OPTIMAL
    assert found.gap < 1e-10
    assert found.iterations < 200


def test_separable_rows_whose_optimum_has_hinges_are_not_hard_margin():
    rng, y = np.random.default_rng(120), np.repeat([1, 0], [40, 80])
    X = rng.normal(size=(120, 100)) + 0.3 * y[:, None]
    found = solve(RankSVM(2.0, squared=True), X, y, solver="newton")
    reference = solve(RankSVM(2.0, squared=True), X, y, solver="clarabel")
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(reference.objective, rel=1e-6)
    assert not any("hard-margin" in note for note in found.notes)
