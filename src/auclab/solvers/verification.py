"""Every solution is verified, whatever found it; coefficients that are 0; exact arithmetic where it is small.

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

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, Status
from auclab._core.forms import dense
from auclab._core.tolerances import SMALL_OBJECTIVE, TOLERANCE
from auclab.certificates.scorers import Scorers
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.samples.features import moved_intercept
from auclab.solvers.budget import MOMENT, NEWTON_FEATURES, SECONDS_FOR_MORE
from auclab.solvers.canonical import as_returned, canonical, nearest_feasible, value_returned
from auclab.solvers.certificate import Proof, certify_answer, certify_tree, far_away
from auclab.solvers.rational_simplex import is_small_linear, solve_exactly
from auclab.solvers.solution import Certificate, RawSolution, Solution, Step

#: The gap of a first, rough solve, which others refine.
ROUGH = 1e-2


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
    if multipliers is None or not raw.coef.any():
        return None
    groups = problem.program.used_norm.length_groups(problem.sample.n_features)
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
    total = program.comparisons.total(*(float(part.sum()) for part in multipliers))
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
    if sample.in_blocks or problem.program.kind not in ("hinge", "cvar"):
        return coef, raw.intercept
    weights = problem.program.comparisons.row_weights(sample)
    pos, neg = (
        np.flatnonzero((q > TOLERANCE * weight) & (q < (1.0 - TOLERANCE) * weight))
        for q, weight in zip(multipliers, weights, strict=True)
    )
    if not pos.size + neg.size <= used.size + 1 <= NEWTON_FEATURES:
        return coef, raw.intercept
    rows = sample.stack(sample.take(pos, neg))
    kept = dense(rows[:, used])
    of_lost = rows[:, lost] @ raw.coef[lost]
    change = np.linalg.lstsq(np.c_[kept, np.ones(kept.shape[0])], of_lost, rcond=None)[0]
    coef[used] += change[:-1]
    return coef, problem.program.comparisons.of_intercept(raw.intercept + float(change[-1]))


def _lengths(vector: Array, numbers: NDArray[np.intp], count: int) -> Array:
    """``‖·‖₂`` of every group."""
    return np.asarray(np.sqrt(np.bincount(numbers, weights=np.square(vector), minlength=count)))


def verify(problem: Problem, raw: RawSolution, solver: str, tolerance: float, clock: Clock | None = None) -> Solution:
    """Turn a solver's result into a certified solution, which is OPTIMAL only if the verified gap is small enough.

    `raw`: the result; only the status of a limit is used without a check. `solver`: name of the solver. `tolerance`:
    largest relative gap of the status OPTIMAL. `clock`: of the solve; its limit is for a hard-margin
    separator and for corrections of multipliers; everything else takes a few passes over the rows
    (`auclab.solvers.budget.without_verification`).
    """
    if not (np.isfinite(raw.coef).all() and math.isfinite(raw.intercept)):
        # A limit that was reached before any point is still a limit.
        outcome = Status.FAILED if raw.status is Status.OPTIMAL else raw.status
        raw = RawSolution.null(problem, outcome, raw.timings, "the solver returned no point; w = 0 replaces it")
    if raw.certificate is not None:  # verified where the rows are
        return _solution(problem, raw, raw.certificate, solver, tolerance)
    raw = as_returned(problem, _feasible(problem, _on_bounds(problem, raw, tolerance)))
    given, clock = raw, clock or Clock()
    begin, proving_clock = clock.seconds, clock.later(MOMENT) if raw.status is Status.OPTIMAL else clock
    raw, objective, null_reason = canonical(problem, raw, tolerance, clock)
    proving, of_constraints = problem, None
    scorers: Scorers = ()
    each: Array | None = None
    if math.isfinite(raw.bound):
        certificate, multipliers = certify_tree(raw.bound, objective, raw.norm_bound), raw.multipliers
        if problem.constraints is not None:
            certificate = replace(certificate, violation=problem.constraints.violation(raw.coef))
    else:
        proved = certify_answer(problem, raw, objective, tolerance, proving_clock)
        replaced = given.multipliers is not None and raw.multipliers is not given.multipliers
        if replaced and not proved[1].gap <= tolerance:
            # Those at w = 0 prove it from λ_max on; the solver's may prove that it is as good, within the tolerance.
            own = replace(raw, multipliers=given.multipliers, share_neg=given.share_neg)
            by_own = certify_answer(problem, own, objective, tolerance, proving_clock)
            proved = max(proved, by_own, key=lambda found: found[1].lower_bound)
        if (sparse := with_exact_zeros(problem, raw, proved, tolerance)) is not None:
            raw, objective = sparse
            proved = certify_answer(problem, raw, objective, tolerance, proving_clock)
        proving, certificate, multipliers, of_constraints, scorers, each = proved
    found, pairs = _solution(problem, raw, certificate, solver, tolerance), None
    if each is not None and not problem.sample.is_of_classes:
        upper, lower, _ = problem.sample.pairs()
        used = np.flatnonzero(each > 0)
        pairs = upper[used].astype(np.intp), lower[used].astype(np.intp), each[used]
    return replace(
        found,
        steps=(*raw.steps, Step("value and certificate on the rows as given", clock.seconds - begin)),
        history=raw.history or ((raw.timings.total, certificate.objective, certificate.lower_bound),),
        multipliers=None if multipliers is None else problem.sample.join(*multipliers),
        notes=(*found.notes, null_reason) if found.gap <= tolerance and null_reason else found.notes,
        shares_neg=None if proving is problem else proving.sample.share_neg,
        constraints=problem.constraints,
        constraint_multipliers=of_constraints,
        dual_scorers=tuple((weight, w, width) for weight, w, _, width in scorers),
        dual_pairs=pairs,
        null_for_every_value=null_reason is not None
        and raw.multipliers is not None
        and problem.program.null.holds_for_every_value(problem.sample, raw.multipliers),
    )


def _solution(problem: Problem, raw: RawSolution, certificate: Certificate, solver: str, tolerance: float) -> Solution:
    """The solution with its certificate and status."""
    offset = problem.sample.offset
    return Solution(
        coef=raw.coef,
        intercept=problem.program.comparisons.of_intercept(moved_intercept(raw.intercept, raw.coef, offset, -1.0)),
        formulation=problem.program,
        certificate=certificate,
        status=_status(problem, raw.status, certificate, tolerance),
        solver=solver,
        timings=raw.timings,
        iterations=raw.iterations,
        history=raw.history,
        notes=raw.notes,
        steps=raw.steps,
        bin_multipliers=raw.bin_multipliers,
    )


def _on_bounds(problem: Problem, raw: RawSolution, tolerance: float) -> RawSolution:
    """The result with coefficients that are nearly at their bounds moved there, if the objective hardly changes."""
    constraints, spread = problem.constraints, problem.sample.spread
    if constraints is None or not constraints.is_convex:
        return raw
    near = TOLERANCE * max(1.0, float(abs(raw.coef * spread).max(initial=0.0))) / spread
    coef = np.where(abs(raw.coef - constraints.lower) <= near, constraints.lower, raw.coef)
    coef = np.where(abs(raw.coef - constraints.upper) <= near, constraints.upper, coef)
    if (coef == raw.coef).all():
        return raw
    found = nearest_feasible(constraints, coef, spread)
    inside = nearest_feasible(constraints, raw.coef, spread)
    if found is None or inside is None:
        return raw
    value, other = (problem.objective(point, raw.intercept) for point in (inside, found))
    costs_little = other <= value + ROUGH * tolerance * max(value, SMALL_OBJECTIVE)
    return replace(raw, coef=found) if costs_little else raw


def _feasible(problem: Problem, raw: RawSolution) -> RawSolution:
    """The result moved onto constraints that rounding violates; FAILED if no such point is found."""
    constraints = problem.constraints
    if constraints is None:
        return raw
    coef = nearest_feasible(constraints, raw.coef, problem.sample.spread) if constraints.is_convex else raw.coef
    if coef is None:
        missed = f"{constraints.violation(raw.coef):.2g}"
        note = f"no point near the solver's satisfies the constraints; this one misses them by {missed}"
        return replace(raw, status=Status.FAILED, notes=(*raw.notes, note))
    found = replace(raw, coef=coef)
    violation = constraints.violation(coef)
    if violation > 1e-12 * max(1.0, float(abs(coef).max(initial=0.0))):
        note = f"the constraints are satisfied up to rounding, {violation:.1g}"
        found = replace(found, notes=(*found.notes, note))
    return found


def _status(problem: Problem, status: Status, certificate: Certificate, tolerance: float) -> Status:
    """OPTIMAL if that is proved for every w, OPTIMAL_WITHIN if for those up to the norm bound; a limit stays one."""
    if status is not Status.OPTIMAL:
        return status
    if not math.isfinite(certificate.violation):
        return Status.UNCERTIFIED  # too many features: no bound makes such a point optimal
    if not certificate.gap <= tolerance:
        return Status.ITERATION_LIMIT
    # Small linear programs are decided in rational arithmetic, for w of any length.
    far = math.inf if is_small_linear(problem) and problem.constraints is None else far_away(problem)
    return Status.OPTIMAL if certificate.norm_bound >= far else Status.OPTIMAL_WITHIN


#: What may become OPTIMAL.
_UNPROVED = (Status.OPTIMAL_WITHIN, Status.ITERATION_LIMIT, Status.FAILED)


def finish_exactly(problem: Problem, solution: Solution, tolerance: float, clock: Clock) -> Solution:
    """The solution, or the exact one where it is proved to be better or for more w.

    `solution`: what a solver found; one that is OPTIMAL for every w, or that a limit ended, is returned as it is.
    `tolerance`: largest relative gap of the status OPTIMAL. `clock`: of the solve; the simplex method
    stops after 10 s in any case.
    """
    if solution.status not in _UNPROVED or not is_small_linear(problem):
        return solution
    begin = clock.seconds
    exact = solve_exactly(problem, clock.until(SECONDS_FOR_MORE))
    if exact is None:
        return solution
    # If no hinge is left, none is left either for a w that is longer by more than its rounding.
    longer = 1.0 if exact.value > 0 else 1.0 + TOLERANCE
    note = "solved once more in rational arithmetic: the bound is that over every w"
    raw = RawSolution(
        exact.coef * longer,
        exact.intercept * longer,
        Status.OPTIMAL,
        exact.multipliers,
        solution.iterations,
        solution.timings,
        (*solution.notes, note),
        solution.history,
        bound=exact.value,
        steps=(*solution.steps, Step("solved in rational arithmetic", clock.seconds - begin)),
    )
    found = verify(problem, raw, solution.solver, tolerance)
    if found.status is Status.OPTIMAL:
        return found
    if solution.status is Status.OPTIMAL_WITHIN:
        # Only a w so long that its scores lose their digits does better.
        longest = float(abs(exact.coef).max())
        note = f"over every w the optimum is {exact.value:.6g}, at coefficients up to {longest:.1g}"
        return replace(solution, notes=(*solution.notes, note))
    if found.objective <= solution.objective:
        return found
    intercept = moved_intercept(solution.intercept, solution.coef, problem.sample.offset, 1.0)
    same_point = replace(raw, coef=solution.coef, intercept=intercept)
    return verify(problem, same_point, solution.solver, tolerance)
