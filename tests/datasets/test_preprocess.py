"""Preprocessing: fitted on the training part only, finite numbers out, norms within the ball."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from hydra.utils import instantiate
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from omegaconf import OmegaConf
from sklearn.utils.estimator_checks import parametrize_with_checks

from auclab._core.base import AuclabError
from auclab.datasets import preprocess
from auclab.datasets.columns import refuse_constant, sort_columns
from auclab.datasets.preprocess import UnitBall
from auclab.datasets.records import Dataset
from auclab.runs.tracking.model import TRUSTED

ALL = [preprocess.standard, preprocess.minmax, preprocess.unit_ball, preprocess.none]
SCALED = [preprocess.standard, preprocess.minmax, preprocess.unit_ball]
Build = Callable[[Dataset], Any]


def mixed() -> Dataset:
    """Twelve rows with every kind of column and gaps."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": [*generator.normal(size=10), np.nan, 100.0],
            "count": np.arange(12),
            "flag": [True, False] * 6,
            "colour": ["red", "blue", None, "red", "red", "red"] * 2,
            "grade": pd.Categorical([1, 2, 3] * 4),
            "code": [7.0, 8.0, np.nan] * 4,
            "always": 5.0,
        }
    )
    return Dataset(name="mixed", X=X, y=np.array([0, 1] * 6), nominal=("code",))


def sparse(rows: int = 30) -> Dataset:
    X = sp.random(rows, 8, density=0.4, format="csr", random_state=np.random.default_rng(1))
    return Dataset(name="sparse", X=X, y=np.arange(rows) % 2)


@pytest.mark.parametrize("build", ALL)
def test_output_is_finite_float64_with_names(build: Build) -> None:
    dataset = mixed()
    transformer = build(dataset).fit(dataset.X.iloc[:8], dataset.y[:8])
    for rows in (slice(0, 8), slice(8, 12)):
        Z = transformer.transform(dataset.X.iloc[rows])
        assert isinstance(Z, np.ndarray)
        assert Z.dtype == np.float64
        assert np.isfinite(Z).all()
    names = transformer.get_feature_names_out().tolist()
    assert len(names) == Z.shape[1] == len(set(names))
    assert ("always" in names) == (build is preprocess.none)
    assert {"flag_True", "colour_blue", "grade_3", "code_7", "code_8"} <= set(names)


@pytest.mark.parametrize("build", ALL)
def test_test_rows_do_not_change_the_fit(build: Build) -> None:
    """The outlier, the gap and the new category of the last rows are not seen when fitting."""
    dataset = mixed()
    changed = dataset.X.copy()
    for column, value in {"size": 1e6, "count": -1_000_000, "colour": "green", "flag": True}.items():
        changed.loc[8:, column] = value
    train = dataset.X.iloc[:8]
    ours = build(dataset).fit(train).transform(train)
    other = Dataset(name="other", X=changed, y=dataset.y, nominal=dataset.nominal)
    np.testing.assert_array_equal(ours, build(other).fit(changed.iloc[:8]).transform(changed.iloc[:8]))


def test_imputation_by_hand() -> None:
    dataset = mixed()
    frame = pd.DataFrame(
        preprocess.none(dataset, missing_category=None).fit_transform(dataset.X),
        columns=preprocess.none(dataset, missing_category=None).fit(dataset.X).get_feature_names_out(),
    )
    assert frame.loc[10, "size"] == dataset.X["size"].median()
    assert frame.loc[[2, 8], "colour_red"].tolist() == [1.0, 1.0]  # red is the most frequent colour
    assert frame.loc[2, ["code_7", "code_8"]].tolist() == [1.0, 0.0]  # a tie goes to the smaller one
    assert frame["flag_True"].tolist() == [1.0, 0.0] * 6


def test_unknown_categories_give_zeros_without_a_warning() -> None:
    dataset = mixed()
    transformer = preprocess.none(dataset).fit(dataset.X.iloc[:6])
    row = dataset.X.iloc[:1].copy()
    row["colour"] = "green"
    frame = pd.DataFrame(transformer.transform(row), columns=transformer.get_feature_names_out())
    assert frame[["colour_red", "colour_blue"]].to_numpy().tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("build", ALL)
@pytest.mark.parametrize("column", ["size", "colour"])
def test_column_without_any_value_in_the_training_part(build: Build, column: str) -> None:
    dataset = mixed()
    train = dataset.X.iloc[:6].copy()
    train[column] = np.nan if column == "size" else None
    transformer = build(dataset).fit(train)
    assert np.isfinite(transformer.transform(dataset.X)).all()


