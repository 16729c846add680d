"""Brute-force twins of the optimisation side: every pair formed, every program a textbook one."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


def objective(program, coef, intercept, X, y, sample_weight=None):
    """The program's value by forming every margin."""
    X, y = np.asarray(X, float), np.asarray(y) > 0
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, float)
    size = np.linalg.norm(coef, ORDER[program.norm])
    scores = X @ coef
    if program.over == "pairs":
        margins = scores[y][:, None] - scores[~y][None, :]
        weights = np.outer(weight[y], weight[~y])
    else:
        margins = np.where(y, 1.0, -1.0) * (scores + intercept)
        weights = weight
    hinge = np.maximum(1.0 - margins - program.threshold * size, 0.0)
    return (weights * hinge).sum() / weights.sum() + program.penalty * (size**2 if program.squared else size)


def optimal_value(program, X, y, sample_weight=None):
    """The optimum of a linear program (no norm, l1 or linf unsquared) by SciPy on the printed primal.

    Variables: w (free), b (free, 0 over pairs), r = ‖w‖, |w| parts for l1, one hinge variable a margin.
    """
    X, y = np.asarray(X, float), np.asarray(y) > 0
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, float)
    n = X.shape[1]
    if program.over == "pairs":
        directions = (X[y][:, None, :] - X[~y][None, :, :]).reshape(-1, n)
        signs = np.zeros(len(directions))
        weights = np.outer(weight[y], weight[~y]).ravel()
    else:
        signs = np.where(y, 1.0, -1.0)
        directions, weights = signs[:, None] * X, weight
    weights = weights / weights.sum()
    K = len(weights)
    cost = np.r_[np.zeros(n + 1), program.penalty, np.zeros(n), weights]
    hinge_rows = np.c_[-directions, -signs, np.full(K, -program.threshold), np.zeros((K, n)), -np.eye(K)]
    eye, column, wide = np.eye(n), np.zeros((n, 1)), np.zeros((n, K))
    rows, right = [hinge_rows], [-np.ones(K)]
    if program.norm == "l1":
        rows += [np.c_[eye, column, column, -eye, wide], np.c_[-eye, column, column, -eye, wide]]
        rows += [np.c_[np.zeros((1, n + 1)), -1.0, np.ones((1, n)), np.zeros((1, K))]]
        right += [np.zeros(2 * n), np.zeros(1)]
    else:
        ones = np.ones((n, 1))
        rows += [np.c_[eye, column, -ones, 0 * eye, wide], np.c_[-eye, column, -ones, 0 * eye, wide]]
        right += [np.zeros(2 * n)]
    bounds = [(None, None)] * (n + 1) + [(0, None)] * (1 + n + K)
    result = linprog(cost, A_ub=np.vstack(rows), b_ub=np.concatenate(right), bounds=bounds, method="highs")
    assert result.status == 0, result.message
    return result.fun


def transport_exists(pos, neg, capacity):
    """Whether some ``0 ≤ q ≤ capacity`` has row sums `pos` and column sums `neg`: the largest flow is complete."""
    rows, columns = capacity.shape
    sums = np.vstack([np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))])
    bounds = [(0.0, c) for c in capacity.ravel()]
    flow = -linprog(-np.ones(rows * columns), A_ub=sums, b_ub=np.r_[pos, neg], bounds=bounds, method="highs").fun
    return flow >= np.sum(pos) - 1e-9
