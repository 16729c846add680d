"""Columns of every type that parquet has: numbers as memory has them, or an error that says what to do."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from auclab._core.base import AuclabError
from auclab.datasets.blocks import load_blocks
from auclab.datasets.file import load_file
from auclab.datasets.preprocess import standard
from auclab.samples.blocks import open_parquet

N_ROWS = 400


def with_gaps(values, rng):
    return [None if rng.random() < 0.1 else value for value in values]


def all_kinds():
    """Columns of numbers and of categories, with and without gaps."""
    rng = np.random.default_rng(5)
    words = np.array(["red", "green", "blue", "none"])[rng.integers(0, 4, N_ROWS)].tolist()
    flags, whole = (rng.random(N_ROWS) < 0.3).tolist(), rng.integers(0, 9, N_ROWS).tolist()
    cents = [Decimal(int(k)) / 100 for k in rng.integers(0, 900, N_ROWS)]
    floats = rng.normal(size=N_ROWS)
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=30 * k) for k in whole]
    return {
        "flag": pa.array(flags),
        "flag_gaps": pa.array(with_gaps(flags, rng)),
        "flag_dictionary": pa.DictionaryArray.from_arrays(pa.array(flags).cast(pa.int8()), pa.array([False, True])),
        "word": pa.array(words),
        "word_gaps": pa.array(with_gaps(words, rng)),
        "word_dictionary": pa.array(with_gaps(words, rng)).dictionary_encode(),
        "word_large": pa.array(words, pa.large_string()),
        "word_view": pa.array(words, pa.string_view()),
        "whole_gaps": pa.array(with_gaps(whole, rng), pa.int64()),
        "whole_dictionary": pa.array(whole).dictionary_encode(),
        "large": pa.array(rng.integers(2**53, 2**62, N_ROWS)),
        "small": pa.array(whole, pa.uint8()),
        "half": pa.array(floats.astype(np.float16)),
        "single": pa.array(floats.astype(np.float32)),
        "float_gaps": pa.array(with_gaps(np.where(rng.random(N_ROWS) < 0.1, np.nan, floats).tolist(), rng)),
        "decimal": pa.array(cents, pa.decimal128(10, 2)),
        "decimal_gaps": pa.array(with_gaps(cents, rng), pa.decimal256(50, 2)),
        "unknown": pa.nulls(N_ROWS),
        "no_text": pa.array([None] * N_ROWS, pa.string()),
        "no_number": pa.array([None] * N_ROWS, pa.float64()),
    }, days


def write(folder, columns, y=None):
    """The same rows as a file, and as two files of several row groups."""
    y = np.arange(N_ROWS) % 3 == 0 if y is None else y
    table = pa.table({"x": np.random.default_rng(0).normal(size=N_ROWS), **columns, "y": y})
    (folder / "blocks").mkdir(parents=True)
    pq.write_table(table.slice(0, 250), folder / "blocks" / "a.parquet", row_group_size=90)
    pq.write_table(table.slice(250), folder / "blocks" / "b.parquet", row_group_size=90)
    pq.write_table(table, folder / "one.parquet")
    return folder / "blocks", folder / "one.parquet"


def prepared(dataset):
    """Names of the features and the prepared rows."""
    pipeline = standard(dataset)
    rows = pipeline.fit_transform(dataset.X)
    names = [str(name) for name in pipeline.get_feature_names_out()]
    return pd.DataFrame(rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows), columns=names)


def test_all_types_are_those_of_memory(tmp_path):
    columns, _ = all_kinds()
    blocks, one = write(tmp_path, columns)
    ours, theirs = prepared(load_blocks(blocks, "y")), prepared(load_file(one, "y"))
    assert list(ours.columns) == list(theirs.columns)
    assert {"decimal", "whole_gaps", "word_none", "flag_gaps_True"} <= set(ours.columns)
    assert not any(name.startswith(("unknown", "no_")) for name in ours.columns)
    pd.testing.assert_frame_equal(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("first", "second"), [("text", "null"), ("null", "text"), ("null", "float"), ("float", "null")]
)
def test_a_file_without_any_value_of_a_column(tmp_path, first, second):
    """As Spark and pandas write them: the column has no type there."""
    values = {"text": pa.array(["a", "b"] * 50), "float": pa.array(np.arange(100.0)), "null": pa.nulls(100)}
    y = np.arange(100) % 2
    for name, kind in (("a", first), ("b", second)):
        table = pa.table({"x": np.arange(100.0), "c": values[kind], "y": y})
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=40)
    dataset = load_blocks(tmp_path, "y")
    assert dataset.X.nominal == (("c",) if "text" in (first, second) else ())
    rows = dataset.X.to_frame()
    known = rows["c"].notna().to_numpy()
    assert known.tolist() == [first != "null"] * 100 + [second != "null"] * 100
    expected = values[first if second == "null" else second].to_pylist()
    assert rows["c"][known].tolist() == expected


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (pa.date32(), "of type date32.* such as the year and the days since a date, or drop it"),
        (pa.timestamp("us", tz="UTC"), "of type timestamp.* such as the year"),
        (pa.binary(), "of type binary; blocks take numbers and text: make features of it, or drop it"),
        (pa.list_(pa.float64()), "of type list.*make features of it, or drop it"),
    ],
    ids=str,
)
def test_other_types_are_refused(tmp_path, kind, reason):
    _, days = all_kinds()
    found = {"binary": [b"a"] * N_ROWS, "list<item: double>": [[1.0]] * N_ROWS}.get(str(kind), days)
    if pa.types.is_list(kind):
        found = [[1.0]] * N_ROWS
    blocks, _ = write(
        tmp_path, {"c": pa.array(found, pa.date32()).cast(kind) if found is days else pa.array(found, kind)}
    )
    with pytest.raises(AuclabError, match=reason):
        open_parquet(blocks, target="y")
    table, _ = open_parquet(blocks, target="y", drop=["c"])
    assert table.columns == ("x",)


def test_days_in_memory_are_dates(tmp_path):
    _, days = all_kinds()
    _, one = write(tmp_path, {"c": pa.array(days, pa.date32())})
    with pytest.raises(AuclabError, match="column 'c' holds dates"):
        standard(dataset := load_file(one, "y")).fit(dataset.X)
    features = standard(dataset, dates=["month"]).fit(dataset.X).get_feature_names_out()
    assert any("month" in str(name) for name in features)


LABELS = {
    "text": (["yes", "no"], "yes"),
    "flags": ([True, False], True),
    "signs": ([1, -1], 1),
    "floats": ([2.0, 1.0], 2.0),
    "decimals": ([Decimal("1.0"), Decimal("0.0")], 1.0),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type(tmp_path, kind):
    pair, positive = LABELS[kind]
    given = pa.array([pair[0] if k % 3 == 0 else pair[1] for k in range(N_ROWS)])
    if kind == "text":
        given = given.dictionary_encode()
    blocks, one = write(tmp_path, {}, given)
    for options in ({}, {"positive": positive}):
        ours, theirs = labels_or_reason(load_blocks, blocks, options), labels_or_reason(load_file, one, options)
        assert ours == theirs


def labels_or_reason(load, path, options):
    """Labels and names of the classes, or the beginning of the error."""
    try:
        dataset = load(path, "y", **options)
    except AuclabError as error:
        return str(error)[:50]
    return dataset.y.tolist(), str(dataset.positive), str(dataset.negative)