def test_scales() -> None:
    dataset = mixed()
    Z = preprocess.standard(dataset).fit_transform(dataset.X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), 1.0)
    Z = preprocess.minmax(dataset).fit_transform(dataset.X)
    np.testing.assert_allclose([Z.min(axis=0), Z.max(axis=0)], [[0.0] * Z.shape[1], [1.0] * Z.shape[1]], atol=1e-12)
    Z = preprocess.unit_ball(dataset).fit_transform(dataset.X)
    assert np.linalg.norm(Z, axis=1).max() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("build", ALL)
def test_sparse_stays_sparse(build: Build) -> None:
    dataset = sparse()
    transformer = build(dataset).fit(dataset.X[:20])
    Z = transformer.transform(dataset.X[20:])
    assert sp.issparse(Z)
    assert (Z.format, Z.dtype) == ("csr", np.float64)
    assert (Z.toarray()[dataset.X[20:].toarray() == 0.0] == 0.0).all()
    assert len(transformer.get_feature_names_out()) == Z.shape[1]


def test_sparse_scales_agree_with_dense_ones() -> None:
    dataset = sparse()
    dense = dataset.X.toarray()
    np.testing.assert_allclose(
        preprocess.standard(dataset).fit_transform(dataset.X).toarray(), dense / dense.std(axis=0)
    )
    np.testing.assert_allclose(
        preprocess.minmax(dataset).fit_transform(dataset.X).toarray(), dense / abs(dense).max(axis=0)
    )
    np.testing.assert_array_equal(preprocess.none(dataset).fit_transform(dataset.X).toarray(), dense)


def test_sparse_constant_columns_are_dropped() -> None:
    X = sp.csr_matrix(np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 0.0]]))
    dataset = Dataset(name="sparse", X=X, y=np.array([0, 1]))
    assert preprocess.standard(dataset).fit_transform(X).toarray().tolist() == [[2.0], [0.0]]


numbers = st.floats(-1e100, 1e100, allow_subnormal=False)
matrices = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=40), elements=numbers)


