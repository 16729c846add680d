"""Weights for which the mean of some rows is exactly a given point, if there are any."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from auclab.precision import EPSILON, FEW_ROUNDINGS, MOST_STEPS, PATIENCE, ROUNDING
from auclab.types import Array

#: Columns up to which Newton steps are cheap compared with the programs that the weights save.
_MOST_COLUMNS = 1_000


def weights_of_mean(X: Any, capacity: Array, total: float, target: Array) -> Array | None:
    """Weights ``0 ≤ q ≤ capacity``, ``Σ q = total``, with ``Xᵀq = target``; None where none were found.

    Of all such weights, those with the largest entropy are ``q_k = capacity_k · σ(θ·x_k + b)``, σ the logistic
    function: Newton steps find θ and b as the minimum of

        Σ_k capacity_k log(1 + exp(θ·x_k + b)) − θ·target − b·total.

    They end where θ is a direction with ``θ·target`` above the largest ``θ·Xᵀq``, for then there are no such weights.
    Where the target has the smallest or largest value of a column, as a category has that is in none of the rows whose
    mean it is, only rows with that value have weights.

    `capacity` (n_points,): largest weights, ≥ 0. `total`: sum of the weights, > 0. `target` (n_features,): in the units
    of ``Xᵀq``. Returns: None is not a proof that there are none: those at the border of what is possible are found
    only where single columns are.

    A mean of 0 in the second column leaves the rows that have 0 there:

    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    >>> weights_of_mean(X, np.ones(3), 1.0, np.array([0.5, 0.0])).round(12).tolist()
    [0.5, 0.5, 0.0]
    """
    held = _rows_of_face(X, total, target)
    if held.size < capacity.size:
        if held.size == 0 or float(capacity[held].sum()) < total:
            return None
        on_face = weights_of_mean(X[held], capacity[held], total, target)
        if on_face is None:
            return None
        weights = np.zeros(capacity.size)
        weights[held] = on_face
        return weights
    share = total / float(capacity.sum())
    if share >= 1.0 - 1e-12:
        exact = capacity * share
        return exact if _is_rounding(X, exact, target) else None
    sizes = np.asarray(abs(X).T @ capacity).ravel()
    varies = sizes > 0
    if varies.sum() > _MOST_COLUMNS or target[~varies].any():
        return None
    unit = sizes[varies] / float(capacity.sum())
    with np.errstate(over="ignore", divide="ignore"):
        scale, wanted = 1.0 / unit, target[varies] / unit
    if not (np.isfinite(scale).all() and np.isfinite(wanted).all()):  # entries close to the smallest float
        return None
    rows: Any = X[:, np.flatnonzero(varies)]
    rows = rows @ sp.diags_array(scale) if sp.issparse(X) else rows / unit
    found = _newton(rows, capacity, np.r_[wanted, total])
    return found if found is not None and _is_rounding(X, found, target) else None


def _rows_of_face(X: Any, total: float, target: Array) -> NDArray[np.intp]:
    """The rows that may have weights: those with the extreme value of each column where the target has it."""
    wanted = target / total
    extremes = [np.asarray(end.toarray() if hasattr(end, "toarray") else end).ravel() for end in (X.min(0), X.max(0))]
    apart = (extremes[1] > extremes[0]) & np.isfinite(wanted)
    scale = 4 * FEW_ROUNDINGS * np.maximum(abs(extremes[0]), abs(extremes[1]))
    held = np.ones(X.shape[0], dtype=bool)
    for value in extremes:
        columns = np.flatnonzero(apart & (abs(wanted - value) <= scale))
        if columns.size:
            held &= _equals(X[:, columns], value[columns])
    return np.flatnonzero(held)


def _equals(X: Any, row: Array) -> NDArray[np.bool_]:
    """Whether a row of X, with at least one column, is the given one."""
    if not hasattr(X, "tocoo"):
        return np.asarray((row == X).all(axis=1))
    entries = X.tocoo()
    equal, number = entries.data == row[entries.col], entries.shape[0]
    unlike = np.bincount(entries.row[~equal], minlength=number)
    found = np.bincount(entries.row[equal & (entries.data != 0)], minlength=number)
    return np.asarray((unlike == 0) & (found == np.count_nonzero(row)))


def _is_rounding(X: Any, weights: Array, target: Array) -> bool:
    size = np.asarray(abs(X).T @ weights).ravel() + abs(target)
    return bool((abs(np.asarray(X.T @ weights).ravel() - target) <= 4 * FEW_ROUNDINGS * size).all())


def _newton(X: Any, capacity: Array, target: Array) -> Array | None:
    """The weights of the minimum; the last entries of `target` and θ are the sum and b."""
    total = float(target[-1])
    theta = np.r_[np.zeros(X.shape[1]), np.log(total / (float(capacity.sum()) - total))]
    arguments = np.full(capacity.size, theta[-1])
    value = _value(arguments, capacity, theta, target)
    stalls, before = 0, np.inf
    for _ in range(MOST_STEPS):  # some ten suffice, and where there are no weights a direction soon shows it
        weights = capacity * expit(arguments)
        descent = target - np.r_[np.asarray(X.T @ weights).ravel(), weights.sum()]
        if float(abs(descent).max()) <= EPSILON * math.sqrt(weights.size) * total:
            return weights
        distance = float(abs(descent).max())
        stalls += int(before <= distance <= ROUNDING * total)
        if stalls == PATIENCE:
            break
        before = distance
        step = np.linalg.lstsq(_hessian(X, weights * expit(-arguments)), descent, rcond=1e-13)[0]
        along = np.asarray(X @ step[:-1]).ravel() + step[-1]
        length = 1.0
        while True:
            following = _value(arguments + length * along, capacity, theta + length * step, target)
            if following <= value - 1e-4 * length * float(descent @ step) or length < 1e-6:
                break
            length *= 0.5
        if not following < value and length < 1e-6:  # the value has no more digits, the weights may
            length = 1.0
        theta, arguments, value = theta + length * step, arguments + length * along, following
        if float(target[:-1] @ theta[:-1]) > _largest(np.asarray(X @ theta[:-1]).ravel(), capacity, total):
            return None
    weights = capacity * expit(arguments)
    given = float(weights.sum())
    return np.minimum(weights * (total / given), capacity) if given > 0 else None


def _value(arguments: Array, capacity: Array, theta: Array, target: Array) -> float:
    return float(capacity @ np.logaddexp(0.0, arguments) - theta @ target)


def _hessian(X: Any, weights: Array) -> Array:
    """``Σ w_k (x_k, 1)(x_k, 1)ᵀ``."""
    scaled = X.multiply(weights[:, None]).tocsr() if hasattr(X, "multiply") else X * weights[:, None]
    product, first = X.T @ scaled, np.asarray(scaled.sum(axis=0)).ravel()
    second = np.asarray(product.toarray() if hasattr(product, "toarray") else product)
    return np.block([[second, first[:, None]], [first[None, :], np.full((1, 1), weights.sum())]])


def _largest(scores: Array, capacity: Array, total: float) -> float:
    """The largest ``Σ q_k scores_k``, with a little for rounding."""
    order = np.argsort(-scores)
    filled = np.clip(total - (np.cumsum(capacity[order]) - capacity[order]), 0.0, capacity[order])
    return float(filled @ scores[order]) + 1e-9 * float(filled @ abs(scores[order]))
