"""Custom pairs: their sums pair by pair, their optima by CVXPY, and what is refused."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import auclab
from auclab import AuclabError, RankSVM
from auclab.estimators import AUCClassifier
from auclab.formulations import Composed
from auclab.losses import Hinge, SquaredHinge
from auclab.margins import Bicliques
from auclab.models import build
from auclab.regularisers import Norm
from auclab.samples.bicliques import ordered_pairs
from auclab.samples.ranked import ListedPairs
from auclab.solvers.path import solve_path


def listed(seed, n_rows=30, n_bicliques=12):
    """Bicliques in which mostly the rows of larger scores are the upper ones, weights, and the rows."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(n_rows, 3)), 1)
    scores = X @ generator.normal(size=3) + generator.normal(size=n_rows)
    upper, lower = [], []
    for size in generator.integers(2, 8, n_bicliques):
        rows = generator.permutation(n_rows)[:size]
        rows = rows[np.argsort(-scores[rows])]
        cut = int(generator.integers(1, size))
        upper.append(rows[:cut])
        lower.append(rows[cut:])
    return X, upper, lower, generator.random(n_bicliques), generator.uniform(0.1, 2.0, n_rows)


def every_pair(upper, lower, weights, s):
    """The rows of every pair, and its weight."""
    i = np.concatenate([np.repeat(up, len(low)) for up, low in zip(upper, lower, strict=True)])
    j = np.concatenate([np.tile(low, len(up)) for up, low in zip(upper, lower, strict=True)])
    q = np.concatenate([np.full(len(up) * len(low), w) for up, low, w in zip(upper, lower, weights, strict=True)])
    q = q * s[i] * s[j]
    return i, j, q / q.sum()


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
@given(seed=st.integers(0, 10_000))
def test_sums_are_those_of_every_pair(loss, seed):
    X, upper, lower, weights, s = listed(seed)
    comparison = Bicliques(upper, lower, weights)
    sample = comparison.sample(X, None, s)
    i, j, q = every_pair(upper, lower, weights, s)
    scores = sample.scores(np.array([0.51237, -1.03411, 0.29863]))  # no margin is exactly 1
    error = 1.0 - (scores[0][i] - scores[0][j])
    (above, below), value, conjugate = comparison.slopes(loss.table, scores, 0.0, 1.0, sample)
    slope = q * loss.slope(error)
    assert value == pytest.approx(q @ loss.value(error), abs=1e-12)
    assert comparison.mean(loss, scores, 0.0, 1.0, sample) == pytest.approx(value, abs=1e-12)
    assert conjugate == pytest.approx(q @ loss.conjugate(loss.slope(error)), abs=1e-12)
    np.testing.assert_allclose(above, np.bincount(i, slope, 30), atol=1e-12)
    np.testing.assert_allclose(below, np.bincount(j, slope, 30), atol=1e-12)
    np.testing.assert_allclose(sample.share_pos, np.bincount(i, q, 30), atol=1e-12)
    np.testing.assert_allclose(sample.share_neg, np.bincount(j, q, 30), atol=1e-12)
    found = sp.coo_array((sample.pairs()[2], sample.pairs()[:2]), shape=(30, 30)).toarray()
    np.testing.assert_allclose(found, sp.coo_array((q, (i, j)), shape=(30, 30)).toarray(), atol=1e-12)
    assert sample.n_pairs == q.size


@pytest.mark.parametrize("solver", ["auto", "newton", "cutting_plane", "clarabel"])
@pytest.mark.parametrize(("loss", "squared"), [("hinge", False), ("squared_hinge", True)])
def test_every_solver_finds_the_optimum(solver, loss, squared):
    X, upper, lower, weights, s = listed(3)
    program = Composed(Bicliques(upper, lower, weights), loss, Norm("l2", 0.05, squared))
    i, j, q = every_pair(upper, lower, weights, s)
    w = cp.Variable(3)
    error = cp.pos(1.0 - (X[i] - X[j]) @ w)
    error = error if loss == "hinge" else cp.square(error)
    cost = cp.sum_squares(w) if squared else cp.norm(w)
    least = cp.Problem(cp.Minimize(q @ error + 0.05 * cost)).solve(solver="CLARABEL")
    for rows in (X, sp.csr_array(X)):
        found = auclab.solve(program, rows, None, solver=solver, sample_weight=s)
        assert found.status == "optimal"
        assert found.objective == pytest.approx(least, abs=1e-6)
        assert found.lower_bound <= least + 1e-7
        assert program.value(found.coef, 0.0, rows, None, s) == pytest.approx(found.objective, abs=1e-12)
    near = auclab.certify(program, X, None, found.coef, sample_weight=s)
    assert near.objective == pytest.approx(found.objective, abs=1e-12)
    assert near.lower_bound <= least + 1e-7


