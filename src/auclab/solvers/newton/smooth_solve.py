"""Newton's method where the loss has no kink: there is no band to narrow, and its steps end at the exact minimum.

A piecewise quadratic loss is its own model near the minimum, so that once no margin changes its piece one step ends
there; what is certified are the multipliers at that point (`auclab.solvers.verified.scorers`).
"""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.solvers.certificate import certify_scorers
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.damped_newton import DampedNewton
from auclab.solvers.newton.smoothed_loss import smooth_loss
from auclab.solvers.newton.subsampling import nested_subsamples
from auclab.solvers.raw import RawSolution
from auclab.types import Array, Status

#: Half-widths of the band at which a loss with kinks is followed, in units of the margins; a smooth one has none.
_HALF_WIDTHS = (0.3, 0.03, 3e-3, 3e-4, 3e-5)
#: The part of the value that a step must still promise.
_CONVERGED = 1e-16


def solve_smooth(
    problem: Problem, tolerance: float, monitor: Monitor, start: tuple[Array, float] | None
) -> RawSolution:
    """Subsamples, then all observations, until the certified gap is within the tolerance.

    Parameters
    ----------
    problem : Problem
        With a loss other than the hinge.
    tolerance : float
        Relative gap.
    monitor : Monitor
    start : (array of shape (n_features,), float), optional
        A point ``(w, b)`` to begin with.
    """
    program, full = problem.program, problem.sample
    method = DampedNewton(program, full.spread, monitor)
    coef, intercept = start or (np.zeros(full.n_features), problem.null_intercept())
    theta, half_widths = method.on_cone(np.r_[coef, intercept, 0.0]), _HALF_WIDTHS[:1]
    for sample in [] if start else nested_subsamples(full):
        fewest = min(sample.n_pos, sample.n_neg)
        iterate = method.minimise(
            smooth_loss(problem, sample), theta, half_widths[0], noise=full.n_features / fewest, ridge=1.0 / fewest
        )
        theta = iterate.theta
    loss = smooth_loss(problem, full)
    for half_width in half_widths if program.loss.is_smooth else _HALF_WIDTHS:
        theta = method.minimise(loss, theta, half_width, relative_tolerance=_CONVERGED).theta
        coef, intercept = theta[:-2], float(theta[-2])
        objective = problem.objective(coef, intercept)
        certificate, _ = certify_scorers(problem, coef, objective, [(1.0, coef, intercept)])
        monitor.record(objective, certificate.lower_bound)
        if certificate.gap <= tolerance or monitor.stopped():
            break
    status = Status.OPTIMAL if certificate.gap <= tolerance else monitor.stopped() or Status.ITERATION_LIMIT
    timings, history = Timings(solve=monitor.seconds), tuple(monitor.history)
    return RawSolution(coef, intercept, status, None, method.iterations, timings, history=history)
