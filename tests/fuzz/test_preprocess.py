"""Preprocessing on nasty tables: finite numbers out, scaling that can be undone, the same scores in original units."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from auclab._core.base import AuclabError
from auclab.datasets import preprocess
from auclab.datasets.records import Dataset

from .nasty_scores import nasty_settings

ALL = [preprocess.standard, preprocess.minmax, preprocess.unit_ball, preprocess.none]
SCALED = [preprocess.standard, preprocess.minmax]
ROWS = 8
Y = np.array([0, 1] * (ROWS // 2))


@st.composite
def columns(draw):
    """A numeric column: an offset up to 1e8, a unit from 1e-9 to 1e9, few different values, gaps."""
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, -1e8, 1e8 + 0.1]))
    unit = draw(st.sampled_from([1.0, 1e-3, 1e9, 1e-9]))
    assume(unit * 1e16 > abs(offset) * 10)  # the column varies beyond rounding
    values = draw(st.lists(st.integers(-3, 3), min_size=ROWS, max_size=ROWS))
    gaps = draw(st.lists(st.booleans(), min_size=ROWS, max_size=ROWS)) if draw(st.booleans()) else [False] * ROWS
    return [np.nan if gap else offset + unit * value for value, gap in zip(values, gaps, strict=True)]


@st.composite
def tables(draw):
    """One to four numeric columns."""
    return pd.DataFrame({f"x{k}": draw(columns()) for k in range(draw(st.integers(1, 4)))})


def encoded(X: pd.DataFrame, training: slice) -> pd.DataFrame:
    """Gaps filled with the median of the training rows, 0 for a column without any value."""
    return X.fillna(X.iloc[training].median().fillna(0.0))


@pytest.mark.slow
@pytest.mark.parametrize("build", ALL)
@nasty_settings
@given(X=tables())
def test_numbers_are_finite_and_named(build, X):
    """Gaps, constant columns and rows outside the training range; no warning."""
    training = slice(0, 6)
    transformer = build(Dataset(name="nasty", X=X, y=Y))
    if encoded(X, training).iloc[training].nunique().max() < 2 and build is not preprocess.none:
        with pytest.raises(AuclabError, match="constant on the training part"):
            transformer.fit(X.iloc[training], Y[training])
        return
    transformer.fit(X.iloc[training], Y[training])
    Z = transformer.transform(X)
    assert Z.dtype == np.float64
    assert np.isfinite(Z).all()
    assert Z.shape == (ROWS, len(transformer.get_feature_names_out()))


@pytest.mark.parametrize("build", SCALED)
@nasty_settings
@given(X=tables())
def test_scaling_is_undone_within_rounding(build, X):
    """The scaler's inverse gives the columns back to a few units in the last place of their largest number."""
    dataset = Dataset(name="nasty", X=X, y=Y)
    full = encoded(X, slice(None))
    assume(full.nunique().max() > 1)
    transformer = build(dataset).fit(X, Y)
    kept = transformer.get_feature_names_out()
    back = transformer["scale"].inverse_transform(transformer.transform(X))
    for name, column in zip(kept, back.T, strict=True):
        size = np.abs(full[name]).max()
        assert np.abs(column - full[name]).max() <= 8 * np.spacing(size)
    dropped = set(X.columns) - set(kept)
    assert all(full[name].nunique() == 1 for name in dropped)


@nasty_settings
@given(tables(), st.integers(0, 999))
def test_coefficients_in_original_units_give_the_same_differences(X, seed):
    """``wᵀz`` is ``Σ (w/scale) x`` up to a constant: differences of scores agree within the rounding of the columns."""
    full = encoded(X, slice(None))
    assume(full.nunique().max() > 1)
    transformer = preprocess.standard(Dataset(name="nasty", X=X, y=Y)).fit(X, Y)
    coef = np.random.default_rng(seed).normal(size=len(transformer.get_feature_names_out()))
    scores = transformer.transform(X) @ coef
    original = coef / transformer["scale"].scale_
    columns = full[transformer.get_feature_names_out()].to_numpy()
    again = (columns - columns[0]) @ original
    rounding = 32 * (np.abs(original) @ np.spacing(np.abs(columns).max(axis=0))) + 1e-13 * np.abs(coef).sum()
    assert np.abs((scores - scores[0]) - again).max() <= rounding


@pytest.mark.slow
@pytest.mark.parametrize("build", ALL)
@nasty_settings
@given(X=tables(), seed=st.integers(0, 99))
def test_columns_are_found_by_name(build, X, seed):
    """Another order of the columns and a column more in new data change nothing."""
    assume(encoded(X, slice(None)).nunique().max() > 1)
    transformer = build(Dataset(name="nasty", X=X, y=Y)).fit(X, Y)
    Z = transformer.transform(X)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    np.testing.assert_array_equal(transformer.transform(X.iloc[:, order]), Z)
    np.testing.assert_array_equal(transformer.transform(X.assign(more=1.0).iloc[::-1]), Z[::-1])


