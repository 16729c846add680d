"""A smoothed Newton method for hinge programs that never forms a pair, with an exact finish.

1. The hinge is smoothed over a band of half-width h (`smoothed_loss`), and a damped Newton method with a proximal step
   for the norm (`damped_newton`, `proximal_step`) follows its minimum by continuation in h: first on nested
   subsamples, then on all observations, where few evaluations are left to do.
2. The band is made as narrow as the tolerance requires: primal and dual value of a smoothed minimum differ by about h²
   times the density of margins at the kink. The multipliers that are certified are those linearised in the last step
   (`certified_step`), so the dual constraint holds to rounding.
3. Where so narrow a band would hold too few margins to be smooth, the optimum is a vertex or nearly one, and a
   trust-region method with small linear or conic programs finds it exactly (`window_finish`). So few margins that one
   window holds them all are solved by it alone (`one_window`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter

import numpy as np

from auclab.compiled.compiling import compile_hardest, compile_smooth, compile_sparse
from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.samples.memory import Sample
from auclab.solvers.certificate import SMALL_OBJECTIVE, relative_gap
from auclab.solvers.monitor import Monitor, monitored
from auclab.solvers.newton.band_width import smooth_width, target_width
from auclab.solvers.newton.certified_step import certified_step
from auclab.solvers.newton.continuation import follow_minima
from auclab.solvers.newton.damped_newton import MAX_DENSE_FEATURES, DampedNewton, Iterate
from auclab.solvers.newton.evaluation import Evaluation
from auclab.solvers.newton.hessian_operator import Hessian
from auclab.solvers.newton.null_solution import null_solution
from auclab.solvers.newton.one_window import fits_one_window, solve_in_one_window
from auclab.solvers.newton.partial_loss import PartialLoss
from auclab.solvers.newton.separated import NO_HINGE, hard_margin_optimum, may_be_hard_margin
from auclab.solvers.newton.smoothed_loss import Loss, smooth_loss
from auclab.solvers.newton.subsampling import nested_subsamples
from auclab.solvers.newton.window_finish import finish_by_windows
from auclab.solvers.raw import RawSolution
from auclab.solvers.scaling import in_own_units
from auclab.solvers.sparse_view import on_sparse_view
from auclab.solvers.threads import one_thread_each
from auclab.solvers.windows import first_window_size
from auclab.types import Array, AuclabError, Status

#: The Hessian of a sample with more observations a class than this is taken from a subsample: it only has to be good,
#: not exact.
_MAX_HESSIAN_SIZE = 40_000
#: With no more observations than this, and entries of the first window (of a linear, of a conic program), the optimum
#: is found exactly, by windows.
_SMALL, _MAX_LINEAR_ENTRIES, _MAX_CONIC_ENTRIES = 2_000, 250_000, 40_000
#: A gap of this part of the tolerance is exact; an exact finish that is not needed starts with the box of this
#: half-width.
_EXACT, _LAST_WIDTH = 1e-2, 1e-3
#: The last band of such a solve holds at most so many margins a variable.
_FEW_MARGINS = 20
#: Half-widths of the first subsample, in units of margins; later ones start from the last.
_HALF_WIDTHS: tuple[float, ...] = (1.0, 0.5, 0.2, 0.07, 0.03)
#: The same from a point near the optimum.
_WARM_HALF_WIDTHS: tuple[float, ...] = (0.2, 0.03)
#: Where a subsample has a point with less than this part of the value of w = 0, that is not the optimum.
_CLEARLY_NOT_NULL = 0.9
#: The half-width at which the continuation with all of the hardest negatives starts.
_LEVEL_START = 0.01
#: Lengths of the first point, relative to the difference of the means in units of the variances.
_FIRST_LENGTHS = (0.1, 0.3, 1.0, 3.0)
#: Variances of the columns that differ by more than this factor are damped in the first point of a program with a norm.
_MIXED = 1e6
_MAX_ROUNDS = 12
#: A round that leaves more than this part of the gap has stalled.
_STALLED = 0.3
#: Of a subsample the coefficients are drawn to 0 by so many observations; of sparse rows by the second number: features
#: that are rare in it would get any.
_SUBSAMPLE_RIDGE, _SPARSE_RIDGE = 1.0, 50.0
#: The smallest relative tolerance of a subproblem, and the ratio of certified gap to smoothing gap above which the gap
#: is due to a subproblem that has not converged.
_MIN_RELATIVE_TOLERANCE, _MAX_GAP_RATIO = 1e-6, 3.0
#: Steps after which the direct step to the final half-width is given up, and the half-width from which the continuation
#: then starts.
_MAX_DIRECT_STEPS, _CONTINUATION_START = 6, 0.1


@in_own_units
@on_sparse_view
def solve(
    problem: Problem,
    *,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    start: tuple[Array, float] | None = None,
) -> RawSolution:
    """Solve a convex hinge program over pairs, the hardest pairs (partial AUC) or points to a certified relative gap.

    Parameters
    ----------
    problem : Problem
        A program of the kind ``hinge`` or ``cvar`` (partial AUC), with any norm; its sample is in memory or in blocks.
    tolerance : float > 0
        Relative gap ``(objective − lower_bound) / max(|objective|, 1e-3)`` at which to stop.
    time_limit : float > 0, optional
        Seconds; none if left out. The result is then the best point so far with a valid, perhaps weak, bound.
    start : (array of shape (n_features,), float), optional
        A point ``(w, b)`` near the optimum, as the solution at a slightly different λ or z is: the widest bands and
        all subsamples but the largest are then left out.

    Returns
    -------
    RawSolution

    Raises
    ------
    AuclabError
        More than 2,000 features where the method needs an n × n matrix: norms l1 and linf, constraints on w, and
        samples in blocks.

    See Also
    --------
    auclab.solvers.cutting_plane.solver.solve : Any convex program, with many features too.

    Notes
    -----
    Newton's method on a smoothed hinge: Lee & Mangasarian (2001), "SSVM", and Chapelle (2007), "Training a support
    vector machine in the primal"; sums over pairs from sorted scores: Lee & Lin (2014), "Large-scale linear RankSVM".
    The linearised multipliers, the smoothed superquantile of partial AUC and the finish by windows are derived here
    (module docstrings).
    """
    _check_size(problem)
    compiling = compile_smooth() + (compile_sparse() if problem.sample.is_sparse else 0.0)
    compiling += compile_hardest() if problem.program.over_hardest else 0.0
    left = None if time_limit is None else max(time_limit - compiling, 1e-3)
    with one_thread_each(), monitored(tolerance, left) as monitor:
        solution = NewtonSolve(problem, tolerance, monitor, start).solve()
    return replace(solution, timings=replace(solution.timings, compile=compiling))


def _check_size(problem: Problem) -> None:
    program, n_features = problem.program, problem.sample.n_features
    if n_features <= MAX_DENSE_FEATURES:
        return
    if problem.constraints is not None:
        raise AuclabError(
            f"solver=newton needs an n × n matrix for constraints on w and the data have n = {n_features} features (at "
            f"most {MAX_DENSE_FEATURES}); use solver=cutting_plane"
        )
    if problem.sample.in_blocks:
        raise AuclabError(
            f"newton on blocks needs an n × n matrix and the data have n = {n_features} features (at most "
            f"{MAX_DENSE_FEATURES}); drop features, or use solver=cutting_plane"
        )
    if program.uses_norm and not program.regulariser.norm.is_euclidean:
        raise AuclabError(
            f"solver=newton needs an n × n matrix for the norm {program.norm} and the data have n = {n_features} "
            f"features (at most {MAX_DENSE_FEATURES}); use solver=cutting_plane, or norm l2"
        )


class NewtonSolve:
    """One solve: the subsamples, the narrowing band on all observations, the certificate."""

    def __init__(self, problem: Problem, tolerance: float, monitor: Monitor, start: tuple[Array, float] | None):
        self.problem, self.tolerance, self.monitor, self.start = problem, tolerance, monitor, start
        self.method = DampedNewton(problem.program, problem.sample.spread, monitor, problem.constraints)
        self._margins_at_kink, self._tried_hard_margin = 0.0, False

    def solve(self) -> RawSolution:
        """An optimum within the tolerance; of small samples with few margins at the kink the exact one."""
        solution = self._within_tolerance()
        program, (_, objective, bound) = self.problem.program, (solution.history or ((0.0, 0.0, 0.0),))[-1]
        is_exact = relative_gap(objective, bound) <= _EXACT * self.tolerance
        if solution.status is not Status.OPTIMAL or is_exact or not self._is_small or program.over_hardest:
            return solution
        if self._margins_at_kink > _FEW_MARGINS * (self.problem.sample.n_features + 1):
            return solution  # so many ties that the small program would take long
        if self.method.by_products or self.problem.sample.in_blocks:
            return solution
        exact = finish_by_windows(self.problem, self.tolerance, self.monitor, solution, _LAST_WIDTH)
        return replace(exact, status=Status.OPTIMAL)

    def _within_tolerance(self) -> RawSolution:
        """The subsamples, all observations, and the exact finish where it is needed."""
        full, method = self.problem.sample, self.method
        if fits_one_window(self.problem):
            exact = solve_in_one_window(self.problem, self.tolerance, self.monitor, self.start)
            if exact is not None:
                return exact
        samples = nested_subsamples(full)
        hessian: Hessian | None = None
        if self.start is None:
            theta, half_widths = self._first_point(samples[0] if samples else full), _HALF_WIDTHS
        else:
            theta, half_widths = method.feasible(np.r_[self.start[0], self.start[1], 0.0]), _WARM_HALF_WIDTHS
            samples = samples[-1:]
        smallest, subsampled = samples[0] if samples else full, bool(samples)
        hardest = self.problem.program.over_hardest and self.problem.constraints is None
        if hardest and self._objective(smallest, theta) > _CLEARLY_NOT_NULL:
            null, falling = null_solution(self.problem, self.tolerance, self.monitor)
            if null is not None:
                return null
            theta = self._better_point(smallest, theta, falling)
        while samples:
            sample = samples.pop(0)  # let go one after the other: the largest may be half a gigabyte
            loss, fewest = smooth_loss(self.problem, sample), min(sample.n_pos, sample.n_neg)
            given, noise = _reused_hessian(hessian, sample), 1e-2 * full.n_features / fewest
            ridge = (_SPARSE_RIDGE if full.is_sparse else _SUBSAMPLE_RIDGE) / fewest
            for half_width in half_widths:
                iterate = method.minimise(loss, theta, half_width, given, noise=noise, ridge=ridge)
                theta, hessian = iterate.theta, _to_pass_on(loss, iterate, given)
            # Subsamples keep the wide band: their Hessian is passed on, and a wide band makes it less noisy.
            half_widths = _HALF_WIDTHS[-1:]
        if subsampled and self._is_too_late(loss, iterate):
            return self._uncertified(iterate.theta)
        loss, reused = smooth_loss(self.problem, full), _reused_hessian(hessian, full)
        if not subsampled and not self._follows_minima:
            for half_width in half_widths:
                iterate = method.minimise(loss, theta, half_width)
                theta = iterate.theta
                separated = self._separated(theta)
                if separated is not None:
                    return separated
        if not self._follows_minima:
            return self._certify_and_narrow(loss, *self._narrowed(loss, iterate, reused))
        if isinstance(loss, PartialLoss):
            if reused is not None:
                solution, _ = follow_minima(self.problem, self.tolerance, method, loss, theta, _LEVEL_START, reused)
                if solution.status is not Status.ITERATION_LIMIT:
                    return solution
                theta = method.on_cone(np.r_[solution.coef, 0.0, 0.0])
        elif subsampled:
            if reused is None and full.is_sparse:
                # Subsamples miss the curvature of rare features; a wide band of all observations has most of it.
                iterate = method.minimise(loss, theta, _CONTINUATION_START)
                theta, reused = iterate.theta, iterate.hessian
            direct = self._direct(loss, iterate, reused)
            if direct.converged or self.monitor.stopped():
                return self._certify_and_narrow(loss, direct, reused)
        return self._followed(loss, theta, _CONTINUATION_START if subsampled else half_widths[0])

    @property
    def _follows_minima(self) -> bool:
        """Whether the exact minima of narrowing bands are followed: that takes the entries of the sample's Hessian."""
        if self.problem.program.over_hardest:
            return not self.method.by_products
        return not (self.method.by_products or self._is_small or self.problem.sample.in_blocks)

    @property
    def _is_small(self) -> bool:
        """Whether the windows are small enough to find the exact optimum."""
        sample = self.problem.sample
        entries = first_window_size(self.problem) * sample.n_features
        most = _MAX_LINEAR_ENTRIES if self.problem.program.is_linear else _MAX_CONIC_ENTRIES
        return sample.n_pos + sample.n_neg <= _SMALL and entries <= most

    def _followed(self, loss: Loss, theta: Array, half_width: float) -> RawSolution:
        """The end of a solve with the Hessian of all observations: narrower and narrower bands, then windows."""
        solution, half_width = follow_minima(
            self.problem, self.tolerance, self.method, loss, theta, half_width, at_minimum=self._separated
        )
        return self._exact(solution, half_width) if solution.status is Status.ITERATION_LIMIT else solution

    def _separated(self, theta: Array) -> RawSolution | None:
        """The hard-margin separator, if no hinge is left at a smoothed minimum and it is the optimum; tried once."""
        if self._tried_hard_margin or not may_be_hard_margin(self.problem):
            return None
        objective = self.problem.objective(theta[:-2], float(theta[-2]))
        if self.problem.program.hinge_part(objective, theta[:-2]) > NO_HINGE:
            return None
        self._tried_hard_margin = True
        return hard_margin_optimum(self.problem, self.tolerance, self.monitor, self.method.iterations)

    def _objective(self, sample: Sample, theta: Array) -> float:
        return Problem(self.problem.program, sample).objective(theta[:-2], float(theta[-2]))

    def _first_point(self, sample: Sample) -> Array:
        """The difference of the class means, at the best of a few lengths."""
        intercept = Problem(self.problem.program, sample).null_intercept()
        points = [
            self.method.feasible(np.r_[length * direction, intercept, 0.0])
            for direction in self._first_directions(sample)
            for length in _FIRST_LENGTHS
        ]
        return min(points, key=lambda theta: self._objective(sample, theta))

    def _first_directions(self, sample: Sample) -> list[Array]:
        """The difference of the means in units of the variances; where these differ much, small ones also damped.

        A norm of w is the sum of what the columns of the smallest variance take, each some of its inverse root.
        """
        variance = self.method.unit**-2.0
        directions = [sample.mean_difference / variance]
        least, largest = float(variance.min()), float(variance.max())
        if self.problem.program.uses_norm and least * _MIXED < largest:
            levels = np.geomspace(least, largest, max(3, round(math.log10(largest / least) / 3.0)))
            directions += [sample.mean_difference / (variance + level) for level in levels]
        return directions

    def _better_point(self, sample: Sample, theta: Array, falling: Array | None) -> Array:
        """`theta`, or a better one in a direction in which the loss over the hardest negatives falls."""
        if falling is None:
            return theta
        direction = np.r_[falling, 0.0, 0.0]
        points = [theta, *(self.method.on_cone(length * direction) for length in _FIRST_LENGTHS)]
        return min(points, key=lambda point: self._objective(sample, point))

    def _is_too_late(self, loss: Loss, iterate: Iterate) -> bool:
        """Whether no time is left for a step and a certificate on all observations: about four evaluations."""
        if self.monitor.remaining is None:
            return False
        begin = perf_counter()
        loss.evaluate(iterate.theta, iterate.half_width)
        full, part = (sample.n_pos + sample.n_neg for sample in (self.problem.sample, loss.sample))
        return self.monitor.remaining < 4.0 * (perf_counter() - begin) * full / part

    def _uncertified(self, theta: Array) -> RawSolution:
        """A subsample's point, with the lower bound 0 that holds since no hinge is negative."""
        sample = self.problem.sample
        return RawSolution(
            theta[:-2],
            float(theta[-2]),
            self.monitor.stopped() or Status.TIME_LIMIT,
            (np.zeros(sample.n_pos), np.zeros(sample.n_neg)),
            self.method.iterations,
            Timings(solve=self.monitor.seconds),
            ("the time limit left no time to look at all observations: this is a subsample's optimum",),
        )

    def _narrowed(self, loss: Loss, iterate: Iterate, hessian: Hessian | None) -> tuple[Iterate, Hessian | None]:
        """All observations at the half-width the tolerance requires, or the smallest that is smooth.

        By a direct step to the final width with the Hessian of the subsample; if that does not converge, by
        continuation with the sample's own. Also returns the Hessian to go on with, None for the sample's own.
        """
        half_width = iterate.half_width
        target = self._narrowest(iterate)
        if not self.method.by_products:
            direct = self._direct(loss, iterate, hessian)
            if direct.converged or self.monitor.stopped():
                return direct, hessian
            # Too far, or the subsample misses curvature of the whole: features that are rare in it.
            half_width = max(_CONTINUATION_START, iterate.half_width)
        while True:
            iterate = self.method.minimise(loss, iterate.theta, half_width)
            self._record(iterate)
            if half_width <= target or self.monitor.stopped():
                return iterate, None
            half_width = max(target, 0.25 * half_width)

    def _direct(self, loss: Loss, iterate: Iterate, hessian: Hessian | None) -> Iterate:
        """All observations at the narrowest band at once, in a few steps."""
        target = self._narrowest(iterate)
        direct = self.method.minimise(loss, iterate.theta, target, hessian, max_steps=_MAX_DIRECT_STEPS)
        self._record(direct)
        return direct

    def _narrowest(self, iterate: Iterate) -> float:
        """The half-width the tolerance requires, or the smallest that is smooth."""
        target = max(self._target_width(iterate), self._smooth_width(iterate.evaluation))
        return min(target, iterate.half_width)

    def _record(self, iterate: Iterate) -> None:
        """An iterate on all observations: the smoothed value lies above the true one, and no hinge is negative."""
        self.monitor.record(iterate.evaluation.value + self.method.penalty(iterate.theta), 0.0)

    def _certify_and_narrow(self, loss: Loss, iterate: Iterate, hessian: Hessian | None) -> RawSolution:
        """Rounds on all observations: certify; where the gap is too large, converge further or narrow the band."""
        method = self.method
        best, smallest_gap = self._certified(loss, iterate)
        solution, gap = best, smallest_gap
        for _ in range(_MAX_ROUNDS):
            if gap <= self.tolerance:
                return replace(solution, status=Status.OPTIMAL)
            reason = self.monitor.stopped()
            if reason is not None:
                return replace(best, status=reason)
            theta = method.on_cone(np.r_[solution.coef, solution.intercept, 0.0])
            absolute = gap * max(iterate.evaluation.value, SMALL_OBJECTIVE)
            unconverged = absolute > _MAX_GAP_RATIO * iterate.evaluation.smoothing_gap
            if unconverged and iterate.relative_tolerance > _MIN_RELATIVE_TOLERANCE:
                # Multipliers of a few observations left their range in the last step: go on until none does.
                relative = max(1e-2 * iterate.relative_tolerance, _MIN_RELATIVE_TOLERANCE)
                iterate = method.minimise(loss, theta, iterate.half_width, hessian, relative_tolerance=relative)
            elif iterate.half_width > self._smooth_width(iterate.evaluation):
                width = min(0.5 * iterate.half_width, max(self._target_width(iterate), 0.25 * iterate.half_width))
                iterate = method.minimise(loss, theta, width, hessian)
            else:
                break
            before = gap
            solution, gap = self._certified(loss, iterate)
            if gap < smallest_gap:
                best, smallest_gap = solution, gap
            if gap > _STALLED * before and hessian is not None and self._follows_minima:
                break  # the Hessian of other points or observations does not converge
        if method.by_products:
            return best
        if not self._follows_minima:
            return self._exact(best, iterate.half_width)
        return self._followed(loss, method.on_cone(np.r_[best.coef, best.intercept, 0.0]), iterate.half_width)

    def _certified(self, loss: Loss, iterate: Iterate) -> tuple[RawSolution, float]:
        self._margins_at_kink = iterate.evaluation.band_share * self.problem.n_margins
        solution, certificate = certified_step(self.problem, self.tolerance, self.method, loss, iterate)
        return solution, certificate.gap

    def _exact(self, smoothed: RawSolution, half_width: float) -> RawSolution:
        smoothed = replace(smoothed, iterations=self.method.iterations)
        if self.problem.program.over_hardest:
            # Windows know of no level. The verification corrects the multipliers, and decides what they prove.
            return replace(smoothed, status=self.monitor.stopped() or Status.OPTIMAL)
        return finish_by_windows(self.problem, self.tolerance, self.monitor, smoothed, half_width)

    def _target_width(self, iterate: Iterate) -> float:
        objective = iterate.evaluation.value + self.method.penalty(iterate.theta)
        return target_width(iterate.evaluation, objective, self.tolerance)

    def _smooth_width(self, evaluation: Evaluation) -> float:
        # With products alone there is no exact finish: the band is narrowed as far as the tolerance requires.
        if self.method.by_products or self.problem.program.over_hardest:
            return 0.0
        return smooth_width(evaluation, self.problem)


def _to_pass_on(loss: Loss, iterate: Iterate, given: Hessian | None) -> Hessian:
    """The Hessian for other samples and points: of the hardest negatives that of the pairs alone."""
    if isinstance(loss, PartialLoss) and isinstance(iterate.hessian, np.ndarray):
        return loss.pair_hessian(iterate.evaluation) if given is None else given
    return iterate.hessian


def _reused_hessian(hessian: Hessian | None, sample: Sample) -> Hessian | None:
    """The Hessian of the sample before, where computing one for this sample would not pay."""
    if max(sample.n_pos, sample.n_neg) <= _MAX_HESSIAN_SIZE or (sample.is_sparse and not sample.in_blocks):
        return None
    return hessian
