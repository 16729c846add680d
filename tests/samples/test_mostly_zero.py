"""Arrays that are mostly zero are the same sample as the CSR matrix of their entries."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab import CSVM, BufferedAUC, RankSVM
from auclab._core.base import AuclabError
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.samples.features import compressed, is_mostly_zero
from auclab.solvers.certify import certify


def one_hot(rng, n_rows=10_000, n_columns=30, per_row=3):
    """A table with some ones in every row."""
    X = np.zeros((n_rows, n_columns))
    X[np.arange(n_rows)[:, None], rng.integers(0, n_columns, (n_rows, per_row))] = 1.0
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_tables_that_are_mostly_zero_are_kept_as_csr(dtype, order):
    rng = np.random.default_rng(0)
    X = np.array(one_hot(rng), dtype=dtype, order=order)
    y = rng.random(len(X)) < 0.3
    sample = as_sample(X, y)
    assert sample.is_sparse
    np.testing.assert_array_equal(sample.X_pos.toarray(), X[y])
    np.testing.assert_array_equal(sample.X_neg.toarray(), X[~y])
    assert not as_sample(X[:500], y[:500]).is_sparse  # small
    assert not as_sample(X + 1.0, y).is_sparse  # no zeros
    assert not as_sample(X[:, :10], y).is_sparse  # few columns


@given(seed=st.integers(0, 10_000))
def test_compressed_rows_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(1, 1_500)), int(rng.integers(1, 5))))  # up to three steps of the loop
    X[rng.random(X.shape) < 0.7] = rng.choice([0.0, -0.0])
    got, want = compressed(X), sp.csr_array(X)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(got, part), getattr(want, part))
    assert got.indices.dtype == want.indices.dtype
    assert is_mostly_zero(np.zeros((20_000, 20)))


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, "NaN, first at"), (-np.inf, "infinite value, first at"), (1e200, "1e+200 at")]
)
def test_what_no_solver_could_square_is_found_in_either_form(value, message):
    X = one_hot(np.random.default_rng(1))
    X[7_000, 4] = value
    y = np.arange(len(X)) % 2
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(AuclabError, match=re.escape(f"{message} row 7000, column 4")):
            as_sample(rows, y)


def test_columns_far_from_zero_are_moved_in_either_form():
    rng = np.random.default_rng(2)
    X, y = one_hot(rng), np.arange(10_000) % 2 == 0
    X[:, 3], X[:, 5] = 1e8 + rng.normal(size=len(X)), -7.0
    sample = as_sample(X, y)
    assert sample.is_sparse
    assert sample.offset[5] == -7.0
    assert sample.peaks[3] < 10
    assert sample.peaks[5] == 0
    np.testing.assert_array_equal(sample.X_neg.toarray() + sample.offset, X[~y])
    back = sample.uncentred()
    assert back.offset is None
    np.testing.assert_array_equal(back.X_pos.toarray(), X[y])


@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.05, squared=True), CSVM(0.05), CSVM(0.05, squared=True)])
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_objective_and_certificate_do_not_depend_on_the_form(program, seed, weighted):
    rng = np.random.default_rng(seed)
    X = one_hot(rng, 60, 6, 1) * rng.choice([1.0, 0.5, 3.0], 6)
    X[:, 5] = 1000.0 + rng.integers(0, 3, 60)
    y = rng.random(60) < 0.4
    y[:2] = True, False
    weight = rng.uniform(0.5, 2.0, 60) if weighted else None
    coef, intercept = rng.normal(size=6), 0.0 if program.comparisons.name == "pairs" else -1000.0
    multipliers = rng.random(60) * 1e-3
    found = []
    for rows in (X, sp.csr_array(X)):
        problem = Problem(program, as_sample(rows, y, weight))
        certificate = certify(program, rows, y, coef, intercept, multipliers=multipliers, sample_weight=weight)
        found.append((problem.objective(coef, intercept), certificate.objective, certificate.lower_bound))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-12)
