"""At most k features, exactly: compared with every choice of features, refused in words where nothing is bounded."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import auclab
from auclab import (
    CSVM,
    ECSVM,
    AuclabError,
    BufferedAUC,
    Constraints,
    GeneralizedBufferedAUC,
    PartialAUC,
    RankSVM,
    Status,
)
from auclab.formulations.constraints import ColumnConstraints

#: Without a penalty the proof is up to a length of w.
PROVED = (Status.OPTIMAL, Status.OPTIMAL_WITHIN)
PROGRAMS = [
    BufferedAUC(),
    GeneralizedBufferedAUC(-0.3, "l2"),
    *(RankSVM(0.05, norm) for norm in ("l1", "l2", "linf")),
    *(RankSVM(0.02, norm, squared=True) for norm in ("l1", "l2", "linf")),
    CSVM(0.05, "l1"),
    CSVM(0.02, "l2", squared=True),
    ECSVM(-0.2, "l1"),
]


def sample(seed, n_features, n_rows=40):
    """Overlapping classes in features of very different units."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = (X @ rng.normal(size=n_features) + 1.5 * rng.normal(size=n_rows) > 0).astype(int)
    return X * 10.0 ** rng.uniform(-1, 1, n_features) + rng.normal(size=n_features), y


def best_of_all(program, X, y, groups, k, forced=(), bounds=None):
    """The least certified value over every choice of at most k groups."""
    names = np.unique(groups)
    rest = [name for name in names if name not in forced]
    values = []
    for chosen in itertools.combinations(rest, min(k - len(forced), len(rest))):
        columns = np.flatnonzero(np.isin(groups, [*chosen, *forced]))
        constraints = None
        if bounds is not None:
            constraints = ColumnConstraints.of(columns.size, lower=bounds[0][columns], upper=bounds[1][columns])
        values.append(auclab.solve(program, X[:, columns], y, constraints=constraints).objective)
    return min(values)


@pytest.mark.slow
@pytest.mark.covering(seed=11)  # every program, and every kind of groups, forced columns and signs
@pytest.mark.parametrize("seed", range(30))
def test_equals_the_best_of_all_choices(seed):
    rng = np.random.default_rng(100 + seed)
    n, program = int(rng.integers(3, 6)), PROGRAMS[seed % len(PROGRAMS)]
    k = int(rng.integers(1, 4))
    X, y = sample(seed, n)
    groups = rng.integers(0, n - 1, n) if seed % 3 == 0 else np.arange(n)
    forced = (int(groups[0]),) if seed % 4 == 1 else ()
    bounds = None
    if seed % 5 == 2:  # signs
        bounds = np.where(rng.random(n) < 0.5, 0.0, -np.inf), np.full(n, np.inf)
    limits = {} if bounds is None else {"lower": bounds[0], "upper": bounds[1]}
    constraints = ColumnConstraints.of(n, max_features=k, groups=groups, forced=forced, **limits)
    found = auclab.solve(program, X, y, constraints=constraints, time_limit=60)
    best = best_of_all(program, X, y, groups, k, forced, bounds)
    assert found.status in PROVED
    assert found.gap <= 1e-6
    assert found.objective == pytest.approx(best, rel=3e-6)
    assert found.lower_bound <= best * (1 + 1e-9)
    assert constraints.n_used(found.coef) <= k
    assert constraints.violation(found.coef) <= 1e-9


