"""The least norm for a level of bAUC: against all pairs in one program, certified, and a frontier as it has to be."""

import math

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import auclab
import reference_guaranteed as brute
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.metrics import bauc_score
from auclab.samples.as_sample import as_sample
from auclab.solvers.guaranteed import frontier, least_norm
from auclab.solvers.guaranteed.lagrangian import WeightedPart, lagrangian_bound
from auclab.solvers.guaranteed.parts import Part
from auclab.types import AuclabError, Status


def draw(seed, n_samples=40, n_features=4):
    """A sample with scales from 0.1 to 10 and ties, and weights with zeros."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 3 == 0
    X = rng.normal(size=(n_samples, n_features)) + 0.7 * y[:, None] * rng.normal(size=n_features)
    X[:, 0] = np.round(X[:, 0])
    return X * 10.0 ** rng.uniform(-1, 1, n_features), y.astype(int), rng.integers(0, 4, n_samples) + (y * 1.0), rng


CASES = [
    {},
    {"lower": [0.0, -np.inf, -np.inf, -np.inf]},
    {"rows": [([1.0, -1.0, 0.0, 2.0], 0.0)]},
    {"upper": [0.4, np.inf, 0.0, np.inf], "lower": [-0.3, -np.inf, -np.inf, -np.inf]},
    {"rows": [([0.0, 1.0, 1.0, 0.0], 0.05)], "lower": [-np.inf, 0.0, -np.inf, -np.inf]},
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_norms_are_those_of_all_pairs_in_one_linear_program(seed):
    X, y, weight, rng = draw(seed)
    weight, cost = (weight, rng.uniform(0.2, 3.0, 4)) if seed % 2 else (None, np.ones(4))
    case = CASES[seed % len(CASES)]
    rows = case.get("rows", [])
    constraints = ColumnConstraints.of(
        4, lower=case.get("lower"), upper=case.get("upper"),
        matrix=[row for row, _ in rows] if rows else None, limit=[limit for _, limit in rows] if rows else None,
    )  # fmt: skip
    pairs = brute.pairs_of(X, y, weight=weight)
    found = frontier(X, y, n_points=3, cost=cost, constraints=constraints, sample_weight=weight, tolerance=1e-9)
    for point in found.points:
        expected = brute.least(None, [(pairs, 1 - point.at_least)], 4, cost=cost, **case)
        assert point.status is Status.OPTIMAL
        assert point.norm == pytest.approx(expected, rel=1e-7)
        assert point.lower_bound <= expected * (1 + 1e-9)
        assert brute.mean_hinge(pairs, point.coef) <= 1 - point.at_least + 1e-14
        assert point.mean_hinge == pytest.approx(brute.mean_hinge(pairs, point.coef), abs=1e-13)
        assert point.bauc == pytest.approx(bauc_score(y, X @ point.coef, sample_weight=weight), abs=1e-12)
        assert point.bauc >= point.at_least
        assert constraints.violation(point.coef) <= 1e-9


def test_cvxpy_finds_the_same():
    X, y, _, _ = draw(3)
    differences, shares = brute.pairs_of(X, y)
    found = least_norm(X, y, 0.1, tolerance=1e-9)
    w = cp.Variable(4)
    program = cp.Problem(cp.Minimize(cp.norm1(w)), [shares @ cp.pos(1 - differences @ w) <= 0.9])
    tolerances = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    assert found.norm == pytest.approx(program.solve(solver="CLARABEL", **tolerances), rel=1e-7)


def test_the_set_of_directions_is_that_of_the_buffered_auc():
    """A direction has ``bAUC ≥ α`` iff some multiple keeps the limit: at the best multiple, not necessarily at 1."""
    X, y, _, rng = draw(5)
    pairs = brute.pairs_of(X, y)
    lengths = np.geomspace(1e-3, 1e3, 4000)
    for _ in range(20):
        coef = rng.normal(size=4)
        best = min(1.0, *(brute.mean_hinge(pairs, length * coef) for length in lengths))
        assert bauc_score(y, X @ coef) == pytest.approx(1 - best, abs=2e-3)
        assert bauc_score(y, X @ coef) >= 1 - best - 1e-12


def test_the_frontier_rises_is_convex_and_has_its_multipliers_as_slopes():
    X, y, _, _ = draw(8, n_samples=60)
    found = frontier(X, y, n_points=12, tolerance=1e-8)
    levels, norms = found.levels, found.norms
    slopes = np.diff(norms) / np.diff(levels)
    multipliers = np.array([point.multiplier for point in found.points])
    assert (np.diff(norms) > 0).all()
    assert (np.diff(slopes) >= -1e-5 * slopes[1:]).all()
    assert (multipliers[:-1] <= slopes * (1 + 1e-5)).all()
    assert (slopes <= multipliers[1:] * (1 + 1e-5)).all()
    assert found.best_bauc <= found.best_bauc_bound
    assert [row["norm"] for row in found.table()] == norms.tolist()


def test_a_point_of_the_frontier_solves_ranksvm():
    """At λ = 1/π; the multipliers prove it to another part of the package."""
    X, y, _, _ = draw(8, n_samples=60)
    for point in frontier(X, y, n_points=4, tolerance=1e-9).points:
        ranksvm = auclab.RankSVM(1.0 / point.multiplier, norm="l1")
        solved = auclab.solve(ranksvm, X, y, tolerance=1e-9)
        assert ranksvm.value(point.coef, 0.0, X, y) == pytest.approx(solved.objective, rel=1e-8)
        certificate = auclab.certify(ranksvm, X, y, point.coef, multipliers=point.multipliers)
        assert certificate.gap <= 1e-7


@pytest.mark.parametrize("seed", range(5))
def test_cuts_are_those_of_all_pairs(seed):
    X, y, weight, rng = draw(seed)
    weight = weight if seed % 2 else None
    X = sp.csr_array(X) if seed % 3 == 2 else X
    part = Part("all pairs", as_sample(X, y, weight))
    differences, shares = brute.pairs_of(X.toarray() if sp.issparse(X) else X, y, weight=weight)
    for coef in (np.zeros(4), rng.normal(size=4), np.array([1.0, 0.0, 0.0, 0.0])):  # the last has ties
        active = 1.0 - differences @ coef > 1e-12
        constants, slopes = part.cuts(coef)
        value = float((constants - slopes @ coef).sum())
        assert value == pytest.approx(brute.mean_hinge((differences, shares), coef), abs=1e-12)
        assert value == pytest.approx(part.value(coef), abs=1e-12)
        if not np.isclose(differences @ coef, 1.0).any():
            assert constants.sum() == pytest.approx(shares[active].sum(), abs=1e-12)
            assert slopes.sum(axis=0) == pytest.approx((shares * active) @ differences, abs=1e-12)
        for other in rng.normal(size=(20, 4)):
            below = float((constants - slopes @ other).sum())
            assert below <= brute.mean_hinge((differences, shares), other) + 1e-12
    assert sorted(np.concatenate(part.blocks).tolist()) == list(range(part.sample.n_pos))


def test_no_multipliers_prove_too_much():
    """Whatever the weights of the pairs and the multipliers, feasible or not, the bound is one."""
    tried = 0
    for seed in range(20):
        X, y, weight, rng = draw(seed, n_samples=20)
        weight = weight if seed % 2 else None
        case = CASES[seed % len(CASES)]
        rows, cost, level = case.get("rows", []), rng.uniform(0.2, 3.0, 4), rng.uniform(0.05, 0.4)
        constraints = ColumnConstraints.of(
            4, lower=case.get("lower"), upper=case.get("upper"),
            matrix=[row for row, _ in rows] if rows else None, limit=[limit for _, limit in rows] if rows else None,
        )  # fmt: skip
        pairs = brute.pairs_of(X, y, weight=weight)
        least = brute.least(None, [(pairs, 1 - level)], 4, cost=cost, **case)
        part = Part("all pairs", as_sample(X, y, weight))
        for _ in range(20):
            coef = rng.normal(size=4) * 10.0 ** rng.uniform(-2, 1) / part.sample.spread
            pos, of_blocks = part.active(coef)
            neg = of_blocks.sum(axis=0)
            if rng.random() < 0.5:
                pos, neg = pos * rng.uniform(0, 2, pos.size), neg * rng.uniform(0, 2, neg.size)
            multiplier = 10.0 ** rng.uniform(-2, 2)
            of_rows = rng.normal(size=len(rows))
            parts = [WeightedPart.of(part, 1 - level, multiplier, pos, neg)]
            bound = lagrangian_bound(parts, cost, constraints, of_rows)
            assert bound <= least * (1 + 1e-9) + 1e-12
            tried += bound > 0
    assert tried > 40


def test_sparse_rows_and_weights_as_repetitions_give_the_same():
    X, y, weight, _ = draw(2)
    plain = least_norm(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)), 0.4, tolerance=1e-9)
    weighted = least_norm(X, y, 0.4, sample_weight=weight, tolerance=1e-9)
    sparse = least_norm(sp.csr_array(X), y, 0.4, sample_weight=weight, tolerance=1e-9)
    assert weighted.norm == pytest.approx(plain.norm, rel=1e-8)
    assert sparse.norm == pytest.approx(plain.norm, rel=1e-8)


def test_names_of_columns_and_few_features():
    import pandas as pd

    X, y, _, _ = draw(4)
    table = pd.DataFrame(X, columns=["age", "debt", "income", "years"])
    found = least_norm(table, y, 0.3, constraints=auclab.Constraints(excluded=["debt"], nonnegative=["age"]))
    assert found.coef[1] == 0.0
    assert found.coef[0] >= 0.0
    low = least_norm(X, y, 0.01)
    assert low.n_used == 1  # a vertex, not a mixture of many points


def test_what_cannot_be_had_is_refused_in_words():
    X, y, _, _ = draw(1)
    best = 1 - auclab.solve("bauc", X, y).lower_bound
    with pytest.raises(AuclabError, match=r"impossible: no linear scorer has more than .* \(proved\)"):
        least_norm(X, y, best + 1e-3)
    for level in (0.0, 1.0, -0.2, math.nan, "much", None):
        with pytest.raises(AuclabError, match="above 0 and below 1"):
            least_norm(X, y, level)
    with pytest.raises(AuclabError, match="every cost must be a positive number"):
        least_norm(X, y, 0.2, cost=[1.0, 0.0, 1.0, 1.0])
    with pytest.raises(AuclabError, match=r"cost has shape \(2,\)"):
        least_norm(X, y, 0.2, cost=[1.0, 1.0])
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


def test_round_feasible_sets_take_few_steps():
    """With many rows, points between the master's minimiser and a point on the boundary are outside."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 3000)
    X = rng.normal(size=(6000, 6)) + 0.4 * y[:, None] * rng.normal(size=6)
    found = frontier(X, y, [0.2, 0.3])
    assert [point.status for point in found.points] == [Status.OPTIMAL] * 2
    assert max(point.iterations for point in found.points) < 200


def test_a_time_limit_returns_a_point_that_keeps_its_guarantee():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 2000)
    X = rng.normal(size=(4000, 30)) + 0.3 * y[:, None]
    level = 0.99 * (1 - auclab.solve("bauc", X, y).objective)
    found = least_norm(X, y, level, time_limit=0.6, tolerance=1e-12)
    assert found.status in (Status.TIME_LIMIT, Status.OPTIMAL)
    assert found.mean_hinge <= 1 - level
    assert found.lower_bound <= found.norm
