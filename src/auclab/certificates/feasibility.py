"""Whether the exact dual constraint ``Σ q d = 0`` can be met next to given multipliers: proved, not measured.

Multipliers in floating point satisfy an equality only up to rounding. But if the rows ``y_k (x_k, 1)`` of n + 1
observations form a nonsingular matrix B, there are real corrections δ of their multipliers with ``B δ = −m``, m being
the remaining moments, and for any approximate inverse R of B (Rump 2010, Acta Numerica 19, section 10)

    ‖δ − d‖∞ ≤ ‖R (m + B d)‖∞ / (1 − ‖I − R B‖∞).

With d in twice the working precision, δ is known to about 1e-25. Errors E in the rows, such as those of means of rows,
add ``|E| |d|`` to the remaining moments and ``|R| |E|`` to ``|I − R B|``. Multiplied by a factor just below 1, the
corrected multipliers are strictly within their capacities: they are feasible, and their sum is a bound for every w.
Capacities themselves are tested by `auclab.margins`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab._core.accurate import weighted_column_sums
from auclab._core.base import Array
from auclab._core.tolerances import FEW_ROUNDINGS, HALF_OF_DIGITS, ROUNDING, SOLVED
from auclab.certificates.correction import Rows
from auclab.certificates.value import Lagrangian, Moments, moments
from auclab.formulations.problem import Problem

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: Values of 1 − factor that are tried: the relative loss of the bound, and the room gained below the capacities.
_LOSSES = (FEW_ROUNDINGS, ROUNDING, SOLVED, HALF_OF_DIGITS)


@dataclass(frozen=True)
class Feasible:
    """The proved properties of the exact multipliers close to given ones.

    `factor`: multiplied by it, they are feasible. `total`: a lower bound of their sum over either class, before the
    factor. `multipliers` (n_pos,) and (n_neg,): the nearest floats. `residual` (n_features,): what is left of ``Σ q d −
    Aᵀμ`` and by how much that may be off: rounding, in columns that the others determine or bounds take up; 0 in the
    others. `held`: the constraints with the nearest floats to their multipliers. `price`: what the difference of those
    to the exact ones costs at most.
    """

    factor: float
    total: float
    multipliers: tuple[Array, Array]
    residual: tuple[Array, Array]
    held: Lagrangian
    price: float


def feasible_nearby(
    problem: Problem,
    rows: Rows,
    pos: Array,
    neg: Array,
    held: Lagrangian,
    columns: NDArray[np.bool_],
) -> Feasible | None:
    """Prove that there are exact multipliers with ``Σ q d = 0`` close to these; None if it cannot be proved.

    `problem`: its program has no norm. `rows`: observations for the correction. `pos`, `neg` (n_pos,) and (n_neg,), ≥
    0: multipliers with moments of 0 up to rounding. `held`: constraints: ``Σ q d − Aᵀμ`` takes the place of ``Σ q
    d``. `columns`: those in which it is to be 0.
    """
    if not rows.multipliers.any():
        return None
    sums = held.moments(moments(problem.sample, pos, neg))
    which, vanishing = _basis(rows, np.flatnonzero(columns))
    if which.size < vanishing.size:
        return None
    q = rows.multipliers[which]
    uncertain = np.zeros(rows.unit.size)
    if problem.sample.rounding is not None:
        uncertain[:-1] = problem.sample.rounding.largest / rows.unit[:-1]
    found = _exact_correction(rows.features[which], vanishing, sums, rows.unit, q, uncertain)
    if found is None:
        return None
    taken, moved, value, error = found
    pos, neg = rows.replaced(pos, neg, which, q + taken)
    price = 0.0
    if rows.n_others:
        held, price = _moved_constraints(rows, which, q + taken, moved, held)
    observed = which < rows.n_observations
    q, taken, moved = q[observed], taken[observed], moved[observed]
    change = float((moved / (q + taken)).max(initial=0.0))
    fits = problem.program.comparisons.capacity_test(problem.sample, pos, neg)
    # Relative excess over the capacities that sums in working precision may leave.
    least = 2.0**-52 * max(pos.size, neg.size)
    for loss in _LOSSES:
        if loss >= least and change < loss / 8 and fits(1.0 - loss, float(moved.sum()), change):
            total = sums.total - float((moved + abs(taken)).sum())
            return Feasible(1.0 - loss, max(0.0, total), (pos, neg), (value, error), held, price)
    return None


def _moved_constraints(
    rows: Rows, which: NDArray[np.intp], values: Array, moved: Array, held: Lagrangian
) -> tuple[Lagrangian, float]:
    """The constraints with the multipliers of the basis, and what they may be off by, as a price."""
    others, off = rows.others.copy(), np.zeros(rows.n_others)
    of_others = which >= rows.n_observations
    others[which[of_others] - rows.n_observations] = values[of_others]
    off[which[of_others] - rows.n_observations] = moved[of_others]
    return held.replaced(others), held.price_of(off)


def _basis(rows: Rows, wanted: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Observations and columns (among `wanted`) of a nonsingular submatrix that includes the column of ones."""
    used = np.flatnonzero(rows.multipliers > 0)
    scaled = rows.features[used] * rows.multipliers[used, None]
    # The sums of the classes must agree in any case: the ones come first, then the others orthogonalised against them.
    ones = scaled[:, -1] / np.linalg.norm(scaled[:, -1])
    others = scaled[:, :-1] - np.outer(ones, ones @ scaled[:, :-1])
    columns = np.r_[wanted[_pivots(others[:, wanted])], scaled.shape[1] - 1]
    which = _pivots(scaled[:, columns].T)
    return used[which], columns


