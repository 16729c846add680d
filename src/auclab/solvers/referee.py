"""The referee, not the player, scores: every solution is evaluated, bounded and named by this file."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.formulations.base import Program, pair_null_level
from auclab.formulations.norms import dual_norm_of, norm_of
from auclab.formulations.partial_auc import PartialAUC
from auclab.formulations.point_null import point_null_level, point_null_multipliers
from auclab.formulations.sample import Sample
from auclab.kernels.compiling import compile_hinge
from auclab.solvers._hardest import plain_problem
from auclab.solvers.base import Play, Problem, check_blocks, check_capable, check_options
from auclab.solvers.certificate import certify, certify_tree
from auclab.solvers.nonconvex import solve_nonconvex
from auclab.types import Array, AuclabError, Solution, Status, Timings

#: A mean hinge below this is taken for 0: the data are separable.
SEPARATED = 1e-9
#: More margins than this are left to the smoothed method (measured, benchmarks/pair_statements.py).
WINDOWS_UP_TO = 100_000_000
#: Seconds of compiling that are worth a note; to load what is compiled takes less.
NOTEWORTHY = 2.0
#: More features than this, and newton has no matrix for its Hessian.
MANY_FEATURES = 2_000


def solve(
    formulation: Program,
    X: Any,
    y: ArrayLike,
    *,
    solver: str = "auto",
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> Solution:
    """Solve a formulation on a sample and certify what came out.

    Parameters
    ----------
    formulation : Program
        For example ``BufferedAUC()``, ``RankSVM(0.01, norm="l1")`` or ``PartialAUC(0.1)``.
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans; larger is positive.
    solver : str
        "auto", "highs" (linear programs, z > 0, exact AUC), "newton", "cutting_plane", "clarabel" or "scs" (convex
        programs).
    tolerance : float
        Relative gap at or below which the status is OPTIMAL.
    time_limit : float, optional
        Seconds for the solver proper; a solution that came out of a limit is never called OPTIMAL.
    sample_weight : array of shape (n_samples,), optional
    **options
        What the solver takes besides, for example ``pairs="full"`` with "highs".

    Returns
    -------
    Solution
        Objective re-evaluated without pairs, lower bound from repaired dual values, relative gap, seconds.

    Raises
    ------
    AuclabError
        Bad input, an unknown solver or option, or a solver that cannot take the formulation; the message
        names what works.

    Examples
    --------
    >>> from auclab.formulations import BufferedAUC
    >>> solution = solve(BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], solver="highs")
    >>> round(solution.objective, 9), str(solution.status)   # ξ/w ∈ {−3, −1, −1, 1}: the worst two average 0
    (0.5, 'optimal')
    """
    check_limits(tolerance, time_limit)
    problem = Problem(formulation, Sample.from_labels(X, y, sample_weight))
    return solve_problem(problem, solver, tolerance=tolerance, time_limit=time_limit, **options)


def check_limits(tolerance: float, time_limit: float | None) -> None:
    """Raise `AuclabError` unless the tolerance and the seconds are positive."""
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise AuclabError(f"tolerance must be a positive number, got {tolerance}")
    if time_limit is not None and not time_limit > 0:
        raise AuclabError(f"time_limit must be a positive number of seconds or None, got {time_limit}")


def solve_problem(problem: Problem, solver: str, *, tolerance: float, **options: Any) -> Solution:
    """`solve` on a sample that was checked before."""
    formulation = problem.program
    name, reason = (solver, "") if solver != "auto" else choose_solver(problem)
    play = check_capable(name, formulation)
    check_options(name, play, options)
    if problem.sample.in_blocks:
        check_blocks(name)
    limits: dict[str, Any] = {"tolerance": tolerance, **options}
    compiling = compile_hinge()
    answer = _trivial_play(problem)
    if answer is None and formulation.family != "count" and not formulation.is_convex:
        solution = solve_nonconvex(problem, play, judge, name, limits)
    else:
        solution = judge(problem, answer or play(problem, **limits), name, tolerance)
    timings = replace(solution.timings, compile=solution.timings.compile + compiling)
    remarks = [reason] if reason else []
    if timings.compile > NOTEWORTHY:
        remarks.append(f"the kernels were compiled in {timings.compile:.1f} s; later calls find them in a cache")
    return replace(solution, timings=timings, notes=(*remarks, *solution.notes))


def choose_solver(problem: Problem) -> tuple[str, str]:
    """The solver that "auto" stands for, and the reason in one line."""
    program, n_features = problem.program, problem.sample.n_features
    if program.family == "count":
        return "highs", "auto picked highs: counting pairs is a mixed-integer program"
    if program.family == "hardest":
        return "cutting_plane", "auto picked cutting_plane: it forms no pairs"
    if problem.sample.in_blocks:
        return "newton", "auto picked newton: the sample is in blocks"
    if not program.is_convex:
        return "highs", "auto picked highs: z > 0 is solved by a family of linear programs"
    if program.is_linear and problem.n_margins <= WINDOWS_UP_TO:
        return "highs", "auto picked highs: the program is linear"
    if problem.over_pairs and n_features <= MANY_FEATURES:
        why = "so many margins are as good as smooth" if program.is_linear else "the program is conic, and has pairs"
        return "newton", f"auto picked newton: {why}"
    if program.is_linear:
        return "highs", f"auto picked highs: the program is linear, and n = {n_features} is too many for newton"
    if problem.over_pairs or n_features > MANY_FEATURES:
        return "cutting_plane", f"auto picked cutting_plane: n = {n_features} is too many for a Hessian"
    return "clarabel", "auto picked clarabel: the program is conic"


def judge(problem: Problem, play: Play, solver: str, tolerance: float) -> Solution:
    """Turn a solver's answer into a certified solution; its word "optimal" stands only with a gap to show for it."""
    if not (np.isfinite(play.coef).all() and math.isfinite(play.intercept)):
        # A limit that came too early for any point is still a limit.
        outcome = Status.FAILED if play.status is Status.OPTIMAL else play.status
        play = Play.null(problem, outcome, play.timings, "no point came back; w = 0 stands in its place")
    play, objective = _canonical(problem, play)
    if problem.program.family == "count":
        certificate, multipliers = certify_tree(play.bound, objective), None
    else:
        proving = problem
        if play.share_neg is not None and play.multipliers is not None:
            proving = plain_problem(problem, play.share_neg, play.multipliers[1])
        certificate, multipliers = certify(proving, play.coef, play.intercept, play.multipliers, objective)
    proved = play.status is not Status.OPTIMAL or certificate.gap <= tolerance
    status = play.status if proved else Status.ITERATION_LIMIT
    return Solution(
        coef=play.coef,
        intercept=0.0 if problem.over_pairs else play.intercept,
        formulation=problem.program,
        certificate=certificate,
        status=status,
        solver=solver,
        timings=play.timings,
        iterations=play.iterations,
        history=play.history or ((play.timings.total, certificate.objective, certificate.lower_bound),),
        multipliers=None if multipliers is None else problem.sample.join(*multipliers),
        notes=play.notes if play.coef.any() else (*play.notes, *_null_remark(problem, play)),
    )


