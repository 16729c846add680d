"""Blocks against memory: the same products, the same optimum, the same certificate; and what blocks refuse."""

import importlib.util
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from auclab._core.base import AuclabError, Status
from auclab.datasets.blocks import load_blocks
from auclab.datasets.preprocess import minmax, none, standard
from auclab.estimators import AUCClassifier
from auclab.formulations import CSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.samples.blocks import DaskEngine, LocalEngine, open_parquet
from auclab.samples.blocks.files import ahead
from auclab.solvers.dispatch import solve
from auclab.solvers.newton.solver import nested_subsamples
from auclab.solvers.smoothed.losses import binned_hessian
from auclab.solvers.smoothed.pair_loss import PairLoss
from composed import run_here

N_ROWS, N_COLUMNS = 9_000, 4


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    y = (rng.random(N_ROWS) < 0.3).astype("int8")
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) * [0.1, 1.0, 10.0, 1.0] + y[:, None] * [0.05, 0.4, 0.0, 0.1] + 3.0
    return X, y


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    """Three files with row groups of 1,000, one short; a column of whole numbers among them."""
    X, y = rows
    place = tmp_path_factory.mktemp("blocks")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    for number, (start, end) in enumerate([(0, 2500), (2500, 2600), (2600, N_ROWS)]):
        frame[start:end].to_parquet(place / f"part{number}.parquet", row_group_size=1000, index=False)
    return place


@pytest.fixture
def table(folder):
    return open_parquet(folder, target="y")[0]


def test_the_table_is_the_matrix(rows, table):
    X, _ = rows
    rng = np.random.default_rng(0)
    assert table.shape == X.shape
    assert len(table.blocks) == 3 + 1 + 7
    np.testing.assert_array_equal(np.asarray(table), X)
    w = rng.normal(size=N_COLUMNS)
    np.testing.assert_allclose(table @ w, X @ w, rtol=1e-13)
    some = rng.integers(0, N_ROWS, 500)  # any order, repeated
    np.testing.assert_array_equal(table.take(some), X[some])
    assert table.take(np.arange(0)).shape == (0, N_COLUMNS)
    assert list(table.to_frame().columns) == list("abcd")
    assert list(table.columns) == list("abcd")


def test_views_of_views(rows, table):
    X, _ = rows
    rng = np.random.default_rng(1)
    first = np.sort(rng.choice(N_ROWS, 4000, replace=False))
    second = np.sort(rng.choice(4000, 700, replace=False))
    view = table[first][second]
    np.testing.assert_array_equal(np.asarray(view), X[first][second])
    np.testing.assert_array_equal(np.asarray(table[2400:2700]), X[2400:2700])
    assert len(table[2501:2504].blocks) == 1
    for wrong in ([3, 2], [1, 1], [[0, 1]], [0.5]):
        with pytest.raises(AuclabError, match="ascending order"):
            table[np.array(wrong)]


def test_rows_of_a_class_are_read_where_they_are_asked_for(rows, table):
    X, y = rows
    rng = np.random.default_rng(2)
    w = rng.normal(size=N_COLUMNS)
    for weights in (None, rng.random(N_ROWS)):
        blocks, memory = as_sample(table, y, weights), as_sample(X, y, weights)
        np.testing.assert_array_equal(blocks.spread, memory.spread)
        numbers = rng.integers(0, memory.n_neg, 3)
        np.testing.assert_array_equal(blocks.X_neg[numbers], memory.X_neg[numbers])
        np.testing.assert_allclose(blocks.X_pos @ w, memory.X_pos @ w, rtol=1e-12, atol=1e-12)


def test_a_sum_that_is_remembered_is_that_of_these_multipliers(rows, table):
    X, y = rows
    blocks, memory = as_sample(table, y), as_sample(X, y)
    u, v = blocks.share_pos.copy(), blocks.share_neg.copy()
    first = blocks.combine(u, v)
    first *= 0.0  # what was given away is the caller's
    np.testing.assert_allclose(blocks.combine(u, v), memory.combine(u, v), rtol=1e-11)
    u *= 2.0  # the same array with other values
    np.testing.assert_allclose(blocks.combine(u, v), memory.combine(u, v), rtol=1e-11)
    np.testing.assert_allclose(blocks.combine(u.copy(), v), memory.combine(u, v), rtol=1e-11)