def _pivots(matrix: Array) -> NDArray[np.intp]:
    """Columns that are independent, by QR with column pivoting."""
    triangle, order = la.qr(matrix, mode="r", pivoting=True, check_finite=False)
    diagonal = abs(np.diag(triangle))
    return np.asarray(order[: diagonal.size][diagonal > ROUNDING * diagonal.max(initial=0.0)])


def _exact_correction(
    basis: Array, columns: NDArray[np.intp], sums: Moments, unit: Array, q: Array, off_by: Array
) -> tuple[Array, Array, Array, Array] | None:
    """A correction δ after which ``Σ q d`` is exactly 0 in the columns, known up to an error; None if it is not small.

    Returned are its first part, which floats take up; a bound of the rest of every |δ|; and the other columns of the
    corrected ``Σ q d`` with their errors.

    `basis` are the rows of the observations, shape (r, n_features + 1), off by at most `off_by`, shape
    (n_features + 1,); `columns` are the r columns that are to vanish.
    """
    B = basis[:, columns].T
    try:
        inverse = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return None
    corrections: list[Array] = []
    for _ in range(FEW_STEPS):
        left, _ = _left(basis, sums, unit, corrections)
        correction = -(inverse @ left[columns])
        if not corrections:
            if not (abs(correction) < 0.5 * q).all():
                return None
            correction = (q + correction) - q  # exact, as both are within a factor of 2
        corrections.append(correction)
    left, error = _left(basis, sums, unit, corrections)
    error = error + off_by * (float(np.abs(corrections).sum()) * (1.0 + 1e-12))
    products = float((abs(inverse) @ abs(B)).sum(axis=1).max())
    distance = float(abs(np.eye(columns.size) - inverse @ B).sum(axis=1).max()) + 2.0**-52 * columns.size * products
    distance += float((abs(inverse) @ off_by[columns]).max()) * columns.size
    if not distance < 0.5:
        return None
    # 2 ≥ 1/(1 − distance), by which the Neumann series exceeds its first term.
    uncertain = 2.0 * float((abs(inverse) @ (abs(left) + error)[columns]).max()) * (1.0 + 1e-6)
    others = np.setdiff1d(np.arange(unit.size - 1), columns)
    value, off = np.zeros(unit.size - 1), np.zeros(unit.size - 1)
    moving = uncertain * (abs(basis[:, others]) + off_by[others]).sum(axis=0)
    value[others], off[others] = left[others] * unit[others], (error[others] + moving) * unit[others] * (1.0 + 1e-12)
    moved = np.sum(np.abs(corrections[1:]), axis=0) + uncertain
    finite = all(np.isfinite(part).all() for part in (moved, value, off))
    return (corrections[0], moved, value, off) if finite else None


def _left(basis: Array, sums: Moments, unit: Array, corrections: list[Array]) -> tuple[Array, Array]:
    """The moments in units after the corrections, and bounds on their errors; shape (n_features + 1,)."""
    parts, error = [sums.high / unit, sums.low / unit], sums.error / unit
    for correction in corrections:
        high, low, bound = weighted_column_sums(basis, correction)
        parts += [high, low]
        error = error + bound
    left = np.array([math.fsum(column) for column in np.array(parts).T])
    return left, error + 2.0**-52 * abs(left)
