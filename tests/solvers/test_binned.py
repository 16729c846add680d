"""Solves over bins of the scores: every number against sums over rows and pairs, and the optimum of memory."""

import importlib.util
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError, Status
from auclab._core.hinge import transport_factor
from auclab.certificates.value import moments
from auclab.formulations import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, RankSVM
from auclab.formulations.constraints import Constraints
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.samples.blocks import DaskEngine, open_parquet
from auclab.samples.blocks.block_sample import LookAtRows
from auclab.samples.blocks.engines import number_of_passes, passes_to
from auclab.samples.blocks.files import groups
from auclab.samples.blocks.labels import LabelledRows, packed_labels
from auclab.samples.memory import RowRounding, Sample
from auclab.solvers.binned import BinnedSolve
from auclab.solvers.binned_loss import BINS, N_PARTS, SumInBins, grid_for, moves_of
from auclab.solvers.certify import certify
from auclab.solvers.dispatch import solve
from computed_rows import uniform_rows

N_COLUMNS = 4
PROGRAMS = [
    BufferedAUC(),
    RankSVM(0.05),
    RankSVM(0.01, squared=True),
    RankSVM(0.03, norm="l1"),
    GeneralizedBufferedAUC(-0.05),
    GeneralizedBufferedAUC(-0.05, norm="linf"),
    CSVM(0.01),
    ECSVM(-0.05),
]
needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs the extra auclab[dask]")


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch):
    """Many blocks and groups of few rows, and solves over bins of small samples."""
    monkeypatch.setattr("computed_rows.BLOCK_ROWS", 700)
    monkeypatch.setattr("auclab.samples.blocks.files.GROUP_ROWS", 2_000)
    monkeypatch.setattr("auclab.samples.blocks.block_sample.DRAWN_FROM", 1_000)
    monkeypatch.setattr("auclab.samples.blocks.block_sample.BLOCK_ROWS", 3_000)


def uniform(engine=None, n_pos=9_000, n_neg=14_000, seed=0):
    table, labels = uniform_rows(n_pos, n_neg, N_COLUMNS, seed, engine)
    return table, labels.positive().astype(np.int8)


def parquet_of(folder, X, y):
    """The rows in a file of several row groups, opened."""
    folder.mkdir(exist_ok=True)
    columns = {f"x{k}": column for k, column in enumerate(X.T)}
    pd.DataFrame(columns).assign(y=y).to_parquet(folder / "rows.parquet", row_group_size=3_000)
    return open_parquet(folder, target="y")[0]


def loss_at(program, table, y, w, intercept=0.0, n_bins=300, weight=None):
    """The binned loss at a point, and the sample in memory."""
    sample = as_sample(table, y, weight)
    theta = np.r_[w, intercept, np.linalg.norm(w)]
    grid = grid_for(program, sample.drawn, theta, n_bins)
    task = SumInBins(np.asarray(w, float), moves_of(program, theta), grid)
    sums = table.engine.reduce(task, sample.labels)
    return BINS[program.comparisons.name](program, (sample.prior_neg, sample.prior_pos), theta, grid, sums)


@pytest.mark.slow
def test_sums_are_those_over_the_rows():
    table, y = uniform()
    w, program = np.array([-1.0, -2.0, 0.5, -1.5]), GeneralizedBufferedAUC(-0.1)
    weight = np.random.default_rng(0).random(y.size)
    for weights in (None, weight):
        loss = loss_at(program, table, y, w, weight=weights)
        sums, grid, X = loss.sums, loss.grid, np.asarray(table)
        t = X @ w + np.where(y == 1, 0.0, 1.0 + 0.1 * np.linalg.norm(w))
        bins, each = np.searchsorted(grid.edges, t, side="right"), np.ones(y.size) if weights is None else weight
        for side in (0, 1):
            ours = y == side
            for k in range(grid.n_bins):
                inside = ours & (bins == k)
                parts = slice(k * N_PARTS, (k + 1) * N_PARTS)
                assert sums.mass[side, parts].sum() == pytest.approx(each[inside].sum(), rel=1e-12, abs=1e-300)
                assert sums.total[side, parts].sum() == pytest.approx(each[inside] @ t[inside], rel=1e-9, abs=1e-9)
                expected = each[inside] @ X[inside]
                np.testing.assert_allclose(
                    sums.rows[:, side, k] + sums.rest[:, side, k], expected, rtol=1e-12, atol=1e-12
                )
            assert sums.ends[side].tolist() == pytest.approx([t[ours].min(), t[ours].max()], rel=1e-12)