def test_one_block_is_read_ahead_and_no_more():
    begun = []
    for number, found in enumerate(ahead(range(6), lambda block: begun.append(block) or np.array([block]))):
        assert found[0] == number
        assert len(begun) <= number + 2
    assert begun == list(range(6))


def test_bins_sum_rows(rows, table):
    X, y = rows
    blocks, memory = as_sample(table, y), as_sample(X, y)
    rng = np.random.default_rng(4)
    bins_pos, bins_neg = (rng.integers(0, 5, n).astype(np.int32) for n in (memory.n_pos, memory.n_neg))
    sums_pos, sums_neg = blocks.bin_sums(bins_pos, bins_neg, 5)
    for k in range(5):
        np.testing.assert_allclose(sums_pos[k], memory.share_pos[bins_pos == k] @ memory.X_pos[bins_pos == k])
        np.testing.assert_allclose(sums_neg[k], memory.share_neg[bins_neg == k] @ memory.X_neg[bins_neg == k])


@pytest.mark.parametrize("threshold", [0.0, -0.4])
@pytest.mark.parametrize("half_width", [1.0, 0.1, 0.02])
def test_the_binned_hessian_is_near_the_exact_one(rows, table, threshold, half_width):
    """Margins move by less than a bin, so the band's mass and moments are off by about a bin in a band's width."""
    X, y = rows
    program = GeneralizedBufferedAUC(threshold)
    memory, blocks = as_sample(X, y), as_sample(table, y)
    loss = PairLoss(Problem(program, memory), memory)
    w = np.array([2.0, 0.6, 0.01, 0.2])
    theta = np.r_[w, 0.0, np.linalg.norm(w)]
    exact = loss.hessian(loss.evaluate(theta, half_width))
    binned = binned_hessian(blocks, theta, half_width, threshold)
    scale = np.sqrt(np.outer(exact.diagonal(), exact.diagonal())) + 1e-300
    assert np.abs((binned - exact) / scale)[exact != 0].max() < 0.1
    assert np.linalg.eigvalsh(binned).min() > -1e-10 * binned.max()


def test_outliers_do_not_widen_the_bins_of_few_rows(rows, tmp_path):
    """Bins that cover the range of the scores and are much narrower than the band: only those with rows are kept."""
    X, y = rows[0][:2000].copy(), rows[1][:2000]
    X[7] *= 1e5
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    memory, blocks = as_sample(X, y), as_sample(open_parquet(tmp_path, target="y")[0], y)
    loss = PairLoss(Problem(BufferedAUC(), memory), memory)
    theta = np.r_[2.0, 0.6, 0.01, 0.2, 0.0, 0.0]
    exact = loss.hessian(loss.evaluate(theta, 0.01))
    np.testing.assert_allclose(binned_hessian(blocks, theta, 0.01, 0.0), exact, atol=0.1 * abs(exact).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    "formulation",
    [
        BufferedAUC(),
        RankSVM(0.05),
        RankSVM(0.01, squared=True),
        RankSVM(0.05, norm="l1"),
        GeneralizedBufferedAUC(-0.1, norm="linf"),
        CSVM(0.002),
        CSVM(0.2),  # w = 0
    ],
)
def test_the_optimum_of_blocks_is_that_of_memory(rows, table, formulation):
    """Equal within the gaps."""
    X, y = rows
    blocks = solve(formulation, table, y, solver="newton")
    memory = solve(formulation, X, y, solver="newton")
    assert blocks.status is Status.OPTIMAL
    assert blocks.objective == pytest.approx(memory.objective, rel=1e-6)
    assert blocks.lower_bound == pytest.approx(memory.lower_bound, rel=1e-6)
    assert blocks.gap <= 1e-6


