"""A shorter step where a Newton step went far beyond the minimum along its direction.

The smoothed loss is convex and piecewise quadratic, and a step that leaves the piece may overshoot by far. Along the
step the derivative of the whole objective rises; its zero is found by the secant method within a bracket. Newton steps
with such a search for sums of hinges: Keerthi & DeCoste (2005), "A modified finite Newton method for fast solution of
large scale linear SVMs".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from auclab.solvers.smoothed.evaluation import Evaluation
from auclab.types import Array

#: The search ends when the derivative is below this fraction of the one at the start, or after this number of points.
_FLAT, _MAX_POINTS = 0.2, 8
#: Least distance of a new point from the ends of the bracket, as a fraction of its length.
_INSIDE = 0.05


@dataclass(frozen=True)
class Trial:
    """A point on the step: its length in units of the step, and the smoothed loss with the gradients there.

    `theta` (n_features + 2,). `negative_gradient` (n_features + 2,): that of the loss. `slope`: the derivative of the
    whole objective along the step.
    """

    length: float
    theta: Array
    evaluation: Evaluation
    negative_gradient: Array
    slope: float


def is_too_far(slope: float, trial: Trial) -> bool:
    """Whether the objective increases at a trial about as fast as it decreases at the start (`slope`)."""
    return slope < 0.0 and trial.slope > -0.5 * slope


def shortened(slope: float, trial: Trial, point_at: Callable[[float], Trial]) -> Trial:
    """A trial near the minimum along the step.

    `slope`: the derivative at the start, negative. `trial`: beyond the minimum: its slope is positive. `point_at`: the
    trial at a length.
    """
    low, slope_low, high, slope_high = 0.0, slope, trial.length, trial.slope
    for _ in range(_MAX_POINTS):
        part = slope_low / (slope_low - slope_high)
        trial = point_at(low + (high - low) * min(max(part, _INSIDE), 1.0 - _INSIDE))
        if abs(trial.slope) <= _FLAT * abs(slope):
            break
        if trial.slope > 0:
            high, slope_high = trial.length, trial.slope
        else:
            low, slope_low = trial.length, trial.slope
    return trial