@pytest.mark.parametrize("build", [preprocess.standard, preprocess.minmax, preprocess.none])
@nasty_settings
@given(data=st.data())
def test_sparse_is_dense_without_centring(build, data):
    """CSR data in any unit: zeros stay zeros, the rest is divided by one number a column."""
    values = data.draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, -2.0, 3.0]), min_size=24, max_size=24))
    unit = np.array([1.0, 1e-9, 1e9])
    dense = np.array(values).reshape(ROWS, 3) * unit
    assume((dense.max(axis=0) > dense.min(axis=0)).any())
    X = sp.csr_matrix(dense)
    transformer = build(Dataset(name="sparse", X=X, y=Y)).fit(X, Y)
    Z = transformer.transform(X)
    assert sp.issparse(Z)
    assert np.isfinite(Z.data).all()
    kept = dense if build is preprocess.none else dense[:, dense.max(axis=0) > dense.min(axis=0)]
    found = Z.toarray()
    assert found.shape == kept.shape
    assert ((found == 0.0) == (kept == 0.0)).all()
    for one, other in zip(found.T, kept.T, strict=True):
        ratio = one[other != 0.0] / other[other != 0.0]
        assert ratio.size == 0 or np.ptp(ratio) <= 1e-14 * np.abs(ratio).max()


STORED = {
    "bool": np.array([True, False] * 4),
    "nullable bool": pd.array([True, False, None, True] * 2, dtype="boolean"),
    "nullable whole": pd.array([1, None, 3, 4] * 2, dtype="Int64"),
    "nullable real": pd.array([1.5, None, 3, 4] * 2, dtype="Float64"),
    "category": pd.Categorical(list("abca") * 2),
    "category of numbers": pd.Categorical([1, 2, 3, 1] * 2),
    "text": pd.array(list("abca") * 2, dtype="string"),
    "objects": np.array(["a", None, "b", "a"] * 2, object),
    "objects of several kinds": np.array([1, "a", 2.5, None] * 2, object),
    "small whole": np.array([-128, 127] * 4, np.int8),
    "large whole": np.array([2**64 - 1, 0] * 4, np.uint64),
    "half precision": np.arange(8).astype(np.float16),
    "nothing": np.full(8, np.nan),
    "no objects": np.array([None] * 8, object),
    "constant": np.full(8, 1e8 + 0.1),
}


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("kind", STORED)
@pytest.mark.parametrize("build", ALL)
def test_columns_of_every_kind(build, kind):
    X = pd.DataFrame({"x": STORED[kind], "z": np.arange(8.0)})
    transformer = build(Dataset(name="stored", X=X, y=Y)).fit(X.iloc[:6], Y[:6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = transformer.transform(X)
    assert np.isfinite(Z).all()


REFUSED = {
    "dates": (pd.date_range("2020", periods=8), "holds dates, 8 different ones"),
    "dates of a zone": (pd.date_range("2020", periods=8, tz="UTC"), "holds dates, 8 different ones"),
    "dates as text": ([f"2020-01-0{day}" for day in range(1, 9)], "holds dates, 8 different ones"),
    "durations": (pd.timedelta_range("1s", periods=8), "is of type timedelta64"),
    "periods": (pd.period_range("2020", periods=8), "is of type period"),
    "intervals": (pd.interval_range(0, 8), "is of type interval"),
    "complex": (np.arange(8) * 1j, "is of type complex128"),
    "infinite": (np.r_[np.arange(7.0), np.inf], "has 1 infinite value"),
    "too large": (np.r_[np.arange(7.0), -1e151], "has 1 value above 1e.150 in size .first in row 8"),
    "sparse": (pd.arrays.SparseArray([0.0, 0, 1, 0] * 2), "is stored as Sparse"),
    "lists": ([[1], [2]] * 4, "holds values that cannot be categories"),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("build", ALL)
def test_columns_are_refused_in_words(build, kind):
    values, words = REFUSED[kind]
    with pytest.raises(AuclabError, match=words):
        build(Dataset(name="refused", X=pd.DataFrame({"x": values, "z": np.arange(8.0)}), y=Y))


def test_large_entries_of_sparse_data_are_refused():
    X = sp.csr_matrix(np.array([[0.0, 1e200], [1.0, 0.0]]))
    with pytest.raises(AuclabError, match=r"1 value above 1e\+150 in size \(first in column 1"):
        preprocess.standard(Dataset(name="sparse", X=X, y=np.array([0, 1])))


@nasty_settings
@given(st.lists(st.sampled_from("abcde"), min_size=ROWS, max_size=ROWS))
def test_unseen_categories_are_zeros(values):
    """Categories of the last two rows alone add nothing, whatever the training rows have."""
    X = pd.DataFrame({"x": values})
    transformer = preprocess.none(Dataset(name="unseen", X=X, y=Y)).fit(X.iloc[:6], Y[:6])
    Z = transformer.transform(X)
    for row, value in zip(Z, values, strict=True):
        assert row.sum() == (value in values[:6])
