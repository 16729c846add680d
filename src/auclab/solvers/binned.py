"""Large samples in blocks: w out and sums by bins back, with a bound of each pass.

1. The rows that the first look at the data drew (`BlockSample.drawn`) are solved in memory. Their optimum is the first
   point, and their Hessian that of all steps: it has to be good, not exact.
2. A pass at w brings the sums by bins (`bin_sums`) and with them limits of the objective, its gradient, and the program
   of bin means, whose optimum is a lower bound (`bound`).
3. The Newton step leads to the next w. Two or three steps from a sample of 10⁵ rows the objective is within 1e-11 of
   the optimum, and the bound misses it by what pairs within a bin contribute, of second order in the width of the bins;
   their number follows the tolerance.

Where steps do not lower the objective (scores with few values), the minimum of the program of bin means is tried. No
stored array has an entry per row. Derived here; bounds from means of groups of rows are known from linear programming
(Zipkin 1980, "Bounds for row-aggregation in linear programming").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from auclab._core.base import Array, AuclabError, Status
from auclab._core.tolerances import SMALL_OBJECTIVE
from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.samples.blocks.block_sample import BlockSample
from auclab.solvers.binned_loss import BINS, MORE_TERMS, BinnedLoss, BinSums, SumInBins, grid_for, moves_of
from auclab.solvers.certificate import relative_gap, verified_certificate
from auclab.solvers.monitor import Monitor, progress_to
from auclab.solvers.newton.minimise import DampedNewton, NewtonOptions
from auclab.solvers.newton.solver import solve as solve_newton
from auclab.solvers.reformulations import run_solver
from auclab.solvers.registry import PARTS
from auclab.solvers.smoothed import compile_smoothed, smooth_loss
from auclab.solvers.solution import BinMultipliers, Certificate, RawSolution

#: The part of a gap that is left to one of its two causes.
PART_OF_GAP = 0.5
#: Steps without progress after which the method changes, or ends.
PATIENCE = 3


@dataclass(frozen=True)
class BinBound:
    """The lower bound that the bins of one pass prove.

    `bound`, `residual`, `radius`: as `lower_bound`, `dual_residual` and `norm_bound` of
    `auclab.solvers.solution.Certificate`. `coef` (n_features,): where the program of bin means has its minimum.
    `multipliers`: those that prove the bound.
    """

    bound: float
    residual: float
    radius: float
    coef: Array
    intercept: float
    multipliers: BinMultipliers


def bound_of_bins(problem: Problem, loss: BinnedLoss, best: tuple[Array, float], monitor: Monitor) -> BinBound:
    """Minimise the program of bin means, and prove the bound of its multipliers for the rows.

    Multipliers of bins, spread over their rows in proportion to the weights, are feasible for the rows: the same pair
    weighting, the same ``Σ q``, and a ``Σ q d`` that differs by the rounding of the means
    (`auclab.samples.memory.RowRounding`).

    `problem`: of the rows. `loss`: at the point of the last pass. `best`: the best point so far and its objective,
    which determine the lengths of w to cover, and the gap. `monitor`: of the solve, with the required
    relative gap.
    """
    means = Problem(problem.program, loss.bin_means(problem.sample.spread, problem.sample.peaks))
    start = loss.theta[:-2], float(loss.theta[-2])
    with progress_to(lambda progress: None):
        # The small program is solved to this fraction of the tolerance.
        raw = run_solver("newton", means, monitor.part(0.05 * monitor.tolerance), start)
    proved, corrected, _ = verified_certificate(means, best[0][:-2], raw.multipliers, best[1], monitor.tolerance)
    # Errors in the weights of bins may make multipliers exceed their capacities, so all multipliers are scaled down.
    longest = loss.sums.longest + MORE_TERMS if loss.sums.weighted else 4
    bound = proved.lower_bound * (1.0 - 2.0**-51 * longest)
    spread_out = loss.multipliers_of_bins(means.sample, corrected, problem.sample.offset)
    return BinBound(bound, proved.dual_residual, proved.norm_bound, raw.coef, raw.intercept, spread_out)


#: The half-width of the band of the Hessian.
_HALF_WIDTH = 0.1
_MAX_PASSES = 40


def is_solved_in_bins(problem: Problem) -> bool:
    """Whether this solver supports a problem in blocks: a mean of hinges without constraints, with drawn rows."""
    if problem.sample.drawn is None or problem.sample.n_features > 500:  # they would not make a good Hessian
        return False
    return PARTS["bins of scores"].takes(problem)


def solve_in_bins(
    problem: Problem,
    monitor: Monitor,
    *,
    n_bins: int | None = None,
    start: tuple[Array, float] | None = None,
    max_passes: int = _MAX_PASSES,
) -> RawSolution | None:
    """Solve to a certified relative gap; None if w = 0 may be the optimum, which other methods prove.

    `problem`: with `is_solved_in_bins`. `monitor`: has the relative gap, takes the history and says when to stop; it
    is called between the passes. `n_bins`: at first; more where the tolerance needs them. `start`: a point near the
    optimum, in place of that of the drawn rows. `max_passes`: after which the best point is returned. Returns: with its
    certificate. The status is ITERATION_LIMIT where the steps ended before the tolerance was reached.
    """
    return BinnedSolve(problem, monitor, n_bins, max_passes).solve(start)


@dataclass(frozen=True)
class State:
    """The state of a solve before its next pass; points are ``θ = (w, b, ‖w‖)``, shape (n_features + 2,).

    `next`: the point of the next pass. `n_bins`: its bins. `passes`: number of passes so far. `best`: the best point so
    far. `value`: its objective, an upper limit. `proof`: the best bound, with its multipliers. `predicted`: decrease of
    the objective that the model predicts for `next`. `step`: from the best point to the last proposed one. `other`: the
    minimum of the last program of bin means. `failures`: passes at worse points since the best one. `tried_other`:
    whether `other` has been tried since the steps converged.
    """

    next: Array
    n_bins: int
    passes: int = 0
    best: Array = field(default_factory=lambda: np.empty(0))
    value: float = np.inf
    proof: BinBound | None = None
    predicted: float = np.inf
    step: Array = field(default_factory=lambda: np.empty(0))
    other: Array = field(default_factory=lambda: np.empty(0))
    failures: int = 0
    tried_other: bool = False

    @property
    def bound(self) -> float:
        """The proved lower bound; −∞ before the first pass."""
        return -np.inf if self.proof is None else self.proof.bound


class BinnedSolve:
    """One solve; points are ``θ = (w, b, ‖w‖)``."""

    def __init__(
        self, problem: Problem, monitor: Monitor, n_bins: int | None = None, max_passes: int = _MAX_PASSES
    ) -> None:
        assert problem.sample.drawn is not None
        self.max_passes = min(max_passes, _MAX_PASSES)
        self.problem, self.tolerance, self.monitor = problem, monitor.tolerance, monitor
        self.sample, self.drawn = cast("BlockSample", problem.sample), problem.sample.drawn
        self.method = DampedNewton(problem.program, problem.sample.spread, monitor)
        self.drawn_loss = smooth_loss(problem, self.drawn)
        # Sums of rows take 64 MB at most.
        self.most_bins = max(64, min(65_536, 64_000_000 // (16 * problem.sample.n_features)))
        self.first_bins = min(4_096 if n_bins is None else n_bins, self.most_bins)

    def solve(self, start: tuple[Array, float] | None = None) -> RawSolution | None:
        """Passes and steps until the gap is proved, a limit is reached, or no step helps."""
        theta = self._first_point(start)
        if theta is None:
            return None
        state = State(theta, self.first_bins)
        while True:
            reason = self.monitor.stopped() or self._too_late(state)
            certified = state.passes > 0 and self._gap(state) <= self.tolerance
            if certified and (reason is not None or state.failures or self._is_accurate(state)):
                return self._solution(state, Status.OPTIMAL)
            if reason is not None:
                return self._solution(state, reason)
            if state.failures > PATIENCE or state.passes >= self.max_passes or not np.isfinite(state.next).all():
                return self._solution(state, Status.ITERATION_LIMIT)
            after = self._after_pass(state)
            if after is None:
                return None
            state = after

    def _first_point(self, start: tuple[Array, float] | None) -> Array | None:
        """The optimum of the drawn rows, or the point that was given; None where that is w = 0."""
        if start is not None:
            return self.method.on_cone(np.r_[start[0], start[1], 0.0])
        part = Problem(self.problem.program, self.drawn)
        left = self.monitor.remaining
        clock = self.monitor.clock.until(None if left is None else 0.5 * left)  # the rest is for passes over all rows
        with progress_to(lambda progress: None):
            # The drawn rows are solved to this relative gap.
            raw = run_solver("newton", part, self.monitor.part(max(self.tolerance, 1e-5), clock))
        return self.method.on_cone(np.r_[raw.coef, raw.intercept, 0.0]) if raw.coef.any() else None

    def _after_pass(self, state: State) -> State | None:
        """The state after a pass at `state.next`: what it proved, and where to go from there."""
        theta, program = state.next, self.problem.program
        loss = self._pass(theta, state.n_bins)
        limits = loss.limits()
        worse = limits.low > state.value
        if limits.high < state.value:
            state = replace(state, best=theta, value=limits.high)
        if program.null.is_attained(state.value, self.sample):
            return None
        found = bound_of_bins(self.problem, loss, (state.best, state.value), self.monitor)
        # A bound cannot exceed the objective by more than this relative amount through rounding.
        if found.bound > state.value * (1.0 + 1e-9):  # one of the two is wrong, and rows tell which
            return None
        other = self.method.on_cone(np.r_[found.coef, found.intercept, 0.0])
        proof = found if found.bound > state.bound else state.proof
        state = replace(state, passes=state.passes + 1, proof=proof)
        self.method.iterations += 1
        self.monitor.record(state.value, max(state.bound, 0.0))
        if worse:
            return self._after_failure(state)
        wanted = self.tolerance * max(state.value, SMALL_OBJECTIVE)
        n_bins = self._bins_for(state.n_bins, limits.high - limits.coarse, wanted)
        step, predicted = self._step(theta, loss)
        # A predicted decrease below this fraction of the required gap is negligible.
        if predicted > 1e-7 * wanted:
            following, tried = self.method.on_cone(theta + step), False
        elif n_bins > state.n_bins:
            following, tried = theta, state.tried_other
        elif not state.tried_other:
            following, tried = other, True
        else:
            return replace(state, failures=PATIENCE + 1)
        moved = following - state.best
        return replace(
            state,
            next=following,
            n_bins=n_bins,
            predicted=predicted,
            step=moved,
            other=other,
            failures=0,
            tried_other=tried,
        )

    def _after_failure(self, state: State) -> State:
        """The next point where the last was worse than the best: the minimum of the bin means, or a shorter step."""
        failures = state.failures + 1
        if failures == 1 and not state.tried_other and state.other.size:
            return replace(state, next=state.other, failures=failures, tried_other=True)
        return replace(state, next=self.method.on_cone(state.best + 0.25**failures * state.step), failures=failures)

    def _pass(self, theta: Array, n_bins: int) -> BinnedLoss:
        """The sums over all rows by bins of their scores at θ."""
        program = self.problem.program
        grid = grid_for(program, self.drawn, theta, n_bins)
        task = SumInBins(np.ascontiguousarray(theta[:-2]), moves_of(program, theta), grid)
        sums: BinSums = self.sample.table.engine.reduce(task, self.sample.labels)
        return BINS[program.comparisons.name](
            program, (self.sample.prior_neg, self.sample.prior_pos), theta, grid, sums
        )

    def _step(self, theta: Array, loss: BinnedLoss) -> tuple[Array, float]:
        """The Newton step with the Hessian of the drawn rows, and the decrease that it predicts."""
        hessian = self.drawn_loss.hessian(self.drawn_loss.evaluate(theta, _HALF_WIDTH))
        negative_gradient = loss.negative_gradient()
        step = self.method.step(hessian, negative_gradient, theta)
        if not np.isfinite(step).all():
            return np.zeros_like(theta), 0.0
        while self.method.is_too_long(step, theta):
            step = 0.25 * step
        after = self.method.penalty(self.method.on_cone(theta + step))
        predicted = float(negative_gradient @ step - 0.5 * step @ (hessian @ step))
        return step, predicted - (after - self.method.penalty(theta))

    def _bins_for(self, n_bins: int, cost: float, wanted: float) -> int:
        """More bins if pairs within a bin cause too large a share of the gap, which falls with the square of n_bins."""
        if cost <= PART_OF_GAP * wanted:
            return n_bins
        needed = n_bins * math.sqrt(cost / (0.5 * PART_OF_GAP * wanted))
        return min(self.most_bins, max(n_bins, int(2 ** math.ceil(math.log2(needed)))))

    def _is_accurate(self, state: State) -> bool:
        """Whether another step would hardly change the objective: it then agrees with that of other solvers."""
        # A certified point is final if the predicted decrease of the next step is below this fraction of the gap.
        return state.predicted <= 3e-4 * self.tolerance * max(state.value, SMALL_OBJECTIVE)

    def _gap(self, state: State) -> float:
        return (state.value - state.bound) / max(state.value, SMALL_OBJECTIVE)

    def _too_late(self, state: State) -> Status | None:
        """Whether a pass would end after the time limit."""
        remaining = self.monitor.remaining
        made = len(self.monitor.history)
        if remaining is None or not made or not state.passes:
            return None
        return Status.TIME_LIMIT if remaining < 0.8 * self.monitor.history[-1][0] / made else None

    def _solution(self, state: State, status: Status) -> RawSolution:
        """The best point with its certificate; before the first pass w = 0, without a certificate."""
        if state.proof is None:
            return RawSolution.null(self.problem, status, Timings(solve=self.monitor.seconds), "no time for a pass")
        bound = max(state.bound, 0.0)
        gap = relative_gap(state.value, bound)
        proof = state.proof
        certificate = Certificate(state.value, bound, state.value - bound, gap, proof.residual, proof.radius)
        note = f"{state.passes} passes over the rows, {state.n_bins:,} bins"
        return RawSolution(
            state.best[:-2],
            float(state.best[-2]),
            status,
            iterations=state.passes,
            timings=Timings(solve=self.monitor.seconds),
            notes=(note,),
            history=tuple(self.monitor.history),
            certificate=certificate,
            bin_multipliers=proof.multipliers,
        )


def solve(
    problem: Problem,
    monitor: Monitor,
    *,
    start: tuple[Array, float] | None = None,
    bins: int | None = None,
    max_iter: int = NewtonOptions.max_iter,
    first_width: float = NewtonOptions.first_width,
    subsample_width: float = NewtonOptions.subsample_width,
    least_width: float = NewtonOptions.least_width,
    subsample_size: int = NewtonOptions.subsample_size,
) -> RawSolution:
    """Solve a convex hinge program over pairs, the hardest pairs (partial AUC) or points to a certified relative gap.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        As for `auclab.solvers.newton.solver.solve`.
    start : (array of shape (n_features,), float), optional
        As for `auclab.solvers.newton.solver.solve`.
    bins : int ≥ 0, optional
        Of large samples in blocks: the bins of the scores at first; 0 for a score of every row in this process. Left
        out, a number that suits the tolerance.
    max_iter : int ≥ 1
        The largest number of Newton steps; over bins, of passes over the rows. The best point so far is then certified
        and returned, with the status ITERATION_LIMIT.
    first_width, subsample_width, least_width : float > 0
    subsample_size : int ≥ 1
        As for `auclab.solvers.newton.minimise.NewtonOptions`.

    Returns
    -------
    RawSolution

    Raises
    ------
    AuclabError
        `bins` for a sample that is not solved over bins; and as `auclab.solvers.newton.solver.solve`.

    See Also
    --------
    auclab.solvers.binned.solve_in_bins : Over bins.
    auclab.solvers.newton.solver.solve : With a score for every row.
    """
    options = NewtonOptions(max_iter, first_width, subsample_width, least_width, subsample_size)
    if bins is not None and bins < 0:
        raise AuclabError(f"solver.bins is {bins}; it is a number of bins, 0 for none, or left out")
    if bins == 0 or not is_solved_in_bins(problem):
        if bins:
            raise AuclabError(
                "solver.bins is for large samples in blocks (from half a million rows, no constraints on w, "
                "formulations that are means of hinges); leave it out"
            )
        return solve_newton(problem, monitor, start=start, options=options)
    compile_smoothed(problem)
    monitor.start()
    solution = solve_in_bins(problem, monitor, n_bins=bins, start=start, max_passes=max_iter)
    if solution is not None:
        # With more rows, a score for each takes too much memory (90 bytes a row) for a second attempt where bins fail.
        many = problem.sample.n_pos + problem.sample.n_neg > 50_000_000
        ended = solution.status is not Status.ITERATION_LIMIT or monitor.stopped() is not None
        if ended or many or solution.iterations >= max_iter:
            return solution
        start, options = (solution.coef, solution.intercept), replace(options, max_iter=max_iter - solution.iterations)
    return solve_newton(problem, monitor.part(monitor.tolerance), start=start, options=options)
