"""The step of a proximal Newton method on ``loss(θ) + λ t`` (or ``λ t²``) with ``t = ‖w‖``, in ``θ = (w, b, t)``.

The step solves

    min over Δ    −G·Δ + ½ ΔᵀHΔ + penalty(t + Δt)      s.t.   ‖w + Δw‖ ≤ t + Δt

G is the negative gradient and H the Hessian of the smoothed loss. Without a norm, and for ``λ Σ w_k²``, this is one
linear system. The l2 norm is smooth away from 0, and a few Newton steps with a line search find the minimum; whether
that is w = 0 is seen from the gradient there. For l1 and linf the model is piecewise quadratic (`active_set_step`).
Where H is an operator (`hessian_operator`), systems are solved by conjugate gradients. Proximal Newton methods: Lee,
Sun & Saunders (2014).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.programs import without_squares
from auclab.precision import LITTLE, MOST_STEPS, ROUGH, SOLVED
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.active_set_step import active_set_step
from auclab.solvers.newton.bounded_step import bounded_step
from auclab.solvers.newton.conic_step import conic_step
from auclab.solvers.newton.hessian_operator import Hessian, plus_diagonal
from auclab.solvers.newton.positive_definite import solve_positive_definite
from auclab.solvers.smoothed.row_products import never
from auclab.types import Array

#: Newton steps on a model end where one reduces it by less than this part of what all of them did: they converge
#: quadratically.
_LAST = 1e-4


def proximal_step(
    program: Program,
    hessian: Hessian,
    negative_gradient: Array,
    theta: Array,
    spread: Array,
    constraints: ColumnConstraints | None = None,
    monitor: Monitor | None = None,
) -> Array:
    """The minimiser Δ of the model above.

    `program`: gives the norm, λ, and whether there is an intercept. `hessian` (n + 2, n + 2), or HessianOperator: h.
    `negative_gradient` (n + 2,): g, at `theta`. `theta` (n + 2,): ``(w, b, ‖w‖)``. `spread` (n + 2,): the mean square
    of the entries of D, the natural scale of H, to which the regularisation of singular directions is relative.
    `constraints`: on ``w + Δw``; H is a matrix then. `monitor`: looked at between factorisations and between products.
    """
    ridge, program = without_squares(program)
    if ridge:  # a part of the quadratic: of λ‖w‖₂² without z no norm is left, and one system is
        square = np.r_[np.full(theta.size - 2, 2.0 * ridge), 0.0, 0.0]
        hessian, negative_gradient = plus_diagonal(hessian, square), negative_gradient - square * theta
    by_columns = not program.uses_norm or program.regulariser.norm.is_absolute
    if constraints is not None and not constraints.limit.size and by_columns and isinstance(hessian, np.ndarray):
        unbounded = partial(proximal_step, monitor=monitor)
        step = bounded_step(program, hessian, negative_gradient, theta, spread, constraints, unbounded)
        if step is not None:
            return step
    model = _QuadraticModel(program, hessian, negative_gradient, theta, spread, monitor)
    if constraints is None and not program.uses_norm:
        return model.solved(negative_gradient, None, 0.0)
    if constraints is None and program.regulariser.norm.is_euclidean:
        step = _l2_step(model)
        if step is not None or not isinstance(hessian, np.ndarray):
            return np.zeros_like(theta) if step is None else step
    return model.constrained_step(constraints)


class _QuadraticModel:
    """The quadratic model with its norm, in the variables that the program has."""

    def __init__(
        self,
        program: Program,
        hessian: Hessian,
        negative_gradient: Array,
        theta: Array,
        spread: Array,
        monitor: Monitor | None,
    ):
        self.program, self.hessian, self.negative_gradient, self.theta = program, hessian, negative_gradient, theta
        self.n, self.monitor = theta.size - 2, monitor
        self.check = never if monitor is None else monitor.check
        self.has_intercept = program.comparisons.name == "points"
        self.free = np.arange(self.n + self.has_intercept)
        diagonal = hessian.diagonal()
        # A narrow band has curvature of the order 1/h, and so has the rounding in its entries: where no margin of the
        # band involves a column, its own entry is that rounding, of either sign.
        curvature = max(1.0, float(diagonal[: self.n].sum() / spread[: self.n].sum()))
        self.ridge = SOLVED * np.maximum(diagonal, 1e-3 * curvature * spread)
        self.diagonal = diagonal + self.ridge

    def hessian_product(self, step: Array) -> Array:
        """``H·step``, with the ridge."""
        return self.hessian @ step + self.ridge * step

    def value(self, step: Array) -> float:
        """The model at a step that ends on the cone."""
        penalty = self.program.regulariser.of_size(self.theta[-1] + step[-1])
        return float(0.5 * step @ self.hessian_product(step) - self.negative_gradient @ step) + penalty

    def on_cone(self, step: Array) -> Array:
        """The step with t at the norm of the new w."""
        step = step.copy()
        step[-1] = np.linalg.norm((self.theta + step)[: self.n]) - self.theta[-1]
        return step

    def newton_step(self, step: Array) -> Array:
        """A Newton step of the model from `step`, which is on the cone, in (w, b): t = ‖w‖ follows w."""
        w = (self.theta + step)[: self.n]
        size = float(np.linalg.norm(w))
        right = self.negative_gradient - self.hessian_product(step)
        slope = float(self.program.regulariser.slope(size) - right[-1])
        right[: self.n] -= slope / size * w
        # The norm's own curvature is slope/‖w‖·(I − u uᵀ); a negative one would leave the model without a minimum.
        return self.solved(right, w / size, max(slope / size, 0.0))

    def solved(self, right: Array, u: Array | None, norm_curvature: float) -> Array:
        """The step in (w, b) at which the model's Hessian, with ``Δt = u·Δw``, takes up a right-hand side."""
        n, free, penalty_curvature = self.n, self.free, self.program.regulariser.curvature
        solution = np.zeros(n + 2)
        if isinstance(self.hessian, np.ndarray):
            self.check()
            matrix = self.hessian[:-1, :-1] + np.diag(self.ridge[:-1])
            if u is not None:
                radial = self.hessian[-1, -1] + self.ridge[-1] + penalty_curvature - norm_curvature
                cross = np.outer(u, self.hessian[-1, :-1])
                cross[:, :n] += 0.5 * radial * np.outer(u, u)
                matrix[:n] += cross
                matrix[:, :n] += cross.T
                matrix[np.arange(n), np.arange(n)] += norm_curvature
            solution[free] = solve_positive_definite(matrix[np.ix_(free, free)], right[free])
            return solution

        def product(reduced: Array) -> Array:
            self.check()
            direction = np.zeros(n + 2)
            direction[free] = unit * reduced
            if u is None:
                return np.asarray(unit * self.hessian_product(direction)[free])
            direction[-1] = along = u @ direction[:n]
            image = self.hessian_product(direction)
            radial = image[-1] + (penalty_curvature - norm_curvature) * along
            image[:n] += radial * u + norm_curvature * direction[:n]
            return np.asarray(unit * image[free])

        # Conjugate gradients, preconditioned with the diagonal. More digits hardly save steps, unless the steps have to
        # be damped, as with a tiny λ (text-like rows, over pairs: .5 to .9 of the time with ROUGH throughout).
        part = ROUGH if self.hessian.is_damped else LITTLE
        unit = 1.0 / np.sqrt(np.maximum(self.diagonal[free] + norm_curvature, np.finfo(float).tiny))
        operator = LinearOperator((free.size, free.size), matvec=product, dtype=np.float64)
        found, _ = cg(operator, unit * right[free], rtol=part, atol=0.0, maxiter=MOST_STEPS)
        solution[free] = unit * found
        return solution

    def constrained_step(self, constraints: ColumnConstraints | None) -> Array:
        """The minimum with ``‖w‖ ≤ t`` as a constraint: by active sets for l1 and linf, else by Clarabel."""
        assert isinstance(self.hessian, np.ndarray)  # the solver refuses more columns than a matrix may have
        free = np.append(self.free, self.n + 1)
        hessian = (self.hessian + np.diag(self.ridge))[np.ix_(free, free)]
        model = (self.program, hessian, self.negative_gradient[free], self.theta[free])
        reduced = None if constraints is not None else active_set_step(*model, self.check)
        if reduced is None:
            reduced = conic_step(*model, constraints, None if self.monitor is None else self.monitor.remaining)
            self.check()
        step = np.zeros(self.theta.size)
        step[free] = reduced
        return step


