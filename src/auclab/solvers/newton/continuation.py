"""The minima of the smoothed program as the band narrows, followed until the last one is certified.

Between changes of the set of margins in the band the minimum θ(h) is an affine function of the half-width h, so that

* the minimum at the next half-width is nearly ``θ₁ + (θ₁ − θ₀)(h − h₁)/(h₁ − h₀)``, and a few Newton steps end at it;
* ``h = 0`` in the same formula is the exact optimum once the margins at the kink are the only ones in the band, even
  where very many margins are tied there, as in tables of binary columns.

At an exact minimum the multipliers of the band satisfy the dual constraint, whatever h is, so a certified gap that is
larger than the smoothing explains comes from steps that have not converged: a column that few observations have enters
the constraint with as much weight as any other, and the smoothed value hardly with any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from auclab.formulations.problem import Problem
from auclab.solvers.certificate import SMALL_OBJECTIVE, relative_gap
from auclab.solvers.newton.band_width import target_width
from auclab.solvers.newton.certified_step import certified_step
from auclab.solvers.newton.damped_newton import DampedNewton, Iterate
from auclab.solvers.newton.evaluation import Evaluation
from auclab.solvers.newton.hessian_operator import Hessian
from auclab.solvers.newton.smoothed_loss import Loss
from auclab.solvers.raw import RawSolution
from auclab.solvers.solution import Certificate
from auclab.types import Array, Status

#: Half-widths on one path at most, and the smallest of all, in units of the margins.
_MAX_WIDTHS, _LEAST_WIDTH = 25, 1e-8
#: The next half-width relative to the last: after a minimum that took few steps, after others, and at the end.
_FAST, _SLOW, _LAST = 0.1, 0.3, 0.5
_FEW_STEPS = 4
#: A minimum is certified once its smoothing gap is below the first number times the gap that is wanted; where it took
#: more than a few steps, so that a certificate costs little beside them, once it is below the second.
_NEARLY, _FAR = 3.0, 1e3
#: Steps at one half-width end where the reduction left is below the first part of the smoothing gap; where the
#: certificate says that this was too early, at the others.
_CONVERGED = (1e-2, 1e-6, 1e-10, 1e-14)
#: A certified gap above this many times the smoothing gap is due to steps that have not converged.
_MAX_GAP_RATIO = 3.0
_MAX_STEPS = 100


@dataclass(frozen=True)
class _Best:
    """The point of least objective and the multipliers of the largest bound, which may belong to different minima.

    The multipliers of a converged minimum prove nearly the optimum where its point, a little beside the kinks, is still
    far from it; and rounding makes those of a very narrow band worse again.
    """

    point: RawSolution
    proof: RawSolution
    objective: float
    bound: float

    @classmethod
    def of(cls, before: _Best | None, solution: RawSolution, certificate: Certificate) -> _Best:
        """The best of what there was and another solution."""
        found = cls(solution, solution, certificate.objective, certificate.lower_bound)
        if before is None:
            return found
        least, largest = min(before, found, key=lambda b: b.objective), max(before, found, key=lambda b: b.bound)
        return cls(least.point, largest.proof, least.objective, largest.bound)

    @property
    def gap(self) -> float:
        """The relative gap of the point with the multipliers."""
        return relative_gap(self.objective, self.bound)

    def solution(self, status: Status) -> RawSolution:
        """The point with the multipliers."""
        point, proof = self.point, self.proof
        return replace(
            proof,
            coef=point.coef,
            intercept=point.intercept,
            status=status,
            iterations=max(point.iterations, proof.iterations),
        )


def follow_minima(
    problem: Problem,
    tolerance: float,
    method: DampedNewton,
    loss: Loss,
    theta: Array,
    half_width: float,
    hessian: Hessian | None = None,
    *,
    at_minimum: Callable[[Array], RawSolution | None] = lambda theta: None,
) -> tuple[RawSolution, float]:
    """Follow the minima from `theta` until one has the certified relative gap `tolerance`, or time or widths end.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Relative gap.
    method : DampedNewton
        With the Hessian of all observations: that of a subsample would not converge far enough.
    loss : Loss
        That of all observations.
    theta : array of shape (n_features + 2,)
        ``(w, b, ‖w‖)`` near the minimum at `half_width`.
    half_width : float
    hessian : Hessian, optional
        Taken in place of that of all observations: good enough for `PartialLoss`, which completes it.
    at_minimum : callable
        Called with every minimum; a solution that it returns is the end.

    Returns
    -------
    solution : RawSolution
        With the status OPTIMAL, a limit, or ITERATION_LIMIT where the widths ended.
    half_width : float
        The last one.
    """
    path: list[Iterate] = []
    best: _Best | None = None
    for number in range(_MAX_WIDTHS):
        start, before = _better_start(method, loss, theta, path, half_width), method.iterations
        iterate = method.minimise(
            loss,
            start.theta,
            half_width,
            hessian,
            relative_tolerance=_CONVERGED[0],
            max_steps=_MAX_STEPS,
            evaluation=start,
        )
        steps, theta = method.iterations - before, iterate.theta
        found = at_minimum(theta)
        if found is not None:
            return found, half_width
        path = [*path[-1:], iterate]
        value = iterate.evaluation.value + method.penalty(theta)
        method.monitor.record(value, 0.0)
        wanted = tolerance * max(value, SMALL_OBJECTIVE)
        last = method.monitor.stopped() is not None or number == _MAX_WIDTHS - 1 or half_width <= _LEAST_WIDTH
        if last or iterate.evaluation.smoothing_gap <= wanted * (_NEARLY if steps <= _FEW_STEPS else _FAR):
            for relative_tolerance in _CONVERGED[1:]:
                solution, certificate = certified_step(
                    problem, tolerance, method, loss, iterate, _extrapolated(path, 0.0)
                )
                best = _Best.of(best, solution, certificate)
                if best.gap <= tolerance:
                    return best.solution(Status.OPTIMAL), half_width
                absolute = certificate.absolute_gap
                stopped = method.monitor.stopped()
                if stopped is not None:
                    return best.solution(stopped), half_width
                if absolute <= max(_MAX_GAP_RATIO * iterate.evaluation.smoothing_gap, wanted):
                    break
                iterate = method.minimise(
                    loss, theta, half_width, hessian, relative_tolerance=relative_tolerance, max_steps=_MAX_STEPS
                )
                theta, path = iterate.theta, [*path[:-1], iterate]
        if last:
            break
        half_width = _next_width(iterate, value, tolerance, steps)
    assert best is not None
    return best.solution(method.monitor.stopped() or Status.ITERATION_LIMIT), half_width


def _next_width(iterate: Iterate, value: float, tolerance: float, steps: int) -> float:
    """Near the half-width that the tolerance requires, not too far from the last one."""
    width = iterate.half_width
    target = target_width(iterate.evaluation, value, tolerance)
    return max(min(target, _LAST * width), (_FAST if steps <= _FEW_STEPS else _SLOW) * width)


def _extrapolated(path: list[Iterate], half_width: float) -> Array | None:
    """Where the line through the last two minima is at another half-width."""
    if len(path) < 2:
        return None
    first, second = path
    along = (half_width - second.half_width) / (second.half_width - first.half_width)
    return second.theta + along * (second.theta - first.theta)


def _better_start(method: DampedNewton, loss: Loss, theta: Array, path: list[Iterate], half_width: float) -> Evaluation:
    """The smoothed loss at the last minimum, or at the extrapolated one where its value is less."""
    last, predicted = loss.evaluate(theta, half_width), _extrapolated(path, half_width)
    if predicted is None:
        return last
    other = loss.evaluate(method.feasible(predicted), half_width)
    return min((last, other), key=lambda evaluation: evaluation.value + method.penalty(evaluation.theta))
