"""Every loss with every regulariser, over pairs and points: solved, certified, confirmed by CVXPY margin by margin."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import auclab
from auclab.formulations import Composed
from auclab.losses import LOSSES
from auclab.models import build
from auclab.regularisers import ElasticNet, GroupLasso, Norm

SOLVERS = ("newton", "cutting_plane", "clarabel")
#: Beside newton on dense rows: a solver, and how it is given the rows.
OTHERS = (("newton", sp.csr_array), ("cutting_plane", np.asarray), ("clarabel", np.asarray))


def made(seed):
    """Up to forty rows in up to five columns, a third of the entries 0, with classes that overlap or do not."""
    generator = np.random.default_rng(seed)
    m, n = int(generator.integers(10, 40)), int(generator.integers(1, 6))
    X = np.round(generator.normal(size=(m, n)), 2) * (generator.random((m, n)) < 0.7)
    y = (X @ generator.normal(size=n) + generator.normal(size=m) > 0.2).astype(int)
    y[:2] = 0, 1
    return X, y, float(10 ** generator.uniform(-3.5, 0.3)), generator


def of_norm(name, squared):
    order = {"l1": 1, "l2": 2, "linf": "inf"}[name]

    def regulariser(weight, n, generator):
        return Norm(name, weight, squared)

    def cost(regulariser, w):
        length = cp.norm(w, order)
        return regulariser.weight * (cp.square(length) if squared else length)

    return regulariser, cost


#: By its name: from a weight, a number of columns and a generator to a regulariser, and from that and w to CVXPY's.
REGULARISERS = {
    f"{name}{'²' * squared}": of_norm(name, squared) for name in ("l1", "l2", "linf") for squared in (False, True)
}
REGULARISERS["elastic net"] = (
    lambda weight, n, generator: ElasticNet(weight, float(weight * 10 ** generator.uniform(-2.0, 2.0))),
    lambda regulariser, w: regulariser.l1 * cp.norm1(w) + regulariser.l2 * cp.sum_squares(w),
)
REGULARISERS["group lasso"] = (
    lambda weight, n, generator: GroupLasso(generator.integers(0, 3, n), weight),
    lambda regulariser, w: (
        regulariser.weight
        * cp.sum(
            [
                np.sqrt(members.size) * cp.norm(w[members], 2)
                for members in (
                    np.flatnonzero(np.array(regulariser.groups) == label) for label in set(regulariser.groups)
                )
            ]
        )
    ),
)
#: ℓ(a) in CVXPY.
ERRORS = {"hinge": cp.pos, "squared_hinge": lambda a: cp.square(cp.pos(a))}


def optimum(program, cost, X, y, constrained=lambda w: []):
    """The least value by CVXPY, with a term for every margin."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    if program.comparisons.name == "pairs":
        margins = (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, X.shape[1]) @ w
    else:
        margins = cp.multiply(np.where(y == 1, 1.0, -1.0), X @ w + b)
    mean = cp.sum(ERRORS[program.loss.name](1.0 - margins)) / margins.size
    stated = cp.Problem(cp.Minimize(mean + cost(program.regulariser, w)), constrained(w))
    return float(stated.solve(solver="CLARABEL"))


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("comparisons", ["pairs", "points"])
@pytest.mark.parametrize("kind", REGULARISERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(20))
def test_every_composition_is_certified_and_confirmed(seed, loss, kind, comparisons):
    build, cost = REGULARISERS[kind]
    X, y, weight, generator = made(seed)
    program = Composed(comparisons, loss, build(weight, X.shape[1], generator))
    least = optimum(program, cost, X, y)
    for solver, given_as in (("newton", np.asarray), OTHERS[seed % 3]):
        solution = auclab.solve(program, given_as(X), y, solver=solver)
        assert solution.status == "optimal", (solver, solution.notes)
        assert solution.gap <= 1e-6
        assert solution.objective == pytest.approx(least, abs=1e-6)
        assert solution.lower_bound <= least + 1e-8


#: Constraints, and the same in CVXPY.
CONSTRAINTS = [
    (auclab.Constraints(nonnegative=[0]), lambda w: [w[0] >= 0]),
    (auclab.Constraints(lower={0: 0.1}, upper={1: 0.2}), lambda w: [w[0] >= 0.1, w[1] <= 0.2]),
    (
        auclab.Constraints(rows=[{"coefficients": {0: 1.0, 1: 1.0}, "at_most": 0.05}]),
        lambda w: [w[0] + w[1] <= 0.05],
    ),
]


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("comparisons", ["pairs", "points"])
@pytest.mark.parametrize("kind", ["l1", "l2²", "elastic net", "group lasso"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [seed for seed in range(20) if made(seed)[0].shape[1] > 1][:9])
def test_constraints_come_with_every_composition(seed, loss, kind, comparisons):
    build, cost = REGULARISERS[kind]
    X, y, weight, generator = made(seed)
    constraints, stated = CONSTRAINTS[seed % 3]
    program = Composed(comparisons, loss, build(weight, X.shape[1], generator))
    least = optimum(program, cost, X, y, stated)
    for solver in ("newton", SOLVERS[1 + seed % 2]):
        solution = auclab.solve(program, X, y, solver=solver, constraints=constraints)
        assert solution.status == "optimal", (solver, solution.notes)
        assert solution.gap <= 1e-6
        assert solution.certificate.violation <= 1e-9
        assert solution.objective == pytest.approx(least, abs=1e-6)
        assert solution.lower_bound <= least + 1e-8


@pytest.mark.parametrize("comparisons", ["pairs", "points"])
@pytest.mark.parametrize("kind", ["l2", "elastic net", "group lasso"])
@pytest.mark.parametrize("loss", LOSSES)
def test_models_with_constraints_of_ones_own_are_certified(loss, kind, comparisons):
    X, y, _, generator = made(3)
    build_one, cost = REGULARISERS[kind]
    program = Composed(comparisons, loss, build_one(0.03, X.shape[1], generator))
    built = build(program, X, y, language="cvxpy")
    own = cp.Problem(built.objective, [*built.model.constraints, built.w[0] >= 0.1])
    own.solve(solver="CLARABEL")
    found = auclab.certify(built, solved=own)
    assert found.gap <= 1e-5
    assert found.objective == pytest.approx(optimum(program, cost, X, y, lambda w: [w[0] >= 0.1]), abs=1e-6)


@pytest.mark.parametrize("kind", ["l1", "linf", "group lasso"])
def test_long_rows_of_points_are_certified_to_the_end(kind):
    """A step that promises less than rounding may still be what the slopes lack."""
    for seed in (*range(7), 1092, 2184):
        X, y, weight, generator = made(seed)
        program = Composed("points", "squared_hinge", REGULARISERS[kind][0](weight, X.shape[1], generator))
        assert auclab.solve(program, 1000.0 * X, y, solver="newton").gap <= 1e-6, seed