def test_rows_are_summed_to_more_than_working_precision():
    from fractions import Fraction

    table, y = uniform(n_pos=800, n_neg=900)
    loss = loss_at(BufferedAUC(), table, y, np.ones(N_COLUMNS), n_bins=2)
    X, sums = np.asarray(table), loss.sums
    for side in (0, 1):
        for k in range(N_COLUMNS):
            exact = sum((Fraction(x) for x in X[y == side, k].tolist()), Fraction(0))
            found = sum(Fraction(v) for part in (sums.rows, sums.rest) for v in part[k, side].tolist())
            assert abs(float(found - exact)) < 1e-26


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_limits_contain_the_objective_and_narrow_with_the_square_of_the_bins(program):
    table, y = uniform()
    memory = Problem(program, as_sample(np.asarray(table), y))
    rng, widths = np.random.default_rng(1), []
    for n_bins in (40, 80, 160):
        w = np.array([-1.0, -1.2, -0.8, -1.0]) + 0.1 * rng.normal(size=N_COLUMNS)
        loss = loss_at(program, table, y, w, intercept=0.7, n_bins=n_bins)
        loss.theta[-1] = np.linalg.norm(w, {"l1": 1, "l2": 2, "linf": np.inf}[program.regulariser.name])
        loss = loss_at(program, table, y, w, 0.7, n_bins) if program.regulariser.name == "l2" else loss
        if program.regulariser.name == "l2" or not program.threshold:
            limits, exact = loss.limits(), memory.objective(w, 0.7)
            assert limits.coarse <= limits.low * (1 + 1e-12)
            assert limits.low * (1 - 1e-12) <= exact <= limits.high * (1 + 1e-12)
            widths.append((exact - limits.coarse) / exact)
    if program.comparisons.name == "pairs" and widths:
        assert widths[2] < widths[0] / 6  # 16 but for another w


