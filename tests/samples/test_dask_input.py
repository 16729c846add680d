"""Dask DataFrames and Arrays as tables in blocks, against the same rows in memory."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed", reason="needs the extra auclab[dask]")
cloudpickle = pytest.importorskip("cloudpickle")
frames = pytest.importorskip("dask.dataframe")
arrays = pytest.importorskip("dask.array")

from auclab._core.base import AuclabError  # noqa: E402
from auclab.datasets.blocks import dask_dataset  # noqa: E402
from auclab.datasets.preprocess import standard  # noqa: E402
from auclab.datasets.records import Dataset  # noqa: E402
from auclab.estimators import AUCClassifier, AUCRanker, SurvivalRanker  # noqa: E402
from auclab.formulations import RankSVM  # noqa: E402
from auclab.metrics import ScoreSummary, auc_score, score_edges  # noqa: E402
from auclab.samples.blocks import DaskEngine  # noqa: E402
from auclab.samples.blocks.dask_tables import open_dask  # noqa: E402
from auclab.solvers.dispatch import solve  # noqa: E402


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    y = (rng.random(900) < 0.4).astype("int8")
    size = np.where(rng.random(900) < 0.1, np.nan, rng.normal(size=900) + y)
    city = pd.Series(rng.choice(["a", "b", "c"], 900)).where(rng.random(900) > 0.1)
    return pd.DataFrame(
        {"size": size, "city": city, "flag": rng.random(900) < 0.5, "count": rng.poisson(2, 900), "y": y}
    )


def test_a_data_frame_is_the_table_in_memory(frame):
    lazy = frames.from_pandas(frame, npartitions=4)
    dataset = dask_dataset(lazy, target="y")
    assert dataset.X.nominal == ("city", "flag")
    assert len(dataset.X.blocks) == 4
    memory = Dataset(name="memory", X=frame.drop(columns="y"), y=frame["y"].to_numpy())
    ours, theirs = standard(dataset), standard(memory)
    expected = theirs.fit_transform(memory.X)
    np.testing.assert_allclose(np.asarray(ours.fit_transform(dataset.X)), expected, atol=1e-12)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert dataset.y.tolist() == frame["y"].tolist()
    assert dask_dataset(lazy.drop(columns="y"), lazy["y"]).y.tolist() == frame["y"].tolist()


def test_an_array_on_a_cluster(frame):
    rng = np.random.default_rng(3)
    y = frame["y"].to_numpy()
    X = rng.normal(size=(900, 3)) + 0.5 * y[:, None]
    engine = DaskEngine(workers=1)
    try:
        table, labels = open_dask(
            arrays.from_array(X, chunks=(250, 3)), arrays.from_array(y, chunks=250), engine=engine
        )
        np.testing.assert_allclose(table @ np.ones(3), X.sum(axis=1), atol=1e-12)
        ours = solve(RankSVM(1.0, squared=True), table, labels.to_numpy(), solver="newton")
    finally:
        engine.close()
    assert ours.objective == pytest.approx(solve(RankSVM(1.0, squared=True), X, y).objective, rel=2e-6)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own
def test_collections_as_dask_users_have_them(frame, tmp_path):
    """From files, whose column of labels Dask reads in fewer parts; persisted, shuffled; on the active Client."""
    numbers = frame[["count", "y"]].assign(other=np.arange(900.0) % 7)
    frames.from_pandas(numbers, npartitions=30).to_parquet(tmp_path / "rows")
    read = frames.read_parquet(tmp_path / "rows")
    memory = read.compute()
    program = RankSVM(1.0, squared=True)
    best = solve(program, memory[["count", "other"]].to_numpy(), memory["y"].to_numpy()).objective
    assert dask_dataset(read, target="y").X.engine.__class__.__name__ == "LocalEngine"
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        kept = read.persist()
        for given in (read, kept, kept[["other", "count", "y"]], read.shuffle("other").persist()):
            dataset = dask_dataset(given, target="y")
            assert isinstance(dataset.X.engine, DaskEngine)
            assert solve(program, dataset.X, dataset.y).objective == pytest.approx(best, rel=2e-6)
        array = kept[["count", "other"]].to_dask_array(lengths=True).persist()
        dataset = dask_dataset(array, read["y"])
        assert solve(program, dataset.X, dataset.y).objective == pytest.approx(best, rel=2e-6)
        with pytest.raises(AuclabError, match=r"cannot be computed by itself .*; persist\(\) the collection before"):
            np.asarray(dask_dataset(read.shuffle("other"), target="y").X)


def test_solve_and_the_classifier_take_collections(frame):
    """Coefficients as in memory; scores and labels of new rows are computed when they are asked for."""
    memory, y = frame[["count"]].assign(other=np.arange(900.0) % 7), frame["y"].to_numpy()
    lazy = frames.from_pandas(memory.assign(y=y), npartitions=4)
    rows, array = lazy[["count", "other"]], arrays.from_array(memory.to_numpy(), chunks=(250, 2))
    expected = solve("csvm", memory, y).objective
    assert solve("csvm", rows, lazy["y"]).objective == pytest.approx(expected, rel=2e-6)
    assert solve("csvm", array, arrays.from_array(y, chunks=200)).objective == pytest.approx(expected, rel=2e-6)
    model = AUCClassifier("ranksvm", penalty=0.05, solver="newton").fit(rows, lazy["y"])
    assert model.feature_names_in_.tolist() == ["count", "other"]
    scores = model.decision_function(rows)
    assert isinstance(scores, frames.Series)
    sizes = [len(cloudpickle.dumps(each.to_delayed()[0])) for each in (rows, scores)]
    assert sizes[1] - sizes[0] < 4_000 < len(cloudpickle.dumps(model.solution_))  # no multipliers are sent
    np.testing.assert_allclose(scores.compute(), model.decision_function(memory), rtol=1e-12)
    assert model.predict(rows).compute().tolist() == model.predict(memory).tolist()
    by_array = AUCClassifier("ranksvm", penalty=0.05, solver="newton").fit(array, y)
    np.testing.assert_allclose(by_array.decision_function(array).compute(), scores.compute(), atol=1e-4)
    assert by_array.predict(array).compute().tolist() == by_array.predict(memory.to_numpy()).tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own
@pytest.mark.parametrize("n_partitions", [6, pytest.param(200, marks=pytest.mark.weekly)])
def test_the_first_lines_of_the_page(tmp_path, monkeypatch, n_partitions):
    """The optimum and the coefficients of memory, and limits around its AUC."""
    rng = np.random.default_rng(4)
    y = (rng.random(20_000) < 0.4).astype("int8")
    X = pd.DataFrame(rng.normal(size=(20_000, 3)) + 0.5 * y[:, None], columns=["a", "b", "c"])
    frames.from_pandas(X.assign(y=y), npartitions=n_partitions).to_parquet(tmp_path / "FOLDER")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "blocks.md").read_text(encoding="utf-8")
    block = page.partition("```python\n")[2].partition("```")[0]
    names = {}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        exec(compile(block, "docs/blocks.md", "exec"), names)
        scores = names["scores"].compute()
    assert names["rows"].npartitions == n_partitions
    assert names["solution"].objective == pytest.approx(solve("ranksvm", X, y).objective, rel=2e-6)
    np.testing.assert_allclose(scores, X.to_numpy() @ names["model"].coef_[0] + names["model"].intercept_, atol=1e-12)
    value, (low, high) = auc_score(y, scores), names["summary"].auc()
    assert value - 1e-3 < low <= value <= high < value + 1e-3
    stored = frames.read_parquet("SCORES")["score"].compute()
    np.testing.assert_array_equal(stored.to_numpy(), scores.to_numpy())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own
@pytest.mark.parametrize("n_partitions", [8, pytest.param(30, marks=pytest.mark.weekly)])
def test_summaries_of_collections_have_the_limits_of_memory(frame, tmp_path, n_partitions):
    """Of a series that Dask reads in fewer parts, of persisted ones, and of arrays; with weights too."""
    memory = frame[["count", "y"]].assign(other=np.arange(900.0) % 7)
    frames.from_pandas(memory, npartitions=n_partitions).to_parquet(tmp_path / "rows")
    y, s = memory["y"].to_numpy(), memory["count"] + memory["other"].to_numpy() / 8
    edges = score_edges(s[y == 1], s[y == 0], 16)
    by_weight = ScoreSummary.from_scores(y, s, edges=edges, sample_weight=memory["other"])
    expected = ScoreSummary.from_scores(y, s, edges=edges)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        read = frames.read_parquet(tmp_path / "rows")
        kept = read.persist()
        for rows in (read, kept):
            scores = rows["count"] + rows["other"] / 8
            found = ScoreSummary.from_scores(read["y"], scores, edges=edges)
            assert found == expected
            assert found.auc() == expected.auc()
            weighted = ScoreSummary.from_scores(rows["y"], scores, edges=edges, sample_weight=read["other"])
            assert weighted == by_weight
        chunks = [arrays.from_array(values, chunks=70) for values in (y, s.to_numpy())]
        assert ScoreSummary.from_scores(*chunks, edges=edges) == expected


def test_rankers_score_collections_and_what_takes_none_says_so(frame):
    memory = frame[["count"]].assign(other=np.arange(900.0) % 7)
    lazy = frames.from_pandas(memory, npartitions=4)
    ranker = AUCRanker("ranksvm", penalty=0.05).fit(memory, frame["y"])
    np.testing.assert_allclose(ranker.predict(lazy).compute(), ranker.predict(memory), rtol=1e-12)
    with pytest.raises(AuclabError, match=r"SurvivalRanker takes no Dask collection here; give X\.compute\(\)"):
        SurvivalRanker().fit(lazy, frame["count"])


def test_a_wait_without_workers_is_told_and_ends(caplog, monkeypatch):
    monkeypatch.setattr("auclab.samples.blocks.engines.LOOK", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        engine = DaskEngine(client=client, wait=0.3)
        task = client.submit(sum, [1, 2], pure=False)
        with pytest.raises(AuclabError, match=r"had no worker for 0\.3 s; start some and repeat the call"):
            engine._result(task)
        assert "has no worker; waiting up to 0.3 s for one" in caplog.text
        engine.wait = 60.0
        cluster.scale(1)
        assert engine._result(task) == 3
        # A result that takes longer to be sent than the time between two looks, and a task that raises this error.
        monkeypatch.setattr("auclab.samples.blocks.engines.LOOK", 1e-3)
        assert engine._result(client.submit(np.zeros, 5_000_000, pure=False)).size == 5_000_000
        with pytest.raises(TimeoutError, match="of the task"):
            engine._result(client.submit(exec, "raise TimeoutError('of the task')", pure=False))


@pytest.mark.slow
def test_a_script_that_starts_its_cluster_wherever_it_is_imported_is_told_so(tmp_path):
    """Workers of a spawned cluster import the script, which starts another cluster there."""
    script = tmp_path / "script.py"
    script.write_text(
        "from auclab.samples.blocks import DaskEngine\nDaskEngine(workers=1).connect()\n", encoding="utf-8"
    )
    told = subprocess.run([sys.executable, str(script)], capture_output=True, text=True).stderr.splitlines()[-1]
    assert re.search(r"workers .* do not start \(.*\); in a script, start it below if __name__ == '__main__':$", told)


def test_what_is_refused(frame):
    lazy = frames.from_pandas(frame, npartitions=2)
    with pytest.raises(AuclabError, match="which labels"):
        open_dask(lazy)
    with pytest.raises(AuclabError, match="a Dask DataFrame or a Dask Array, got DataFrame"):
        open_dask(frame, target="y")
    with pytest.raises(AuclabError, match="column 'z' does not exist"):
        open_dask(lazy, target="z")
    with pytest.raises(AuclabError, match="all columns in a chunk"):
        open_dask(arrays.ones((10, 4), chunks=(5, 2)), np.ones(10))
    with pytest.raises(AuclabError, match="has 10 rows, but there are 9 labels"):
        open_dask(arrays.ones((10, 4), chunks=(5, 4)), np.ones(9))
    with pytest.raises(AuclabError, match="columns of categories"):
        solve(RankSVM(1.0), *open_dask(lazy, target="y"))
