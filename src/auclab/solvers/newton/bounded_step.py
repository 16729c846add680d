"""The proximal Newton step within bounds on w, by a primal–dual active-set method.

Coefficients at a bound are fixed there, and the step of all others is that without bounds, exact to rounding. Then
coefficients that left their bounds are fixed, and those are released whose multiplier ``r_k − ∂`` has the wrong sign, r
the negative gradient of the quadratic and ∂ a subgradient of the norm. The method ends when no coefficient changes
(Hintermüller, Ito & Kunisch 2003, "The primal-dual active set strategy as a semismooth Newton method"), most often
after one or two rounds; if it does not, `conic_step` computes the step.

A fixed coefficient has to be 0, so that the norm of the others is that of w; without a norm any bound will do. The norm
has to be absolute: the slope of another one need not vanish in a column in which w is 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.programs import row_with
from auclab.precision import ROUNDING
from auclab.types import Array

Step = Callable[[Program, Array, Array, Array, Array], Array]


def bounded_step(
    program: Program,
    hessian: Array,
    negative_gradient: Array,
    theta: Array,
    spread: Array,
    constraints: ColumnConstraints,
    unbounded: Step,
) -> Array | None:
    """The minimiser of the model in `auclab.solvers.newton.proximal_step` with w within bounds.

    `program`, `hessian`, `negative_gradient`, `theta`, `spread`: as for `proximal_step`. `constraints`: its bounds;
    rows are left out. `unbounded`: the same step without constraints. Returns: None where the method did not end, or a
    coefficient has to be fixed at a bound that is not 0.
    """
    n, lower, upper = theta.size - 2, constraints.lower, constraints.upper
    pull = negative_gradient[:n]
    at_lower = (theta[:n] <= lower) & (pull <= 0)
    at_upper = (theta[:n] >= upper) & (pull >= 0)
    at_lower, at_upper = at_lower | (lower == upper), at_upper & (lower < upper)
    seen: set[bytes] = set()
    while True:
        fixed = at_lower | at_upper
        value = np.where(at_lower, lower, upper)[fixed]
        key = at_lower.tobytes() + at_upper.tobytes()
        if key in seen or (program.uses_norm and value.any()):
            return None
        seen.add(key)
        step = _step_with_fixed(program, hessian, negative_gradient, theta, spread, fixed, value, unbounded)
        if step is None:
            return None
        w = theta[:n] + step[:n]
        w[fixed] = value
        pulled = _pulled(program, hessian, negative_gradient, theta, step)
        below, above = ~fixed & (w < lower), ~fixed & (w > upper)
        released_up = at_lower & (pulled > 0) & (lower < upper)
        released_down = at_upper & (pulled < 0)
        if not (below.any() or above.any() or released_up.any() or released_down.any()):
            step[:n] = w - theta[:n]
            return step
        at_lower = (at_lower | below) & ~released_up
        at_upper = (at_upper | above) & ~released_down


def _step_with_fixed(
    program: Program,
    hessian: Array,
    negative_gradient: Array,
    theta: Array,
    spread: Array,
    fixed: NDArray[np.bool_],
    value: Array,
    unbounded: Step,
) -> Array | None:
    """The step with some coefficients at given values: first there, then that of the others."""
    n = theta.size - 2
    moved = theta.copy()
    moved[:n][fixed] = value
    others = np.r_[np.flatnonzero(~fixed), n, n + 1]
    if others.size == 2:
        return None
    if program.uses_norm:
        moved[-1] = program.regulariser.norm(moved[:n])
    step = moved - theta
    gradient = negative_gradient - hessian @ step
    program = row_with(program, regulariser=program.regulariser.restricted(others[:-2]))
    part = unbounded(program, hessian[np.ix_(others, others)], gradient[others], moved[others], spread[others])
    if not np.isfinite(part).all():
        return None
    step[others] += part
    return step


def _pulled(program: Program, hessian: Array, negative_gradient: Array, theta: Array, step: Array) -> Array:
    """The multiplier of every coefficient that is fixed at its bound; 0 where the norm or rounding explains it."""
    n = theta.size - 2
    pull = negative_gradient - hessian @ step
    terms = abs(negative_gradient) + abs(hessian) @ abs(step)
    allowed = ROUNDING * terms[:n]
    box = program.regulariser.norm.dual_box(n)
    if program.uses_norm and box is not None:
        slope = program.regulariser.slope(theta[-1] + step[-1]) - pull[-1]
        allowed = allowed + max(float(slope), 0.0) * box
    return np.asarray(np.where(abs(pull[:n]) <= allowed, 0.0, pull[:n]))