def test_one_biclique_of_two_classes_is_all_pairs_and_those_of_groups_are_theirs():
    X, _, _, _, s = listed(5)
    y, groups = (X[:, 0] + X[:, 1] > 0.2).astype(int), np.arange(30) // 6
    classes = Composed(Bicliques([np.flatnonzero(y == 1)], [np.flatnonzero(y == 0)]), "hinge", Norm("l1", 0.05))
    plain = auclab.solve(RankSVM(0.05, "l1"), X, y, sample_weight=s)
    for solver in ("auto", "highs"):
        assert auclab.solve(classes, X, None, solver=solver, sample_weight=s).objective == pytest.approx(
            plain.objective, abs=1e-6
        )
    sides = [[np.flatnonzero((groups == g) & (y == label)) for g in range(5)] for label in (1, 0)]
    held = [k for k in range(5) if sides[0][k].size and sides[1][k].size]
    within = Bicliques(*[[side[k] for k in held] for side in sides])
    expected = auclab.solve(RankSVM(0.05), X, y, groups=groups)
    found = auclab.solve(Composed(within, "hinge", Norm("l2", 0.05)), X, None)
    assert found.objective == pytest.approx(expected.objective, abs=1e-6)
    assert within.sample(X, None).n_pairs == ordered_pairs(y, groups).n_pairs


def test_paths_kernels_and_constraints_take_them():
    X, upper, lower, weights, _ = listed(7)
    program = Composed(Bicliques(upper, lower, weights), "hinge", Norm("l2", 0.05, squared=True))
    assert max(found.gap for found in solve_path(program, X, None, parameter="penalty", values=[0.3, 0.03])) <= 1e-6
    assert auclab.solve(program, X, None, kernel="rbf").gap <= 1e-3
    limits = auclab.Constraints(nonnegative=[0, 1, 2])
    assert auclab.solve(program, X, None, constraints=limits).gap <= 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_a_part_of_the_rows_has_the_pairs_among_them(seed):
    _, upper, lower, weights, s = listed(seed)
    pairs = ListedPairs.of(upper, lower, weights, 30, s)
    rows, part = pairs.thinned(20, np.random.default_rng(seed))
    i, j, q = every_pair(upper, lower, weights, s)
    held = np.isin(i, rows) & np.isin(j, rows)
    expected = sp.coo_array((q[held] / q[held].sum(), (i[held], j[held])), shape=(30, 30)).toarray()
    above, below, found = part.pairs()
    np.testing.assert_allclose(
        sp.coo_array((found, (rows[above], rows[below])), shape=(30, 30)).toarray(), expected, atol=1e-12
    )
    assert pairs.thinned(1e-9, np.random.default_rng(0)) is None


X, UPPER, LOWER, _, _ = listed(1)
PROGRAM = Composed(Bicliques(UPPER, LOWER), "hinge", Norm("l2", 0.1))
Y = np.arange(30) % 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Bicliques([[0]], []), "got 1 and 0"),
        (lambda: Bicliques([], []), "got 0 and 0"),
        (lambda: Bicliques([[]], [[1]]), r"upper\[0\] must be one or more row numbers"),
        (lambda: Bicliques([[0]], [[-1]]), r"lower\[0\] must be one or more row numbers"),
        (lambda: Bicliques([[2**32]], [[1]]), r"upper\[0\] must be one or more row numbers"),
        (lambda: Bicliques([[0.5]], [[1]]), r"upper\[0\] must be one or more row numbers"),
        (lambda: Bicliques([[0, 0]], [[1]]), "twice on one side"),
        (lambda: Bicliques([[2], [0, 1]], [[0], [1, 2]]), "row 1 is on both sides of biclique 1"),
        (lambda: Bicliques([[0]], [[1]], [0.0]), "no pair has a weight"),
        (lambda: Bicliques([[0]], [[1]], [-1.0]), "weights must be 1 numbers"),
        (lambda: Bicliques([[0]], [[1]], [1.0, 2.0]), "weights must be 1 numbers"),
        (
            lambda: auclab.solve(Composed(Bicliques([[0]], [[30]]), "hinge"), X, None),
            "row 30, and X has",
        ),
        (lambda: auclab.solve(PROGRAM, X, Y), "y=None"),
        (lambda: auclab.solve(PROGRAM, X, Y, groups=Y), "leave out groups"),
        (lambda: auclab.solve(PROGRAM, X, Y, event=Y), "leave out event"),
        (lambda: auclab.solve(PROGRAM, X, None, sample_weight=np.zeros(30)), "weights"),
        (lambda: build(PROGRAM, X, None), "not over bicliques"),
        (lambda: AUCClassifier(PROGRAM).fit(X, Y), "y=None"),
        (lambda: auclab.certify(RankSVM(0.1), X, None, np.zeros(3)), "certify needs a formulation, X, y"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(AuclabError, match=words):
        call()


def test_they_are_printed_briefly():
    assert "Bicliques(12 of them)" in repr(auclab.solve(PROGRAM, X, None))
    assert repr(ListedPairs.of([[0]], [[1, 2]])) == "ListedPairs(2 pairs of 3 rows in 1 bicliques)"
