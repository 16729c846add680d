"""Whether the exact dual constraint ``Σ q d = 0`` can be met next to given multipliers: proved, not measured.

Multipliers in floating point meet an equality up to rounding only. But if the rows ``y_k (x_k, 1)`` of n + 1
observations make up a regular matrix B, there are real corrections δ of their multipliers with ``B δ = −m``, m being
the moments that are left, and for any approximate inverse R of B (Rump 2010, Acta Numerica 19, section 10)

    ‖δ − d‖∞ ≤ ‖R (m + B d)‖∞ / (1 − ‖I − R B‖∞).

With d carried along in twice the precision, δ is known to about 1e-25. Multiplied by a factor just below 1, the
corrected multipliers keep strictly within their capacities: they are feasible, and their sum is a bound for every w.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab.compiled.accurate import weighted_column_sums
from auclab.compiled.transport import largest_excess
from auclab.formulations.problem import Problem
from auclab.solvers.verified.correction import Rows
from auclab.solvers.verified.moments import Moments, moments
from auclab.types import Array

#: Factors that are tried: what the bound loses, and what the capacities gain.
_LOSSES = (1e-13, 1e-11, 1e-9, 1e-8)
#: Corrections of a correction; each adds the digits of an approximate inverse.
_CORRECTIONS = 3
#: Pivots below this, relatively, belong to columns that the others determine.
_RANK = 1e-11


@dataclass(frozen=True)
class Feasible:
    """What is proved about the exact multipliers next to given ones.

    Attributes
    ----------
    factor : float
        Multiplied by it, they are feasible.
    total : float
        A lower bound of their sum over either class, before the factor.
    residual : float
        The l2 norm, in units of the spreads, of what is left of ``Σ q d`` in columns that the others determine but for
        rounding; 0 if there are none.

    See Also
    --------
    auclab.solvers.verified.bound.proved_bound : The bound.
    """

    factor: float
    total: float
    residual: float


def feasible_nearby(problem: Problem, rows: Rows, pos: Array, neg: Array) -> Feasible | None:
    """Prove that exact multipliers with ``Σ q d = 0`` lie next to these; None if it cannot be proved.

    Parameters
    ----------
    problem : Problem
        Its program has no norm.
    rows : Rows
        Observations for the correction.
    pos, neg : arrays of shapes (n_pos,) and (n_neg,), ≥ 0
        Multipliers with moments of 0 but for rounding.
    """
    if not rows.multipliers.any():
        return None
    sums = moments(problem.sample, pos, neg)
    which, columns = _basis(rows)
    if which.size < columns.size:
        return None
    units_a_spread = rows.unit / np.r_[problem.sample.spread, 1.0]
    found = _exact_correction(rows.features[which], columns, sums, rows.unit, units_a_spread)
    if found is None:
        return None
    moved, residual = found
    change = float((moved / rows.multipliers[which]).max())
    for loss in _LOSSES:
        if change < loss / 8 and _fits(problem, pos, neg, 1.0 - loss, moved.sum(), change):
            return Feasible(1.0 - loss, max(0.0, sums.total - float(moved.sum())), residual)
    return None


def _basis(rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Observations and columns of a regular submatrix, the column of ones among them."""
    used = np.flatnonzero(rows.multipliers > 0)
    scaled = rows.features[used] * rows.multipliers[used, None]
    # The sums of the classes must agree whatever else: the ones come first, then the others without their part of them.
    ones = scaled[:, -1] / np.linalg.norm(scaled[:, -1])
    others = scaled[:, :-1] - np.outer(ones, ones @ scaled[:, :-1])
    columns = np.r_[_pivots(others), scaled.shape[1] - 1]
    which = _pivots(scaled[:, columns].T)
    return used[which], columns


def _pivots(matrix: Array) -> NDArray[np.intp]:
    """Columns that are independent, by QR with column pivoting."""
    triangle, order = la.qr(matrix, mode="r", pivoting=True, check_finite=False)
    diagonal = abs(np.diag(triangle))
    return np.asarray(order[: diagonal.size][diagonal > _RANK * diagonal.max(initial=0.0)])


def _exact_correction(
    basis: Array, columns: NDArray[np.intp], sums: Moments, unit: Array, units_a_spread: Array
) -> tuple[Array, float] | None:
    """What the exact correction of each multiplier is at most, and what is left in the other columns.

    `basis` are the rows of the observations, shape (r, n_features + 1), `columns` the r columns that are to vanish.
    """
    B = basis[:, columns].T
    try:
        inverse = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return None
    corrections: list[Array] = []
    for _ in range(_CORRECTIONS):
        left, _ = _left(basis, sums, unit, corrections)
        corrections.append(-(inverse @ left[columns]))
    left, error = _left(basis, sums, unit, corrections)
    products = float((abs(inverse) @ abs(B)).sum(axis=1).max())
    distance = float(abs(np.eye(columns.size) - inverse @ B).sum(axis=1).max()) + 2.0**-52 * columns.size * products
    if not distance < 0.5:
        return None
    uncertain = 2.0 * float((abs(inverse) @ (abs(left) + error)[columns]).max()) * (1.0 + 1e-6)
    others = np.setdiff1d(np.arange(unit.size), columns)
    rest = (abs(left[others]) + error[others] + uncertain * abs(basis[:, others]).sum(axis=0)) * units_a_spread[others]
    moved = np.sum(np.abs(corrections), axis=0) + uncertain
    return (moved, float(np.linalg.norm(rest)) * (1.0 + 1e-12)) if np.isfinite(moved).all() else None


def _left(basis: Array, sums: Moments, unit: Array, corrections: list[Array]) -> tuple[Array, Array]:
    """The moments in units after the corrections, and what they may be off by; shape (n_features + 1,)."""
    parts, error = [sums.high / unit, sums.low / unit], sums.error / unit
    for correction in corrections:
        high, low, bound = weighted_column_sums(basis, correction)
        parts += [high, low]
        error = error + bound
    left = np.array([math.fsum(column) for column in np.array(parts).T])
    return left, error + 2.0**-52 * abs(left)


def _fits(problem: Problem, pos: Array, neg: Array, factor: float, mass: float, change: float) -> bool:
    """Whether factor times the multipliers, moved by a mass and relatively by a change, are within the capacities."""
    sample = problem.sample
    if not problem.over_pairs:
        pairs = zip((pos, neg), sample.point_weights, strict=True)
        return all(
            bool((values * (factor * (1.0 + change + 2.0**-50)) <= capacity).all()) for values, capacity in pairs
        )
    return largest_excess(pos, neg, sample.share_pos, sample.share_neg, factor, change) + mass <= 0.0
