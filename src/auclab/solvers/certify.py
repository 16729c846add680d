"""The certificate of any point, whatever found it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError, GroupWeights
from auclab._core.validation import finite_array
from auclab.certificates.scorers import proves_by_slopes
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints, constraints_on_columns
from auclab.formulations.problem import Problem, Ranking
from auclab.formulations.programs import as_formulation
from auclab.margins import Bicliques
from auclab.models.algebraic_model import AlgebraicModel, OwnConstraints
from auclab.samples.features import moved_intercept, moved_intercept_parts
from auclab.solvers.certificate import certify_scorers, verified_certificate
from auclab.solvers.monitor import one_thread_each
from auclab.solvers.registry import check_constrainable
from auclab.solvers.solution import Certificate

#: Differences of scores, relative to their range, below which negatives are taken for tied, one after the other: the
#: scores of a solution are as near to a tie as its gap leaves them.
_TIED = (1e-6, 1e-5, 1e-4, 1e-3)


@dataclass(frozen=True)
class ModelCertificate(Certificate):
    """What is proved about the solution of an algebraic model.

    `coef`, `intercept`: the point that is judged, as it was read from the model. `bound_for`: the scorers that the
    lower bound is about, in words: `gap` says how far the point is from the best of these.
    """

    coef: Array = field(default_factory=lambda: np.empty(0))
    intercept: float = 0.0
    bound_for: str = "every w"


@overload
def certify(
    formulation: AlgebraicModel,
    *,
    multipliers: ArrayLike | None = None,
    solved: Any = None,
    tolerance: float = 1e-6,
) -> ModelCertificate: ...


@overload
def certify(
    formulation: str | Program,
    X: Any,
    y: ArrayLike | None,
    coef: ArrayLike,
    intercept: float = 0.0,
    multipliers: ArrayLike | None = None,
    *,
    shares_neg: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    ordered: bool = False,
    event: ArrayLike | None = None,
    group_weights: GroupWeights = "pairs",
    tolerance: float = 1e-6,
    constraints: Constraints | ColumnConstraints | None = None,
) -> Certificate: ...


def certify(
    formulation: str | Program | AlgebraicModel,
    X: Any = None,
    y: ArrayLike | None = None,
    coef: ArrayLike | None = None,
    intercept: float = 0.0,
    multipliers: ArrayLike | None = None,
    *,
    shares_neg: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    ordered: bool = False,
    event: ArrayLike | None = None,
    group_weights: GroupWeights = "pairs",
    tolerance: float = 1e-6,
    constraints: Constraints | ColumnConstraints | None = None,
    solved: Any = None,
) -> Certificate:
    """Certify a scorer from any source: its exact objective, and a lower bound on the objective of every scorer.

    The bound is the dual value of the multipliers, with every rounding charged to it (docs/guarantees.md); multipliers
    that are not quite feasible are corrected first. `Solution.multipliers` has suitable ones.

    Parameters
    ----------
    formulation : str, Program or AlgebraicModel
        Convex; for z > 0 and counts of pairs there are no multipliers, and the bound is NaN. Or a solved model of
        `auclab.models.build`, which has data and point: then X, y and coef are left out, and multipliers are read from
        the model unless they are given.
    X : array, table or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans, of which the larger is positive, or any two values with `pos_label`.
    coef : array of shape (n_features,)
    intercept : float
        Ignored by pair formulations, where it cancels.
    multipliers : array of shape (n_samples,), optional
        ``Σ_j q_ij`` of every observation over pairs, ``q_i`` over points; ≥ 0. Without them the bound is NaN. For other
        losses and for ranked pairs the multipliers are the slopes of the loss at the point, smoothed at kinks, and this
        argument is ignored.
    shares_neg : array of shape (n_neg,), optional
        Partial AUC: the weights r of the negatives, in their order (`Solution.shares_neg`); if not given, those of the
        highest scores, tied ones in proportion to their multipliers.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; equal to repeating observations.
    pos_label : optional
        The label of the positive class.
    groups, ordered, event, group_weights
        Define the pairs, as in `auclab.solve`.
    tolerance : float
        Relative gap, > 0; a tenth of it may be spent on a larger `norm_bound`.
    constraints : Constraints or ColumnConstraints, optional
        Constraints on w: the bound holds for every w that satisfies them, and `Certificate.violation` is the violation
        of this w. A limit on the number of features is left out of the bound.
    solved : cvxpy.Problem, optional
        The problem that was solved, if it has constraints besides those of the CVXPY model.

    Returns
    -------
    Certificate
        For a model a `ModelCertificate`, whose objective is exact. Its bound takes into account added constraints that
        are linear in w or in the scores. It ignores other constraints and is then valid but loose
        (`ModelCertificate.bound_for` states for which scorers). Without duals, as for integer variables, the bound is
        NaN.

    Raises
    ------
    AuclabError
        Shapes that do not fit, entries that are not finite, what `auclab.solve` refuses, and a lower bound above the
        objective by more than rounding.

    See Also
    --------
    auclab.solve : Finds a scorer together with its multipliers.

    Examples
    --------
    Margins 2, 1, 0 and 3 of ``w = 1``; the multipliers of the optimum, ``w = 1``, prove that no w does better:

    >>> from auclab.formulations import RankSVM
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> found = certify(RankSVM(0.1), X, y, [1.0], multipliers=[0.2, 0.45, 0.45, 0.2])
    >>> round(found.objective, 9), found.lower_bound <= found.objective
    (0.6, True)
    """
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise AuclabError(f"tolerance must be a positive number, got {tolerance}")
    if isinstance(formulation, AlgebraicModel):
        return _of_model(formulation, solved, multipliers, tolerance)
    formulation = as_formulation(formulation)
    if X is None or coef is None or (y is None and not isinstance(formulation.comparisons, Bicliques)):
        raise AuclabError("certify needs a formulation, X, y and coef, or a solved model of auclab.models.build")
    ranking = Ranking(groups, ordered, event, group_weights)
    formulation, sample = ranking.problem_parts(formulation, X, y, sample_weight, pos_label)
    stated = constraints_on_columns(constraints, sample)
    check_constrainable(formulation, stated)
    problem = Problem(formulation, sample, stated if stated is None else replace(stated, max_features=None))
    vector = finite_array("coef", coef, (sample.n_features,))
    return _judged(problem, stated, vector, float(intercept), multipliers, shares_neg, tolerance)


def _of_model(model: AlgebraicModel, solved: Any, multipliers: ArrayLike | None, tolerance: float) -> ModelCertificate:
    """The certificate of a solved model, with what was added to it where that is linear in w."""
    coef, added = model.coef(solved), model.own_constraints(solved)
    problem = replace(model.stated, constraints=added.stated)
    intercept = model.intercept_value(coef)
    found = model.multipliers() if multipliers is None else multipliers
    shares = model.share_neg() if multipliers is None and found is not None else None
    judged = _judged(problem, added.stated, coef, intercept, found, shares, tolerance)
    facts = {each.name: getattr(judged, each.name) for each in fields(judged)}
    return ModelCertificate(**facts, coef=coef, intercept=intercept, bound_for=_bound_for(problem, added))


def _bound_for(problem: Problem, added: OwnConstraints) -> str:
    """The scorers of the lower bound, and the constraints that they need not satisfy."""
    count = 0 if problem.constraints is None else len(problem.constraints.all_rows()[1])
    text = "every w"
    if count:
        text += f" that satisfies the {count} linear constraint{'s' if count > 1 else ''} on it"
    if added.left_out:
        text += f", whether or not it satisfies {', '.join(added.left_out[:3])}"
        text += f" and {len(added.left_out) - 3} more" if len(added.left_out) > 3 else ""
    return text


def _consistent(certificate: Certificate) -> Certificate:
    """A certificate whose bound is not above its objective."""
    if (reason := certificate.contradiction) is not None:
        raise AuclabError(reason)
    return certificate


def _judged(
    problem: Problem,
    stated: ColumnConstraints | None,
    vector: Array,
    intercept: float,
    multipliers: ArrayLike | None,
    shares_neg: ArrayLike | None,
    tolerance: float,
) -> Certificate:
    """The certificate of a point of a problem; `stated` are its constraints, including those the bound ignores."""
    formulation, sample = problem.program, problem.sample
    objective = problem.accurate_objective(vector, *moved_intercept_parts(intercept, vector, sample.offset, 1.0))
    violation = 0.0 if stated is None else stated.violation(vector)
    by_slopes = proves_by_slopes(formulation)
    unknown = Certificate(objective, math.nan, math.nan, math.nan, math.nan, violation=violation)
    if not formulation.is_convex:
        return unknown
    if by_slopes:
        b = moved_intercept(intercept, vector, sample.offset, 1.0)
        widths = (0.0,) if formulation.loss.is_smooth else (0.0, *(2.0**-k for k in range(37)))
        found = (certify_scorers(problem, vector, objective, [(1.0, vector, b, h)])[0] for h in widths)
        return _consistent(replace(_first_or_best(found, tolerance), violation=violation))
    if multipliers is None:
        return unknown
    values = finite_array("multipliers", multipliers, sample.positive.shape)
    pos, neg = values[sample.positive], values[~sample.positive]
    if shares_neg is not None:
        choices: list[Array | None] = [finite_array("shares_neg", shares_neg, (sample.n_neg,))]
    else:
        scores_neg = np.asarray(sample.X_neg @ vector)
        choices = [formulation.comparisons.dual_shares(scores_neg, neg, sample, tied) for tied in _TIED]
        choices = choices if choices[0] is not None else [None]
    with one_thread_each():
        found = (
            verified_certificate(problem.dual_problem(shares, neg), vector, (pos, neg), objective, tolerance)[0]
            for shares in choices
        )
        return _consistent(replace(_first_or_best(found, tolerance), violation=violation))


def _first_or_best(found: Iterator[Certificate], tolerance: float) -> Certificate:
    """The first certificate whose gap is small enough, or the one with the largest bound."""
    best = next(found)
    while not best.gap <= tolerance:
        other = next(found, None)
        if other is None:
            break
        best = max(best, other, key=lambda certificate: certificate.lower_bound)
    return best
