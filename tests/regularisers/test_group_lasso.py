"""The group lasso: what it is of one group, of groups of one column; labels, constraints, few features, bad columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auclab
from auclab import AuclabError, RankSVM
from auclab.formulations import Composed
from auclab.regularisers import GroupLasso, Norm
from auclab.samples.as_sample import as_sample


def rows(seed=0, n=4):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(60, n))
    return X, (X @ generator.normal(size=n) + generator.normal(size=60) > 0).astype(int)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_one_group_is_the_norm_l2_and_groups_of_one_column_the_norm_l1(loss):
    X, y = rows()
    for groups, norm, factor in (("aaaa", "l2", 2.0), ("abcd", "l1", 1.0)):
        ours = auclab.solve(Composed("pairs", loss, GroupLasso(list(groups), 0.05)), X, y)
        other = auclab.solve(RankSVM(factor * 0.05, norm, loss=loss), X, y)
        assert ours.gap <= 1e-6
        assert ours.objective == pytest.approx(other.objective, rel=2e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("comparisons", ["pairs", "points"])
def test_groups_are_used_as_a_whole_and_not_at_all_above_the_level(loss, comparisons):
    X, y = rows(n=6)
    program = Composed(comparisons, loss, GroupLasso((0, 0, 1, 1, 2, 2), 1.0))
    level = program.null.penalty(as_sample(X, y))
    for factor, some in ((1.001, False), (0.9, True)):
        solution = auclab.solve(program.with_params(penalty=factor * level), X, y)
        used = (solution.coef.reshape(3, 2) != 0).sum(axis=1)
        assert solution.gap <= 1e-6
        assert set(used) <= {0, 2}
        assert used.any() == some


def test_copies_columns_of_zeros_and_constants_are_no_trouble():
    X, y = rows()
    wide = np.c_[X, X[:, :2], np.zeros(60), np.ones(60)]
    for loss in ("hinge", "squared_hinge"):
        solution = auclab.solve(Composed("pairs", loss, GroupLasso((0, 0, 1, 1, 0, 0, 1, 2), 0.02)), wide, y)
        assert solution.gap <= 1e-6
        assert solution.coef[0] == pytest.approx(solution.coef[4], abs=1e-5)
        assert not solution.coef[6:].any()


def test_few_features_keep_the_factors_of_their_groups():
    X, y = rows()
    program = Composed("pairs", "hinge", GroupLasso((0, 0, 0, 1), 0.02))
    few = auclab.solve(program, X, y, constraints=auclab.Constraints(max_features=2))
    best = np.inf
    for j in range(4):
        for k in range(j):
            columns = np.array([k, j])
            narrowed = Norm(program.regulariser.norm.restricted(columns), 0.02)
            best = min(best, auclab.solve(Composed("pairs", "hinge", narrowed), X[:, columns], y).objective)
    assert few.objective == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ((0, 1), "has 2 labels of groups and X has 4 columns"),
        (None, "has no labels of groups and X has 4 columns"),
    ],
)
def test_there_is_a_label_for_every_column(groups, message):
    X, y = rows()
    with pytest.raises(AuclabError, match=message):
        auclab.solve(Composed("pairs", "hinge", GroupLasso(groups, 0.1)), X, y)


@pytest.mark.parametrize("groups", ["aab", (0.5, 1), (), (None, 1)])
def test_labels_are_words_or_integers(groups):
    with pytest.raises(AuclabError, match="groups are a label, a word or an integer, for each column"):
        GroupLasso(groups, 0.1)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_the_norm_is_its_formula_and_so_are_slope_curvature_and_epigraph(groups, seed):
    generator = np.random.default_rng(seed)
    w, unit = generator.normal(size=len(groups)), generator.uniform(0.5, 2.0, len(groups))
    labels, norm = np.array(groups), GroupLasso(groups, 1.0).norm

    def directly(v):
        return sum(np.sqrt((labels == k).sum()) * np.linalg.norm(v[labels == k]) for k in set(groups))

    assert norm(w) == pytest.approx(directly(w))
    slope = norm.subgradient(w)
    assert norm.dual(slope) == pytest.approx(1.0)
    assert slope @ w == pytest.approx(norm(w))
    used, gradient, curvature = norm.smooth_at(w)
    assert used.all()
    step = 1e-5 * generator.normal(size=len(groups))
    expected = norm(w) + gradient @ step + 0.5 * step @ curvature @ step
    assert norm(w + step) == pytest.approx(expected, rel=1e-12)
    epigraph = norm.epigraph(unit)
    point = np.r_[w, norm(w * unit), epigraph.least_parts(w)]
    np.testing.assert_allclose(epigraph.linear @ point, 0.0, atol=1e-12)
    rows_of_cones = np.split(epigraph.conic @ point, np.cumsum(epigraph.sizes)[:-1])
    for cone in rows_of_cones:
        assert cone[0] == pytest.approx(np.linalg.norm(cone[1:]))
    np.testing.assert_allclose(norm.dual_rows(np.outer([1.0, -2.0], w)), [norm.dual(w), 2.0 * norm.dual(w)])