def test_without_a_subsample_the_binned_hessian_does(rows, folder, monkeypatch):
    """All steps on the whole: other steps than in memory, the same optimum within the two certificates."""
    X, y = rows
    monkeypatch.setattr("auclab.solvers.newton.solver._LEAST_GROWTH", 10**9)
    table, _ = open_parquet(folder, target="y")
    assert nested_subsamples(as_sample(table, y)) == []
    blocks = solve(BufferedAUC(), table, y, solver="newton")
    memory = solve(BufferedAUC(), X, y, solver="newton")
    assert blocks.status is Status.OPTIMAL
    assert blocks.objective == pytest.approx(memory.objective, rel=2e-6)


def test_cutting_planes_work_on_blocks(rows, table):
    X, y = rows
    blocks = solve(RankSVM(0.05), table, y, solver="cutting_plane")
    assert blocks.status is Status.OPTIMAL
    assert blocks.objective == pytest.approx(solve(RankSVM(0.05), X, y, solver="newton").objective, rel=2e-6)


def test_weights_and_the_null_solution(rows, table):
    X, y = rows
    weight = np.random.default_rng(0).random(N_ROWS)
    blocks = solve(BufferedAUC(), table, y, solver="newton", sample_weight=weight)
    memory = solve(BufferedAUC(), X, y, solver="newton", sample_weight=weight)
    assert blocks.objective == pytest.approx(memory.objective, rel=1e-9)
    null = solve(RankSVM(1e3), table, y)
    assert not null.coef.any()
    assert null.status is Status.OPTIMAL
    assert any("auto selected newton: the sample is in blocks" in note for note in null.notes)


@pytest.mark.parametrize("solver", ["highs", "clarabel", "scs"])
def test_solvers_that_need_all_rows_say_so(rows, table, solver):
    with pytest.raises(AuclabError, match=r"needs all rows in memory.*cutting_plane or solver=newton"):
        solve(RankSVM(0.05, norm="l1"), table, rows[1], solver=solver)


@pytest.mark.slow
@pytest.mark.covering(program=2)  # w = 0 is the optimum of one of them
@pytest.mark.parametrize("program", [PartialAUC(0.1), PartialAUC(0.9), PartialAUC(0.9, 0.001, squared=True)], ids=str)
def test_partial_auc_of_blocks(rows, table, program):
    X, y = rows
    blocks, memory = (solve(program, data, y, solver="newton") for data in (table, X))
    assert blocks.status is Status.OPTIMAL
    assert blocks.objective == pytest.approx(memory.objective, rel=2e-6)
    # Some mean of a tenth of the negatives is the mean of the positives, but none of nine tenths.
    assert blocks.coef.any() == (program.max_fpr > 0.5)


def test_null_penalties_of_another_family_say_so(rows, table):
    with pytest.raises(AuclabError, match="all rows in memory"):
        CSVM(1.0).null_penalty(table, rows[1])


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs the extra auclab[dask]")
def test_two_dask_workers_give_the_same(rows, folder, monkeypatch):
    X, y = rows
    monkeypatch.setattr("auclab.samples.blocks.engines.BATCH_ROWS", 1500)
    engine = DaskEngine(workers=2)
    try:
        table, _ = open_parquet(folder, target="y", engine=engine)
        assert engine._client is None  # started when it is needed
        blocks = solve(BufferedAUC(), table, y, solver="newton")
        assert len(engine._client.nthreads()) == 2
        cluster = engine._cluster
    finally:
        engine.close()
    assert cluster.status.name == "closed"  # its processes are gone
    assert blocks.objective == pytest.approx(solve(BufferedAUC(), X, y, solver="newton").objective, rel=1e-9)
    with pytest.raises(AuclabError, match="at least 1"):
        DaskEngine(workers=0)
    monkeypatch.setattr(DaskEngine, "TIMEOUT", 0.5)
    with pytest.raises(AuclabError, match=r"no Dask scheduler responds at engine\.address=tcp:"):
        DaskEngine(address="tcp://127.0.0.1:9").connect()


