"""Pairs within groups, of grades and of censored times: solved, certified, and confirmed by CVXPY pair by pair."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import auclab
from auclab.formulations import Composed
from auclab.losses import Hinge
from auclab.regularisers import Norm
from extension.huber_hinge import HuberHinge

SOLVERS = ("newton", "cutting_plane", "clarabel")
KINDS = ("groups", "grades", "groups of grades", "times", "strata of times")
LOSSES = {"hinge": Hinge(), "huber": HuberHinge(0.7)}
ORDERS = {"l1": 1, "l2": 2, "linf": "inf"}


def data(kind, seed, size=36):
    """Rows that half of the pairs rank right, what is passed to `solve` of them, and the pairs."""
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    X = np.round(generator.normal(size=(size, 3)), 2) * (generator.random((size, 3)) < 0.8)
    risk = X @ generator.normal(size=3) + generator.normal(size=size)
    given = {"sample_weight": generator.integers(0, 3, size).astype(float)} if seed % 2 else {}
    weight = given.get("sample_weight", np.ones(size))
    groups, winners = np.zeros(size, dtype=int), np.ones(size)
    if kind in ("groups", "groups of grades", "strata of times"):
        groups = generator.integers(0, 6, size)
        given |= {"groups": groups, "group_weights": ("pairs", "equal")[seed % 3 == 0]}
    if kind in ("times", "strata of times"):
        y = np.round(np.exp(-risk), 1)  # with ties
        given["event"] = winners = generator.integers(0, 2, size)
        levels = -y
    else:
        y = levels = (risk > 0.3).astype(int) if kind == "groups" else np.digitize(risk, [-1.0, 0.0, 0.5, 1.5])
        given |= {"ordered": True} if kind == "grades" else {}
    pairs = [
        (i, j, weight[i] * weight[j])
        for i in range(size)
        for j in range(size)
        if winners[i] and levels[i] > levels[j] and groups[i] == groups[j] and weight[i] * weight[j] > 0
    ]
    upper, lower, q = (np.array(part) for part in zip(*pairs, strict=True))
    if given.get("group_weights") == "equal":
        q = q / np.bincount(groups[upper], q)[groups[upper]]
    return X, y, given, (upper, lower, q / q.sum())


def optimum(program, X, pairs):
    """The least value by CVXPY, with a term for every pair."""
    upper, lower, weight = pairs
    w = cp.Variable(X.shape[1])
    norm, regulariser = cp.norm(w, ORDERS[program.regulariser.norm.name]), program.regulariser
    error = cp.pos(1.0 - (X[upper] - X[lower]) @ w - program.threshold * norm)
    if not program.loss.is_hinge:
        error = cp.huber(error, program.loss.delta) / (2.0 * program.loss.delta)
    cost = regulariser.weight * (cp.square(norm) if regulariser.squared else norm)
    return float(cp.Problem(cp.Minimize(weight @ error + cost)).solve(solver="CLARABEL"))


def programs(loss, seed):
    """A norm penalty, a squared one, and a buffer."""
    generator, norm = np.random.default_rng([seed, 7]), ("l1", "l2", "linf")[seed % 3]
    penalty = float(generator.uniform(0.005, 0.1))
    return [
        Composed("pairs", LOSSES[loss], Norm(norm, penalty)),
        Composed("pairs", LOSSES[loss], Norm(norm, penalty, squared=True)),
        Composed("pairs", LOSSES[loss], Norm(norm, 0.0), threshold=-penalty),
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_solver_certifies_what_cvxpy_finds_pair_by_pair(kind, loss, seed):
    X, y, given, pairs = data(kind, seed)
    for k, program in enumerate(programs(loss, seed)):
        least = optimum(program, X, pairs)
        for solver in SOLVERS if k == seed % 3 else SOLVERS[:1]:
            for rows in (X, sp.csr_array(X)):
                solution = auclab.solve(program, rows, y, solver=solver, **given)
                assert str(solution.status).startswith("optimal")
                assert solution.gap <= 1e-6
                assert solution.objective == pytest.approx(least, abs=2e-6)
                assert solution.lower_bound <= least + 1e-7
