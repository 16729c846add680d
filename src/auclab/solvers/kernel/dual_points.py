"""Dual points of a sample over a kernel's space: of multipliers, of a solve in a span, of h = 0."""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.solvers.kernel.bound import DualPoint, Functions, dual_point, slope_point
from auclab.solvers.kernel.span import Span
from auclab.solvers.kernel.training import Training
from auclab.solvers.raw import RawSolution
from auclab.solvers.verified.marginals import feasible_multipliers
from auclab.solvers.verified.scorers import Scorers, proves_by_slopes
from auclab.types import Array


def from_multipliers(training: Training, pos: Array, neg: Array, share_neg: Array | None) -> DualPoint:
    """The dual point of multipliers that may be infeasible by rounding.

    `share_neg` (n_neg,): of partial AUC the weights of the negatives.
    """
    proving = training.without_features.dual_problem(share_neg, neg)
    share = proving.sample.share_neg if share_neg is not None else None
    return dual_point(proving, training.matrix, *feasible_multipliers(proving, pos, neg), share)


def from_solve(training: Training, problem: Problem, raw: RawSolution, span: Span) -> DualPoint | None:
    """The dual point of a solve of `problem`, on the features of `span`; None if it ended without multipliers."""
    if proves_by_slopes(problem.program):
        scorers = raw.scorers or ((1.0, raw.coef, raw.intercept, 0.0),)
        each = None if raw.scorers else raw.margin_multipliers
        is_known = each is None and not problem.sample.is_of_classes
        functions = _functions(problem, scorers, span) if is_known else None
        return slope_point(problem, training.matrix, scorers, each, functions)
    if raw.multipliers is None or not all(np.isfinite(part).all() for part in raw.multipliers):
        return None
    return from_multipliers(training, *raw.multipliers, raw.share_neg)


def _functions(problem: Problem, scorers: Scorers, span: Span) -> Functions:
    """Scorers of the features of a span as functions: their coefficients at the landmarks."""
    found = []
    for weight, w, _, half_width in scorers:
        coefficients, program = np.zeros(problem.sample.n_pos), problem.program
        coefficients[span.landmarks] = span.coefficients(w)
        found.append((weight, coefficients, half_width, 1.0 - program.threshold * program.regulariser.norm(w)))
    return tuple(found)


def of_zero(training: Training) -> DualPoint:
    """The dual point of h = 0: every margin with its full weight, if the sums of the classes agree."""
    program, labels = training.program, training.labels
    if proves_by_slopes(program):
        scorers = ((1.0, np.zeros(1), 0.0, 0.0),)
        functions = ((1.0, np.zeros(training.matrix.size), 0.0, 1.0),)
        return slope_point(training.without_features, training.matrix, scorers, functions=functions)
    pos, neg = (labels.share_pos, labels.share_neg) if program.comparisons.name == "pairs" else labels.point_weights
    share = program.comparisons.worst_negatives(np.arange(float(labels.n_neg)), labels)
    return from_multipliers(training, pos, neg if share is None else share, share)