@pytest.mark.parametrize(("build", "scaler"), [(standard, StandardScaler()), (minmax, MinMaxScaler()), (none, None)])
def test_preprocessing_is_that_of_memory(rows, folder, build, scaler):
    X, _ = rows
    dataset = load_blocks(folder, target="y")
    pipeline = build(dataset)
    scaled = pipeline.fit_transform(dataset.X)
    expected = X if scaler is None else scaler.fit_transform(X)
    np.testing.assert_allclose(np.asarray(scaled), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(pipeline.transform(X[:5]), expected[:5], rtol=1e-9, atol=1e-12)
    assert pipeline.get_feature_names_out().tolist() == list("abcd")


def test_the_classifier_takes_blocks(rows, table):
    X, y = rows
    labels = np.where(y == 1, "yes", "no")
    blocks = AUCClassifier("ranksvm", solver="newton", penalty=0.05).fit(table, labels)
    memory = AUCClassifier("ranksvm", solver="newton", penalty=0.05).fit(X, labels)
    # Two solves, each within 1e-6 of the optimum.
    np.testing.assert_allclose(blocks.decision_function(X), memory.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(blocks.decision_function(table), blocks.decision_function(X), atol=1e-9)
    assert blocks.predict(table).tolist() == blocks.predict(X).tolist()
    path = blocks.fit_path(table, labels, [0.1, 0.02])
    assert [model.solution_.status for model in path] == [Status.OPTIMAL] * 2


@pytest.mark.slow
def test_an_experiment_on_blocks_is_that_on_the_file(rows, folder, tmp_path):
    X, y = rows
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(tmp_path / "one.parquet", index=False)
    usual = ("dataset.target=y", "solver=newton", "bounds=fixed_scorer")
    blocks = run_here(tmp_path / "blocks", "dataset=blocks", f"dataset.path={folder}", *usual)
    memory = run_here(tmp_path / "file", "dataset=file", f"dataset.path={tmp_path / 'one.parquet'}", *usual)
    assert set(blocks.summary) == set(memory.summary)
    for key in ("objective", "lower_bound", "train/auc", "test/auc", "train/bauc", "test/bauc"):
        assert blocks.summary[key] == pytest.approx(memory.summary[key], rel=2e-6), key  # two solves to 1e-6
    kept = pd.read_parquet(tmp_path / "blocks" / "scores.parquet")
    assert kept["row"].is_monotonic_increasing
    assert kept["y_true"].tolist() == y[kept["row"]].tolist()
    scores = blocks.folds[0].model.decision_function(X[kept["row"]])
    np.testing.assert_allclose(scores - scores[0], kept["score"] - kept["score"].iloc[0], atol=1e-9)


def test_what_blocks_cannot_read_is_said(rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X[:50], columns=list("abcd")).assign(y=y[:50])
    with pytest.raises(AuclabError, match="does not exist; give a folder"):
        open_parquet(tmp_path / "nowhere", target="y")
    with pytest.raises(AuclabError, match="holds no file that ends in"):
        open_parquet(tmp_path, target="y")
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    with pytest.raises(AuclabError, match="column 'z' does not exist; columns are a, b, c, d, y"):
        open_parquet(tmp_path, target="z")
    with pytest.raises(AuclabError, match="no features"):
        open_parquet(tmp_path, target="y", drop=list("abcd"))
    with pytest.raises(AuclabError, match="which files"):
        load_blocks()
    frame[["a", "y"]].to_parquet(tmp_path / "b.parquet", index=False)
    with pytest.raises(AuclabError, match="other columns than"):
        open_parquet(tmp_path, target="y")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(AuclabError, match="cannot be read as parquet"):
        open_parquet(tmp_path / "b.parquet", target="y")
    frame.assign(a=pd.Timestamp("2024-01-01")).to_parquet(tmp_path / "b.parquet", index=False)
    with pytest.raises(AuclabError, match="blocks take numbers and text"):
        open_parquet(tmp_path / "b.parquet", target="y")


def test_columns_are_taken_by_name(rows, tmp_path):
    """Another order in the second file, and whole numbers where the first has fractions."""
    X, y = rows
    frame = pd.DataFrame(np.round(X[:60]), columns=list("abcd")).assign(y=y[:60])
    frame[:40].to_parquet(tmp_path / "a.parquet", index=False)
    frame[40:][["y", "d", "b", "a", "c"]].astype("int32").to_parquet(tmp_path / "b.parquet", index=False)
    table, labels = open_parquet(tmp_path, target="y")
    assert table.columns == ("a", "b", "c", "d")
    np.testing.assert_array_equal(np.asarray(table), frame[list("abcd")])
    np.testing.assert_array_equal(labels, y[:60])


def test_text_that_spells_numbers_is_refused_in_every_file(rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X[:60], columns=list("abcd")).assign(y=y[:60])
    frame[:30].to_parquet(tmp_path / "a.parquet", index=False)
    frame[30:].astype({"c": str}).to_parquet(tmp_path / "b.parquet", index=False)
    with pytest.raises(AuclabError, match=r"column 'c' of .*b\.parquet is of type .*string, and of type double in a"):
        open_parquet(tmp_path, target="y")
    table, _ = open_parquet(tmp_path, target="y", drop=["c"])
    np.testing.assert_array_equal(np.asarray(table), X[:60, [0, 1, 3]])


def test_files_that_change_while_they_are_read_are_noticed(rows, tmp_path):
    X, y = rows
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame(X[:60], columns=list("abcd")).assign(y=y[:60])
    changes = (frame.astype({"b": str}), frame[:1], frame.drop(columns="b"), frame[:0], frame.assign(b=0.0))
    for number, changed in enumerate(changes):
        frame.to_parquet(path, index=False, row_group_size=30)
        table, _ = open_parquet(path, target="y")
        changed.to_parquet(path, index=False, row_group_size=30)
        os.utime(path, ns=(number, number))  # the clock may be too coarse for two changes
        with pytest.raises(AuclabError, match="has changed since it was opened"):
            np.asarray(table)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_missing_is_named(rows, tmp_path, bad):
    X, y = rows
    frame = pd.DataFrame(X[:3000], columns=list("abcd")).assign(y=y[:3000])
    frame.loc[2345, "c"] = bad
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=1000, index=False)
    table, labels = open_parquet(tmp_path, target="y", engine=LocalEngine())
    with pytest.raises(AuclabError, match="first at row 2345, column 'c'"):
        solve(BufferedAUC(), table, labels.to_numpy())
    if np.isinf(bad):
        with pytest.raises(AuclabError, match="contain an infinite value: repair the files"):
            standard(load_blocks(tmp_path, target="y")).fit(table)


def test_labels_of_any_kind_and_rows_of_neither_side(rows, tmp_path):
    X, y = rows
    names = np.where(y == 1, "good", "bad").astype(object)
    names[::7] = "other"
    pd.DataFrame(X, columns=list("abcd")).assign(y=names).to_parquet(tmp_path / "a.parquet", row_group_size=2000)
    dataset = load_blocks(tmp_path / "a.parquet", target="y", positive="good", negative="bad")
    kept = names != "other"
    assert dataset.y.tolist() == y[kept].tolist()
    np.testing.assert_array_equal(np.asarray(dataset.X), X[kept])
    assert len(dataset.sha256) == 64


def test_folders_hold_columns(rows, tmp_path):
    """What Spark's partitionBy and pandas' partition_cols write: the labels, a feature, or both."""
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, year=2020 + np.arange(N_ROWS) % 3)
    frame.to_parquet(tmp_path / "labels", partition_cols=["y"], index=False)
    table, labels = open_parquet(tmp_path / "labels", target="y", drop=["year"])
    order = np.argsort(y, kind="stable")
    np.testing.assert_array_equal(labels, y[order])
    np.testing.assert_array_equal(np.asarray(table), X[order])
    frame.to_parquet(tmp_path / "years", partition_cols=["year", "y"], index=False)
    (tmp_path / "years" / "_other" / "y=3").mkdir(parents=True)
    dataset = load_blocks(tmp_path / "years", target="y")
    expected = frame.sort_values(["year", "y"], kind="stable")
    assert dataset.X.columns == (*"abcd", "year")
    np.testing.assert_array_equal(np.asarray(dataset.X), expected[[*"abcd", "year"]])
    assert dataset.y.tolist() == expected["y"].tolist()
    assert open_parquet(tmp_path / "years", target="y", drop=["year"])[0].columns == tuple("abcd")
    one = standard(dataset).fit_transform(dataset.X)
    np.testing.assert_allclose(np.asarray(one)[:, 4], StandardScaler().fit_transform(expected[["year"]])[:, 0])


