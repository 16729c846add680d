"""Brute-force twins of the optimisation side: every pair formed, every program a textbook one."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


def objective(program, coef, intercept, X, y, sample_weight=None):
    """The program's value by forming every margin."""
    X, y = np.asarray(X, float), np.asarray(y) > 0
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, float)
    size = np.linalg.norm(coef, ORDER[program.regulariser.name])
    scores = X @ coef
    if program.comparisons.name == "pairs":
        margins = scores[y][:, None] - scores[~y][None, :]
        weights = np.outer(weight[y], weight[~y])
    else:
        margins = np.where(y, 1.0, -1.0) * (scores + intercept)
        weights = weight
    hinge = np.maximum(1.0 - margins - program.threshold * size, 0.0)
    penalty = program.regulariser.weight * (size**2 if program.regulariser.squared else size)
    if program.kind == "cvar":
        loss = superquantile(weight[y] @ hinge / weight[y].sum(), weight[~y], program.max_fpr)
        return loss + penalty
    return (weights * hinge).sum() / weights.sum() + penalty


def superquantile(losses, weight, share):
    """The superquantile ``min_γ γ + mean[losses − γ]₊/share``, whose minimum is at one of the losses."""
    weight = weight / weight.sum()
    return min(level + weight @ np.maximum(losses - level, 0.0) / share for level in losses)


def optimal_cvar(program, X, y, sample_weight=None):
    """The optimum of a linear program of a superquantile over the negatives through its dual, all pairs in columns.

    ``max Σ q  s.t.  ‖Σ q d‖_* ≤ λ,  q_ij ≤ u_i r_j,  r_j ≤ v_j/α,  Σ r = 1``.
    """
    X, y = np.asarray(X, float), np.asarray(y) > 0
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, float)
    u, v = weight[y] / weight[y].sum(), weight[~y] / weight[~y].sum()
    directions = (X[y][:, None, :] - X[~y][None, :, :]).reshape(-1, X.shape[1])
    n, m, N = X.shape[1], v.size, len(directions)
    select = np.tile(np.eye(m), (u.size, 1)) * np.repeat(u, m)[:, None]
    wide = np.zeros((n, m))
    # Columns q, r, a with a ≥ |Σ q d|.
    rows = [np.c_[np.eye(N), -select, np.zeros((N, n))]]
    rows += [np.c_[sign * directions.T, wide, -np.eye(n)] for sign in (1.0, -1.0)]
    right = [np.zeros(N + 2 * n)]
    level = program.regulariser.weight if program.uses_norm else 0.0
    if program.uses_norm and program.regulariser.name == "linf":
        rows, right = [*rows, np.r_[np.zeros(N + m), np.ones(n)][None, :]], [*right, np.array([level])]
        largest = [(0.0, None)] * n
    else:
        largest = [(0.0, level)] * n
    result = linprog(
        np.r_[-np.ones(N), np.zeros(m + n)],
        A_ub=np.vstack(rows), b_ub=np.concatenate(right),
        A_eq=np.r_[np.zeros(N), np.ones(m), np.zeros(n)][None, :], b_eq=[1.0],
        bounds=[(0.0, None)] * N + [(0.0, cap) for cap in v / program.max_fpr] + largest, method="highs",
    )  # fmt: skip
    assert result.status == 0, result.message
    return -result.fun


def best_auc_in_the_plane(X, y, weight=None):
    """The largest strict AUC of any direction in the plane: AUC changes only where w is normal to a pair."""
    X, y = np.asarray(X, float), np.asarray(y) > 0
    weight = np.ones(y.size) if weight is None else np.asarray(weight, float)
    pairs = np.outer(weight[y], weight[~y]).ravel()
    directions = (X[y][:, None, :] - X[~y][None, :, :]).reshape(-1, 2)
    apart = np.any(directions != 0, axis=1)
    angles = np.arctan2(directions[apart, 1], directions[apart, 0])
    turns = np.unique(np.round(np.r_[angles + np.pi / 2, angles - np.pi / 2] % (2 * np.pi), 12))
    between = 0.5 * (turns + np.r_[turns[1:], turns[0] + 2 * np.pi])
    scores = directions @ np.array([np.cos(between), np.sin(between)])
    return float((pairs @ (scores > 1e-9)).max(initial=0.0) / pairs.sum())


def optimal_value(program, X, y, sample_weight=None):
    """The optimum of a linear program (no norm, l1 or linf unsquared) by SciPy on the printed primal.

    Variables: w (free), b (free, 0 over pairs), r = ‖w‖, |w| parts for l1, one hinge variable a margin.
    """
    X, y = np.asarray(X, float), np.asarray(y) > 0
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, float)
    n = X.shape[1]
    if program.comparisons.name == "pairs":
        directions = (X[y][:, None, :] - X[~y][None, :, :]).reshape(-1, n)
        signs = np.zeros(len(directions))
        weights = np.outer(weight[y], weight[~y]).ravel()
    else:
        signs = np.where(y, 1.0, -1.0)
        directions, weights = signs[:, None] * X, weight
    weights = weights / weights.sum()
    K = len(weights)
    cost = np.r_[np.zeros(n + 1), program.regulariser.weight, np.zeros(n), weights]
    hinge_rows = np.c_[-directions, -signs, np.full(K, -program.threshold), np.zeros((K, n)), -np.eye(K)]
    eye, column, wide = np.eye(n), np.zeros((n, 1)), np.zeros((n, K))
    rows, right = [hinge_rows], [-np.ones(K)]
    if program.regulariser.name == "l1":
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
