"""Rows that are mostly zero but for an offset are solved as CSR rows; what is returned belongs to the rows as given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import auclab.solvers.reformulations as reformulations
from auclab import CSVM, BufferedAUC, GeneralizedBufferedAUC, RankSVM, solve
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.solvers.monitor import Monitor
from auclab.solvers.reformulations import AsSparseRows, common_values, viewed


def standardised(seed, n_rows=8_000, n_columns=26):
    """Standardised 0/1 columns, some of them mostly 1, and a normal one; no entry is 0."""
    rng = np.random.default_rng(seed)
    share = np.r_[rng.uniform(0.02, 0.2, n_columns - 3), 0.95, 0.9]
    X = np.c_[(rng.random((n_rows, n_columns - 1)) < share).astype(float), rng.normal(size=n_rows)]
    y = X @ rng.normal(size=n_columns) + rng.normal(size=n_rows) > 0.5
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_the_view_differs_from_the_rows_by_one_value_a_column(seed):
    X, y = standardised(seed)
    sample = as_sample(X, y)
    assert not sample.is_sparse
    common = common_values(sample)
    view = viewed(sample, common)
    assert view.is_sparse
    assert view.X_pos.nnz + view.X_neg.nnz < 0.25 * X.size
    np.testing.assert_allclose(view.X_neg.toarray() + common, X[~y], atol=1e-12)
    np.testing.assert_allclose(view.mean_difference, sample.mean_difference, atol=1e-12)
    np.testing.assert_allclose(view.spread, sample.spread, rtol=1e-9)
    assert common[-1] == 0.0


def test_small_and_full_tables_are_left_alone():
    X, y = standardised(0)
    assert common_values(as_sample(X[:900], y[:900])) is None
    full = np.random.default_rng(0).normal(size=X.shape)
    assert common_values(as_sample(full, y)) is None
    assert common_values(as_sample(np.where(np.abs(full) < 2, 0.0, full), y)) is None  # is sparse already


@pytest.mark.parametrize("program", [RankSVM(0.1, squared=True), GeneralizedBufferedAUC(-0.2), CSVM(0.1)])
def test_a_point_on_the_view_is_one_on_the_rows(program):
    X, y = standardised(1)
    problem = Problem(program, as_sample(X, y))
    rng = np.random.default_rng(2)
    point = rng.normal(size=X.shape[1]), 0.0 if problem.over_pairs else 0.7
    view = AsSparseRows.of(problem, Monitor())
    there = view.forth(*point)
    assert view.problem.sample.is_sparse
    assert view.problem.objective(*there) == pytest.approx(problem.objective(*point), rel=1e-12)
    coef, intercept = view.back(*there)
    assert (coef == point[0]).all()
    assert intercept == pytest.approx(point[1], abs=1e-12)


@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.001, squared=True), CSVM(0.01, squared=True)])
def test_newton_certifies_the_same_optimum_with_and_without(program, monkeypatch):
    X, y = standardised(3)
    found = solve(program, X, y, solver="newton")
    monkeypatch.setattr(reformulations, "common_values", lambda sample: None)
    dense = solve(program, X, y, solver="newton")
    assert found.certificate.gap <= 1e-6
    assert dense.certificate.gap <= 1e-6
    assert found.objective == pytest.approx(dense.objective, rel=2e-6)
