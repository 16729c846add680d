"""The step of a proximal Newton method on ``loss(θ) + λ t`` (or ``λ t²``) with ``t = ‖w‖``, in ``θ = (w, b, t)``.

The step solves

    min over Δ    −G·Δ + ½ ΔᵀHΔ + penalty(t + Δt)      s.t.   ‖w + Δw‖ ≤ t + Δt

G is the negative gradient and H the Hessian of the smoothed loss. Proximal Newton methods: Lee, Sun & Saunders (2014).

* Without a norm this is one linear system; a term ``ρ Σ w_k²`` is part of H and G. Where H is an operator, systems are
  solved by conjugate gradients.
* The l2 norm is smooth away from 0, and a Newton step or two on this model find its minimum well enough; whether that
  is w = 0 is seen from the gradient there.
* For l1 and linf the model is piecewise quadratic (`active_set_step`).
* Within bounds on w, coefficients at a bound are fixed and the others take one of the steps above
  (`_QuadraticModel.within_bounds`).
* Any other norm, and rows of constraints, are a cone program for Clarabel (`conic_step`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg

from auclab._core.base import Array
from auclab._core.rows import never
from auclab._core.tolerances import ROUNDING, SOLVED
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.programs import row_with
from auclab.models.bundle import norm_cone
from auclab.solvers.canonical import nearest_feasible
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.active_set_step import active_set_step, solve_positive_definite
from auclab.solvers.smoothed.losses import Evaluation, SmoothedLoss

#: The part of a gap, of a step, or of a reduction, that does not count.
LITTLE = 0.1
#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: Newton steps on a model end where one reduces it by less than this part of what all of them did: they converge
#: quadratically. Also the accuracy of a step that nothing else asks for.
_LAST = 1e-4
#: A constraint is active where its slack, in units of the curvature, is below this and its multiplier.
_NEAR = 1e-5


@dataclass(frozen=True)
class HessianOperator:
    """``diag(ridge) + Σ_k factor_k H_k`` by its products alone, O(nnz + m) each; H_k is the Hessian at an evaluation.

    `ridge` (n_features + 2,): the diagonal that is added.
    """

    loss: SmoothedLoss
    terms: tuple[tuple[float, Evaluation], ...]
    ridge: Array

    def __matmul__(self, step: Array) -> Array:
        product = self.ridge * step
        for factor, evaluation in self.terms:
            product = product + factor * self.loss.direction_sum(self.loss.multiplier_change(evaluation, step))
        return product

    def diagonal(self) -> Array:
        """Its diagonal or an upper bound of that, shape (n_features + 2,)."""
        return self.ridge + sum(factor * self.loss.hessian_diagonal(evaluation) for factor, evaluation in self.terms)

    def __add__(self, other: HessianOperator) -> HessianOperator:
        """The sum of two of the same loss."""
        return HessianOperator(self.loss, self.terms + other.terms, self.ridge + other.ridge)

    def __rmul__(self, factor: float) -> HessianOperator:
        """A multiple."""
        terms = tuple((factor * inner, evaluation) for inner, evaluation in self.terms)
        return HessianOperator(self.loss, terms, factor * self.ridge)


#: A Hessian as a matrix of shape (n_features + 2, n_features + 2), or as an operator.
Hessian = Array | HessianOperator


def plus_diagonal(hessian: Hessian, diagonal: Array) -> Hessian:
    """The sum of a Hessian and a diagonal matrix."""
    if isinstance(hessian, HessianOperator):
        return HessianOperator(hessian.loss, hessian.terms, hessian.ridge + diagonal)
    return hessian + np.diag(diagonal)


def proximal_step(
    program: Program,
    hessian: Hessian,
    negative_gradient: Array,
    theta: Array,
    spread: Array,
    constraints: ColumnConstraints | None = None,
    monitor: Monitor | None = None,
    accuracy: float = _LAST,
) -> Array:
    """The minimiser Δ of the model above.

    `program`: gives the norm, λ, and whether there is an intercept. `hessian` (n + 2, n + 2), or HessianOperator: H.
    `negative_gradient` (n + 2,): G, at `theta`. `theta` (n + 2,): ``(w, b, ‖w‖)``. `spread` (n + 2,): the mean square
    of the entries of D, the natural scale of H, to which the regularisation of singular directions is relative.
    `constraints`: on ``w + Δw``; H is a matrix then. `monitor`: looked at between factorisations and between products.
    `accuracy`: of the last Newton step with an l2 norm: the relative error of the reduction that it predicts, whose
    square is about what is left.
    """
    model = _QuadraticModel(program, hessian, negative_gradient, theta, spread, monitor, accuracy)
    if constraints is None:
        return model.minimum()
    step = model.within_bounds(constraints) if program.used_norm.is_absolute and not constraints.limit.size else None
    return model.on_reduced(constraints) if step is None else step


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
        accuracy: float = _LAST,
    ):
        self.accuracy = accuracy
        self.program, self.hessian, self.negative_gradient, self.theta = program, hessian, negative_gradient, theta
        self.n, self.norm, self.spread, self.monitor = theta.size - 2, program.used_norm, spread, monitor
        self.check = never if monitor is None else monitor.check
        self.has_intercept = program.comparisons.name == "points"
        self.free = slice(self.n + self.has_intercept)
        diagonal = hessian.diagonal()
        # A small smoothing width h has curvature of the order 1/h, and so has the rounding in its entries: where no
        # margin within h involves a column, its own entry is that rounding, of either sign.
        curvature = max(1.0, float(diagonal[: self.n].sum() / spread[: self.n].sum()))
        self.ridge = SOLVED * np.maximum(diagonal, 1e-3 * curvature * spread)
        self.diagonal = diagonal + self.ridge

    def minimum(self) -> Array:
        """The minimiser without constraints on w."""
        if not self.program.uses_norm:
            return self.solved(self.negative_gradient, None, 0.0)
        step = self.with_l2_norm() if self.program.regulariser.norm.is_euclidean else None
        if step is None and isinstance(self.hessian, HessianOperator):
            return np.zeros_like(self.theta)
        return self.on_reduced(None) if step is None else step

    def hessian_product(self, step: Array) -> Array:
        """``H·step``, with the ridge."""
        return self.hessian @ step + self.ridge * step

    def value(self, step: Array) -> float:
        """The model ``−G·Δ + ½ ΔᵀHΔ + penalty(t + Δt)`` at a step that ends on the cone."""
        penalty = self.program.regulariser.of_size(self.theta[-1] + step[-1])
        return float(0.5 * step @ self.hessian_product(step) - self.negative_gradient @ step) + penalty

    def solved(self, right: Array, u: Array | None, norm_curvature: float) -> Array:
        """The step in (w, b) at which the model's Hessian, with ``Δt = u·Δw``, takes up a right-hand side.

        With H in blocks of (w, b) and t, penalty curvature c and norm curvature κ, the Hessian in w is
        ``H_ww + u H_tw + H_wt uᵀ + (H_tt + c) u uᵀ + κ (I − u uᵀ)``.
        """
        n, free, penalty_curvature = self.n, self.free, self.program.regulariser.curvature
        solution = np.zeros(n + 2)
        if isinstance(self.hessian, np.ndarray):
            self.check()
            matrix = self.hessian[:-1, :-1].copy()
            diagonal = matrix.reshape(-1)[:: n + 2]
            diagonal += self.ridge[:-1]
            diagonal[:n] += norm_curvature
            if u is not None:
                radial = self.hessian[-1, -1] + self.ridge[-1] + penalty_curvature - norm_curvature
                row = self.hessian[-1, :-1].copy()
                row[:n] += 0.5 * radial * u
                cross = np.outer(u, row)
                matrix[:n] += cross
                matrix[:, :n] += cross.T
            solution[free] = solve_positive_definite(matrix[free, free], right[free])
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

        # Conjugate gradients, preconditioned with the diagonal; more digits hardly save steps.
        unit = 1.0 / np.sqrt(np.maximum(self.diagonal[free] + norm_curvature, np.finfo(float).tiny))
        operator = LinearOperator((unit.size, unit.size), matvec=product, dtype=np.float64)
        found, _ = cg(operator, unit * right[free], rtol=LITTLE, atol=0.0, maxiter=MOST_STEPS)
        solution[free] = unit * found
        return solution

    def with_l2_norm(self) -> Array | None:
        """The minimum with the l2 norm, or None where rounding keeps w near 0."""
        step, is_operator = np.zeros_like(self.theta), isinstance(self.hessian, HessianOperator)
        first = value = self.value(step)
        if not is_operator and self.theta[: self.n].any():
            step, value, error = self._descended(step, value)
            if error <= self.accuracy:
                return step
        null, leaving = self._null_step()
        if leaving is None:
            return null
        if (reached := self.value(leaving)) < value:
            step, value = leaving, reached
        while self.norm((self.theta + step)[: self.n]) > 0:
            before = value
            step, value, error = self._descended(step, value)
            if is_operator or error <= self.accuracy or before - value <= _LAST * (first - value):
                return step
        return None

    def _descended(self, step: Array, value: float) -> tuple[Array, float, float]:
        """The point of a Newton step of the model from `step`, its value, and the relative error of the prediction.

        Where the reduction is the predicted one, that of the next step is about the square of their difference.
        """
        (direction, predicted), length = self._newton_step(step), 1.0
        candidate = self._on_cone(step + direction)
        while not (reached := self.value(candidate)) < value and length > np.finfo(float).eps:
            length *= 0.25
            candidate = self._on_cone(step + length * direction)
        if not reached < value:
            return step, value, math.inf
        return candidate, reached, abs(1.0 - predicted / (value - reached))

    def _on_cone(self, step: Array) -> Array:
        """The step with t at the norm of the new w."""
        step = step.copy()
        step[-1] = self.norm((self.theta + step)[: self.n]) - self.theta[-1]
        return step

    def _newton_step(self, step: Array) -> tuple[Array, float]:
        """A Newton step of the model from `step`, on the cone, in (w, b): t = ‖w‖ follows w; and its reduction."""
        w = (self.theta + step)[: self.n]
        size = self.norm(w)
        right = self.negative_gradient - self.hessian_product(step)
        slope = float(self.program.regulariser.slope(size) - right[-1])
        right[: self.n] -= slope / size * w
        # The norm's own curvature is slope/‖w‖·(I − u uᵀ); a negative one would leave the model without a minimum.
        direction = self.solved(right, w / size, max(slope / size, 0.0))
        return direction, 0.5 * float(right[:-1] @ direction[:-1])

    def _null_step(self) -> tuple[Array, Array | None]:
        """The step to w = 0 with the best b, and where that is not a minimum the step of steepest descent.

        With g the gradient at w = 0, the model falls with ``w = −τ g_w/‖g_w‖``, t = τ, unless ``‖g_w‖ ≤ g_t``.
        """
        theta, n = self.theta, self.n
        step, intercept = -theta, np.zeros_like(theta)
        step[n] = 0.0
        if self.has_intercept:
            intercept[n] = 1.0
            in_intercept = self.hessian_product(intercept)
            step[n] = -(self.hessian_product(step) - self.negative_gradient)[n] / in_intercept[n]
        gradient = self.hessian_product(step) - self.negative_gradient
        size = self.norm(gradient[:n])
        slope = size - float(gradient[-1]) - self.program.regulariser.slope(0.0)
        if slope <= 0:
            return step, None
        direction = np.r_[-gradient[:n] / size, 0.0, 1.0]
        if self.has_intercept:
            direction[n] = -(in_intercept @ direction) / in_intercept[n]
        curvature = float(direction @ self.hessian_product(direction)) + self.program.regulariser.curvature
        return step, step + slope / curvature * direction

    def within_bounds(self, constraints: ColumnConstraints) -> Array | None:
        """The minimiser with w within bounds, by a primal–dual active-set method; None where it does not end.

        Coefficients at a bound are fixed there, and the others take the step without bounds, exact to rounding. Then
        coefficients that left their bounds are fixed, and those are released whose multiplier ``r_k − ∂`` has the wrong
        sign, r the negative gradient of the model and ∂ a subgradient of the norm, until none changes (Hintermüller,
        Ito & Kunisch 2003, "The primal-dual active set strategy as a semismooth Newton method").

        A fixed coefficient has to be 0, so that the norm of the others is that of w; without a norm any bound will do.
        """
        n, lower, upper = self.n, constraints.lower, constraints.upper
        w, pull = self.theta[:n], self.negative_gradient[:n]
        # −1 at the lower bound, 1 at the upper one, 0 between them.
        place = np.where((w <= lower) & (pull <= 0), -1, np.where((w >= upper) & (pull >= 0), 1, 0))
        place[lower == upper] = -1
        seen: set[bytes] = set()
        while place.tobytes() not in seen:
            seen.add(place.tobytes())
            fixed = place != 0
            bound = np.where(place < 0, lower, upper)
            step = None if self.program.uses_norm and bound[fixed].any() else self._with_fixed(fixed, bound)
            if step is None:
                return None
            w = np.where(fixed, bound, self.theta[:n] + step[:n])
            pull = self._multipliers(step)
            released = (lower < upper) & (place * pull < 0)
            following = np.where(released, 0, place)
            following[~fixed & (w < lower)], following[~fixed & (w > upper)] = -1, 1
            if (following == place).all():
                step[:n] = w - self.theta[:n]
                return step
            place = following
        return None

    def _with_fixed(self, fixed: NDArray[np.bool_], bound: Array) -> Array | None:
        """The step with some coefficients at a bound: first there, then that of the others."""
        assert isinstance(self.hessian, np.ndarray)  # the solver refuses more columns than a matrix may have
        moved = self.theta.copy()
        moved[:-2][fixed] = bound[fixed]
        others = np.r_[np.flatnonzero(~fixed), self.n, self.n + 1]
        if others.size == 2:
            return None
        moved[-1] = self.program.used_norm(moved[:-2])
        step = moved - self.theta
        gradient = self.negative_gradient - self.hessian @ step
        program = row_with(self.program, regulariser=self.program.regulariser.restricted(others[:-2]))
        hessian = self.hessian[np.ix_(others, others)]
        of_others = gradient[others], moved[others], self.spread[others]
        part = _QuadraticModel(program, hessian, *of_others, self.monitor).minimum()
        step[others] += part
        return step if np.isfinite(part).all() else None

    def _multipliers(self, step: Array) -> Array:
        """The multiplier of a bound on every coefficient; 0 where the norm or rounding explains the gradient."""
        assert isinstance(self.hessian, np.ndarray)
        pull = self.negative_gradient - self.hessian @ step
        allowed = ROUNDING * (abs(self.negative_gradient) + abs(self.hessian) @ abs(step))[: self.n]
        box = self.program.used_norm.dual_box(self.n)
        if box is not None:
            slope = self.program.regulariser.slope(self.theta[-1] + step[-1]) - pull[-1]
            allowed = allowed + max(float(slope), 0.0) * box
        return np.asarray(np.where(abs(pull[: self.n]) <= allowed, 0.0, pull[: self.n]))

    def on_reduced(self, constraints: ColumnConstraints | None) -> Array:
        """The minimum with ``‖w‖ ≤ t`` as a constraint: by active sets for l1 and linf, else by Clarabel."""
        assert isinstance(self.hessian, np.ndarray)
        free = np.r_[self.free, self.n + 1]
        hessian = (self.hessian + np.diag(self.ridge))[np.ix_(free, free)]
        model = (self.program, hessian, self.negative_gradient[free], self.theta[free])
        reduced = None if constraints is not None else active_set_step(*model, self.check)
        if reduced is None:
            reduced = conic_step(*model, constraints, None if self.monitor is None else self.monitor.remaining)
            self.check()
        step = np.zeros(self.theta.size)
        step[free] = reduced
        return step


def conic_step(
    program: Program,
    hessian: Array,
    negative_gradient: Array,
    theta: Array,
    constraints: ColumnConstraints | None = None,
    time_limit: float | None = None,
) -> Array:
    """The minimiser of the model as a cone program for Clarabel, in the free variables (w, [b,] t): any norm.

    `program`: gives the norm and λ. `hessian` (size, size): positive definite. `negative_gradient`, `theta` (size,):
    with the intercept where the program is over points: ``size`` is n + 2 there, else n + 1. `constraints`: on the new
    w. `time_limit`: seconds.
    """
    size, t = theta.size, theta.size - 1
    n = size - (2 if program.comparisons.name == "points" else 1)
    # The columns are the new point in units of the curvature, then those that the norm needs.
    unit = 1.0 / np.sqrt(np.maximum(hessian.diagonal(), 1e-300))
    # Where the Hessian is flat, an absolute norm leaves w = 0; another one ties the column to the rest, at its scale.
    flat = 1e6 if program.used_norm.is_absolute else 1.0
    unit = np.minimum(unit, flat * np.median(unit))
    rows, right, cones = norm_cone(program, np.ones(n), t, size, scale=np.r_[unit[:n], unit[t]])
    n_columns = rows.shape[1]
    quadratic, linear = np.zeros((n_columns, n_columns)), np.zeros(n_columns)
    quadratic[:size, :size] = hessian * unit[:, None] * unit[None, :]
    quadratic[t, t] += program.regulariser.curvature * unit[t] ** 2
    linear[:size] = unit * (-negative_gradient - hessian @ theta)
    linear[t] += program.regulariser.slope(0.0) * unit[t]
    if constraints is not None:
        on_w, limit, equal = constraints.scaled_rows(unit[:n])
        order = np.r_[np.flatnonzero(equal), np.flatnonzero(~equal)]
        rows = sp.vstack([rows, sp.hstack([sp.csc_array(on_w[order]), sp.csc_array((order.size, n_columns - n))])])
        right = np.r_[right, limit[order]]
        cones = [*cones, clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int((~equal).sum()))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.time_limit = math.inf if time_limit is None else time_limit
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ROUNDING
    scale = max(float(np.abs(linear).max()), 1e-9 * float(quadratic.max()), 1e-300)
    triangle = sp.csc_matrix(np.triu(quadratic / scale))
    solution = clarabel.DefaultSolver(triangle, linear / scale, sp.csc_matrix(rows), right, cones, settings).solve()
    point = unit * np.asarray(solution.x)[:size]
    if constraints is not None:
        slack, dual = (np.asarray(values)[-order.size :] for values in (solution.s, solution.z))
        active = np.zeros(order.size, dtype=bool)
        active[order] = (slack <= _NEAR) & (dual >= slack)
        point[:n] = _on_bounds(constraints, point[:n], active[constraints.limit.size :], 1.0 / unit[:n])
    return np.asarray(point - theta)


def _on_bounds(constraints: ColumnConstraints, w: Array, active: NDArray[np.bool_], spread: Array) -> Array:
    """The point with its active bounds, in the order of `all_rows`, exactly met, and rows to rounding.

    An interior-point method stops a little inside.
    """
    fixed = constraints.lower == constraints.upper
    above, below = np.isfinite(constraints.upper) & ~fixed, np.isfinite(constraints.lower) & ~fixed
    _, at_upper, at_lower = np.split(active, np.cumsum([fixed.sum(), above.sum()]))
    w = np.clip(w, constraints.lower, constraints.upper)
    columns_above, columns_below = np.flatnonzero(above)[at_upper], np.flatnonzero(below)[at_lower]
    w[columns_above], w[columns_below] = constraints.upper[columns_above], constraints.lower[columns_below]
    found = nearest_feasible(constraints, w, spread)
    return w if found is None else found