@pytest.mark.parametrize(("build", "scaler"), [(standard, StandardScaler()), (minmax, MinMaxScaler()), (none, None)])
def test_gaps_become_the_medians_of_memory(rows, tmp_path, build, scaler):
    X, _ = rows
    rng = np.random.default_rng(0)
    X = np.where(rng.random(X.shape) < [0.3, 0.001, 0.0, 0.1], np.nan, X)
    X[:, 3] = np.round(X[:, 3])
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=rows[1])
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=700, index=False)
    dataset = load_blocks(tmp_path / "a.parquet", target="y")
    train = np.sort(rng.choice(N_ROWS, 5000, replace=False))
    fitted = build(dataset).fit(dataset.X[train])
    filled = np.where(np.isnan(X), np.nanmedian(X[train], axis=0), X)
    expected = filled if scaler is None else scaler.fit(filled[train]).transform(filled)
    np.testing.assert_allclose(np.asarray(fitted.transform(dataset.X)), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.transform(X[:50]), expected[:50], rtol=1e-9, atol=1e-12)


def test_an_experiment_with_gaps_is_that_on_the_file(rows, tmp_path):
    X, y = rows
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    frame = pd.DataFrame(gaps, columns=list("abcd")).assign(y=y)
    (tmp_path / "folder").mkdir()
    frame.to_parquet(tmp_path / "folder" / "part.parquet", row_group_size=2000, index=False)
    frame.to_parquet(tmp_path / "one.parquet", index=False)
    usual = ("dataset.target=y", "solver=newton", "bounds=none", "formulation=bauc", "solver.tolerance=1e-9")
    blocks = run_here(tmp_path / "a", "dataset=blocks", f"dataset.path={tmp_path / 'folder'}", *usual)
    memory = run_here(tmp_path / "b", "dataset=file", f"dataset.path={tmp_path / 'one.parquet'}", *usual)
    for key in ("objective", "train/auc", "test/auc", "train/bauc", "test/bauc"):
        assert blocks.summary[key] == pytest.approx(memory.summary[key], rel=1e-6), key


def test_what_folders_cannot_hold_is_said(rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X[:60], columns=list("abcd")).assign(y=y[:60], place=np.repeat(["x/y", "z"], 30))
    frame.to_parquet(tmp_path / "text", partition_cols=["place"], index=False)
    table, labels = open_parquet(tmp_path / "text", target="y")
    assert table.nominal == ("place",)
    assert table.to_frame()["place"].tolist() == frame["place"].tolist()
    with pytest.raises(AuclabError, match=r"columns of categories \('place'\), which are not numbers yet"):
        solve(BufferedAUC(), table, labels.to_numpy())
    assert open_parquet(tmp_path / "text", target="place", drop=["y"])[1].tolist() == frame["place"].tolist()
    frame.to_parquet(tmp_path / "text" / "loose.parquet", index=False)
    with pytest.raises(AuclabError, match=r"in those of|lies in folders of"):
        open_parquet(tmp_path / "text", target="y", drop=["place"])
    (tmp_path / "twice" / "a=1").mkdir(parents=True)
    frame.to_parquet(tmp_path / "twice" / "a=1" / "part.parquet", index=False)
    with pytest.raises(AuclabError, match=r"column 'a' is in .* and in the name of its folder"):
        open_parquet(tmp_path / "twice", target="y")
