"""The nearest points of the convex hulls of two classes, from their Gram matrix alone.

The hard-margin separator ``w = Σ_k y_k α_k x_k`` with ``y_k (w·x_k + b) ≥ 1`` is a quadratic program over one
multiplier a row,

    max  Σ α − ½ Σ_kl α_k y_k K_kl y_l α_l      s.t.   α ≥ 0,   Σ y α = 0,

whatever the number of columns. It is solved by block principal pivoting: the rows with α > 0 are guessed, their linear
system is solved, and all rows of the wrong sign change sides at once; where that brings no progress for a while, one of
them does (Júdice & Pires 1994; Kim & Park 2011). Of wide tables most rows are support vectors, and two to fifteen
systems are solved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab.precision import EQUAL, MOST_STEPS, PATIENCE, ROUNDING, TOLERANCE
from auclab.types import Array


def separating_multipliers(gram: Array, sides: Array, stopped: Callable[[], bool] = lambda: False) -> Array | None:
    """The multipliers α of the hard-margin separator, shape (n_rows,).

    `gram` (n_rows, n_rows): ``K_kl = x_k·x_l``, or any matrix with ``vᵀKv = ‖Σ v_k x_k‖²`` for ``Σ v = 0``. `sides`
    (n_rows,): y, ±1. `stopped`: asked before every system; True gives up. Returns: None if the classes are not
    separable, or no sign pattern was found.
    """
    unit = float(gram.diagonal().mean())
    if not unit > 0:
        return None
    # Because Σ y α = 0, a constant added to K makes it definite without changing any sum.
    signed = (gram + unit) * np.outer(sides, sides)
    signed[np.diag_indices_from(signed)] += ROUNDING * unit
    inside = np.ones(sides.size, dtype=bool)
    fewest, patience = sides.size + 1, PATIENCE
    for _ in range(MOST_STEPS):
        if stopped():
            return None
        found = _solved(signed, sides, inside)
        if found is None:
            return None
        multipliers, intercept = found
        lacking = 1.0 - (signed @ multipliers + intercept * sides)
        wrong = np.where(inside, multipliers < -EQUAL * abs(multipliers).max(), lacking > EQUAL)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            # Of classes that touch, Σ α = ‖w‖² + ridge ‖α‖² holds by the ridge alone.
            of_ridge = ROUNDING * unit * float(multipliers @ multipliers)
            return np.maximum(multipliers, 0.0) if of_ridge <= TOLERANCE * float(multipliers.sum()) else None
        if count < fewest:
            fewest, patience = count, PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong[: int(np.flatnonzero(wrong)[-1])] = False
        inside ^= wrong
    return None


def _solved(signed: Array, sides: Array, inside: NDArray[np.bool_]) -> tuple[Array, float] | None:
    """α and b with a margin of 1 for the rows inside and ``Σ y α = 0``; None if rounding leaves no solution."""
    rows = np.flatnonzero(inside)
    y = sides[rows]
    if not (y > 0).any() or not (y < 0).any():
        return None
    try:
        factor = la.cho_factor(signed[np.ix_(rows, rows)], lower=True, overwrite_a=True, check_finite=False)
    except la.LinAlgError:
        return None
    ones, of_sides = la.cho_solve(factor, np.c_[np.ones(rows.size), y], check_finite=False).T
    intercept = float(y @ ones) / float(y @ of_sides)
    multipliers = np.zeros(sides.size)
    multipliers[rows] = ones - intercept * of_sides
    return multipliers, intercept