@pytest.mark.parametrize("program", [BufferedAUC(), GeneralizedBufferedAUC(-0.3), CSVM(0.1), ECSVM(-0.2)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_that_of_the_objective(program, weighted):
    """By differences of the exact objective; what bins change is of second order in their width."""
    table, y = uniform()
    weight = np.random.default_rng(5).random(y.size) if weighted else None
    w, b, step = np.array([-1.0, -1.2, -0.8, -1.0]), 0.8, 2e-3
    memory = Problem(program, as_sample(np.asarray(table), y, weight))
    found = loss_at(program, table, y, w, b, n_bins=600, weight=weight).negative_gradient()

    def value(point):
        return memory.objective(point[:-1], point[-1]) - program.regulariser.value(point[:-1])

    direction = w / np.linalg.norm(w)
    for k in range(N_COLUMNS + (program.comparisons.name == "points")):
        unit = np.eye(N_COLUMNS + 1)[k]
        slope = (value(np.r_[w, b] + step * unit) - value(np.r_[w, b] - step * unit)) / (2 * step)
        along_norm = found[-1] * direction[k] if k < N_COLUMNS else 0.0
        assert -(found[k] + along_norm) == pytest.approx(slope, abs=2e-4)


@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.05), GeneralizedBufferedAUC(-0.2), CSVM(0.1)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_program_of_bin_means_is_below_at_every_w(program, weighted):
    table, y = uniform(n_pos=900, n_neg=1_200)
    weight = np.random.default_rng(2).random(y.size) if weighted else None
    memory = Problem(program, as_sample(np.asarray(table), y, weight))
    loss = loss_at(program, table, y, np.array([-1.0, -1.0, -1.0, -1.0]), n_bins=12, weight=weight)
    means = Problem(program, loss.bin_means(memory.sample.spread, memory.sample.peaks))
    assert means.sample.n_pos + means.sample.n_neg <= 26
    rng = np.random.default_rng(3)
    for size in (0.1, 1.0, 10.0):
        for _ in range(20):
            w, b = size * rng.normal(size=N_COLUMNS), size * rng.normal()
            assert means.objective(w, b) <= memory.objective(w, b) * (1 + 1e-12)


def test_multipliers_of_bins_are_those_of_rows():
    """Spread over the rows of a bin they are marginals of a pair weighting, with the same sums."""
    table, y = uniform(n_pos=900, n_neg=1_200)
    w = np.array([-1.0, -1.0, -1.0, -1.0])
    loss = loss_at(BufferedAUC(), table, y, w, n_bins=12)
    X = np.asarray(table)
    sample = as_sample(X, y)
    means = loss.bin_means(sample.spread, sample.peaks)
    found = solve(RankSVM(0.05), np.vstack([means.X_pos, means.X_neg]), np.repeat([1, 0], [means.n_pos, means.n_neg]),
                  sample_weight=np.r_[means.share_pos, means.share_neg], solver="newton")  # fmt: skip
    of_bins = found.multipliers
    t = X @ w + (y == 0)
    bins = np.searchsorted(loss.grid.edges, t, side="right")
    rows = np.empty(y.size)
    for side, values in ((1, of_bins[: means.n_pos]), (0, of_bins[means.n_pos :])):
        used = np.flatnonzero(loss.sums.bin_mass[side])
        each = dict(zip(used, values / loss.sums.bin_mass[side][used], strict=True))
        rows[y == side] = [each[k] for k in bins[y == side]]
    pos, neg = rows[y == 1], rows[y == 0]
    assert transport_factor(pos, neg, sample.share_pos, sample.share_neg) == pytest.approx(1.0, abs=1e-12)
    assert pos.sum() == pytest.approx(neg.sum(), rel=1e-9)
    expected = means.combine(of_bins[: means.n_pos], of_bins[means.n_pos :])
    np.testing.assert_allclose(sample.combine(pos, neg), expected, rtol=1e-9, atol=1e-12)


def test_moments_account_for_the_rounding_of_means():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    rounded = X.astype(np.float32).astype(float)
    rest, positive = X - rounded, np.arange(60) < 25
    share_pos, share_neg = np.full(25, 1 / 25), np.full(35, 1 / 35)
    rounding = RowRounding(rest[:25], rest[25:], np.zeros(3))
    known = Sample(rounded[:25], rounded[25:], share_pos, share_neg, 25 / 60, positive, False, rounding=rounding)
    whole = Sample(X[:25], X[25:], share_pos, share_neg, 25 / 60, positive, False)
    q = share_pos * rng.random(25), share_neg * rng.random(35)
    found, exact = moments(known, *q), moments(whole, *q)
    np.testing.assert_allclose(found.value, exact.value, atol=1e-17)
    assert (abs(found.value - exact.value) <= found.error + exact.error + 1e-17).all()
    unknown = RowRounding(np.zeros((25, 3)), np.zeros((35, 3)), abs(rest).max(axis=0))
    sample = Sample(rounded[:25], rounded[25:], share_pos, share_neg, 25 / 60, positive, False, rounding=unknown)
    off = moments(sample, *q)
    assert (abs(off.value - exact.value) <= off.error).all()


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_optimum_is_that_of_memory(program):
    table, y = uniform()
    found, memory = (solve(program, data, y, solver="newton") for data in (table, np.asarray(table)))
    assert found.status is Status.OPTIMAL
    assert found.gap <= 1e-6
    assert "passes over the rows" in found.notes[-1]
    assert found.objective == pytest.approx(memory.objective, rel=2e-6)
    assert found.lower_bound <= memory.objective * (1 + 1e-12)
    exact = Problem(program, as_sample(np.asarray(table), y)).objective(found.coef, found.intercept)
    assert exact <= found.objective * (1 + 1e-12)
    assert found.objective == pytest.approx(exact, rel=1e-8)


@pytest.mark.slow
def test_the_objective_of_many_rows_agrees_to_nine_digits(monkeypatch):
    monkeypatch.setattr("computed_rows.BLOCK_ROWS", 30_000)
    monkeypatch.setattr("auclab.samples.blocks.block_sample.BLOCK_ROWS", 30_000)
    table, y = uniform(n_pos=150_000, n_neg=150_000)
    found, memory = (solve(BufferedAUC(), data, y, solver="newton") for data in (table, np.asarray(table)))
    assert found.status is Status.OPTIMAL
    assert found.certificate.norm_bound == np.inf
    assert found.objective == pytest.approx(memory.objective, rel=1e-9)
    assert found.iterations <= 5


@pytest.mark.slow
def test_weights_and_columns_far_from_zero(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(7)
    y = (rng.random(20_000) < 0.45).astype(int)
    X = rng.normal(size=(y.size, 3)) * [0.1, 1.0, 10.0] + y[:, None] * [0.05, 1.0, 0.0] + [1e6, 0.0, -300.0]
    weight = rng.random(y.size) * (rng.random(y.size) < 0.9)
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(tmp_path / "a.parquet", row_group_size=3_000)
    table, _ = open_parquet(tmp_path, target="y")
    for program in (RankSVM(0.05), CSVM(0.01)):
        found = solve(program, table, y, solver="newton", sample_weight=weight)
        memory = solve(program, X, y, solver="newton", sample_weight=weight)
        assert found.status is Status.OPTIMAL
        assert "passes over the rows" in found.notes[-1]
        assert found.objective == pytest.approx(memory.objective, rel=2e-6)
        assert found.intercept == pytest.approx(memory.intercept, abs=0.02 * abs(memory.coef[0]) * 1e6)


def test_few_values(tmp_path):
    """Whole numbers: the minimum of the bin means, which are then the distinct rows, is the optimum."""
    import pandas as pd

    rng = np.random.default_rng(8)
    y = (rng.random(30_000) < 0.4).astype(int)
    X = rng.integers(0, 3, size=(y.size, 3)) + (y[:, None] & (rng.random((y.size, 3)) < 0.3))
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(tmp_path / "a.parquet", row_group_size=4_000)
    table, _ = open_parquet(tmp_path, target="y")
    found, memory = (solve(BufferedAUC(), data, y, solver="newton") for data in (table, X))
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(memory.objective, rel=2e-6)


def test_a_null_optimum_is_left_to_the_other_method():
    table, y = uniform()
    found = solve(RankSVM(10.0), table, y)
    assert not found.coef.any()
    assert found.status is Status.OPTIMAL


@pytest.mark.slow
def test_labels_may_stay_with_their_blocks():
    table, y = uniform()
    packed = packed_labels(table, y == 1)
    by_vector, by_block = solve(BufferedAUC(), table, y), solve(BufferedAUC(), table, packed)
    assert by_block.coef.tolist() == by_vector.coef.tolist()
    assert by_block.certificate == by_vector.certificate
    sample = as_sample(table, packed)
    assert sample.positive.tolist() == (y == 1).tolist()
    assert (packed.n_pos, packed.n_neg) == (9_000, 14_000)


@pytest.mark.slow
@pytest.mark.parametrize("program", [RankSVM(0.05), CSVM(0.01)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_multipliers_of_all_rows_prove_the_bound(program, weighted):
    """By the certificate of a sample in memory."""
    table, y = uniform()
    weight = np.random.default_rng(6).random(y.size) if weighted else None
    found = solve(program, table, y, solver="newton", sample_weight=weight)
    assert found.multipliers is None
    rows = found.bin_multipliers.of_rows(table, y, weight)
    assert rows.shape == y.shape
    labels = packed_labels(table, y == 1, weight)
    np.testing.assert_array_equal(found.bin_multipliers.of_rows(table, labels), rows)
    by_block = list(found.bin_multipliers.by_block(table, labels))
    assert [part.size for part in by_block] == [block.n_rows for block in table.blocks]
    with pytest.raises(AuclabError, match="already have weights"):
        found.bin_multipliers.of_rows(table, labels, np.ones(y.size))
    with pytest.raises(AuclabError, match="belong to another table"):
        found.bin_multipliers.of_rows(table[np.arange(500)], labels)
    with pytest.raises(AuclabError, match="23000 rows, but there are 22999 labels"):
        found.bin_multipliers.of_rows(table, y[1:])
    proved = certify(program, np.asarray(table), y, found.coef, found.intercept, multipliers=rows, sample_weight=weight)
    assert proved.lower_bound == pytest.approx(found.lower_bound, rel=1e-9)
    assert proved.gap <= 1e-6


def test_groups_do_not_depend_on_who_reads(monkeypatch):
    table, y = uniform()
    labels = packed_labels(table, y == 1)
    sizes = [sum(block.block.n_rows for block in group) for group in groups(labels)]
    assert sum(sizes) == y.size
    assert min(sizes[:-1]) >= 2_000


def test_what_bins_are_not_for():
    table, y = uniform()
    with pytest.raises(AuclabError, match="for large samples in blocks"):
        solve(BufferedAUC(), np.asarray(table), y, solver="newton", bins=100)
    with pytest.raises(AuclabError, match="for large samples in blocks"):
        solve(BufferedAUC(), table, y, solver="newton", bins=100, constraints=Constraints(nonpositive=[0]))
    by_rows = solve(BufferedAUC(), table, y, solver="newton", bins=0)
    assert by_rows.multipliers is not None
    with pytest.raises(AuclabError, match="BlockLabels already have weights"):
        solve(BufferedAUC(), table, packed_labels(table, y == 1), sample_weight=np.ones(y.size))


def test_a_time_limit_ends_between_passes():
    table, y = uniform()
    found = solve(BufferedAUC(), table, y, solver="newton", time_limit=1e-2)
    assert found.status in (Status.TIME_LIMIT, Status.OPTIMAL)
    assert found.lower_bound <= found.objective


@needs_dask
def test_workers_give_the_same_to_the_last_digit():
    table, y = uniform()
    here = solve(BufferedAUC(), table, y, solver="newton")
    for workers in (1, 3):
        engine = DaskEngine(workers=workers)
        try:
            there = solve(BufferedAUC(), uniform(engine)[0], y, solver="newton")
        finally:
            engine.close()
        assert there.coef.tolist() == here.coef.tolist()
        assert there.certificate == here.certificate


@pytest.mark.parametrize("number", [0, 3])
def test_rows_are_not_drawn_from_the_stream_of_the_users_labels(number):
    """Of labels that were made with the number of the block as seed either class is drawn alike."""
    positive = np.random.default_rng([0, number]).random(10_000) < 0.3
    rows = LabelledRows(number, (0, 0), np.zeros((10_000, 1)), positive, None)
    look = LookAtRows((100, 100), (0.1, 0.1), (1.0, 1.0))([rows])
    assert 200 < len(look.pos.drawn) < 400
    assert 550 < len(look.neg.drawn) < 850


@needs_dask
def test_a_worker_that_is_killed_is_replaced(monkeypatch):
    monkeypatch.setattr(BinnedSolve, "_is_accurate", lambda self, state: state.passes >= 6)
    table, y = uniform(n_pos=100_000, n_neg=100_000)
    here = solve(BufferedAUC(), table, y, solver="newton")
    engine, killed = DaskEngine(workers=2), []
    there_table, _ = uniform(engine, n_pos=100_000, n_neg=100_000)

    def kill():
        while not killed:
            time.sleep(0.4)
            pids = engine.connect().run(os.getpid)
            if pids:
                killed.append(next(iter(pids.values())))
                os.kill(killed[0], signal.SIGKILL)

    engine.connect()
    thread = threading.Thread(target=kill)
    thread.start()
    try:
        there = solve(BufferedAUC(), there_table, y, solver="newton")
        thread.join()
        assert killed
    finally:
        engine.close()
    assert there.coef.tolist() == here.coef.tolist()
    assert there.certificate == here.certificate


@pytest.mark.slow
@pytest.mark.parametrize("program", [CSVM(0.01), ECSVM(-0.1)])
def test_scores_beyond_those_of_the_drawn_rows_are_counted(program, tmp_path):
    """More than half of the rows score the largest value that was drawn, and three score more."""
    rng = np.random.default_rng(0)
    y = (rng.random(60_000) < 0.5).astype(int)
    x = np.where(rng.random(y.size) < np.where(y == 1, 0.7, 0.3), 0.0, rng.exponential(1.0, y.size))
    x[np.flatnonzero(y == 0)[[7_000, 12_345, 25_001]]] = -30.0
    table = parquet_of(tmp_path / "rows", x[:, None], y)
    found, exact = solve(program, table, y, solver="newton"), as_sample(x[:, None], y)
    objective = Problem(program, exact).objective(found.coef, found.intercept)
    assert found.lower_bound <= objective * (1 + 1e-12)
    assert found.objective == pytest.approx(objective, rel=1e-8)
    assert found.objective == pytest.approx(solve(program, x[:, None], y, solver="newton").objective, rel=2e-6)


def test_one_pass_besides_those_at_points():
    """The first look at the rows brings the difference of the class means as well, which w = 0 is tried with."""
    table, y = uniform()
    for labels in (y, packed_labels(table, y == 1)):
        with passes_to(lambda progress: None):
            found = solve(BufferedAUC(), table, labels, solver="newton")
            assert number_of_passes() == 1 + found.iterations
        assert found.status is Status.OPTIMAL
