"""Data sets that jobs share: loaded once, few kept, none whose rows stay in files."""

import numpy as np
import pandas as pd
import pytest

from auclab.datasets import cache
from auclab.datasets.blocks import load_blocks
from auclab.datasets.cache import load_cached, size_of
from auclab.datasets.records import Dataset


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    monkeypatch.setattr(cache, "_kept", {})


@pytest.fixture
def loads():
    """The names of the data sets in the order in which they were loaded."""
    return []


@pytest.fixture
def load(loads):
    def of(name, n_rows=10):
        def make():
            loads.append(name)
            X = pd.DataFrame(np.zeros((n_rows, 2)))
            return Dataset(name, X, np.arange(n_rows) % 2)

        return load_cached(name, make)

    return of


def test_each_is_loaded_once_whatever_the_order(load, loads):
    first = load("a")
    for name in ("b", "a", "b", "a"):
        assert load(name).name == name
    assert load("a") is first
    assert loads == ["a", "b"]


def test_the_least_recently_used_is_given_up_and_a_large_one_is_kept_alone(load, loads, monkeypatch):
    monkeypatch.setattr(cache, "MAX_BYTES", 2 * size_of(load("a")))
    load("b")
    load("a")
    load("c")  # in place of b
    load("a")
    load("b")
    assert loads == ["a", "b", "c", "b"]
    load("large", 1000)
    load("large", 1000)
    assert list(cache._kept) == ["large"]
    assert loads == ["a", "b", "c", "b", "large"]


def test_sizes_of_tables_and_of_sparse_matrices():
    sp = pytest.importorskip("scipy.sparse")
    y = np.arange(4) % 2
    assert size_of(Dataset("dense", pd.DataFrame(np.zeros((4, 3))), y)) == 4 * 3 * 8 + y.nbytes
    X = sp.csr_matrix(np.eye(4))
    assert size_of(Dataset("sparse", X, y)) == 4 * 8 + X.indices.nbytes + X.indptr.nbytes + y.nbytes


def test_a_table_whose_rows_stay_in_files_is_not_kept(tmp_path):
    pd.DataFrame({"a": [0.0, 1.0, 2.0], "y": [0, 1, 1]}).to_parquet(tmp_path / "part.parquet")
    load_cached("blocks", lambda: load_blocks(tmp_path, "y"))
    assert cache._kept == {}


def test_a_failure_is_not_kept(loads, load):
    def fail():
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        load_cached("a", fail)
    load("a")
    assert loads == ["a"]
