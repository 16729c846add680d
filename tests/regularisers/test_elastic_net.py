"""The elastic net: the level at which w = 0, copies of a column, paths, constraints, stored runs."""

import numpy as np
import pytest

import auclab
from auclab.formulations import Composed
from auclab.regularisers import ElasticNet, Norm
from auclab.solvers.path import solve_path


def rows(seed=0, n=4):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(60, n))
    return X, (X @ generator.normal(size=n) + generator.normal(size=60) > 0).astype(int)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("comparisons", ["pairs", "points"])
def test_w_is_0_from_the_level_of_the_l1_norm_on(loss, comparisons):
    X, y = rows()
    level = Composed(comparisons, loss, Norm("l1", 1.0)).null.penalty(auclab.samples.as_sample.as_sample(X, y))
    for factor, is_null in ((1.001, True), (0.99, False)):
        solution = auclab.solve(Composed(comparisons, loss, ElasticNet(factor * level, 0.1)), X, y)
        assert (not solution.coef.any()) == is_null
        assert solution.gap <= 1e-6


def test_copies_of_a_column_share_its_weight():
    X, y = rows()
    solution = auclab.solve(Composed("pairs", "hinge", ElasticNet(0.02, 0.05)), np.c_[X, X[:, 0]], y)
    assert solution.coef[0] == pytest.approx(solution.coef[-1], abs=1e-6)
    assert solution.gap <= 1e-6


def test_columns_of_zeros_and_of_rank_one_are_no_trouble():
    X, y = rows()
    wide = np.c_[X, np.zeros((60, 2)), np.ones(60), X[:, :2] + X[:, 2:4]]
    for loss in ("hinge", "squared_hinge"):
        solution = auclab.solve(Composed("pairs", loss, ElasticNet(1e-3, 1e-4)), wide, y)
        assert solution.gap <= 1e-6
        assert not solution.coef[4:7].any()


def test_a_path_scales_both_weights():
    X, y = rows()
    path = solve_path(Composed("pairs", "squared_hinge", ElasticNet(1.0, 0.5)), X, y, [0.3, 0.03, 3e-3])
    assert [solution.formulation.regulariser for solution in path] == [
        ElasticNet(0.3, 0.15), ElasticNet(0.03, 0.015), ElasticNet(0.003, 0.0015),
    ]  # fmt: skip
    assert max(solution.gap for solution in path) <= 1e-6


def test_constraints_and_few_features_come_with_it():
    X, y = rows()
    program = Composed("pairs", "hinge", ElasticNet(0.01, 0.02))
    signs = auclab.solve(program, X, y, constraints=auclab.Constraints(nonnegative=[0, 1]))
    assert signs.gap <= 1e-6
    assert (signs.coef[:2] >= 0).all()
    few = auclab.solve(program, X, y, constraints=auclab.Constraints(max_features=2))
    assert np.count_nonzero(few.coef) <= 2
    pairs = [np.r_[j, k] for j in range(4) for k in range(j)]
    best = min(auclab.solve(program, X[:, columns], y).objective for columns in pairs)
    assert few.objective == pytest.approx(best, rel=2e-6)


def test_what_belongs_to_a_function_of_the_norm_is_not_claimed():
    X, y = rows()
    solution = auclab.solve(Composed("pairs", "hinge", ElasticNet(0.01, 0.02)), X, y)
    assert np.isnan(solution.read_optimum().bpoe)
    assert "‖w‖₁ + 0.02 ‖w‖₂²" in solution.equation
    with pytest.raises(auclab.AuclabError, match="solver=highs cannot solve"):
        auclab.solve(Composed("pairs", "hinge", ElasticNet(0.01, 0.02)), X, y, solver="highs")
