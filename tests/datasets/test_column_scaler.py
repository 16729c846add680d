"""Large tables that are mostly zero keep their zeros, and the same scorers are optimal on them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from auclab import CSVM, BufferedAUC, RankSVM, solve
from auclab._core.base import AuclabError
from auclab.datasets import preprocess
from auclab.datasets.records import Dataset
from auclab.datasets.steps import ColumnScaler
from auclab.solvers.certify import certify


@parametrize_with_checks([ColumnScaler(), ColumnScaler("minmax")])
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


def table(rows: int = 9_000) -> Dataset:
    """Two numeric columns, one of them far from 0, a rare 0/1 column, a frequent one, and two of categories."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "age": rng.normal(1990.0, 9.0, rows),
            "rare": (rng.random(rows) < 0.05).astype(float),
            "code": rng.choice([f"c{k:02d}" for k in range(25)], rows),
            "often": (rng.random(rows) < 0.9).astype(float),
            "size": rng.normal(size=rows),
            "kind": rng.choice(list("abcdef"), rows),
        }
    )
    X.loc[::50, "size"] = np.nan
    score = X["rare"] + 0.1 * X["age"] + (X["code"] > "c15") + rng.normal(size=rows)
    return Dataset(name="one_hot", X=X, y=(score > score.mean()).to_numpy().astype(np.int64))


def encoded(dataset: Dataset) -> Any:
    return preprocess.none(dataset).fit_transform(dataset.X)


@pytest.mark.parametrize(("name", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())])
def test_only_columns_that_are_mostly_zero_differ_from_the_dense_scaling(name: str, scaler: Any) -> None:
    dataset = table()
    transformer = getattr(preprocess, name)(dataset).fit(dataset.X, dataset.y)
    Z, X = transformer.transform(dataset.X), encoded(dataset)
    dense = scaler.fit_transform(X)
    assert sp.issparse(Z)
    assert Z.has_sorted_indices
    assert Z.has_canonical_format
    mostly_zero = (X != 0).mean(axis=0) <= 0.5
    difference = dense - Z.toarray()
    np.testing.assert_allclose(difference, np.broadcast_to(difference[0], X.shape), atol=1e-9)
    np.testing.assert_allclose(difference[:, ~mostly_zero], 0.0, atol=1e-9)
    if name == "minmax":
        np.testing.assert_allclose(difference, 0.0, atol=1e-12)
    assert Z.nnz <= (X != 0).sum() + X.shape[0]  # the frequent column is filled
    np.testing.assert_allclose(transformer["scale"].inverse_transform(Z).toarray(), X, rtol=1e-12, atol=1e-9)
    assert transformer.get_feature_names_out().tolist() == [
        "age",
        "rare",
        "often",
        "size",
        *(f"code_c{k:02d}" for k in range(25)),
        *(f"kind_{letter}" for letter in "abcdef"),
    ]


def test_small_tables_and_full_ones_are_scaled_as_ever() -> None:
    full = Dataset(name="full", X=pd.DataFrame(np.random.default_rng(0).normal(size=(9_000, 30))).add_prefix("x"), y=Y)
    for dataset in (table(2_000), full):
        for name, scaler in (("standard", StandardScaler()), ("minmax", MinMaxScaler())):
            Z = getattr(preprocess, name)(dataset).fit_transform(dataset.X)
            np.testing.assert_array_equal(Z, scaler.fit_transform(encoded(dataset)))


Y = np.arange(9_000) % 2


def test_new_rows_are_treated_as_those_of_the_training_part() -> None:
    dataset = table()
    transformer = preprocess.standard(dataset).fit(dataset.X.iloc[:8_000])
    part, whole = transformer.transform(dataset.X.iloc[8_000:]), transformer.transform(dataset.X)
    assert sp.issparse(part)
    assert (part != whole[8_000:]).nnz == 0


def test_categories_are_never_formed_as_a_dense_table() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({name: rng.choice([f"v{k}" for k in range(200)], 20_000) for name in ("one", "two")})
    dataset = Dataset(name="categories", X=X, y=np.arange(20_000) % 2)
    transformer = preprocess.standard(dataset, max_categories=None)
    tracemalloc.start()
    Z = transformer.fit_transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert Z.shape == (20_000, 400)
    assert peak < 0.5 * 8 * 20_000 * 400


@pytest.mark.slow
@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.001, squared=True), CSVM(0.01)])
def test_the_same_scorers_are_optimal(program: Any) -> None:
    """The solution on the CSR matrix is one on the centred table: its objective and its bound are the same."""
    dataset = table(7_000)
    Z, X = preprocess.standard(dataset).fit_transform(dataset.X), encoded(dataset)
    scaler = StandardScaler().fit(X)
    solution = solve(program, Z, dataset.y, solver="newton", tolerance=1e-5)
    assert solution.certificate.gap <= 1e-5
    centred = scaler.transform(X)
    # Both scores of the first row are the same with this intercept.
    moved = solution.intercept + float((Z[[0]] @ solution.coef)[0] - centred[0] @ solution.coef)
    again = certify(
        program,
        centred,
        dataset.y,
        solution.coef,
        moved * (program.comparisons.name == "points"),
        solution.multipliers,
    )
    assert again.objective == pytest.approx(solution.objective, rel=1e-9)
    # An equality as dual constraint is repaired with other rows of collinear columns: the bounds differ by a repair.
    assert again.lower_bound == pytest.approx(solution.certificate.lower_bound, rel=1e-9 if program.uses_norm else 1e-5)


def test_another_scaling_is_refused() -> None:
    with pytest.raises(AuclabError, match="standard or minmax, got 'max'"):
        ColumnScaler("max").fit([[1.0], [2.0]])