def _trivial_play(problem: Problem) -> Play | None:
    """W = 0 where a pair program is seen to have nothing better (7.3): all pair weights full prove it."""
    program, sample = problem.program, problem.sample
    if program.family != "hinge" or not problem.over_pairs or (program.squared and program.penalty > 0):
        return None
    if pair_null_level(sample, program.norm) > program.penalty - program.threshold:
        return None
    return Play(
        np.zeros(sample.n_features),
        0.0,
        Status.OPTIMAL,
        (sample.share_pos, sample.share_neg),
        timings=Timings(),
    )


def _canonical(problem: Problem, play: Play) -> tuple[Play, float]:
    """One point where there are many, and its value: w = 0 exactly, the hard margin for separable data."""
    program, sample = problem.program, problem.sample
    objective = problem.objective(play.coef, play.intercept)
    if program.family == "count":
        return (play if objective < 1.0 else replace(play, coef=np.zeros_like(play.coef))), objective
    if program.is_convex and objective >= program.null_value(sample) * (1 - 1e-9):
        return _null_play(problem, play), program.null_value(sample)
    size = norm_of(play.coef, program.norm)
    if objective - program.penalty * (size * size if program.squared else size) > SEPARATED:
        return play, objective
    note = f"the {'pairs' if problem.over_pairs else 'classes'} are linearly separable: no hinge is left"
    if not program.uses_norm and not sample.in_blocks:
        from auclab.models.hard_margin import hard_margin

        separator = hard_margin(problem)
        if separator is not None and problem.objective(*separator) <= objective:
            none = (np.zeros(sample.n_pos), np.zeros(sample.n_neg))
            note += "; of the many optima this is the hard-margin one"
            play = replace(play, coef=separator[0], intercept=separator[1], multipliers=none)
            objective = problem.objective(*separator)
    return replace(play, notes=(*play.notes, note)), objective


