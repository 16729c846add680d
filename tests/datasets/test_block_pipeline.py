"""Preprocessing of blocks against that of memory: the same columns, the same numbers, the same categories."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from auclab._core.base import AuclabError
from auclab.datasets.blocks import load_blocks
from auclab.datasets.file import load_file
from auclab.datasets.preprocess import minmax, none, standard, unit_ball
from auclab.datasets.records import part_sha256
from auclab.samples.blocks.row_forms import EncodedRows

N_ROWS = 3_000


@pytest.fixture(scope="module")
def frame():
    """Numbers with gaps, text with gaps and rare values, booleans, codes of numbers, constants, a column of gaps."""
    rng = np.random.default_rng(5)
    y = (rng.random(N_ROWS) < 0.3).astype("int8")
    city = pd.Series(rng.choice(["Rome", "Bonn", "Oslo", None], N_ROWS, p=[0.5, 0.3, 0.1, 0.1]), dtype=object)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(N_ROWS) < 0.1, np.nan, rng.normal(50.0, 9.0, N_ROWS) + y),
            "city": city,
            "count": rng.poisson(0.4, N_ROWS),
            "shop": pd.Series(rng.zipf(1.4, N_ROWS).clip(0, 90)).map("s{}".format),
            "flag": rng.random(N_ROWS) < 0.2,
            "code": np.where(rng.random(N_ROWS) < 0.02, np.nan, rng.integers(1, 6, N_ROWS)),
            "kind": pd.Categorical(np.where(y == 1, "x", rng.choice(["x", "z"], N_ROWS))),
            "always": 1.5,
            "gone": np.nan,
            "word": pd.Series([None] * N_ROWS, dtype=object).fillna("only"),
            "y": y,
        }
    )


@pytest.fixture(scope="module")
def both(frame, tmp_path_factory):
    """The same rows as a data set in blocks of 400 rows and in memory; `code` is declared a category."""
    place = tmp_path_factory.mktemp("mixed")
    frame[:1900].to_parquet(place / "a.parquet", row_group_size=400, index=False)
    frame[1900:].to_parquet(place / "b.parquet", row_group_size=400, index=False)
    frame.to_parquet(place.parent / "one.parquet", index=False)
    settings = {"target": "y", "nominal": ["code"]}
    return load_blocks(place, **settings), load_file(place.parent / "one.parquet", **settings)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("build", [standard, minmax, none, unit_ball])
@pytest.mark.parametrize(
    "encoding", [{}, {"max_categories": 4, "missing_indicators": True}, {"max_categories": None}], ids=str
)
def test_all_choices_are_those_of_memory(both, build, encoding):
    blocks, memory = both
    rng = np.random.default_rng(0)
    train = np.sort(rng.choice(N_ROWS, 2000, replace=False))
    ours = build(blocks, **encoding).fit(blocks.X[train])
    theirs = build(memory, **encoding).fit(memory.X.iloc[train])
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    expected = _dense(theirs.transform(memory.X))
    encoded = ours.transform(blocks.X)
    np.testing.assert_allclose(np.asarray(encoded), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(_dense(ours.transform(memory.X)), expected, rtol=1e-11, atol=1e-11)  # rows in memory
    w = rng.normal(size=expected.shape[1])
    np.testing.assert_allclose(encoded @ w, expected @ w, rtol=1e-9, atol=1e-9)
    rows = next(encoded.stream())
    assert isinstance(rows, EncodedRows)
    assert rows.onehot.nnz <= len(rows) * 6  # an entry a category and row


def test_values_that_training_lacks_and_columns_without_values(tmp_path, frame):
    """New categories become the rare ones or zeros; medians are there for gaps that the training part did not have."""
    late = frame.assign(city=frame["city"].where(frame.index < 2000, "Wien"))
    late["count"] = late["count"].where(late.index < 2000).astype("Float64")
    late["gap"] = pd.Series(np.where(frame.index < 2000, None, "a"), dtype=object)
    late.to_parquet(tmp_path / "a.parquet", row_group_size=300, index=False)
    settings = {"target": "y", "nominal": ["code"]}
    blocks, memory = load_blocks(tmp_path, **settings), load_file(tmp_path / "a.parquet", **settings)
    for encoding in ({}, {"max_categories": 3}):
        ours = standard(blocks, **encoding).fit(blocks.X[np.arange(2000)])
        theirs = standard(memory, **encoding).fit(memory.X.iloc[:2000])
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        np.testing.assert_allclose(
            np.asarray(ours.transform(blocks.X)), _dense(theirs.transform(memory.X)), rtol=1e-11, atol=1e-11
        )


def test_what_is_no_category_is_refused(tmp_path, frame):
    for words, column in (
        ("holds text with 3000 different values in 3000 rows", [f"id{k}" for k in range(N_ROWS)]),
        ("holds dates as text, such as '2024-01-", [f"2024-01-{1 + k % 28:02d}" for k in range(N_ROWS)]),
        ("holds text that is mostly numbers", [str(k % 7) for k in range(N_ROWS)]),
    ):
        place = tmp_path / words[:9].replace(" ", "")
        frame.assign(bad=column).to_parquet(place.with_suffix(".parquet"), index=False)
        dataset = load_blocks(place.with_suffix(".parquet"), target="y")
        with pytest.raises(AuclabError, match=f"column 'bad' {words}"):
            standard(dataset).fit(dataset.X)
    allowed = load_blocks(place.with_suffix(".parquet"), target="y", nominal=["bad"], drop=["code", "gone"])
    names = standard(allowed).fit(allowed.X).get_feature_names_out().tolist()
    assert [name for name in names if name.startswith("bad")] == [f"bad_{k}" for k in range(7)]
    with pytest.raises(AuclabError, match=r"max_categories is 1; it is a whole number ≥ 2"):
        standard(allowed, max_categories=1)


def test_the_checksum_of_many_rows_is_made_where_they_are_read(both, monkeypatch):
    blocks, _ = both
    rows = none(blocks).fit_transform(blocks.X)
    held = part_sha256(np.asarray(rows), blocks.y)
    assert part_sha256(rows, blocks.y) == held
    monkeypatch.setattr("auclab.datasets.records.MOST_STREAMED", 10)
    ours = part_sha256(rows, blocks.y)
    assert ours != held
    assert ours == part_sha256(none(blocks).fit_transform(blocks.X), blocks.y)
    assert ours != part_sha256(none(blocks, max_categories=3).fit_transform(blocks.X), blocks.y)


def _dense(X):
    return X.toarray() if sp.issparse(X) else X
