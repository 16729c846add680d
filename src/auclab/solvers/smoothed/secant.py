"""The secant update of a Hessian that is that of other points or observations."""

from __future__ import annotations

import numpy as np

from auclab.types import Array

#: The curvature along a step that an update may introduce, relative to that of the matrix: beyond, it is rounding or a
#: kink.
_LARGEST_RATIO = 10.0


def with_secant(hessian: Array, step: Array, change: Array) -> Array:
    """The matrix nearest to `hessian` that maps a step to the change of the gradient, by the BFGS formula.

    It stays positive definite. The matrix itself is returned where the change contradicts it by a factor of ten.

    `hessian` (size, size), positive semidefinite; `step`, `change` (size,). Nocedal & Wright, Numerical Optimization,
    2nd ed., equation 6.19.

    Examples
    --------
    >>> with_secant(np.eye(2), np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    mapped = hessian @ step
    before, after = float(step @ mapped), float(step @ change)
    if not before <= _LARGEST_RATIO * after <= _LARGEST_RATIO**2 * before or before <= 0.0:
        return hessian
    return hessian + np.outer(change / after, change) - np.outer(mapped / before, mapped)
