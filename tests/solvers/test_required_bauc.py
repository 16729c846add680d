"""The least norm for a level of bAUC: against all pairs in one program, certified, and a frontier as it has to be."""

import math

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import auclab
from auclab._core.base import AuclabError, Status
from auclab.formulations.constraints import ColumnConstraints
from auclab.metrics import bauc_score
from auclab.solvers import frontier, least_norm


def draw(seed, n_samples=40, n_features=4):
    """A sample with scales from 0.1 to 10 and ties, and weights with zeros."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 3 == 0
    X = rng.normal(size=(n_samples, n_features)) + 0.7 * y[:, None] * rng.normal(size=n_features)
    X[:, 0] = np.round(X[:, 0])
    return X * 10.0 ** rng.uniform(-1, 1, n_features), y.astype(int), rng.integers(0, 4, n_samples) + (y * 1.0), rng


def pairs_of(X, y, weight=None):
    """Differences of all pairs and their shares."""
    u = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    shares = np.outer(u[pos], u[neg]).ravel()
    return (X[pos][:, None] - X[neg][None]).reshape(-1, X.shape[1]), shares / shares.sum()


def mean_hinge(pairs, coef):
    """``Σ share [1 − w·d]₊``."""
    differences, shares = pairs
    return float(shares @ np.maximum(1.0 - differences @ coef, 0.0))


def least(pairs, limit, *, rows=(), lower=None, upper=None):
    """The least ``‖w‖₁`` with a mean hinge of at most `limit`; columns: the two parts of w, a hinge for every pair."""
    (differences, shares), n = pairs, pairs[0].shape[1]
    matrix = [np.c_[-differences, differences, -np.eye(shares.size)], np.r_[np.zeros(2 * n), shares][None]]
    right = [-np.ones(shares.size), [limit]]
    for row, at_most in rows:
        matrix.append(np.r_[row, -np.array(row), np.zeros(shares.size)][None])
        right.append([at_most])
    lower = np.full(n, -np.inf) if lower is None else np.array(lower)
    upper = np.full(n, np.inf) if upper is None else np.array(upper)
    ends = [(max(a, 0.0), max(b, 0.0)) for a, b in zip(np.r_[lower, -upper], np.r_[upper, -lower], strict=True)]
    price = np.r_[np.ones(2 * n), np.zeros(shares.size)]
    ends += [(0.0, None)] * shares.size
    return linprog(price, np.vstack(matrix), np.concatenate(right), bounds=ends, method="highs").fun


CASES = [
    {},
    {"lower": [0.0, -np.inf, -np.inf, -np.inf]},
    {"rows": [([1.0, -1.0, 0.0, 2.0], 0.0)]},
    {"upper": [0.4, np.inf, 0.0, np.inf], "lower": [-0.3, -np.inf, -np.inf, -np.inf]},
    {"rows": [([0.0, 1.0, 1.0, 0.0], 0.05)], "lower": [-np.inf, 0.0, -np.inf, -np.inf]},
    {"lower": [-0.5, -np.inf, -np.inf, -np.inf], "upper": [-0.01, np.inf, np.inf, np.inf]},  # without w = 0
]


@pytest.mark.slow
@pytest.mark.covering(seed=6)
@pytest.mark.parametrize("seed", range(12))
def test_norms_are_those_of_all_pairs_in_one_linear_program(seed):
    X, y, weight, _ = draw(seed)
    weight = weight if seed % 2 else None
    case = CASES[seed % len(CASES)]
    rows = case.get("rows", [])
    constraints = ColumnConstraints.of(
        4, lower=case.get("lower"), upper=case.get("upper"),
        matrix=[row for row, _ in rows] if rows else None, limit=[limit for _, limit in rows] if rows else None,
    )  # fmt: skip
    pairs = pairs_of(X, y, weight)
    found = frontier(X, y, n_points=3, constraints=constraints, sample_weight=weight)
    for point in found.points:
        expected = least(pairs, 1 - point.at_least, **case)
        assert point.status is Status.OPTIMAL
        assert point.norm == pytest.approx(expected, rel=2e-6)
        assert point.lower_bound <= expected * (1 + 1e-9)
        assert mean_hinge(pairs, point.coef) <= 1 - point.at_least + 1e-14
        assert point.mean_hinge == pytest.approx(mean_hinge(pairs, point.coef), abs=1e-13)
        assert point.bauc == pytest.approx(bauc_score(y, X @ point.coef, sample_weight=weight), abs=1e-12)
        assert point.bauc >= point.at_least
        assert constraints.violation(point.coef) <= 1e-9


@pytest.mark.parametrize(("norm", "length"), [("l1", cp.norm1), ("l2", cp.norm2), ("linf", cp.norm_inf)])
def test_cvxpy_finds_the_same(norm, length):
    X, y, _, _ = draw(3)
    differences, shares = pairs_of(X, y)
    found = least_norm(X, y, 0.1, norm=norm)
    w = cp.Variable(4)
    program = cp.Problem(cp.Minimize(length(w)), [shares @ cp.pos(1 - differences @ w) <= 0.9])
    tolerances = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    expected = program.solve(solver="CLARABEL", **tolerances)
    assert found.status is Status.OPTIMAL
    assert found.lower_bound <= expected * (1 + 1e-8)
    assert found.norm == pytest.approx(expected, rel=2e-6)


def test_the_set_of_directions_is_that_of_the_buffered_auc():
    """A direction has ``bAUC ≥ α`` iff some multiple keeps the limit: at the best multiple, not necessarily at 1."""
    X, y, _, rng = draw(5)
    pairs = pairs_of(X, y)
    lengths = np.geomspace(1e-3, 1e3, 4000)
    for _ in range(20):
        coef = rng.normal(size=4)
        best = min(1.0, *(mean_hinge(pairs, length * coef) for length in lengths))
        assert bauc_score(y, X @ coef) == pytest.approx(1 - best, abs=2e-3)
        assert bauc_score(y, X @ coef) >= 1 - best - 1e-12


@pytest.mark.weekly
def test_the_frontier_rises_is_convex_and_has_its_multipliers_as_slopes():
    X, y, _, _ = draw(8, n_samples=60)
    found = frontier(X, y, n_points=12, tolerance=1e-7)
    levels, norms = found.levels, found.norms
    slopes = np.diff(norms) / np.diff(levels)
    multipliers = np.array([point.multiplier for point in found.points])
    assert (np.diff(norms) > 0).all()
    assert (np.diff(slopes) >= -1e-5 * slopes[1:]).all()
    assert (multipliers[:-1] <= slopes * (1 + 1e-5)).all()
    assert (slopes <= multipliers[1:] * (1 + 1e-5)).all()
    assert found.best_bauc <= found.best_bauc_bound
    assert [row["norm"] for row in found.table()] == norms.tolist()
    assert max(point.solves for point in found.points) <= 20


def test_the_proof_is_one_of_ranksvm():
    X, y, _, _ = draw(8, n_samples=60)
    for point in frontier(X, y, n_points=4).points:
        proof = point.proof
        certificate = auclab.certify(proof.formulation, X, y, point.coef, multipliers=proof.multipliers)
        bound = (certificate.lower_bound - 1 + point.at_least) * point.multiplier
        assert bound == pytest.approx(point.lower_bound, rel=1e-6)
        assert bound <= point.norm


def test_sparse_rows_and_weights_as_repetitions_give_the_same():
    X, y, weight, _ = draw(2)
    plain = least_norm(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)), 0.4)
    weighted = least_norm(X, y, 0.4, sample_weight=weight)
    sparse = least_norm(sp.csr_array(X), y, 0.4, sample_weight=weight)
    assert weighted.norm == pytest.approx(plain.norm, rel=2e-6)
    assert sparse.norm == pytest.approx(plain.norm, rel=2e-6)


def test_names_of_columns_and_few_features():
    X, y, _, _ = draw(4)
    table = pd.DataFrame(X, columns=["age", "debt", "income", "years"])
    found = least_norm(table, y, 0.3, constraints=auclab.Constraints(excluded=["debt"], nonnegative=["age"]))
    assert found.coef[1] == 0.0
    assert found.coef[0] >= 0.0
    low = least_norm(X, y, 0.01)
    assert low.n_used == 1  # on an edge of the path, not a mixture of many points


def test_what_cannot_be_had_is_refused_in_words():
    X, y, _, _ = draw(1)
    best = 1 - auclab.solve("bauc", X, y).lower_bound
    with pytest.raises(AuclabError, match=r"impossible: no linear scorer has more than .* \(proved\)"):
        least_norm(X, y, best + 1e-3)
    for level in (0.0, 1.0, -0.2, math.nan, "much", None):
        with pytest.raises(AuclabError, match="above 0 and below 1"):
            least_norm(X, y, level)
    with pytest.raises(AuclabError, match="max_features=2 makes the problem not convex"):
        least_norm(X, y, 0.2, constraints=auclab.Constraints(max_features=2))
    with pytest.raises(AuclabError, match="levels is empty"):
        frontier(X, y, [])
    with pytest.raises(AuclabError, match="n_points must be at least 1"):
        frontier(X, y, n_points=0)
    with pytest.raises(AuclabError, match="no frontier"):
        frontier([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1])


def test_constraints_that_fix_a_length_are_said_to_restrict():
    X, y, _, _ = draw(6)
    bounded = least_norm(X, y, 0.1, constraints=auclab.Constraints(upper={0: 0.5}))
    assert any("constraints fix lengths" in note for note in bounded.notes)
    signs = least_norm(X, y, 0.1, constraints=auclab.Constraints(nonnegative=[0]))
    assert not any("constraints fix lengths" in note for note in signs.notes)


def test_a_time_limit_returns_a_point_that_keeps_its_guarantee():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 2000)
    X = rng.normal(size=(4000, 30)) + 0.3 * y[:, None]
    level = 0.99 * (1 - auclab.solve("bauc", X, y).objective)
    found = least_norm(X, y, level, time_limit=0.6, tolerance=1e-12)
    assert found.status is Status.TIME_LIMIT
    assert found.mean_hinge <= 1 - level
    assert 0.0 <= found.lower_bound <= found.norm
