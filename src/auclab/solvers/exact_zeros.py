"""Coefficients that are zero in the optimum are zero in the solution, whichever solver found it.

Over a norm ``Σ_G c_G ‖w_G‖₂``, as of l1, the elastic net and the group lasso, a w is optimal with multipliers q only if
every group has

    ‖g_G‖₂ = s c_G  or  w_G = 0,      g = Σ q d − Aᵀμ,      s = φ'(‖w‖) − z Σ q.

Of the slack ``1 − ‖g_G‖₂/(s c_G)`` and the relative size of w_G one is 0 at the optimum. Near it their product is
small, and the smaller one is noise: groups whose slack exceeds their size are set to 0 (El-Bakry, Tapia & Zhang 1994
tell active constraints from others in this way). The other columns take up what that changes in the scores of rows with
margins at the kink of the hinge, where these are few enough: near a vertex of a linear program they are, and the hinge
rises steeply on one side.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.problem import Problem
from auclab.precision import SMALL_OBJECTIVE, TOLERANCE
from auclab.solvers.budget import NEWTON_FEATURES
from auclab.solvers.canonical import value_returned
from auclab.solvers.certificate import Proof
from auclab.solvers.raw import RawSolution
from auclab.types import Array


def with_exact_zeros(
    problem: Problem, raw: RawSolution, proof: Proof, tolerance: float
) -> tuple[RawSolution, float] | None:
    """The point with its zeros, and its objective; None where nothing changes.

    Fewer groups are set to 0, the most likely ones, where all would leave a gap above the tolerance, or above that of
    the point where it is larger.
    """
    certificate, constraints = proof.certificate, problem.constraints
    # The solver's own multipliers: those of the proof may be corrected to Σ q d = 0, where a penalty hardly counts.
    multipliers = proof.multipliers if raw.multipliers is None else raw.multipliers
    if multipliers is None or not problem.program.uses_norm or not raw.coef.any():
        return None
    groups = problem.program.regulariser.norm.length_groups(problem.sample.n_features)
    if groups is None:
        return None
    likely = _likely_zeros(problem, raw, multipliers, proof.of_constraints, groups)
    largest = certificate.lower_bound + tolerance * max(certificate.objective, SMALL_OBJECTIVE)
    kept = 0  # of the least likely zeros: none, then 1, 2, 4, …
    while kept < likely.size:
        zero = np.isin(groups[0], likely[: likely.size - kept])
        coef, intercept = _without(problem, raw, multipliers, zero)
        if constraints is None or constraints.violation(coef) <= certificate.violation:
            # What proved the bound at the point still does, where it is not the point's own slopes.
            scorers = raw.scorers or ((1.0, raw.coef, raw.intercept, 0.0),)
            found = replace(raw, coef=coef, intercept=intercept, scorers=scorers)
            objective = value_returned(problem, found)
            if objective <= max(largest, certificate.objective):
                return found, objective
        kept = max(1, 2 * kept)
    return None


@np.errstate(all="ignore")  # a column of entries near the largest float has no slack
def _likely_zeros(
    problem: Problem,
    raw: RawSolution,
    multipliers: tuple[Array, Array],
    of_constraints: Array | None,
    groups: tuple[NDArray[np.intp], Array],
) -> NDArray[np.intp]:
    """The groups that are not 0 and have more slack than size, the most likely zeros first."""
    (numbers, factors), sample, program = groups, problem.sample, problem.program
    gradient = sample.combine(*multipliers)  # Σ q d
    if problem.constraints is not None and of_constraints is not None:
        gradient = gradient - problem.constraints.all_rows()[0].T @ of_constraints
    total = float(multipliers[0].sum()) * (1.0 if problem.over_pairs else 2.0)
    slope = program.regulariser.slope(program.regulariser.norm(raw.coef)) - program.threshold * total
    if not slope > 0:
        return np.zeros(0, dtype=np.intp)
    scaled = raw.coef * sample.spread
    size = _lengths(scaled / abs(scaled).max(), numbers, factors.size)
    slack = 1.0 - _lengths(gradient / slope, numbers, factors.size) / factors
    size /= size.max()
    likely = np.flatnonzero((size > 0) & (slack > size))
    return likely[np.argsort(size[likely] / slack[likely])]


def _without(
    problem: Problem, raw: RawSolution, multipliers: tuple[Array, Array], zero: NDArray[np.bool_]
) -> tuple[Array, float]:
    """The w and b with zeros; the least change of the other coefficients that keeps scores at kinks.

    Only rows whose multipliers are neither 0 nor their weight have margins at a kink.
    """
    coef, sample = np.where(zero, 0.0, raw.coef), problem.sample
    used, lost = np.flatnonzero(coef), np.flatnonzero(zero & (raw.coef != 0))
    if sample.in_blocks or not sample.is_of_classes or not problem.program.loss.is_hinge:
        return coef, raw.intercept
    weights = (sample.share_pos, sample.share_neg) if problem.over_pairs else sample.point_weights
    pos, neg = (
        np.flatnonzero((q > TOLERANCE * weight) & (q < (1.0 - TOLERANCE) * weight))
        for q, weight in zip(multipliers, weights, strict=True)
    )
    if not pos.size + neg.size <= used.size + 1 <= NEWTON_FEATURES:
        return coef, raw.intercept
    rows = sample.stack(sample.take(pos, neg))
    kept = rows[:, used].toarray() if sample.is_sparse else rows[:, used]
    of_lost = rows[:, lost] @ raw.coef[lost]
    change = np.linalg.lstsq(np.c_[kept, np.ones(kept.shape[0])], of_lost, rcond=None)[0]
    coef[used] += change[:-1]
    return coef, raw.intercept if problem.over_pairs else raw.intercept + float(change[-1])


def _lengths(vector: Array, numbers: NDArray[np.intp], count: int) -> Array:
    """``‖·‖₂`` of every group."""
    return np.asarray(np.sqrt(np.bincount(numbers, weights=np.square(vector), minlength=count)))
