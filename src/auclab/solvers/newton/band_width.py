"""How wide the band of the smoothed hinge may be, and how narrow it can be."""

from __future__ import annotations

import math

from auclab.formulations.problem import Problem
from auclab.solvers.certificate import SMALL_OBJECTIVE
from auclab.solvers.newton.evaluation import Evaluation

#: A band should hold this many margins a variable to be treated as smooth: fewer for conic programs, whose optimum is
#: no vertex and whose windows take longer.
_MIN_MARGINS, _MIN_MARGINS_CONIC = 30, 3
#: The part of the tolerance that the smoothing may leave open.
_SMOOTHING_SHARE = 0.3


def target_width(evaluation: Evaluation, objective: float, tolerance: float) -> float:
    """The half-width at which the smoothing gap is a third of the tolerance: the gap falls as h².

    Parameters
    ----------
    evaluation : Evaluation
    objective : float
        The smoothed value with the penalty.
    tolerance : float
        Relative gap of the solve.
    """
    allowed = _SMOOTHING_SHARE * tolerance * max(objective, SMALL_OBJECTIVE)
    if evaluation.smoothing_gap <= 0:
        return math.inf
    return evaluation.half_width * math.sqrt(min(1.0, allowed / evaluation.smoothing_gap))


def smooth_width(evaluation: Evaluation, problem: Problem) -> float:
    """The half-width at which the band holds just enough margins to be treated as smooth."""
    margins = evaluation.band_share * problem.n_margins
    per_variable = _MIN_MARGINS if problem.program.is_linear else _MIN_MARGINS_CONIC
    needed = per_variable * (problem.sample.n_features + 1)
    return evaluation.half_width * needed / margins if margins > 0 else math.inf
