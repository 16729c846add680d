"""The step of a Newton method on ``loss(θ) + λ t`` (or ``λ t²``) with ``t = ‖w‖``: a small program in θ = (w, b, t).

    min over Δ    −G·Δ + ½ ΔᵀHΔ + penalty(t + Δt)      s.t.   ‖w + Δw‖ ≤ t + Δt

Without a norm it is a linear system. The l2 norm is smooth away from 0, and a few Newton steps on the model give its
minimum to rounding; at 0, and for l1 and linf, it is a conic program of n variables for Clarabel. Where H is only
known by its products, systems are solved by conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from scipy.sparse.linalg import LinearOperator, cg

from auclab.formulations.base import Program
from auclab.solvers.newton.smoothed_loss import BandHessian
from auclab.types import Array

#: Collinear features leave the Hessian singular; this much of its scale keeps the step finite and changes it little.
_RIDGE = 1e-10
#: Newton steps on the model with the l2 norm, the same where each costs many products, and the decrease, relative to
#: the model's terms, that is rounding.
_INNER_STEPS, _INNER_STEPS_BY_PRODUCTS, _INNER_ROUNDING = 30, 2, 1e-15
#: A vector shorter than this part of the one before is taken for 0.
_NEXT_TO_NOTHING = 1e-6
#: Conjugate gradients: the part of the right-hand side that may be left, and the products it may cost.
_CG_REST, _CG_PRODUCTS = 1e-2, 200

Hessian = Array | BandHessian


def proximal_step(program: Program, hessian: Hessian, gradient: Array, theta: Array, spread: Array) -> Array:
    """The step Δ, shape (n + 2,).

    `gradient` is G, the negative gradient of the loss at `theta`. `spread` is the mean square of the entries of D, the
    natural scale of the Hessian; what holds back singular directions is taken relative to it.
    """
    model = _Model(program, hessian, gradient, theta, spread)
    if not program.uses_norm:
        return model.newton(np.zeros_like(theta))
    if program.norm == "l2":
        step = _round_norm(model)
        if step is not None or not isinstance(hessian, np.ndarray):
            return np.zeros_like(theta) if step is None else step
    return model.conic()


class _Model:
    """The quadratic model with its norm, in the variables that the program has."""

    def __init__(self, program: Program, hessian: Hessian, gradient: Array, theta: Array, spread: Array):
        self.program, self.hessian, self.gradient, self.theta = program, hessian, gradient, theta
        self.n = theta.size - 2
        self.points = program.over == "points"
        self.used = np.r_[: self.n, [self.n] if self.points else []].astype(int)
        diagonal = hessian.diagonal()
        self.ridge = _RIDGE * np.maximum(diagonal, 1e-3 * spread)
        self.diagonal = diagonal + self.ridge

    def curve(self, step: Array) -> Array:
        """``H·step``."""
        return self.hessian @ step + self.ridge * step

    def value(self, step: Array) -> float:
        """The model at a step that ends on the cone."""
        t = self.theta[-1] + step[-1]
        penalty = self.program.penalty * float(t * t if self.program.squared else t)
        return float(0.5 * step @ self.curve(step) - self.gradient @ step) + penalty

    def newton(self, step: Array, w: Array | None = None, pull: float = 0.0, stretch: float = 0.0) -> Array:
        """A Newton step of the model from `step`, in (w, b).

        With ``w = theta + step`` given, ``t = ‖w‖`` follows it: `pull` is the derivative of the whole model in t,
        divided by ‖w‖, and `stretch` the second derivative of the penalty.
        """
        n, used = self.n, self.used
        u = np.zeros(n) if w is None else w / np.linalg.norm(w)
        right = self.gradient - self.curve(step)
        if w is not None:
            right[:n] -= pull * w
        bend = max(pull, 0.0)
        if isinstance(self.hessian, np.ndarray):
            matrix = self.hessian[:-1, :-1] + np.diag(self.ridge[:-1])
            if w is not None:
                across = np.outer(u, self.hessian[-1, :-1])
                matrix[:n] += across
                matrix[:, :n] += across.T
                matrix[:n, :n] += (self.hessian[-1, -1] + self.ridge[-1] + stretch - bend) * np.outer(u, u)
                matrix[np.arange(n), np.arange(n)] += bend
            moved = _linear(matrix[np.ix_(used, used)], right[used])
        else:

            def product(reduced: Array) -> Array:
                move = np.zeros(n + 2)
                move[used] = reduced
                along = u @ move[:n]
                move[-1] = along
                force = self.curve(move)
                force[:n] += (force[-1] + (stretch - bend) * along) * u + bend * move[:n]
                return np.asarray(force[used])

            moved = _by_products(product, right[used], self.diagonal[used] + bend)
        move = np.zeros(n + 2)
        move[used] = moved
        return move

    def conic(self) -> Array:
        """The minimum by Clarabel."""
        if not isinstance(self.hessian, np.ndarray):
            raise TypeError("a conic step needs the Hessian's entries")
        used = np.r_[self.used, self.n + 1]
        curved = (self.hessian + np.diag(self.ridge))[np.ix_(used, used)]
        step = np.zeros(self.theta.size)
        step[used] = _conic(self.program, curved, self.gradient[used], self.theta, self.points)
        return step


def _round_norm(model: _Model) -> Array | None:
    """The minimum of the model with the l2 norm, or None where w comes near to 0."""
    program, theta, n = model.program, model.theta, model.n
    step = np.zeros_like(theta)
    least = _NEXT_TO_NOTHING * float(np.linalg.norm(theta[:n]))
    if least == 0:
        return None
    value = model.value(step)
    size_of_terms = abs(value) + float(np.abs(model.gradient @ theta))
    for _ in range(_INNER_STEPS if isinstance(model.hessian, np.ndarray) else _INNER_STEPS_BY_PRODUCTS):
        w = theta[:n] + step[:n]
        size = float(np.linalg.norm(w))
        slope_t = float((model.curve(step) - model.gradient)[-1])
        slope_t += program.penalty * (2.0 * size if program.squared else 1.0)
        stretch = 2.0 * program.penalty if program.squared else 0.0
        move = model.newton(step, w, slope_t / size, stretch)
        length = 1.0
        while True:
            candidate = step + length * move
            candidate[-1] = float(np.linalg.norm(theta[:n] + candidate[:n])) - theta[-1]
            new = model.value(candidate)
            if new < value or length < 1e-3:
                break
            length *= 0.25
        if theta[-1] + candidate[-1] <= least:
            return None
        if not new < value - _INNER_ROUNDING * size_of_terms:
            return step
        step, value = candidate, new
    return step


def _linear(matrix: Array, right: Array) -> Array:
    # Scaled to unit diagonal: features may differ in scale by many orders.
    unit = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    scaled = matrix * unit[:, None] * unit[None, :]
    try:
        return np.asarray(unit * cho_solve(cho_factor(scaled), unit * right))
    except LinAlgError:
        return np.asarray(unit * lstsq(scaled, unit * right)[0])


def _by_products(product: Callable[[Array], Array], right: Array, diagonal: Array) -> Array:
    unit = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
    scaled = LinearOperator((right.size, right.size), matvec=lambda v: unit * product(unit * v), dtype=np.float64)
    return np.asarray(unit * cg(scaled, unit * right, rtol=_CG_REST, atol=0.0, maxiter=_CG_PRODUCTS)[0])


def _conic(program: Program, curved: Array, gradient: Array, theta: Array, points: bool) -> Array:
    """Variables (w_new, [b_new], t_new[, |w| parts for l1]), columns in units of the curvature."""
    n = theta.size - 2
    center = np.r_[theta[:n], theta[n : n + 1] if points else [], theta[-1:]]
    size, t = center.size, center.size - 1
    unit = 1.0 / np.sqrt(np.maximum(curved.diagonal(), 1e-300))
    unit = np.minimum(unit, 1e6 * np.median(unit))
    n_parts = n if program.norm == "l1" else 0
    quadratic = np.zeros((size + n_parts, size + n_parts))
    quadratic[:size, :size] = curved * unit[:, None] * unit[None, :]
    linear = np.zeros(size + n_parts)
    linear[:size] = unit * (-gradient - curved @ center)
    if program.squared:
        quadratic[t, t] += 2.0 * program.penalty * unit[t] ** 2
    else:
        linear[t] += program.penalty * unit[t]
    weights = sp.diags_array(unit[:n])
    top = sp.csc_array(([unit[t]], ([0], [t])), shape=(1, size + n_parts))
    w_rows = sp.hstack([weights, sp.csc_array((n, size - n + n_parts))])
    if program.norm == "l2":
        rows, cones = sp.vstack([-top, -w_rows]), [clarabel.SecondOrderConeT(n + 1)]
    elif program.norm == "linf":
        tops = sp.vstack([top] * n)
        rows, cones = sp.vstack([w_rows - tops, -w_rows - tops]), [clarabel.NonnegativeConeT(2 * n)]
    else:
        parts = sp.hstack([sp.csc_array((n, size)), weights])
        total = sp.csc_array(np.r_[np.zeros(size), unit[:n]][None, :]) - top
        rows, cones = sp.vstack([w_rows - parts, -w_rows - parts, total]), [clarabel.NonnegativeConeT(2 * n + 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    strength = max(float(np.abs(linear).max()), 1e-9 * float(quadratic.max()), 1e-300)
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(quadratic / strength)),
        linear / strength,
        sp.csc_matrix(rows),
        np.zeros(rows.shape[0]),
        cones,
        settings,
    ).solve()
    return np.asarray(unit * np.asarray(solution.x)[:size] - center)
