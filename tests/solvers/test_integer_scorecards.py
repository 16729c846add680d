"""Integer scorecards: compared with every card, and bounds that are never above the best of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auclab
from auclab import AuclabError, Status
from auclab._core.scorecards import improved_points, total_hinges
from auclab.formulations import Scorecard
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.metrics import bauc_score
from auclab.models.timings import Clock
from auclab.samples.as_sample import as_sample
from auclab.solvers.integer.region import EXCLUDED, UNDECIDED, USED, Limit, Plane, Region, least, tightened
from auclab.solvers.integer.scorecard import solve_scorecard
from auclab.solvers.monitor import Monitor


def items(seed, n_rows=30, n_items=5, whole=True):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_items)) < 0.4).astype(float) if whole else rng.normal(size=(n_rows, n_items))
    y = (X @ rng.integers(-3, 4, n_items) + rng.normal(size=n_rows) > 0.5).astype(int)
    y[:2] = [0, 1]
    return X, y


def best_card(program, X, y, rows=None):
    """The least value over all cards, pair by pair."""
    difference = X[y == 1][:, None, :] - X[y == 0][None, :, :]
    lower, upper = program.bounds(X.shape[1])
    groups = np.arange(X.shape[1]) if program.features is None else np.array(program.features)
    best = np.inf
    for card in itertools.product(*(range(int(a), int(b) + 1) for a, b in zip(lower, upper, strict=True))):
        w = np.array(card, float)
        if program.max_items is not None and (w != 0).sum() > program.max_items:
            continue
        if program.max_features is not None and np.unique(groups[w != 0]).size > program.max_features:
            continue
        if rows is not None and (rows[0] @ w > rows[1]).any():
            continue
        margins = difference @ w
        best = min(best, *(np.maximum(g - margins, 0).mean() / g for g in program.margins))
    return best


@pytest.mark.parametrize("seed", range(30))
def test_equals_the_best_of_all_cards(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    X, y = items(seed, n_items=n, whole=seed % 3 != 2)
    program = Scorecard(
        points=(-2, 2),
        margins=[(1,), (1, 2, 3), (2, 5)][seed % 3],
        max_items=[None, 2, 3][int(rng.integers(3))],
        max_features=2 if seed % 4 == 0 else None,
        features=tuple(int(g) for g in rng.integers(0, 3, n)) if seed % 4 == 0 else None,
        signs={0: 1} if seed % 5 == 0 else None,
    )
    found = auclab.solve(program, X, y, time_limit=60)
    best = best_card(program, X, y)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(best, abs=1e-9)
    assert found.lower_bound <= best + 1e-12
    assert (found.coef == np.rint(found.coef)).all()


def test_rows_of_constraints_hold():
    X, y = items(5, n_items=4)
    rows = np.array([[1.0, 1.0, 1.0, 1.0], [-1.0, 1.0, 0.0, 0.0]]), np.array([2.0, 0.0])
    program = Scorecard(points=(-2, 2), margins=(1, 2))
    constraints = ColumnConstraints.of(4, matrix=rows[0], limit=rows[1])
    found = auclab.solve(program, X, y, constraints=constraints)
    assert found.objective == pytest.approx(best_card(program, X, y, rows), abs=1e-9)
    assert (rows[0] @ found.coef <= rows[1]).all()


@pytest.mark.slow
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 4),
    st.sampled_from([(1,), (1, 2), (2, 3, 5)]),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
)
def test_the_bound_is_never_above_the_best_card(seed, n_items, margins, max_items, whole):
    X, y = items(seed, n_rows=12, n_items=n_items, whole=whole)
    program = Scorecard(points=(-2, 1), margins=margins, max_items=max_items)
    problem = Problem(program, as_sample(X, y))
    best = best_card(program, X, y)
    for time_limit in (1e-4, 0.05):  # from what a time limit leaves, too
        assert solve_scorecard(problem, Monitor(clock=Clock(time_limit))).bound <= best + 1e-12


def test_sample_weights_are_repetitions():
    X, y = items(1, n_items=3)
    weight = np.random.default_rng(0).integers(1, 4, y.size)
    repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    program = Scorecard(points=(-2, 2))
    weighted = auclab.solve(program, X, y, sample_weight=weight)
    assert weighted.objective == pytest.approx(auclab.solve(program, *repeated).objective, abs=1e-12)


def test_the_value_is_one_minus_bauc_if_the_best_margin_is_in_the_grid():
    X, y = items(2, 60)
    found = auclab.solve(Scorecard(points=(-3, 3), margins=range(1, 31), max_items=3), X, y)
    assert 1 - found.objective == pytest.approx(bauc_score(y, X @ found.coef), abs=1e-12)


def test_hinges_of_totals_are_those_of_pairs():
    rng = np.random.default_rng(3)
    pos, neg = rng.integers(-9, 9, 20), rng.integers(-9, 9, 30)
    u, v = rng.dirichlet(np.ones(20)), rng.dirichlet(np.ones(30))
    margins = np.array([1, 3, 40])
    expected = [u @ np.maximum(g - (pos[:, None] - neg), 0) @ v / g for g in margins]
    np.testing.assert_allclose(total_hinges(pos, neg, u, v, margins), expected, rtol=1e-13)


def test_local_search_never_makes_a_card_worse_or_larger():
    X, y = items(4, 50, 8)
    parts = [np.ascontiguousarray(X[y == k].T.astype(np.int64)) for k in (1, 0)]
    shares = [np.full(part.shape[1], 1 / part.shape[1]) for part in parts]
    rng = np.random.default_rng(0)
    low, high, group = np.full(8, -3), np.full(8, 3), np.arange(8) // 2
    for _ in range(10):
        card = np.zeros(8, np.int64)
        card[rng.permutation(8)[:3]] = rng.integers(-3, 4, 3)
        margins = np.array([1, 3])
        before = total_hinges(card @ parts[0], card @ parts[1], *shares, margins).min()
        value = improved_points(*parts, *shares, margins, card, low, high, group, 3, 2, True)
        if np.isinf(value):
            continue
        assert value <= before
        assert (card != 0).sum() <= 3
        assert np.unique(group[card != 0]).size <= 2
        assert value == pytest.approx(total_hinges(card @ parts[0], card @ parts[1], *shares, margins).min())


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_plane_is_nowhere_below_its_minimum_and_no_point_below_a_value_is_lost(seed, grouped):
    rng = np.random.default_rng(seed)
    n = 4
    lower, upper = -rng.integers(0, 3, n).astype(float), rng.integers(0, 3, n).astype(float)
    group = rng.integers(0, 3, n) if grouped else np.arange(n)
    limits = (Limit(group, 2, int(group.max()) + 1),)
    state = rng.choice([EXCLUDED, UNDECIDED, UNDECIDED, USED], limits[0].n_groups).astype(np.int8)
    charge = rng.random(limits[0].n_groups) if seed % 2 else None
    plane = Plane(1.0, rng.normal(size=n), charge)
    region = Region(lower, upper, (state,)).closed(limits)
    if region.is_empty(limits):
        return
    values = {}
    for card in itertools.product(
        *(range(int(a), int(b) + 1) for a, b in zip(region.lower, region.upper, strict=True))
    ):
        w = np.array(card, float)
        for used in itertools.product((0, 1), repeat=limits[0].n_groups):
            z = np.array(used)
            settled = (z[region.states[0] == USED] == 1).all() and (z[region.states[0] == EXCLUDED] == 0).all()
            if settled and z.sum() <= 2 and (z[group[w != 0]] == 1).all():
                values[(card, used)] = 1.0 - plane.slope @ w - (0.0 if charge is None else charge @ z)
    if not values:
        return
    assert least(plane, region, limits) == pytest.approx(min(values.values()), abs=1e-9)
    below = float(np.median(list(values.values())))
    part = tightened(plane, region, limits, below, whole=True)
    for (card, used), value in values.items():
        if value < below - 1e-9:
            assert part is not None
            w, z = np.array(card), np.array(used)
            assert (w >= part.lower).all()
            assert (w <= part.upper).all()
            assert (z[part.states[0] == USED] == 1).all()
            assert (z[part.states[0] == EXCLUDED] == 0).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"points": (1, 5)},
        {"points": (0, 0)},
        {"points": (-1.5, 2)},
        {"margins": ()},
        {"margins": (0, 1)},
        {"max_items": 0},
        {"signs": {0: 2}},
    ],
)
def test_bad_settings_are_refused(wrong):
    with pytest.raises(AuclabError):
        Scorecard(**wrong)


def test_a_sign_of_a_column_that_is_not_there_is_refused():
    with pytest.raises(AuclabError, match="column 9"):
        auclab.solve(Scorecard(signs={9: 1}), *items(0))


def test_constraints_that_the_card_without_points_does_not_satisfy():
    X, y = items(3)
    at_least = ColumnConstraints.of(5, lower=[2.0, -5, -5, -5, -5])
    sample = as_sample(X, y)
    program = Scorecard((-3, 3), max_items=3, margins=(1, 2))
    raw = solve_scorecard(Problem(program, sample, at_least), Monitor())
    assert raw.coef[0] >= 2
    total = ColumnConstraints.of(5, matrix=[[1.0] * 5], limit=[4.0], equal=[True])
    raw = solve_scorecard(Problem(program, sample, total), Monitor())
    assert raw.coef.sum() == 4
    impossible = ColumnConstraints.of(5, matrix=[[1.0] * 5], limit=[40.0], equal=[True])
    with pytest.raises(AuclabError, match="no card satisfies the constraints"):
        solve_scorecard(Problem(program, sample, impossible), Monitor())
