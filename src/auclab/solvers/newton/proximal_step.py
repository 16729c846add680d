"""The step of a proximal Newton method on ``loss(θ) + λ t`` (or ``λ t²``) with ``t = ‖w‖``, in ``θ = (w, b, t)``.

The step solves

    min over Δ    −G·Δ + ½ ΔᵀHΔ + penalty(t + Δt)      s.t.   ‖w + Δw‖ ≤ t + Δt

G is the negative gradient and H the Hessian of the smoothed loss. Without a norm this is a linear system. The l2 norm
is smooth away from 0, and a few Newton steps with a line search find the minimum to rounding; whether that is w = 0 is
seen from the gradient there. For l1 and linf the model is piecewise quadratic (`active_set_step`). Where H is an
operator (`hessian_operator`), systems are solved by conjugate gradients. Proximal Newton methods: Lee, Sun & Saunders
(2014).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.composed import without_squares
from auclab.solvers.newton.active_set_step import active_set_step
from auclab.solvers.newton.bounded_step import bounded_step
from auclab.solvers.newton.conic_step import conic_step
from auclab.solvers.newton.hessian_operator import Hessian, plus_diagonal
from auclab.solvers.newton.positive_definite import solve_positive_definite
from auclab.types import Array

#: Collinear features leave the Hessian singular; this much of its scale keeps the step finite and changes it little.
_RIDGE = 1e-10
#: Newton steps on the model with the l2 norm, the same where each costs many products, and the decrease, relative to
#: the model's terms, that is rounding.
_MAX_INNER_STEPS, _MAX_INNER_STEPS_BY_PRODUCTS, _INNER_ROUNDING = 30, 2, 1e-15
#: The line search stops shortening the step at this length.
_MIN_STEP_LENGTH = 1e-20
#: A new w shorter than this, relative to the present one, is taken for 0.
_ZERO_NORM = 1e-6
#: Conjugate gradients: the relative residual to reach, and the most iterations.
_CG_TOLERANCE, _CG_MAX_ITERATIONS = 1e-2, 200


def proximal_step(
    program: Program,
    hessian: Hessian,
    negative_gradient: Array,
    theta: Array,
    spread: Array,
    constraints: ColumnConstraints | None = None,
) -> Array:
    """The minimiser Δ of the model above.

    Parameters
    ----------
    program : Program
        Gives the norm, λ, and whether there is an intercept.
    hessian : array of shape (n + 2, n + 2) or HessianOperator
        H.
    negative_gradient : array of shape (n + 2,)
        G, at `theta`.
    theta : array of shape (n + 2,)
        ``(w, b, ‖w‖)``.
    spread : array of shape (n + 2,)
        The mean square of the entries of D, the natural scale of H; what regularises singular directions is taken
        relative to it.
    constraints : ColumnConstraints, optional
        On ``w + Δw``; H is a matrix then.

    Returns
    -------
    array of shape (n + 2,)
    """
    ridge, program = without_squares(program)
    if ridge:  # a part of the quadratic: of λ‖w‖₂² without z no norm is left, and one system is
        square = np.r_[np.full(theta.size - 2, 2.0 * ridge), 0.0, 0.0]
        hessian, negative_gradient = plus_diagonal(hessian, square), negative_gradient - square * theta
    if constraints is not None and not constraints.limit.size and isinstance(hessian, np.ndarray):
        step = bounded_step(program, hessian, negative_gradient, theta, spread, constraints, proximal_step)
        if step is not None:
            return step
    model = _QuadraticModel(program, hessian, negative_gradient, theta, spread)
    if constraints is not None:
        return model.constrained_step(constraints)
    if not program.uses_norm:
        return model.newton_step(np.zeros_like(theta))
    if program.regulariser.norm.is_euclidean:
        step = _l2_step(model)
        if step is not None or not isinstance(hessian, np.ndarray):
            return np.zeros_like(theta) if step is None else step
    return model.constrained_step()


class _QuadraticModel:
    """The quadratic model with its norm, in the variables that the program has."""

    def __init__(self, program: Program, hessian: Hessian, negative_gradient: Array, theta: Array, spread: Array):
        self.program, self.hessian, self.negative_gradient, self.theta = program, hessian, negative_gradient, theta
        self.n = theta.size - 2
        self.has_intercept = program.comparisons.name == "points"
        self.free = np.r_[: self.n, [self.n] if self.has_intercept else []].astype(int)
        diagonal = hessian.diagonal()
        self.ridge = _RIDGE * np.maximum(diagonal, 1e-3 * spread)
        self.diagonal = diagonal + self.ridge

    def hessian_product(self, step: Array) -> Array:
        """``H·step``, with the ridge."""
        return self.hessian @ step + self.ridge * step

    def value(self, step: Array) -> float:
        """The model at a step that ends on the cone."""
        t = self.theta[-1] + step[-1]
        quadratic = float(0.5 * step @ self.hessian_product(step) - self.negative_gradient @ step)
        return quadratic + self.program.regulariser.of_size(float(t))

    def newton_step(
        self, step: Array, w: Array | None = None, norm_gradient: float = 0.0, penalty_curvature: float = 0.0
    ) -> Array:
        """A Newton step of the model from `step`, in (w, b).

        With ``w = theta + step`` given, ``t = ‖w‖`` follows it: `norm_gradient` is the derivative of the whole model
        in t divided by ‖w‖, so that ``norm_gradient · w`` is the gradient of the norm term, and `penalty_curvature`
        the second derivative of the penalty in t.
        """
        n, free = self.n, self.free
        u = np.zeros(n) if w is None else w / np.linalg.norm(w)
        right = self.negative_gradient - self.hessian_product(step)
        if w is not None:
            right[:n] -= norm_gradient * w
        # The norm's own curvature, norm_curvature·(I − u uᵀ); a negative one would leave the model without a minimum.
        norm_curvature = max(norm_gradient, 0.0)
        if isinstance(self.hessian, np.ndarray):
            matrix = self.hessian[:-1, :-1] + np.diag(self.ridge[:-1])
            if w is not None:
                cross = np.outer(u, self.hessian[-1, :-1])
                matrix[:n] += cross
                matrix[:, :n] += cross.T
                radial = self.hessian[-1, -1] + self.ridge[-1] + penalty_curvature - norm_curvature
                matrix[:n, :n] += radial * np.outer(u, u)
                matrix[np.arange(n), np.arange(n)] += norm_curvature
            reduced_step = solve_positive_definite(matrix[np.ix_(free, free)], right[free])
        else:

            def product(reduced: Array) -> Array:
                direction = self._expanded(reduced)
                along = u @ direction[:n]
                direction[-1] = along
                image = self.hessian_product(direction)
                radial = image[-1] + (penalty_curvature - norm_curvature) * along
                image[:n] += radial * u + norm_curvature * direction[:n]
                return np.asarray(image[free])

            reduced_step = _solve_by_products(product, right[free], self.diagonal[free] + norm_curvature)
        return self._expanded(reduced_step)

    def constrained_step(self, constraints: ColumnConstraints | None = None) -> Array:
        """The minimum with ``‖w‖ ≤ t`` as a constraint: by active sets for l1 and linf, else by Clarabel."""
        if not isinstance(self.hessian, np.ndarray):
            raise TypeError("a constrained step needs the Hessian's entries")
        free = np.r_[self.free, self.n + 1]
        hessian = (self.hessian + np.diag(self.ridge))[np.ix_(free, free)]
        model = (self.program, hessian, self.negative_gradient[free], self.theta[free])
        reduced = None if constraints is not None else active_set_step(*model)
        step = np.zeros(self.theta.size)
        step[free] = conic_step(*model, constraints) if reduced is None else reduced
        return step

    def _expanded(self, reduced: Array) -> Array:
        """A vector in the free variables as one in all of them, 0 elsewhere."""
        expanded = np.zeros(self.n + 2)
        expanded[self.free] = reduced
        return expanded


def _l2_step(model: _QuadraticModel) -> Array | None:
    """The minimum of the model with the l2 norm, or None where rounding keeps w near 0."""
    program, theta, n = model.program, model.theta, model.n
    step, value = np.zeros_like(theta), model.value(np.zeros_like(theta))
    null, leaving = _null_step(model)
    if leaving is None:
        return null
    if model.value(leaving) < value:
        step, value = leaving, model.value(leaving)
    min_norm = _ZERO_NORM * float(np.linalg.norm(theta[:n] + step[:n]))
    if min_norm == 0:
        return None
    size_of_terms = abs(value) + float(np.abs(model.negative_gradient @ theta))
    by_products = not isinstance(model.hessian, np.ndarray)
    for _ in range(_MAX_INNER_STEPS_BY_PRODUCTS if by_products else _MAX_INNER_STEPS):
        w = theta[:n] + step[:n]
        norm = float(np.linalg.norm(w))
        t_gradient = float((model.hessian_product(step) - model.negative_gradient)[-1])
        t_gradient += program.regulariser.slope(norm)
        direction = model.newton_step(step, w, t_gradient / norm, program.regulariser.curvature)
        length = 1.0
        while True:
            candidate = step + length * direction
            candidate[-1] = float(np.linalg.norm(theta[:n] + candidate[:n])) - theta[-1]
            candidate_value = model.value(candidate)
            if candidate_value < value or length < _MIN_STEP_LENGTH:
                break
            length *= 0.25
        if theta[-1] + candidate[-1] <= min_norm:
            return None
        if not candidate_value < value - _INNER_ROUNDING * size_of_terms:
            return step
        step, value = candidate, candidate_value
    return step


def _null_step(model: _QuadraticModel) -> tuple[Array, Array | None]:
    """The step to w = 0 with the best b, and where that is no minimum the step along the direction of steepest descent.

    With g the gradient at w = 0, the model falls with ``w = −τ g_w/‖g_w‖``, t = τ, unless ``‖g_w‖ ≤ g_t``.
    """
    program, theta, n = model.program, model.theta, model.n
    step, intercept = -theta, np.zeros_like(theta)
    step[n] = 0.0
    if model.has_intercept:
        intercept[n] = 1.0
        in_intercept = model.hessian_product(intercept)
        step[n] = -(model.hessian_product(step) - model.negative_gradient)[n] / in_intercept[n]
    gradient = model.hessian_product(step) - model.negative_gradient
    size = float(np.linalg.norm(gradient[:n]))
    slope = size - float(gradient[-1]) - program.regulariser.slope(0.0)
    if slope <= 0:
        return step, None
    direction = np.r_[-gradient[:n] / size, 0.0, 1.0]
    if model.has_intercept:
        direction[n] = -(in_intercept @ direction) / in_intercept[n]
    curvature = float(direction @ model.hessian_product(direction)) + program.regulariser.curvature
    return step, step + slope / curvature * direction


def _solve_by_products(product: Callable[[Array], Array], right: Array, diagonal: Array) -> Array:
    """A symmetric positive definite system, by conjugate gradients preconditioned with `diagonal`."""
    unit = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
    scaled = LinearOperator((right.size, right.size), matvec=lambda v: unit * product(unit * v), dtype=np.float64)
    return np.asarray(unit * cg(scaled, unit * right, rtol=_CG_TOLERANCE, atol=0.0, maxiter=_CG_MAX_ITERATIONS)[0])
