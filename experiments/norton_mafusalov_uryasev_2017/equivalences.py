"""C-SVM, EC-SVM and Eν-SVM have the same optima, for three norms, where EC-SVM is convex and where it is not.

Samples of two normal classes in three dimensions that overlap; a sample per seed. Every program is solved on its own:
C-SVM and EC-SVM by `auclab.solve`, to a relative gap of 1e-8; Eν-SVM here, as

    q(ν) = min_{‖w‖ = 1, b} CVaR_{1 − ν} of −y (w·x + b),

by linear programs over the faces of the unit ball for l1 and linf, and for l2 by cvxpy with ‖w‖ ≤ 1, which is the same
where the value is negative. That its optimum is that of EC-SVM is read as: the value of EC-SVM at z = q(ν) is ν, and so
is the buffered probability that the error of the w of Eν-SVM exceeds z. Variant ``z below the largest error`` leaves
out the small ν where q(ν) is the smallest largest error, the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

from auclab import CSVM, ECSVM, solve
from auclab._core.base import Array, Norm
from auclab.formulations import ranksvm_to_threshold
from auclab.metrics import bpoe
from auclab.regularisers import norm_named
from experiments.study import Row, holds, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}
NORMS: tuple[Norm, ...] = ("l1", "l2", "linf")
N_POS, N_NEG, N_FEATURES = 14, 20, 3
#: λ and ν in units of the values at which w = 0 is optimal.
SHARES = (0.1, 0.5, 0.9)
TOLERANCE = 1e-8
#: Differences that count as none.
EQUAL = 1e-6
#: The reading that leaves out those ν at which q is constant.
INSIDE = "z below the largest error"


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Whether all differences of one sample are at most `EQUAL`, by norm."""
    X, y = sample(seed)
    for norm in NORMS:
        values, levels = zip(*(_c_svm(X, y, norm, share) for share in SHARES), strict=True)
        yield holds(f"c_svm.{norm}", _equal(values), seed)
        yield holds(f"bpoe.{norm}", _equal(levels), seed)
        found = [pair for share in SHARES if (pair := _enu_svm(X, y, norm, share)) is not None]
        yield holds(f"enu_svm.convex.{norm}", all(_equal(each.differences) for each in found if each.z < 0), seed)
        others = [each for each in found if each.z >= 0]
        if others:
            yield holds(f"enu_svm.non_convex.{norm}", all(_equal(each.differences) for each in others), seed)
            inside = [each for each in others if not each.at_largest]
            yield holds(f"enu_svm.non_convex.{norm}", all(_equal(each.differences) for each in inside), seed, INSIDE)
            yield Row(f"at_largest.{norm}", float(len(others) - len(inside)), seed)


@dataclass(frozen=True)
class Pair:
    """Eν-SVM against EC-SVM at z = q(ν): differences of value and of the scorer's bPOE from ν.

    `at_largest`: z is the largest error of the scorer, so that q is constant to the left of ν and ν cannot be read off.
    """

    z: float
    differences: tuple[float, float]
    at_largest: bool


def _equal(differences: Iterable[float]) -> bool:
    return all(abs(each) <= EQUAL for each in differences)


def _enu_svm(X: Array, y: Array, norm: Norm, share: float) -> Pair | None:
    nu = share * 2 * min(y.mean(), 1 - y.mean())
    z, w, b = enu_svm(X, y, nu, norm)
    if norm == "l2" and z > -EQUAL:  # the minimum over ‖w‖ ≤ 1 is w = 0, another problem
        return None
    value, errors = solve(ECSVM(z, norm), X, y, tolerance=TOLERANCE).objective, _errors(X, y, w, b)
    return Pair(z, (value - nu, bpoe(errors, z) - nu), bool(errors.max() - z <= EQUAL))


def sample(seed: int) -> tuple[Array, Array]:
    """Two normal classes whose means are 1.2 apart in every column."""
    random = np.random.default_rng(seed)
    y = np.repeat([1, 0], [N_POS, N_NEG])
    return random.standard_normal((len(y), N_FEATURES)) + 1.2 * y[:, np.newaxis], y


def _c_svm(X: Array, y: Array, norm: Norm, share: float) -> tuple[float, float]:
    """Value of C-SVM less that of EC-SVM at z = −λ/V, and that less the bPOE of its scorer."""
    program = CSVM(share * CSVM(1.0, norm).null_penalty(X, y), norm)
    first = solve(program, X, y, tolerance=TOLERANCE)
    z = ranksvm_to_threshold(first).formulation.threshold
    second = solve(ECSVM(z, norm), X, y, tolerance=TOLERANCE)
    w = second.coef / norm_named(norm)(second.coef)
    errors = _errors(X, y, w, second.intercept / norm_named(norm)(second.coef))
    return first.objective - second.objective, second.objective - bpoe(errors, z)


def _errors(X: Array, y: Array, w: Array, b: float) -> Array:
    return -(2 * y - 1) * (X @ w + b)


def enu_svm(X: Array, y: Array, nu: float, norm: Norm) -> tuple[float, Array, float]:
    """q(ν), w and b: the best over the faces of the unit ball, or over the ball where it is not a polytope."""
    if norm == "l2":
        return _over_the_ball(X, y, nu)
    return min((_over_a_face(X, y, nu, *face) for face in _faces(norm)), key=lambda found: found[0])


def _faces(norm: Norm) -> Iterator[tuple[Array, list[tuple[float, float]]]]:
    """Normal a and bounds of w of every face: a·w = 1, and w of the signs of a (l1) or in [−1, 1] (linf)."""
    if norm == "l1":
        for signs in product((-1.0, 1.0), repeat=N_FEATURES):
            yield np.array(signs), [(min(0.0, sign), max(0.0, sign)) for sign in signs]
    else:
        for j, sign in product(range(N_FEATURES), (-1.0, 1.0)):
            yield sign * np.eye(N_FEATURES)[j], [(-1.0, 1.0)] * N_FEATURES


def _over_a_face(
    X: Array, y: Array, nu: float, normal: Array, bounds: list[tuple[float, float]]
) -> tuple[float, Array, float]:
    """The linear program in w, b, γ and the excesses u_k ≥ −y_k (w·x_k + b) − γ: minimise γ + Σ u/(ν m)."""
    m, d = X.shape
    signed = (2 * y - 1)[:, np.newaxis] * np.column_stack([X, np.ones(m)])
    table = np.column_stack([-signed, -np.ones(m), -np.eye(m)])
    cost = np.concatenate([np.zeros(d + 1), [1.0], np.full(m, 1 / (nu * m))])
    equal = np.concatenate([normal, np.zeros(2 + m)])[np.newaxis]
    free = [(None, None)] * 2
    found = linprog(cost, table, np.zeros(m), equal, [1.0], [*bounds, *free, *[(0.0, None)] * m], method="highs")
    solution = np.asarray(found.x)
    return float(cost @ solution), solution[:d], float(solution[d])


def _over_the_ball(X: Array, y: Array, nu: float) -> tuple[float, Array, float]:
    w, b, level = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable()
    errors = -cp.multiply(2 * y - 1, X @ w + b)
    objective = level + cp.sum(cp.pos(errors - level)) / (nu * len(y))
    problem = cp.Problem(cp.Minimize(objective), [cp.norm2(w) <= 1])
    value = problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(value), np.asarray(w.value), float(np.asarray(b.value))


if __name__ == "__main__":
    main(run_seed, SEEDS)
