"""Column generation: programs whose norm prices columns separately are solved on a growing working set of columns.

Where ``‖g‖_* ≤ τ`` means ``abs(g_k) ≤ τ c_k`` for every k, as with l1, most columns of a wide table have the weight 0.
The program is solved on some columns; the dual vector ``g = Σ q d`` prices all others exactly; columns above their
limit enter, and so on. The multipliers, scaled until no column is above its limit, prove a bound for all columns after
each round.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, Status
from auclab.formulations.problem import Problem
from auclab.formulations.programs import row_with
from auclab.models.timings import Timings
from auclab.samples.memory import Sample
from auclab.solvers.certificate import certify, relative_gap
from auclab.solvers.monitor import Monitor
from auclab.solvers.reformulations import run_solver
from auclab.solvers.registry import PARTS, SOLVERS
from auclab.solvers.solution import RawSolution, Step

#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: The part of a gap that is left to one of its two causes.
PART_OF_GAP = 0.5
#: The gap of a first, rough solve, which others refine.
ROUGH = 1e-2
#: With fewer columns than this, in all or per row, there is no working set.
_LEAST, _PER_ROW = 1_000, 3.0
#: The part of its limit from which on a column enters. Below 1 it enters before it is above: 1,000 × 10,000 takes 94
#: and 84 steps of interior with l1, 105 and 141 with columns above alone.
_ENTERS = 0.9
#: Columns whose price is below this fraction of the limit leave the working set.
_FAR = 0.8


def generate_columns(name: str, problem: Problem, limits: Array, monitor: Monitor, **options: Any) -> RawSolution:
    """Solve on the columns that the program uses, and some more; the solution is for all columns.

    `name`: of the solver. `limits`: of `column_limits`. `options`: of the solver.
    """
    best, start = _Best(problem, monitor), None
    # The columns whose means differ most between the classes.
    size = int(max(_LEAST // 4, min(problem.sample.n_pos + problem.sample.n_neg, 2_000)))
    apart = abs(problem.sample.mean_difference) / limits
    used = np.sort(np.argpartition(-apart, min(size, apart.size - 1))[:size])
    gap = ROUGH  # columns are still missing
    max_iter = options.pop("max_iter", None)  # of newton: over all rounds
    for _ in range(MOST_STEPS):
        if max_iter is not None:
            if best.iterations >= max_iter:
                return best.ended(Status.ITERATION_LIMIT)
            options["max_iter"] = max_iter - best.iterations
        if monitor.clock.is_over:
            return best.ended(Status.TIME_LIMIT)
        if SOLVERS[name].takes_start and best.found is not None and best.found.coef.any():
            start = best.found.coef[used], best.found.intercept
        is_last, gap = gap <= PART_OF_GAP * monitor.tolerance, max(gap, PART_OF_GAP * monitor.tolerance)
        answer = run_solver(name, _restricted(problem, used), monitor.part(gap), start, **options)
        prices = best.consider(_widened(answer, used, problem.sample.n_features))
        used, grows = _next(problem, answer, prices, limits, used)
        if best.gap <= monitor.tolerance or answer.status is Status.INTERRUPTED or (is_last and not grows):
            return best.ended(answer.status)
        if not grows or best.gap <= gap / ROUGH**0.5:
            gap *= ROUGH
    return best.ended(Status.ITERATION_LIMIT)


def column_limits(problem: Problem) -> Array | None:
    """The limits c of the columns where a program is solved on a working set; None where it is not."""
    sample, n_rows = problem.sample, problem.sample.n_pos + problem.sample.n_neg
    few = sample.n_features < max(_LEAST, _PER_ROW * min(n_rows, 10_000))
    if few or not PARTS["working set of columns"].takes(problem):
        return None
    return problem.program.regulariser.norm.dual_box(sample.n_features)


class _Best:
    """The best point with the best multipliers of all rounds."""

    def __init__(self, problem: Problem, monitor: Monitor):
        self.problem, self.monitor = problem, monitor
        self.found: RawSolution | None = None
        self.proof: RawSolution | None = None
        self.objective, self.bound, self.iterations, self.rounds = np.inf, 0.0, 0, 0

    @property
    def gap(self) -> float:
        """The certified gap over all columns."""
        return relative_gap(self.objective, self.bound)

    def consider(self, answer: RawSolution) -> Array | None:
        """Keep the better point and bound; returns the dual vector of the result's multipliers, None without any."""
        problem = self.problem
        self.iterations, self.rounds = self.iterations + answer.iterations, self.rounds + 1
        objective = problem.objective(answer.coef, answer.intercept)
        if objective < self.objective:
            self.found, self.objective = answer, objective
        if answer.multipliers is None:
            return None
        dual = problem.dual_problem(answer.share_neg, answer.multipliers[1])
        certificate, _ = certify(dual, answer.coef, answer.intercept, answer.multipliers, objective)
        if certificate.lower_bound > self.bound or self.proof is None:
            self.proof, self.bound = answer, certificate.lower_bound
        return problem.sample.combine(*answer.multipliers)

    def ended(self, status: Status) -> RawSolution:
        """The result for all columns."""
        timings = Timings(solve=self.monitor.seconds)
        if self.found is None:
            return RawSolution.null(self.problem, status, timings)
        proof = self.found if self.proof is None else self.proof
        return replace(
            self.found,
            status=status,
            multipliers=proof.multipliers,
            share_neg=proof.share_neg,
            iterations=self.iterations,
            timings=timings,
            steps=(Step(f"column generation, {self.rounds} rounds: {self.iterations:,} iterations", timings.total),),
        )


def _restricted(problem: Problem, used: NDArray[np.intp]) -> Problem:
    sample, regulariser = problem.sample, problem.program.regulariser
    columns: Sample = replace(
        sample, X_pos=sample.X_pos[:, used], X_neg=sample.X_neg[:, used], offset=None, rounding=None, columns=None
    )
    norm = regulariser.norm.restricted(used)
    if norm is regulariser.norm:
        return Problem(problem.program, columns)
    return Problem(row_with(problem.program, regulariser=regulariser.with_norm(norm)), columns)


def _widened(answer: RawSolution, used: NDArray[np.intp], n_features: int) -> RawSolution:
    def back(coef: Array, intercept: float) -> tuple[Array, float]:
        whole = np.zeros(n_features)
        whole[used] = coef
        return whole, intercept

    return answer.moved(back)


def _next(
    problem: Problem, answer: RawSolution, prices: Array | None, limits: Array, used: NDArray[np.intp]
) -> tuple[NDArray[np.intp], bool]:
    """The working set without columns far below their limit, plus outside columns close to or above theirs.

    At most as many enter as are in the set, or 100 if that is more; the second value says whether any does.
    """
    if prices is None or answer.multipliers is None:
        return used, False
    program, sizes = problem.program, abs(prices) / limits
    total = program.comparisons.total(*(float(part.sum()) for part in answer.multipliers))
    slope = program.regulariser.slope(program.regulariser.norm(answer.coef)) - program.threshold * total
    limit = min(max(slope, 0.0), max(float(sizes[used].max(initial=0.0)), 1e-300))
    near = used[sizes[used] >= _FAR * limit]
    sizes[used] = 0.0
    entering = np.flatnonzero(sizes > _ENTERS * limit)
    most = max(used.size, 100)
    if entering.size > most:
        entering = entering[np.argpartition(-sizes[entering], most)[:most]]
    return np.union1d(near, entering), entering.size > 0