def _null_play(problem: Problem, play: Play) -> Play:
    """W = 0 with the multipliers that prove it where it can be proved."""
    program, sample = problem.program, problem.sample
    share_neg = program.null_share(sample) if isinstance(program, PartialAUC) else None
    every = (sample.share_pos, sample.share_neg if share_neg is None else share_neg)
    if problem.over_pairs:
        proof: tuple[Array, Array] | None = every
    elif sample.in_blocks:
        proof = play.multipliers  # the exact ones are those of a program over all rows
    else:
        proof = point_null_multipliers(sample, program.norm)
    coef, intercept = np.zeros_like(play.coef), problem.null_intercept()
    return replace(play, coef=coef, intercept=intercept, multipliers=proof, share_neg=share_neg)


def _null_remark(problem: Problem, play: Play) -> tuple[str, ...]:
    """Why w = 0 is optimal, if it is."""
    program, sample = problem.program, problem.sample
    null_value = program.null_value(sample)
    if program.family == "count":
        return ("no w has any pair right: all observations are equal",)
    if isinstance(program, PartialAUC) and play.multipliers is not None:
        if program.penalty == 0:
            return (
                "w = 0 is optimal: the mean of the positives is a mean of hardest negatives, and every direction "
                "has those above it on average",
            )
        level = dual_norm_of(sample.combine(*play.multipliers), program.norm)
        name = "the least ‖mean(x⁺) − Σ r_j x_j⁻‖_*"
        meaning = "no direction has the hardest negatives below the positives on average"
    elif sample.in_blocks and not problem.over_pairs:
        return ("w = 0 is optimal within the tolerance",)
    elif problem.over_pairs:
        level, name = pair_null_level(sample, program.norm), "‖mean(x⁺) − mean(x⁻)‖_*"
        meaning = "the value is 1 and the bAUC of every linear scorer is 0"
    else:
        level, name = point_null_level(sample, program.norm), "λ_max"
        meaning = f"the value is 2·min(class shares) = {null_value:.4g}"
    if program.squared or program.penalty - program.threshold * null_value < level * (1 - 1e-9):
        return ()
    if program.penalty > 0:
        return (f"w = 0 is optimal because λ = {program.penalty:g} ≥ λ_max = {level:.6g}; {meaning}",)
    if program.threshold < 0:
        name = name if problem.over_pairs else "λ_max / (2·min(class shares))"
        return (f"w = 0 is optimal because −z = {-program.threshold:g} ≥ {name} = {level / null_value:.6g}; {meaning}",)
    return (f"w = 0 is optimal because {name} = {level:.3g}: no linear scorer tells the classes apart; {meaning}",)