def test_rows_hold_beside_the_number_of_features():
    X, y = sample(7, 5)
    rules = Constraints(
        max_features=2, rows=[{"coefficients": {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, "at_most": 0.05}]
    )
    found = auclab.solve(RankSVM(0.02, squared=True), X, y, constraints=rules)
    assert found.status in PROVED
    assert found.coef.sum() <= 0.05 + 1e-9
    assert (found.coef != 0).sum() <= 2
    pairs = itertools.combinations(range(5), 2)
    values = [
        auclab.solve(
            RankSVM(0.02, squared=True),
            X[:, list(pair)],
            y,
            constraints=Constraints(rows=[{"coefficients": {0: 1.0, 1: 1.0}, "at_most": 0.05}]),
        ).objective
        for pair in pairs
    ]
    assert found.objective == pytest.approx(min(values), rel=3e-6)


def test_a_time_limit_leaves_a_proven_gap():
    X, y = sample(3, 30, 400)
    found = auclab.solve(BufferedAUC(), X, y, constraints=Constraints(max_features=6), time_limit=2.0)
    assert found.status is Status.TIME_LIMIT
    assert 0 < found.lower_bound < found.objective
    assert (found.coef != 0).sum() <= 6
    assert auclab.solve(BufferedAUC(), X, y).objective <= found.objective


def test_without_a_penalty_the_proof_is_up_to_a_length_of_w():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X.sum(axis=1) > 0  # separable by three features, not by one
    found = auclab.solve(BufferedAUC(), X, y, constraints=Constraints(max_features=1))
    assert found.status is Status.OPTIMAL_WITHIN
    assert 5 * np.linalg.norm(found.coef * X.std(axis=0)) < found.certificate.norm_bound < np.inf
    bounded = Constraints(max_features=1, lower=dict.fromkeys(range(3), -9), upper=dict.fromkeys(range(3), 9))
    within = auclab.solve(BufferedAUC(), X, y, constraints=bounded)
    assert within.status is Status.OPTIMAL
    assert within.objective == pytest.approx(found.objective, rel=2e-6)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_all_categories_of_a_nominal_feature_count_as_one_and_need_no_penalty(k):
    """Their columns sum to a constant, so that scores do not change along it."""
    rng = np.random.default_rng(0)
    kind, shop, Z = rng.integers(0, 4, 300), rng.integers(0, 3, 300), rng.normal(size=(300, 2))
    X = np.c_[Z, np.eye(4)[kind], np.eye(3)[shop]]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (Z[:, 0] + 0.8 * (kind == 1) + 2.0 * rng.normal(size=300) > 0).astype(int)
    groups = np.array([0, 1, *4 * [2], *3 * [3]])
    found = auclab.solve(BufferedAUC(), X, y, constraints=ColumnConstraints.of(9, max_features=k, groups=groups))
    assert found.status in PROVED
    assert found.objective == pytest.approx(best_of_all(BufferedAUC(), X, y, groups, k), rel=2e-6)
    assert np.unique(groups[found.coef != 0]).size <= k


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_a_category_whose_rows_are_all_of_one_class_needs_no_penalty(k, own, form):
    """Its coefficient has no bound; beyond some size no larger one is better."""
    rng = np.random.default_rng(own)
    y = (np.arange(45) % 3 == 0).astype(int)
    kind = rng.integers(0, 3, 45)
    kind[np.flatnonzero(y == own)[:2]] = 3
    Z = rng.normal(size=(45, 3)) + 0.4 * y[:, None]
    X, groups = np.c_[Z, np.eye(4)[kind]], np.array([0, 1, 2, *4 * [3]])
    limit = ColumnConstraints.of(7, max_features=k, groups=groups)
    found = auclab.solve(BufferedAUC(), form(X), y, constraints=limit)
    assert found.status in PROVED
    assert found.objective == pytest.approx(best_of_all(BufferedAUC(), X, y, groups, k), rel=2e-6)
    assert np.unique(groups[found.coef != 0]).size <= k


def test_two_one_sided_columns_of_different_features():
    rng = np.random.default_rng(3)
    y = (np.arange(40) % 2).astype(int)
    flags = np.zeros((40, 2))
    flags[np.flatnonzero(y == 1)[:3], 0], flags[np.flatnonzero(y == 0)[:3], 1] = 1.0, 1.0
    X = np.c_[rng.normal(size=(40, 2)) + 0.3 * y[:, None], flags]
    for k in (1, 2, 3):
        found = auclab.solve(BufferedAUC(), X, y, constraints=Constraints(max_features=k))
        assert found.status in PROVED
        expected = best_of_all(BufferedAUC(), X, y, np.arange(4), k)
        assert found.objective == pytest.approx(expected, rel=2e-6)


def test_columns_that_are_sums_of_those_of_other_features():
    X, y = sample(2, 4)
    both = np.c_[X, X[:, 0] + X[:, 1]]
    found = auclab.solve(BufferedAUC(), both, y, constraints=Constraints(max_features=2))
    assert found.status is Status.OPTIMAL_WITHIN
    assert found.objective == pytest.approx(best_of_all(BufferedAUC(), both, y, np.arange(5), 2), rel=2e-6)


def test_programs_of_another_kind_are_refused():
    X, y = sample(1, 3)
    with pytest.raises(AuclabError, match="partial_auc"):
        auclab.solve(PartialAUC(0.5), X, y, constraints=Constraints(max_features=1))
    with pytest.raises(AuclabError, match=r"no solver takes ranksvm \(loss=squared_hinge\) with max_features"):
        auclab.solve(RankSVM(0.1, loss="squared_hinge"), X, y, constraints=Constraints(max_features=1))


@pytest.mark.parametrize("program", [BufferedAUC(), RankSVM(0.05, "l1")], ids=["bauc", "ranksvm"])
def test_forced_features_count_whether_they_are_used_or_not(program):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=60) > 0).astype(int)
    solution = auclab.solve(program, X, y, constraints=Constraints(nonnegative=[0], forced=[3], max_features=2))
    assert np.isfinite(solution.certificate.violation)
    assert np.count_nonzero(solution.coef[:3]) <= 1
    rules = [Constraints(nonnegative=[0]), None, None]
    alone = [auclab.solve(program, X[:, [k, 3]], y, constraints=rules[k]).objective for k in range(3)]
    assert solution.objective == pytest.approx(min(alone), rel=1e-4)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("program", [RankSVM(0.01), CSVM(0.01, "l1"), BufferedAUC()], ids=lambda each: each.name)
@pytest.mark.parametrize(
    "stated",
    [{"sum_to": 1.0}, {"sum_to": 1.0, "nonnegative": [0, 1, 2, 3]}, {"lower": {2: 0.5}}, {"upper": {0: -0.2}}],
    ids=["sum", "simplex", "lower", "upper"],
)
def test_constraints_that_w_0_does_not_satisfy(program, stated):
    """The best of all pairs of features; a first point is found before the tree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = (X @ [1, 0.5, 0, -0.7] + rng.normal(size=40) > 0).astype(int)
    solution = auclab.solve(program, X, y, constraints=Constraints(max_features=2, **stated))
    values = []
    for pair in itertools.combinations(range(4), 2):
        out = [column for column in range(4) if column not in pair]
        if {*stated.get("lower", ()), *stated.get("upper", ())} & set(out):
            continue
        values.append(auclab.solve(program, X, y, constraints=Constraints(excluded=out, **stated)).objective)
    assert solution.status in PROVED
    assert (solution.coef != 0).sum() <= 2
    assert solution.objective == pytest.approx(min(values), abs=2e-6)


@pytest.mark.slow
def test_features_that_must_not_be_0_and_are_too_many_are_named():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(AuclabError):
        auclab.solve(RankSVM(0.1), X, y, constraints=Constraints(max_features=1, lower={0: 0.5, 1: 0.5}))
