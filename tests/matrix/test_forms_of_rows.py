"""Every form of rows, with everything that takes rows, gives the result of the dense float64 rows, or a refusal.

A form is how SciPy, NumPy, pandas, polars or PyArrow write the numbers of a dense array. Of metrics it is the scores,
one column.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, GroupKFold

import auclab
from auclab._core.base import AuclabError
from auclab._core.forms import as_column, as_matrix, as_rows
from auclab.estimators import (
    AUCClassifier,
    AUCClassifierCV,
    AUCRanker,
    PolynomialAUCClassifier,
    ScorecardClassifier,
    SurvivalRanker,
)
from auclab.formulations import RankSVM
from auclab.kernels import RBF, Laplacian, Polynomial, Precomputed
from auclab.metrics import METRICS, buffered_concordance, concordance_index, get_scorer, grouped_auc, grouped_bauc
from auclab.models import build
from auclab.solvers import least_norm
from auclab.solvers.path import solve_path

M = 40
_RNG = np.random.default_rng(3)
#: Small whole numbers, a third of them 0, which every type holds.
ROWS = np.where(_RNG.random((M, 3)) < 1 / 3, 0.0, _RNG.integers(-3, 4, (M, 3)))
Y = (ROWS @ [1.0, 0.5, 0.0] + _RNG.normal(size=M) > 0.3).astype(int)
GRADES, GROUPS, EVENT = Y + (ROWS[:, 0] > 1), np.arange(M) % 4, np.arange(M) % 3 > 0
SURVIVAL = np.array(list(zip(EVENT, 5.0 - GRADES, strict=True)), dtype=[("event", bool), ("time", float)])
#: A kernel matrix of zeros and ones: which rows have the same first column.
GRAM = (ROWS[:, :1] == ROWS[:, 0]).astype(float)
PROGRAM = RankSVM(0.05, squared=True)


def frame(X):
    return pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])


def repeated(X):
    """Every entry in two halves, in descending order of the columns."""
    found = sp.csr_matrix(X)
    found.has_sorted_indices = False
    rows = [np.repeat(np.arange(a, b)[::-1], 2) for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)]
    places = np.concatenate(rows).astype(int)
    return sp.csr_matrix((found.data[places] / 2, found.indices[places], 2 * found.indptr), shape=X.shape)


def long_indices(X):
    """As `numpy.nonzero` gives them."""
    found = sp.csr_array(X)
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    return found


def with_room(X):
    """Arrays longer than the entries."""
    found = sp.csr_array(X)
    room = np.full(5, 9)
    return sp.csr_array((np.r_[found.data, room], np.r_[found.indices, 0 * room], found.indptr), shape=X.shape)


def coo_repeated(X):
    at = np.nonzero(X)
    half = X[at] / 2
    return sp.coo_matrix((np.r_[half, half], tuple(np.r_[k, k] for k in at)), shape=X.shape)


def read_only(X):
    found = X.copy()
    found.flags.writeable = False
    return found


def polars(X, dtype=None):
    pl = pytest.importorskip("polars")
    kind = getattr(pl, dtype or "Float64")
    return pl.DataFrame({f"c{k}": pl.Series(column.tolist(), dtype=kind, strict=False) for k, column in enumerate(X.T)})


def in_turn(X, *types):
    """A table whose columns have these types, one after the other."""
    return frame(X).astype({f"c{k}": types[k % len(types)] for k in range(X.shape[1])})


ARRAYS = {
    "list": np.ndarray.tolist,
    "int8": lambda X: X.astype(np.int8),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "big_endian": lambda X: X.astype(">f8"),
    "fortran": np.asfortranarray,
    "read_only": read_only,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "objects": lambda X: X.astype(object),
    "masked_array": np.ma.array,
}
TABLES = {
    "frame": frame,
    "mixed_types": lambda X: in_turn(X, "float32", "int16"),
    "nullable": lambda X: in_turn(X, "Int64", "Float64"),
    "arrow_types": lambda X: in_turn(X, "double[pyarrow]", "int64[pyarrow]"),
    "sparse_columns": lambda X: in_turn(X, pd.SparseDtype(float, 0.0)),
    "arrow_table": lambda X: pa.table({f"c{k}": column for k, column in enumerate(X.T)}),
    "polars": polars,
    "polars_int": partial(polars, dtype="Int16"),
}
SPARSE = {
    "csr_repeated_unsorted": repeated,
    "csr_int64_indices": long_indices,
    "csr_with_room": with_room,
    "csr_int8": lambda X: sp.csr_array(X.astype(np.int8)),
    "coo_repeated": coo_repeated,
    "csc": sp.csc_array,
    "bsr": sp.bsr_matrix,
    "dia": sp.dia_array,
    "lil": sp.lil_matrix,
    "dok": sp.dok_array,
}
#: Forms of zeros and ones.
BOOLEANS = {
    "bool": lambda X: X.astype(bool),
    "csr_bool": lambda X: sp.csr_matrix(X.astype(bool)),
    "boolean": lambda X: in_turn(X, "boolean"),
    "polars_boolean": partial(polars, dtype="Boolean"),
}
FORMS = ARRAYS | TABLES | SPARSE | BOOLEANS


def with_gap(X, dtype):
    found = frame(X).astype(dtype)
    found.iloc[3, 0] = pd.NA
    return found


#: What has a gap: where float64 rows have NaN.
GAPS = {
    "nan": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 3 * X.shape[1], np.nan, X),
    "Float64": partial(with_gap, dtype="Float64"),
    "Int64": partial(with_gap, dtype="Int64"),
    "arrow": partial(with_gap, dtype="double[pyarrow]"),
    "None": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 3 * X.shape[1], None, X.astype(object)),
    "masked": lambda X: np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) == 3 * X.shape[1]),
    "polars": lambda X: polars(np.where(np.arange(X.size).reshape(X.shape) == 3 * X.shape[1], None, X)),
}
#: What is no matrix of numbers, and what the refusal says.
REFUSED = {
    "complex": (lambda X: X * 1j, "(?i)complex"),
    "complex_csr": (lambda X: sp.csr_array(X * 1j), "(?i)complex"),
    "dates": (lambda X: X.astype("M8[D]"), "datetime64"),
    "dates_frame": (lambda X: frame(X).astype("int64").astype("M8[s]"), "datetime64"),
    "durations": (lambda X: X.astype("m8[s]"), "timedelta64"),
    "words": (lambda X: frame(X).astype({"c0": "category"}).replace({"c0": {0.0: "red"}}), "red"),
    "one_dimensional": (lambda X: X[:, 0], r"\(40,\)|1D array"),
    "three_dimensional": (lambda X: X[:, :, None], r"\(40, 3, 1\)|dim 3"),
    "set": (lambda X: {1.0, 2.0}, "set"),
}


def solved(X, y=Y, **options):
    return auclab.solve(PROGRAM, X, y, **options).decision_function


def fitted(model, X, y, **options):
    found = model.fit(X, y, **options)
    return getattr(found, "decision_function", found.predict)


def certified(X):
    found = auclab.certify(PROGRAM, X, Y, [0.5, 0.2, 0.0], multipliers=np.full(M, 0.01))
    return lambda rows: (found.objective, found.lower_bound, PROGRAM.value([0.5, 0.2, 0.0], 0.0, rows, Y))


def built(X):
    value = build(PROGRAM, X, Y, language="cvxpy").model.solve(solver="CLARABEL")
    return lambda rows: value


def in_kernel(kernel, X):
    found = auclab.solve(PROGRAM, X, Y, kernel=kernel, tolerance=1e-7)
    of_rows = found.kernel

    def values(rows):
        others = range(M) if isinstance(kernel, Precomputed) else X
        return np.r_[found.decision_function(rows), np.ravel(of_rows.between(rows, others)), of_rows.diagonal(rows)]

    return values


def classifier(**options):
    return AUCClassifier("ranksvm", penalty=0.05, squared=True, **options)


#: From rows to a function that scores rows.
SOLVES = {
    "solve": solved,
    "cutting_plane": partial(solved, solver="cutting_plane"),
    "clarabel": partial(solved, solver="clarabel"),
    "groups": partial(solved, groups=GROUPS),
    "times": partial(solved, y=5.0 - GRADES, event=EVENT),
    "path": lambda X: solve_path(PROGRAM, X, Y, [0.05, 0.5])[1].decision_function,
    "certify": certified,
    "build": built,
}
KERNELS = {kernel.name: partial(in_kernel, kernel) for kernel in (RBF(0.5), Laplacian(), Polynomial(2), Precomputed())}
ESTIMATORS = {
    "AUCClassifier": lambda X: fitted(classifier(), X, Y),
    "AUCClassifier_laplacian": lambda X: fitted(classifier(kernel="laplacian", tolerance=1e-7), X, Y),
    "AUCClassifierCV": lambda X: fitted(AUCClassifierCV(penalties=[0.01, 0.1], squared=True, cv=3), X, Y),
    "AUCRanker": lambda X: fitted(AUCRanker(PROGRAM), X, GRADES, groups=GROUPS),
    "SurvivalRanker": lambda X: fitted(SurvivalRanker(PROGRAM), X, SURVIVAL),
    "PolynomialAUCClassifier": lambda X: fitted(PolynomialAUCClassifier(degree=5), X, Y),
}
CARD = {"ScorecardClassifier": lambda X: fitted(ScorecardClassifier(max_items=2), X, Y)}
USES = SOLVES | KERNELS | ESTIMATORS | CARD
CELLS = [
    (use, form)
    for use in USES
    for form in (ARRAYS | TABLES if use in CARD else FORMS)  # a card makes categories of booleans
]
ON_NUMBERS = [use for use in USES if use not in CARD]


def dense(use, form):
    """The numbers that are written in a form: a kernel matrix, or rows."""
    if use == "precomputed":
        return GRAM
    return (ROWS > 0).astype(float) if form in BOOLEANS else ROWS


@cache
def scorer_of_dense_rows(use, is_boolean=False):
    return USES[use](dense(use, "bool" if is_boolean else "list"))


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(("use", "form"), CELLS)
def test_a_form_of_rows_gives_the_result_of_dense_rows(use, form):
    rows = FORMS[form](dense(use, form))
    expected = scorer_of_dense_rows(use, form in BOOLEANS)(dense(use, form))
    np.testing.assert_allclose(USES[use](rows)(rows), expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_the_numbers_in_one_form(form):
    given = FORMS[form](dense("solve", form))
    before = given.copy() if sp.issparse(given) else None
    rows = as_rows(given)
    assert rows.dtype == np.float64
    if sp.issparse(rows):
        assert (rows.format, rows.has_canonical_format, rows.indices.dtype) == ("csr", True, np.int32)
        rows = rows.toarray()
    if before is not None and before.format == "csr":  # what was given is not changed
        np.testing.assert_array_equal(given.indices, before.indices)
        np.testing.assert_array_equal(given.data, before.data)
    else:  # numbers are not written as objects on the way
        assert form == "objects" or as_matrix(given).dtype != object
    np.testing.assert_array_equal(rows, dense("solve", form))


def outcome(score, rows):
    """The scores, or the kind of the refusal."""
    try:
        return score(rows)
    except ValueError as error:
        return type(error).__name__


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("use", ON_NUMBERS)
@pytest.mark.parametrize("form", GAPS)
def test_a_gap_is_treated_as_nan_is(use, form):
    rows = GAPS[form](dense(use, form))
    with pytest.raises(ValueError, match=r"NaN|not finite"):
        USES[use](rows)
    score = scorer_of_dense_rows(use)
    np.testing.assert_array_equal(outcome(score, rows), outcome(score, GAPS["nan"](dense(use, form))))


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("use", [use for use in ON_NUMBERS if use != "precomputed"])
@pytest.mark.parametrize("form", REFUSED)
def test_what_is_no_matrix_of_numbers_is_refused_by_name(use, form):
    make, words = REFUSED[form]
    with pytest.raises((ValueError, TypeError), match=words):
        USES[use](make(ROWS))
    if use != "build":  # it scores nothing
        with pytest.raises((ValueError, TypeError), match=words):
            scorer_of_dense_rows(use)(make(ROWS))


@pytest.mark.parametrize("form", SPARSE)
def test_a_scorecard_refuses_sparse_rows_by_name(form):
    given = SPARSE[form](ROWS)
    with pytest.raises(AuclabError, match=type(given).__name__):
        ScorecardClassifier().fit(given, Y)


S = ROWS @ [1.0, 0.5, 0.0]
OPTIONS = {
    "gauc": {"modifier": np.sign},
    "partial_auc": {"max_fpr": 0.3, "standardized": False},
    "polynomial_soft_auc": {"beta": 2.0},
    "probabilistic_auc": {"width": 0.75},
    "ranking_superquantile": {"level": 0.7},
    "soft_auc": {"beta": 2.0},
    "two_way_partial_auc": {"min_tpr": 0.25, "max_fpr": 0.75},
    "weighted_auc": {"weight": np.square},
}
#: From labels, scores and weights of ones to a value.
MEASURES = {
    **{name: partial(metric.function, **OPTIONS.get(name, {})) for name, metric in METRICS.items()},
    "grouped_auc": lambda y, s, sample_weight: grouped_auc(y, s, GROUPS, sample_weight=sample_weight),
    "grouped_bauc": lambda y, s, sample_weight: grouped_bauc(y, s, GROUPS, sample_weight=sample_weight),
    "concordance_index": lambda y, s, sample_weight: concordance_index(s, y, S, sample_weight=sample_weight),
    "buffered_concordance": lambda y, s, sample_weight: buffered_concordance(s, y, S, sample_weight=sample_weight),
    "estimate": lambda y, s, sample_weight: auclab.estimate(y, s, "auc", sample_weight=sample_weight).lower,
}


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MEASURES)
def test_metrics_take_one_column_of_any_form(name, form):
    def made(values):
        return FORMS[form](np.asarray(values, dtype=float)[:, None])

    measure, s = MEASURES[name], (S > 0).astype(float) if form in BOOLEANS else ROWS[:, 0]
    found, series = measure(made(Y), made(s), sample_weight=made(np.ones(M))), made(s)
    assert found == pytest.approx(measure(Y, s, sample_weight=None), rel=1e-12)
    if isinstance(series, pd.DataFrame):
        assert measure(made(Y)["c0"], series["c0"], sample_weight=None) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("form", GAPS)
def test_metrics_refuse_a_gap_in_scores_labels_and_groups(form):
    def made(values):
        return GAPS[form](np.asarray(values, dtype=float)[:, None])

    for scores_, labels, groups, words in (
        (made(ROWS[:, 0]), Y, GROUPS, r"\[3\] is nan"),
        (S, made(Y), GROUPS, r"\[3\] is (nan|missing)"),
        (S, Y, made(GROUPS), r"groups\[3\] is missing"),
    ):
        with pytest.raises(AuclabError, match=words):
            grouped_auc(labels, scores_, groups)


_LETTERS = ["a", "a", "b", "b", "b", "a"]
_DAYS = pd.to_datetime(pd.Series(["2020-01-01", "2020-01-01", "2020-01-02", "2020-01-02", None, None]))
MISSING_GROUPS = {
    "list_with_nan": [*_LETTERS[:5], float("nan")],
    "list_with_none": [*_LETTERS[:5], None],
    "list_with_na": [*_LETTERS[:5], pd.NA],
    "numbers_with_none": [1, 1, 2, 2, 2, None],
    "nan": [1, 1, 2, 2, 2, np.nan],
    "dates": _DAYS,
    "dates_of_numpy": _DAYS.to_numpy(),
    "dates_of_python": [*_DAYS.dt.date[:4], None, None],
    "string": pd.Series([*_LETTERS[:5], None], dtype="string"),
    "arrow": pd.Series([*_LETTERS[:5], None], dtype="string[pyarrow]"),
    "category": pd.Series([*_LETTERS[:5], None], dtype="category"),
    "Int64": pd.Series([1, 1, 2, 2, 2, None], dtype="Int64"),
    "masked": np.ma.array([1, 1, 2, 2, 2, 2], mask=[0, 0, 0, 0, 0, 1]),
    "chunked": pa.chunked_array([[*_LETTERS[:5], None]]),
}


@pytest.mark.parametrize("form", MISSING_GROUPS)
@pytest.mark.parametrize("door", ["solve", "metric", "ranker", "concordance", "folds"])
def test_missing_groups_are_refused_whatever_their_type(door, form):
    groups, X, y = MISSING_GROUPS[form], np.arange(6.0)[:, None], [0, 1, 0, 1, 1, 0]
    doors = {
        "solve": lambda: auclab.solve(PROGRAM, X, y, groups=groups),
        "metric": lambda: grouped_auc(y, X[:, 0], groups),
        "ranker": lambda: AUCRanker(PROGRAM).fit(X, y, groups=groups),
        "concordance": lambda: auclab.solve(PROGRAM, X, np.arange(6.0), event=np.ones(6), groups=groups),
        "folds": lambda: AUCClassifierCV(penalties=[0.1], cv=GroupKFold(2)).fit(X, y, groups=groups),
    }
    with pytest.raises(AuclabError, match=r"groups\[[45]\] is missing"):
        doors[door]()


@pytest.mark.parametrize("values", [[1, "1", 1, "1", 1, "1"], [b"1", "1", 1, "1", 1, "1"]])
def test_a_number_and_its_text_are_not_one_group_or_label(values):
    """`numpy.asarray` turns both into text."""
    assert as_column("groups", values).tolist() == values
    with pytest.raises(AuclabError, match="groups must be all numbers or all text"):
        grouped_auc([0, 1, 0, 1, 0, 1], np.arange(6.0), values)
    for fit in (partial(auclab.solve, PROGRAM), classifier().fit):
        with pytest.raises(AuclabError, match="must be all numbers or all text"):
            fit(np.arange(6.0)[:, None], values)


def test_labels_of_one_column_are_scored_by_a_search():
    with pytest.warns(match="column-vector y"):
        found = GridSearchCV(classifier(), {"penalty": [10.0, 0.01]}, scoring=get_scorer("auc")).fit(ROWS, Y[:, None])
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


NAMED = frame(ROWS)
#: A fitted scorer that has seen the names of `NAMED`.
SCORERS = {
    "solution": lambda: auclab.solve(PROGRAM, NAMED, Y),
    "grouped": lambda: auclab.solve(PROGRAM, NAMED, Y, groups=GROUPS),
    "kernel": lambda: auclab.solve(PROGRAM, NAMED, Y, kernel="rbf"),
    "path": lambda: solve_path(PROGRAM, NAMED, Y, [0.05])[0],
    "kernel_path": lambda: solve_path(PROGRAM, NAMED, Y, [0.05], kernel="rbf")[0],
    "polars": lambda: auclab.solve(PROGRAM, polars(ROWS), Y),
    "arrow": lambda: auclab.solve(PROGRAM, TABLES["arrow_table"](ROWS), Y),
    "of_estimator": lambda: classifier().fit(NAMED, Y).solution_,
    "of_kernel_estimator": lambda: classifier(kernel="rbf").fit(NAMED, Y).solution_,
    "of_ranker": lambda: AUCRanker(PROGRAM).fit(NAMED, Y).solution_,
    "of_fit_path": lambda: classifier().fit_path(NAMED, Y, [0.05])[0].solution_,
    "least_norm": lambda: least_norm(NAMED, Y, bauc=0.1),
}


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_solution_remembers_the_names_of_the_columns(scorer):
    solution = SCORERS[scorer]()
    assert solution.columns == ("c0", "c1", "c2")
    given = solution.decision_function(NAMED)
    for same in (ROWS, pd.DataFrame(ROWS), TABLES["arrow_table"](ROWS), sp.csr_array(ROWS)):
        np.testing.assert_allclose(solution.decision_function(same), given, rtol=1e-12, atol=1e-12)
    for other in (NAMED[["c2", "c1", "c0"]], TABLES["arrow_table"](ROWS).select(["c1", "c0", "c2"])):
        with pytest.raises(AuclabError, match=r"another order than in the fit; give X\[\['c0', 'c1', 'c2'\]\]"):
            solution.decision_function(other)
    with pytest.raises(AuclabError, match="a table without c1 and with z"):
        solution.decision_function(NAMED.rename(columns={"c1": "z"}))
    with pytest.raises(AuclabError, match=r"X has 2 columns, but the scorer was fitted to 3"):
        solution.decision_function(ROWS[:, :2])


def test_constraints_find_the_columns_of_any_table_by_name():
    rules = auclab.Constraints(nonpositive=["c0"])
    for table in (NAMED, TABLES["arrow_table"](ROWS), TABLES["sparse_columns"](ROWS)):
        assert auclab.solve(PROGRAM, table, Y, constraints=rules).coef[0] == 0.0