def _l2_step(model: _QuadraticModel) -> Array | None:
    """The minimum of the model with the l2 norm, or None where rounding keeps w near 0."""
    start = np.zeros_like(model.theta)
    step, value = start, model.value(start)
    null, leaving = _null_step(model)
    if leaving is None:
        return null
    if model.value(leaving) < value:
        step, value = leaving, model.value(leaving)
    first, by_products = value, not isinstance(model.hessian, np.ndarray)
    while np.linalg.norm((model.theta + step)[: model.n]) > 0:
        direction, length = model.newton_step(step), 1.0
        candidate = model.on_cone(step + direction)
        while not (reached := model.value(candidate)) < value and length > np.finfo(float).eps:
            length *= 0.25
            candidate = model.on_cone(step + length * direction)
        if not reached < value:
            return step
        step, reduction, value = candidate, value - reached, reached
        if by_products or reduction <= _LAST * (first - value):
            return step
    return None


def _null_step(model: _QuadraticModel) -> tuple[Array, Array | None]:
    """The step to w = 0 with the best b, and where that is not a minimum the step of steepest descent.

    With g the gradient at w = 0, the model falls with ``w = −τ g_w/‖g_w‖``, t = τ, unless ``‖g_w‖ ≤ g_t``.
    """
    theta, n = model.theta, model.n
    step, intercept = -theta, np.zeros_like(theta)
    step[n] = 0.0
    if model.has_intercept:
        intercept[n] = 1.0
        in_intercept = model.hessian_product(intercept)
        step[n] = -(model.hessian_product(step) - model.negative_gradient)[n] / in_intercept[n]
    gradient = model.hessian_product(step) - model.negative_gradient
    size = float(np.linalg.norm(gradient[:n]))
    slope = size - float(gradient[-1]) - model.program.regulariser.slope(0.0)
    if slope <= 0:
        return step, None
    direction = np.r_[-gradient[:n] / size, 0.0, 1.0]
    if model.has_intercept:
        direction[n] = -(in_intercept @ direction) / in_intercept[n]
    curvature = float(direction @ model.hessian_product(direction)) + model.program.regulariser.curvature
    return step, step + slope / curvature * direction
