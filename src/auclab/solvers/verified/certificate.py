"""The certificate of a point, in which every rounding is accounted for."""

from __future__ import annotations

import math

import numpy as np

from auclab.formulations.problem import Problem
from auclab.solvers.certificate import SMALL_OBJECTIVE, feasible_multipliers, relative_gap
from auclab.solvers.solution import Certificate
from auclab.solvers.verified.bound import Goal, proved_bound
from auclab.types import Array


def verified_certificate(
    problem: Problem,
    coef: Array,
    multipliers: tuple[Array, Array] | None,
    objective: float,
    tolerance: float,
) -> tuple[Certificate, tuple[Array, Array] | None, Array | None]:
    """The certificate of a point with this objective, and the multipliers that prove its bound.

    The last are those of the constraints, in the order of `ColumnConstraints.all_rows`.

    Parameters
    ----------
    problem : Problem
    coef : array of shape (n_features,)
    multipliers : pair of arrays of shapes (n_pos,) and (n_neg,), or None
        Of a dual point, feasible or not; None if there are none.
    objective : float
        The value at the point.
    tolerance : float
        Relative gap that is wanted; a larger radius may cost a part of it.

    See Also
    --------
    auclab.solvers.certificate.certify : In working precision, for the iterations of a solver.
    """
    violation = 0.0 if problem.constraints is None else problem.constraints.violation(coef)
    if multipliers is None or not all(np.isfinite(part).all() for part in multipliers):
        return Certificate(objective, math.nan, math.nan, math.nan, math.nan, violation=violation), None, None
    feasible = feasible_multipliers(problem, *multipliers)
    goal = Goal(objective, tolerance * max(objective, SMALL_OBJECTIVE))
    proved = proved_bound(problem, coef, feasible, goal)
    certificate = Certificate(
        objective=objective,
        lower_bound=proved.bound,
        absolute_gap=objective - proved.bound,
        gap=relative_gap(objective, proved.bound),
        dual_residual=proved.residual,
        norm_bound=proved.radius,
        violation=violation,
    )
    of_constraints = None if proved.constraints is None else proved.scale * proved.constraints
    return certificate, (proved.scale * proved.multipliers[0], proved.scale * proved.multipliers[1]), of_constraints


def far_away(problem: Problem) -> float:
    """The length of w, in the norm of `Certificate.norm_bound`, from which on its margins are rounding.

    At 2⁵² times the w whose scores differ by about 1, the rounding of a score alone is as large as a unit margin.

    See Also
    --------
    auclab.types.Status : OPTIMAL is for all w up to this length, whatever the data.
    """
    unit = problem.program.regulariser.norm(1.0 / problem.sample.spread) if problem.program.uses_norm else 1.0
    return 2.0**52 * unit
