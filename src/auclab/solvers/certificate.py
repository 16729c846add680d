"""The certificate of a point: its objective, and the lower bound that multipliers prove."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeGuard

import numpy as np

from auclab._core.base import Array
from auclab._core.tolerances import SMALL_OBJECTIVE
from auclab.certificates.bound import proved_bound
from auclab.certificates.scorers import Scorers, proves_by_slopes, scorer_bound
from auclab.certificates.value import DualBound, Goal, dual_bound
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.solvers.solution import Certificate, RawSolution


def relative_gap(objective: float, lower_bound: float) -> float:
    """``(objective − lower_bound) / max(|objective|, 1e-3)``; NaN if either is unknown.

    Examples
    --------
    >>> round(relative_gap(0.5, 0.4), 12), round(relative_gap(1e-5, 0.0), 12)
    (0.2, 0.01)
    """
    return (objective - lower_bound) / max(abs(objective), SMALL_OBJECTIVE)


def certify(
    problem: Problem,
    coef: Array,
    intercept: float,
    multipliers: tuple[Array, Array] | None,
    objective: float | None = None,
) -> tuple[Certificate, tuple[Array, Array] | None]:
    """The certificate of a point in working precision, for the iterations of a solver, and feasible multipliers.

    `multipliers` (n_pos,) and (n_neg,), or None: marginals of a dual point, feasible or not; None if there are none.
    `objective`: the value at the point if it has been computed.
    """
    if objective is None:
        objective = problem.objective(coef, intercept)
    if not _is_usable(multipliers):
        return _certificate(objective), None
    # Weak duality: the dual value of any feasible multipliers is a lower bound (derivations 7.1).
    dual = dual_bound(problem, coef, problem.program.comparisons.feasible(problem.sample, *multipliers))
    return _certificate(objective, dual), _scaled(dual)


def verified_certificate(
    problem: Problem,
    coef: Array,
    multipliers: tuple[Array, Array] | None,
    objective: float,
    tolerance: float,
    clock: Clock | None = None,
) -> tuple[Certificate, tuple[Array, Array] | None, Array | None]:
    """The certificate of a point with this objective, and the multipliers that prove its bound.

    The last are those of the constraints, in the order of `ColumnConstraints.all_rows`.

    `multipliers` (n_pos,) and (n_neg,), or None: of a dual point, feasible or not; None if there are none. `objective`:
    the value at the point. `tolerance`: required relative gap; a larger radius may use a part of it. `clock`: says
    when to stop correcting multipliers.
    """
    violation = 0.0 if problem.constraints is None else problem.constraints.violation(coef)
    if not _is_usable(multipliers):
        return _certificate(objective, violation=violation), None, None
    feasible = problem.program.comparisons.feasible(problem.sample, *multipliers)
    dual = proved_bound(problem, coef, feasible, _goal(objective, tolerance, clock))
    of_constraints = None if dual.constraints is None else dual.scale * dual.constraints
    return _certificate(objective, dual, violation), _scaled(dual), of_constraints


def certify_scorers(
    problem: Problem,
    coef: Array,
    objective: float,
    scorers: Scorers,
    each: Array | None = None,
    tolerance: float = 0.0,
) -> tuple[Certificate, tuple[Array, Array] | None, Array | None]:
    """The certificate of a point for a loss other than the hinge, with rounding charged, and its multipliers.

    The last are those of the constraints, in the order of `ColumnConstraints.all_rows`.

    `problem`, `coef`, `scorers`, `each`: as for `auclab.certificates.scorers.scorer_bound`. `objective`: the value
    at the point. `tolerance`: relative gap of which a part may be lost to a larger radius.
    """
    violation = 0.0 if problem.constraints is None else problem.constraints.violation(coef)
    dual = scorer_bound(problem, coef, scorers, each, _goal(objective, tolerance))
    of_constraints = None if dual.constraints is None else dual.scale * dual.constraints
    return _certificate(objective, dual, violation), _scaled(dual), of_constraints


class Proof(NamedTuple):
    """A certificate, its multipliers, those of the constraints, and their problem.

    `problem` is the one with the weights r of the negatives where there are any. `scorers` are those whose slopes are
    the dual point where it is not that of the point itself, and `each` are the ``q α`` of every margin where these are.
    """

    problem: Problem
    certificate: Certificate
    multipliers: tuple[Array, Array] | None
    of_constraints: Array | None
    scorers: Scorers = ()
    each: Array | None = None


def certify_answer(
    problem: Problem, raw: RawSolution, objective: float, tolerance: float, clock: Clock | None = None
) -> Proof:
    """The certificate of a solver's result."""
    if proves_by_slopes(problem.program):
        # The point's own slopes first: a proof by them can be repeated from what is stored of a run.
        own = ((1.0, raw.coef, raw.intercept, 0.0),)
        found = Proof(problem, *certify_scorers(problem, raw.coef, objective, own, tolerance=tolerance))
        for scorers, each in ((raw.scorers, None), ((), raw.margin_multipliers)):
            if not _is_enough(found.certificate, tolerance) and (scorers or each is not None):
                other = certify_scorers(problem, raw.coef, objective, scorers, each, tolerance)
                proofs = found, Proof(problem, *other, scorers, each)
                found = max(proofs, key=lambda one: (_is_enough(one[1], tolerance), one[1].lower_bound))
        return found
    proving = problem if raw.multipliers is None else problem.dual_problem(raw.share_neg, raw.multipliers[1])
    return Proof(proving, *verified_certificate(proving, raw.coef, raw.multipliers, objective, tolerance, clock))


def _is_enough(certificate: Certificate, tolerance: float) -> bool:
    """Whether the gap is small enough, and the bound for every w."""
    return certificate.gap <= tolerance and math.isinf(certificate.norm_bound)


def certify_tree(bound: float, objective: float, norm_bound: float) -> Certificate:
    """The certificate of a point whose lower bound is that of a branch-and-bound tree, for w up to a length."""
    return Certificate(objective, bound, objective - bound, relative_gap(objective, bound), math.nan, norm_bound)


def far_away(problem: Problem) -> float:
    """The length of w, in the norm of `Certificate.norm_bound`, beyond which its margins are rounding errors.

    At 2⁵² times the w whose scores differ by about 1, the rounding of a score alone is as large as a unit margin.
    """
    return 2.0**52 * problem.lengths.unit


def _goal(objective: float, tolerance: float, clock: Clock | None = None) -> Goal:
    return Goal(objective, tolerance * max(objective, SMALL_OBJECTIVE), clock or Clock())


def _is_usable(multipliers: tuple[Array, Array] | None) -> TypeGuard[tuple[Array, Array]]:
    return multipliers is not None and all(np.isfinite(part).all() for part in multipliers)


def _scaled(dual: DualBound) -> tuple[Array, Array]:
    return dual.scale * dual.multipliers[0], dual.scale * dual.multipliers[1]


def _certificate(objective: float, dual: DualBound | None = None, violation: float = 0.0) -> Certificate:
    """The certificate of a point with this objective; without multipliers its gap is NaN."""
    if dual is None:
        return Certificate(objective, math.nan, math.nan, math.nan, math.nan, violation=violation)
    gap = relative_gap(objective, dual.bound)
    return Certificate(objective, dual.bound, objective - dual.bound, gap, dual.residual, dual.radius, violation)