@given(X=matrices, data=st.data())
def test_unit_ball_holds_every_row(X: np.ndarray, data: st.DataObject) -> None:
    """Training rows and rows never seen, dense and sparse, to the last bit."""
    new = data.draw(arrays(np.float64, (5, X.shape[1]), elements=numbers))
    ball = UnitBall().fit(X)
    for rows in (X, new):
        for Z in (ball.transform(rows), ball.transform(sp.csr_matrix(rows)).toarray()):
            assert np.linalg.norm(Z, axis=1).max() <= 1.0
            assert np.sqrt((Z[:, ::-1] ** 2).sum(axis=1)).max() <= 1.0
        inside = np.linalg.norm(rows, axis=1) <= ball.radius_
        np.testing.assert_allclose(ball.transform(rows)[inside], rows[inside] / ball.radius_, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("norm", [2.33074044e-156, 1e-139, 0.0])
def test_unit_ball_of_tiny_rows(norm: float) -> None:
    """The square of 2.3e-156 is subnormal: its root is 1e-13 off."""
    ball = UnitBall().fit([[norm]])
    assert ball.radius_ == (norm if norm > 1e-140 else 1.0)
    assert abs(ball.transform([[norm], [1e-100], [3.0]])).max() <= 1.0


@parametrize_with_checks([UnitBall()])
def test_unit_ball_is_a_scikit_learn_transformer(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "name",
    ["ionosphere"]
    + [
        pytest.param(name, marks=pytest.mark.needs_tables(f"{name}.csv"))
        for name in ("abalone", "german_credit", "wpbc")
    ],
)
def test_unit_ball_on_real_data(name: str) -> None:
    from auclab.datasets import load
    from auclab.datasets.splits import holdout

    dataset = load(name)
    [split] = holdout(dataset.y)
    transformer = preprocess.unit_ball(dataset).fit(dataset.X.iloc[split.train])
    for rows in (split.train, split.test):
        assert np.linalg.norm(transformer.transform(dataset.X.iloc[rows]), axis=1).max() <= 1.0
    if name == "ionosphere":
        assert "a02" not in transformer.get_feature_names_out()


@pytest.mark.parametrize("build", ALL)
@pytest.mark.parametrize("make", [mixed, sparse])
def test_transformers_can_be_saved(build: Build, make: Callable[[], Dataset]) -> None:
    dataset = make()
    transformer = build(dataset).fit(dataset.X)
    ours = np.asarray(sp.csr_matrix(transformer.transform(dataset.X)).todense())
    packed = skops.io.dumps(transformer)
    trusted = skops.io.get_untrusted_types(data=packed)
    assert set(trusted) <= TRUSTED
    for copy in (pickle.loads(pickle.dumps(transformer)), skops.io.loads(packed, trusted=trusted)):
        np.testing.assert_array_equal(np.asarray(sp.csr_matrix(copy.transform(dataset.X)).todense()), ours)


@pytest.mark.parametrize("kind", ["str", "object", "category"])
def test_text_of_every_kind_is_nominal(kind: str) -> None:
    X = pd.DataFrame({"colour": pd.Series(["red", "blue", "red"]).astype(kind)})
    dataset = Dataset(name="text", X=X, y=np.array([0, 1, 1]))
    transformer = preprocess.none(dataset).fit(X)
    assert transformer.get_feature_names_out().tolist() == ["colour_blue", "colour_red"]
    assert transformer.transform(X.astype(object)).tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("build", ALL)
def test_infinite_values_are_refused(build: Build) -> None:
    X = pd.DataFrame({"size": [1.0, np.inf, -np.inf], "count": [1, 2, 3]})
    with pytest.raises(AuclabError, match=r"column 'size' has 2 infinite values \(first in row 2\)"):
        build(Dataset(name="infinite", X=X, y=np.array([0, 1, 1])))
    matrix = sp.csr_matrix(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(AuclabError, match=r"1 infinite or missing value \(first in column 1\)"):
        build(Dataset(name="infinite", X=matrix, y=np.array([0, 1])))


def test_identifiers_are_refused_unless_called_nominal() -> None:
    X = pd.DataFrame({"id": [f"patient {i}" for i in range(60)], "size": np.arange(60)})
    y = np.arange(60) % 2
    with pytest.raises(AuclabError, match=r"column 'id' holds text with 60 different values in 60 rows, such as 'pat"):
        preprocess.standard(Dataset(name="ids", X=X, y=y))
    called = Dataset(name="ids", X=X, y=y, nominal=("id",))
    assert preprocess.standard(called, max_categories=None).fit_transform(X).shape == (60, 61)
    assert preprocess.standard(called).fit_transform(X).shape == (60, 51)


def test_rare_and_new_categories_share_a_column() -> None:
    X = pd.DataFrame({"city": ["a"] * 4 + ["b"] * 3 + ["c", "d", "e"]})
    dataset = Dataset(name="cities", X=X, y=np.arange(10) % 2)
    transformer = preprocess.none(dataset, max_categories=3).fit(X)
    assert transformer.get_feature_names_out().tolist() == ["city_a", "city_b", "city_(other)"]
    new = pd.DataFrame({"city": ["b", "e", "never seen"]})
    assert transformer.transform(new).tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]


def test_gaps_get_a_column_of_their_own() -> None:
    X = pd.DataFrame({"size": [1.0, np.nan, 3.0, 4.0], "count": [1, 2, 3, 4], "city": ["a", "b", None, "a"]})
    transformer = preprocess.none(Dataset(name="gaps", X=X, y=np.array([0, 1, 0, 1])), missing_indicators=True).fit(X)
    names = transformer.get_feature_names_out().tolist()
    assert names == ["size", "count", "city_a", "city_b", "size_missing", "city_missing"]
    assert transformer.transform(X)[:, 4:].tolist() == [[0, 0], [1, 0], [0, 1], [0, 0]]
    assert transformer.transform(X.iloc[[0]].assign(count=np.nan)).tolist() == [[1.0, 2.5, 1.0, 0.0, 0.0, 0.0]]


DATES = pd.DataFrame({"since": ["2023-01-31", "2024-02-29", None, "2022-12-01"], "size": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize("text", [True, False])
def test_dates_are_refused_or_become_features(text: bool) -> None:
    X = DATES if text else DATES.assign(since=pd.to_datetime(DATES["since"]))
    dataset = Dataset(name="dates", X=X, y=np.array([0, 1, 0, 1]))
    said = r"column 'since' holds dates.*preprocess\.dates=.*any of year, month, weekday, age.*dataset\.drop=\[since\]"
    with pytest.raises(AuclabError, match=said):
        preprocess.standard(dataset)
    transformer = preprocess.none(dataset, dates=["year", "month", "weekday", "age"]).fit(X)
    table = pd.DataFrame(transformer.transform(X), columns=transformer.get_feature_names_out())
    assert table.shape == (4, 1 + 1 + 12 + 7 + 1)
    assert table["since_year"].tolist() == [2023.0, 2024.0, 2023.0, 2022.0]  # the gap: the median date
    assert table["since_month_2"].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert table["since_weekday_Thu"].tolist() == [0.0, 1.0, 0.0, 1.0]
    np.testing.assert_allclose(table["since_age"] * 365.25, [394.0, 0.0, 394.0, 455.0])
    later = transformer.transform(X.iloc[[0]].assign(since="2024-03-01" if text else pd.Timestamp("2024-03-01")))
    assert later[0, -1] * 365.25 == pytest.approx(-1.0)


def test_a_date_that_is_none_is_named() -> None:
    transformer = preprocess.none(Dataset(name="dates", X=DATES, y=np.array([0, 1, 0, 1])), dates="year").fit(DATES)
    with pytest.raises(AuclabError, match=r"column 'since' has 'soon' in row 1, which is not a date of the format %Y-"):
        transformer.transform(DATES.iloc[[0]].assign(since="soon"))


def test_days_and_months_are_told_apart_by_the_user() -> None:
    X = pd.DataFrame({"since": ["1/2/2024", "3/4/2024"]})
    dataset = Dataset(name="dates", X=X, y=np.array([0, 1]))
    with pytest.raises(AuclabError, match=r"day and month cannot be distinguished; give .*date_format=.%d/%m/%Y"):
        preprocess.none(dataset, dates="month")
    for form, month in (("%d/%m/%Y", 2), ("%m/%d/%Y", 1)):
        fitted = preprocess.none(dataset, dates="month", date_format=form).fit(X)
        first = dict(zip(fitted.get_feature_names_out(), fitted.transform(X)[0], strict=True))
        assert [name for name, value in first.items() if value] == [f"since_month_{month}"]


@pytest.mark.parametrize("build", SCALED)
def test_constant_columns_alone_are_refused(build: Build) -> None:
    X = pd.DataFrame({"always": [1.0, np.nan, 1.0], "same": ["a", "a", "a"]})
    dataset = Dataset(name="still", X=X, y=np.array([0, 1, 1]))
    with pytest.raises(AuclabError, match="every one of 2 columns is constant on the training part"):
        build(dataset).fit(X)
    with pytest.raises(AuclabError, match=r"every column of 'still' has one value only \('always', 'same'\)"):
        refuse_constant(dataset)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_categories": 1}, "max_categories is 1; it is a whole number"),
        ({"max_categories": 2.5}, "max_categories is 2.5; it is a whole number"),
        ({"dates": "yaer"}, r"dates has 'yaer' \(did you mean 'year'\?\)"),
        ({"dates": []}, "dates has empty"),
    ],
)
def test_settings_out_of_range_are_refused(settings: Any, words: str) -> None:
    with pytest.raises(AuclabError, match=words):
        preprocess.standard(mixed(), **settings)


@pytest.mark.parametrize("build", ALL)
def test_every_function_has_a_yaml(build: Build) -> None:
    made = instantiate(OmegaConf.load(Path(__file__).parents[2] / "conf" / "preprocess" / f"{build.__name__}.yaml"))
    np.testing.assert_array_equal(made(mixed()).fit_transform(mixed().X), build(mixed()).fit_transform(mixed().X))


def test_many_gaps_are_a_category_of_their_own_as_counted_in_the_training_part() -> None:
    cabins = ["B96", None, None, "C1", "B96", None, "B96", "C1", "B96", "B96"]
    X = pd.DataFrame({"cabin": cabins, "port": ["S", "C", None, *["S", "C"] * 3, "S"], "word": ["missing", None] * 5})
    dataset = Dataset("titanic", X, np.array([0, 1] * 5))
    made = preprocess.none(dataset).fit(X)
    names = ["cabin_B96", "cabin_C1", "cabin_missing", "port_C", "port_S", "word_(missing)", "word_missing"]
    assert made.get_feature_names_out().tolist() == names
    frame = pd.DataFrame(made.transform(X), columns=names)
    assert frame["cabin_missing"].tolist() == X["cabin"].isna().astype(float).tolist()
    assert frame.loc[2, "port_S"] == 1.0  # a tenth of the column is missing, and no more
    assert "cabin_missing" not in preprocess.none(dataset).fit(X.iloc[6:]).get_feature_names_out()
    dataset = Dataset("cabins", X[["cabin"]], dataset.y)
    for options in ({"missing_category": None}, {"missing_category": 0.3}, {"missing_indicators": True}):
        found = preprocess.none(dataset, **options).fit(X[["cabin"]]).get_feature_names_out().tolist()
        assert [name for name in found if name.startswith("cabin")] == [
            *("cabin_B96", "cabin_C1"),
            *(["cabin_missing"] if "missing_indicators" in options else []),
        ]
    columns = sort_columns(Dataset("titanic", X, dataset.y))
    assert columns.widths == {"cabin": 3, "port": 2, "word": 2}
    assert columns.notes == ("gaps are a category of their own in 2 columns (cabin 30%, word 50%)",)
    with pytest.raises(AuclabError, match=r"preprocess.missing_category is 7; it is a share from 0 to 1"):
        preprocess.none(dataset, missing_category=7)
