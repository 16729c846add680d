"""Datasets of pyarrow, queries of polars and streams of Arrow against the same rows in memory."""

import gc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from auclab._core.base import AuclabError
from auclab.datasets.blocks import load_blocks
from auclab.datasets.preprocess import standard
from auclab.estimators import AUCClassifier, AUCRanker
from auclab.samples.blocks import open_parquet
from auclab.samples.blocks.parquet import is_lazy, open_groups, row_groups
from auclab.solvers.dispatch import solve

N_ROWS = 900


class Relation:
    """A query that gives its rows as a stream of Arrow, as a relation of DuckDB does."""

    def __init__(self, table, fails=False):
        self.table, self.fails = table, fails

    def __arrow_c_stream__(self, requested_schema=None):
        batches = self.table.to_batches(max_chunksize=70)
        if self.fails:
            batches = (batch if k < 3 else 1 / 0 for k, batch in enumerate(batches))
        reader = pa.RecordBatchReader.from_batches(self.table.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    y = (rng.random(N_ROWS) < 0.4).astype("int8")
    X = rng.normal(size=(N_ROWS, 2)) + 0.7 * y[:, None]
    city = rng.choice(["Rome", "Bonn"], N_ROWS)
    return pd.DataFrame(X, columns=["a", "b"]).assign(year=2020 + np.arange(N_ROWS) // 300, city=city, y=y)


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    place = tmp_path_factory.mktemp("rows") / "folder"
    frame.to_parquet(place, partition_cols=["year"], index=False, row_group_size=100)
    return place


def dataset(frame, folder):
    return ds.dataset(folder, partitioning="hive")


def filtered(frame, folder):
    return ds.dataset(pa.Table.from_pandas(pd.concat([frame, frame]))).filter(ds.field("y") >= 0)


def in_memory(frame, folder):
    return ds.dataset(pa.Table.from_pandas(frame))


def csv(frame, folder):
    frame.to_csv(folder.parent / "rows.csv", index=False)
    return ds.dataset(folder.parent / "rows.csv", format="csv")


def lazy(frame, folder):
    return pytest.importorskip("polars").from_pandas(frame).lazy()


def relation(frame, folder):
    return Relation(pa.Table.from_pandas(frame))


def reader(frame, folder):
    return pa.Table.from_pandas(frame).to_reader(max_chunksize=50)


KINDS = [dataset, in_memory, csv, lazy, relation, reader]


@pytest.mark.parametrize("make", KINDS)
def test_a_data_set_is_that_of_memory(frame, folder, make):
    found = load_blocks(make(frame, folder), "y")
    assert found.X.nominal == ("city",)
    columns = list(found.X.columns)
    assert sorted(columns) == ["a", "b", "city", "year"]
    pd.testing.assert_frame_equal(found.X.to_frame(), frame[columns].astype({"year": float}), check_dtype=False)
    assert found.y.tolist() == frame["y"].tolist()
    prepared = np.asarray(standard(found).fit_transform(found.X))
    assert np.abs(prepared.mean(axis=0)).max() < 1e-9


@pytest.mark.parametrize("make", KINDS)
def test_solve_and_the_classifier_take_them(frame, folder, make):
    memory = frame[["a", "b", "year"]]
    rows = frame.drop(columns="city")
    place = folder.parent / "numbers"
    if not place.exists():
        rows.to_parquet(place, partition_cols=["year"], index=False, row_group_size=100)
    solution = solve("ranksvm", make(rows, place), "y")
    assert solution.objective == pytest.approx(solve("ranksvm", memory, frame["y"]).objective, rel=2e-6)
    model = AUCClassifier("ranksvm", penalty=0.05).fit(make(rows, place), "y")
    assert sorted(model.feature_names_in_) == ["a", "b", "year"]
    scores = model.decision_function(memory[model.feature_names_in_])
    np.testing.assert_array_equal(model.decision_function(make(rows, place)), scores)
    assert model.predict(make(rows, place)).tolist() == (scores > 0).astype(int).tolist()
    assert solution.decision_function(make(rows, place)).shape == (N_ROWS,)


def test_labels_in_an_array(frame):
    rows = ds.dataset(pa.Table.from_pandas(frame[["a", "b"]]))
    best = solve("ranksvm", frame[["a", "b"]], frame["y"]).objective
    assert solve("ranksvm", rows, frame["y"]).objective == pytest.approx(best, rel=2e-6)
    ranker = AUCRanker("ranksvm", penalty=0.05).fit(frame[["b", "a"]], frame["y"])
    np.testing.assert_array_equal(ranker.predict(rows), ranker.predict(frame[["b", "a"]]))
    with pytest.raises(AuclabError, match="X must have the columns of the fit, got a table without b"):
        solve("ranksvm", rows, frame["y"]).decision_function(ds.dataset(pa.Table.from_pandas(frame[["a"]])))


def test_files_with_more_and_fewer_columns_are_one_table_by_the_schema_of_the_dataset(frame, tmp_path):
    pq.write_table(pa.Table.from_pandas(frame[:400][["a", "y"]], preserve_index=False), tmp_path / "0.parquet")
    later = frame[400:].astype({"a": "float32"})
    pq.write_table(pa.Table.from_pandas(later, preserve_index=False), tmp_path / "1.parquet")
    schemas = [pq.read_schema(tmp_path / f"{k}.parquet") for k in (1, 0)]
    rows = ds.dataset(tmp_path, schema=pa.unify_schemas(schemas, promote_options="permissive"))
    found = load_blocks(rows, "y").X.to_frame()
    assert found["b"].isna().tolist() == found["city"].isna().tolist() == [True] * 400 + [False] * 500
    np.testing.assert_allclose(found["a"], frame["a"], rtol=1e-7)
    with pytest.raises(AuclabError, match="has other columns than"):
        open_parquet(tmp_path, target="y")


def test_a_filter_holds_and_temporary_files_go(frame, folder):
    table = open_groups(row_groups(filtered(frame, folder)), "y", ["city"])
    assert len(table) == 2 * N_ROWS
    ours = ds.dataset(folder, partitioning="hive").filter(ds.field("year") == 2021)
    assert np.asarray(open_groups(row_groups(ours), "y", ["city"]))[:, 2].tolist() == [2021.0] * 300
    place = Path(table.blocks[0].source.path)
    part, table = table[:1], None
    gc.collect()
    assert part.to_frame()["a"].tolist() == frame["a"][:1].tolist()
    assert place.exists()
    part = None
    gc.collect()
    assert not place.parent.exists()


def test_what_is_in_memory_is_not_lazy(frame):
    table = pa.Table.from_pandas(frame)
    assert not any(is_lazy(rows) for rows in (frame, table, pytest.importorskip("polars").from_pandas(frame), [[1.0]]))
    assert all(is_lazy(rows) for rows in (table.to_reader(), ds.dataset(table), Relation(table)))


def test_files_of_a_dataset_that_cannot_be_read_or_change_are_said(frame, tmp_path):
    for k in range(2):
        pq.write_table(pa.Table.from_pandas(frame[["a", "y"]]), tmp_path / f"{k}.parquet", row_group_size=100)
    rows = ds.dataset(tmp_path)
    table = open_groups(row_groups(rows), "y")
    pq.write_table(pa.Table.from_pandas(-frame[["a", "y"]]), tmp_path / "1.parquet", row_group_size=100)
    with pytest.raises(AuclabError, match=r"1\.parquet has changed since it was opened"):
        np.asarray(table)
    (tmp_path / "1.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(AuclabError, match=r"1\.parquet cannot be read as parquet"):
        row_groups(rows)
    with pytest.raises(AuclabError, match="has no rows"):
        row_groups(ds.dataset(pa.Table.from_pandas(frame[:0])))


def test_what_is_refused(frame, folder):
    rows = dataset(frame, folder)
    with pytest.raises(AuclabError, match="column 'z' does not exist; columns are a, b, city, y, year"):
        solve("ranksvm", rows, "z")
    with pytest.raises(AuclabError, match="columns of categories"):
        solve("ranksvm", rows, "y")
    with pytest.raises(AuclabError, match="give the name of their column in X, or an array"):
        solve("ranksvm", rows, Relation(pa.Table.from_pandas(frame[["y"]])))
    with pytest.raises(AuclabError, match=r"the rows of a Relation cannot be written to .*division by zero"):
        solve("ranksvm", Relation(pa.Table.from_pandas(frame), fails=True), "y")
