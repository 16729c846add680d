"""Brute-force twins of kernels: every value by its formula, every program with the whole matrix K in CVXPY."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from auclab.kernels import Laplacian, Polynomial, Precomputed


def value(kernel, x, y):
    """κ(x, y) of two rows."""
    if kernel.name == "rbf":
        return np.exp(-kernel.gamma * ((x - y) ** 2).sum())
    if isinstance(kernel, Laplacian):
        return np.exp(-kernel.gamma * abs(x - y).sum())
    assert isinstance(kernel, Polynomial)
    return (kernel.gamma * (x @ y) + kernel.coef0) ** kernel.degree


def full_matrix(kernel, X):
    """K, entry by entry."""
    if isinstance(kernel, Precomputed):
        return np.asarray(X, float)
    return np.array([[value(kernel, x, y) for y in X] for x in X])


def lower_bound(program, K, y, multipliers):
    """The dual value of marginals by K as a whole; −∞ where the dual constraint does not hold."""
    positive = np.asarray(y) > 0
    gamma = np.where(positive, multipliers, -multipliers)
    total = multipliers[positive].sum() if program.comparisons.name == "pairs" else multipliers.sum()
    length = np.sqrt(max(0.0, gamma @ K @ gamma))
    if program.regulariser.weight and program.regulariser.squared:
        return total - length**2 / (4 * program.regulariser.weight)
    allowed = program.regulariser.weight - program.threshold * total
    return total if length <= allowed * (1 + 1e-12) else -np.inf


def optimum(program, K, y, sample_weight=None):
    """The optimal value over the space, with ``h = Σ c_k κ(x_k, ·)`` on all observations, every pair a row."""
    positive = np.asarray(y) > 0
    weight = np.ones(positive.size) if sample_weight is None else np.asarray(sample_weight, float)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    root = root[:, values > 1e-13 * values.max()]
    w, b = cp.Variable(root.shape[1]), cp.Variable()
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    share_pos, share_neg = weight[pos] / weight[pos].sum(), weight[neg] / weight[neg].sum()
    if program.comparisons.name == "pairs":
        rows = np.repeat(root[pos], neg.size, axis=0) - np.tile(root[neg], (pos.size, 1))
        margins, weights = rows @ w, np.outer(share_pos, share_neg).ravel()
    else:
        signs = np.where(positive, 1.0, -1.0)
        margins, weights = cp.multiply(signs, root @ w + b), weight / weight.sum()
    size = cp.norm(w, 2)
    hinge = cp.pos(1 - margins - program.threshold * size)
    if program.kind == "cvar":
        to_negatives = np.kron(share_pos[None, :], np.eye(neg.size))
        level = cp.Variable()
        loss = level + share_neg @ cp.pos(to_negatives @ hinge - level) / program.max_fpr
    else:
        loss = weights @ hinge
    penalty = cp.sum_squares(w) if program.regulariser.squared else size
    problem = cp.Problem(cp.Minimize(loss + program.regulariser.weight * penalty))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(problem.value)
