"""Brute-force twins of guarantees as constraints: all pairs, in a linear program."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog


def pairs_of(X, y, members_pos=None, members_neg=None, weight=None):
    """Differences of all pairs and their shares."""
    u = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    pos = np.flatnonzero((y == 1) & (True if members_pos is None else members_pos))
    neg = np.flatnonzero((y == 0) & (True if members_neg is None else members_neg))
    shares = np.outer(u[pos], u[neg]).ravel()
    return (X[pos][:, None] - X[neg][None]).reshape(-1, X.shape[1]), shares / shares.sum()


def mean_hinge(pairs, coef):
    """``Σ share [1 − w·d]₊``."""
    differences, shares = pairs
    return float(shares @ np.maximum(1.0 - differences @ coef, 0.0))


def least(objective, limits, n, *, cost=None, rows=None, lower=None, upper=None):
    """The least ``cost·|w|`` (without an objective) or mean hinge with ``mean hinge ≤ limit`` for each of `limits`.

    Columns: the two parts of w, and a hinge for every pair of the objective and of each limit.
    """
    parts = ([] if objective is None else [(objective, None)]) + list(limits)
    sizes = [len(pairs[1]) for pairs, _ in parts]
    price = np.r_[np.zeros(2 * n) if cost is None else np.r_[cost, cost], np.zeros(sum(sizes))]
    matrices, right = [], []
    begin = 2 * n
    for ((differences, shares), limit), size in zip(parts, sizes, strict=True):
        hinges = sp.csr_array((np.ones(size), (np.arange(size), begin - 2 * n + np.arange(size))), (size, sum(sizes)))
        matrices.append(sp.hstack([-differences, differences, -hinges]))
        right.append(-np.ones(size))
        if limit is None:
            price[begin : begin + size] = shares
        else:
            total = np.zeros(price.size)
            total[begin : begin + size] = shares
            matrices.append(sp.csr_array(total[None, :]))
            right.append([limit])
        begin += size
    for row, limit in rows or ():
        matrices.append(sp.csr_array(np.r_[row, -np.asarray(row), np.zeros(sum(sizes))][None, :]))
        right.append([limit])
    lower = np.full(n, -np.inf) if lower is None else np.asarray(lower)
    upper = np.full(n, np.inf) if upper is None else np.asarray(upper)
    bounds = [(max(a, 0.0), max(b, 0.0)) for a, b in zip(lower, upper, strict=True)]
    bounds += [(max(-b, 0.0), max(-a, 0.0)) for a, b in zip(lower, upper, strict=True)]
    bounds += [(0.0, None)] * sum(sizes)
    found = linprog(price, sp.vstack(matrices).tocsr(), np.concatenate(right), bounds=bounds, method="highs")
    return float(found.fun) if found.status == 0 else np.inf
