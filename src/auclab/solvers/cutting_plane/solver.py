"""The structured bundle solver: cuts from sorted scores, a master program, and steps to a level of the model.

Every point gives a cut of the loss in O(m log m) (`_cuts`). The master, the minimum of the largest cut plus the
penalty, is a lower bound; the next point is the nearest to the best one so far, in the metric of the scores, where the
model promises a fixed part of the gap (level method: Lemaréchal, Nemirovskii & Nesterov 1995, with the best point as
centre). The weights of the cuts in the master combine their marginals to the multipliers that prove the bound.

Linear programs have their master in HiGHS, warm from step to step, the others in Clarabel, and with many features in a
small space (`_subspace`). Without a penalty the first masters have no minimum nearby: theirs is taken in a box, and the
bound is claimed once the box has been lifted.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from auclab.compiled.compiling import compile_hinge
from auclab.formulations.norms import norm_of
from auclab.formulations.problem import Problem
from auclab.models.bundle_cone import Cuts, minimise_model, project_on_level, proved_bound
from auclab.models.bundle_master import LinearMaster, MasterPoint
from auclab.models.timings import Timings
from auclab.samples.memory import Sample
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify
from auclab.solvers.cutting_plane.cuts import Cut, cut_multipliers, supporting_cut
from auclab.solvers.cutting_plane.subspace import Space, Span, Sparse, Whole
from auclab.solvers.monitor import Monitor, monitored
from auclab.solvers.raw import RawSolution
from auclab.solvers.threads import one_thread_each
from auclab.types import Array, Status

#: The level lies this far up from the lower bound to the best value (measured: 0.5 takes a third more steps).
_LEVEL = 0.8
#: In a span the next point lies this part of the way to the minimum (measured: half the steps of the level, at half the
#: price).
_PART = 0.4
#: Steps without a rise of the model until its minimum is looked at, and without any progress until the end.
_SETTLED, _STALLED = 5, 200
#: A bundle holds this many cuts and two a variable; those that had no weight for longest go first.
_CUTS = 60
#: The weight of a cut that has a say: an interior point method leaves none at 0.
_WEIGHTY = 1e-6
#: Marginals of cuts are kept up to this many bytes, and made anew for the proof beyond.
_ROOM = 400_000_000
#: A full metric up to this many features, from at most so many observations a class; its diagonal beyond.
_FULL_METRIC, _ENOUGH_ROWS = 500, 10_000
_RIDGE = 1e-6
#: Features enter until the bound over all of them lacks less than this part of the gap.
_PRICED = 0.1


def solve(
    problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None, max_iters: int = 5_000
) -> RawSolution:
    """Solve any convex hinge program, over the hardest negatives too, to a certified relative gap of `tolerance`.

    Parameters
    ----------
    problem : Problem
    tolerance : float
        Relative gap at which to stop.
    time_limit : float, optional
        Seconds.
    max_iters : int
        Cuts at most.
    """
    compiling = compile_hinge()
    with one_thread_each(), monitored(tolerance, time_limit) as monitor:
        answer = _Run(problem, tolerance, monitor).solve(max_iters)
    return replace(answer, timings=replace(answer.timings, compile=compiling))


class _Run:
    """One solve: the bundle, the best point, and what is proved. Points are θ = (x, b, t) with ``w = x·unit``."""

    def __init__(self, problem: Problem, tolerance: float, monitor: Monitor):
        self.problem, self.program, self.tolerance, self.monitor = problem, problem.program, tolerance, monitor
        sample, n = problem.sample, problem.sample.n_features
        self.many = n > _FULL_METRIC
        self.unit = 1.0 / sample.spread
        if self.many and self.program.uses_norm and self.program.norm == "l2":
            # One unit for all keeps the l2 norm round, so that a span will do for all features.
            self.unit = np.full(n, float(np.median(self.unit)))
        self.to_scaled = np.r_[self.unit, 1.0, 1.0]
        self.space = self._space()
        in_highs = self.program.is_linear and not isinstance(self.space, Sparse)
        self.master = LinearMaster(self.program, self.unit) if in_highs else None
        self.cuts: list[Cut] = []
        self.max_cuts = _CUTS + 2 * min(n, _FULL_METRIC)
        if self.many:
            self.max_cuts = max(_CUTS, min(self.max_cuts, _ROOM // (8 * n)))
        self.keeps = 8 * (sample.n_pos + sample.n_neg) * self.max_cuts <= _ROOM
        self.center = np.zeros(n + 2)
        self.best, self.lower, self.claimed, self.iterations = math.inf, 0.0, 0.0, 0
        self.proof: list[tuple[float, Cut]] = []
        # Without a penalty a model of few cuts has its minimum anywhere.
        self.radius = 1.0 if self.master and self.program.penalty == 0 else math.inf
        self.length = 1.0
        self.reached, self.settled, self.stalled = (-math.inf, math.inf), 0, 0

    def solve(self, max_iters: int) -> RawSolution:
        """Cut, bound, step, until the gap is proved or a limit is reached."""
        for theta in self._starts():
            self.space.include(theta)
            self._cut(theta)
        allowed, status, earlier = self.tolerance, Status.ITERATION_LIMIT, self.proof
        while True:
            point = self._model_minimum(self.radius)
            if point.boxed and self._gap(self._promised(point)) <= 0.5 * allowed:
                self.radius *= 4.0
                point = self._model_minimum(math.inf)
            self.claimed = max(self.claimed, self.lower)
            self.monitor.record(self.best, self.claimed)
            if self._gap(self.lower) <= allowed:
                answer, proved = self._answer(Status.OPTIMAL, self.proof)
                if proved <= self.tolerance:
                    return answer
                # Rounding in the master: ask for more, from a basis that has none of it.
                earlier, allowed, self.lower, self.proof = self.proof, 0.3 * allowed, 0.0, []
                if self.master:
                    self.master.restart()
            reason = self.monitor.stopped()
            if reason is not None:
                status = reason
                break
            if self.iterations >= max_iters or self.stalled >= _STALLED or allowed < 1e-3 * self.tolerance:
                break
            self._cut(self._next(point))
        if not self.proof:
            self._model_minimum(math.inf)
        return min((self._answer(status, proof) for proof in (self.proof, earlier)), key=lambda answer: answer[1])[0]

    def _space(self) -> Space:
        """The space for the conic programs: small where there are many features and the norm allows it."""
        program, n = self.program, self.unit.size
        if not self.many:
            return Whole(self.unit, _metric(self.problem, self.unit))
        if not program.uses_norm or program.norm == "l2":
            return Span(n, float(self.unit[0]) if program.uses_norm else 1.0)
        return Sparse(self.unit) if program.norm == "l1" else Whole(self.unit, np.ones(n + 1))

    def _starts(self) -> list[Array]:
        """W = 0, and the difference of the class means at the best of a few lengths."""
        problem, sample = self.problem, self.problem.sample
        intercept = problem.null_intercept()
        direction = sample.mean_difference * self.unit**2
        if self.many and self.program.uses_norm and self.program.norm == "l1":
            leading = np.abs(direction / self.unit)
            direction = np.where(leading >= np.sort(leading)[-_CUTS:][0], direction, 0.0)
        lengths = (0.1, 0.3, 1.0, 3.0)
        best = min(lengths, key=lambda length: problem.objective(length * direction, intercept))
        return [np.r_[x, intercept, 0.0] for x in (np.zeros(sample.n_features), best * direction / self.unit)]

    def _cut(self, theta: Array) -> None:
        """Look at a point: its value, and its cut for the model."""
        theta = theta.copy()
        theta[-1] = norm_of(theta[:-2] * self.unit, self.program.norm) if self.program.uses_norm else 0.0
        loss, slope, cut = supporting_cut(self.problem, theta * self.to_scaled, room=self.keeps)
        value = loss + self._penalty(theta[-1])
        if value < self.best:
            self.best, self.center = value, theta
        cut.used = self.iterations
        slope = slope * self.to_scaled
        self.cuts.append(cut)
        self.space.add(slope)
        if self.master:
            self.master.add(cut.constant, slope)
        self.iterations += 1
        if len(self.cuts) > self.max_cuts:
            self._forget()

    def _forget(self) -> None:
        """Drop the tenth of the cuts that had no weight for longest, but none of those that carry the bound."""
        carrying = {id(cut) for weight, cut in self.proof if weight > _WEIGHTY}
        used = np.array([math.inf if id(cut) in carrying else cut.used for cut in self.cuts])
        oldest = np.argsort(used, kind="stable")[: max(1, len(used) // 10)]
        gone = np.sort(oldest[np.isfinite(used[oldest])])
        if self.master:
            self.master.remove(gone)
        kept = np.setdiff1d(np.arange(len(self.cuts)), gone)
        self.cuts = [self.cuts[k] for k in kept]
        self.space.keep(kept, self.center)

    def _model_minimum(self, radius: float) -> MasterPoint:
        """The master, in a box of that radius; the bound rises where the box does not bind."""
        if self.master:
            reach = max(1.0, float(np.abs(self.center[:-2]).max()))
            point = self.master.minimise(self.center, radius * reach, self.monitor.remaining)
        else:
            point = self._conic_minimum()
        for k in np.flatnonzero(point.weights > _WEIGHTY):
            self.cuts[k].used = self.iterations
        if not point.boxed and point.value > self.lower:
            self.lower = min(point.value, self.best)
            self.proof = [(float(point.weights[k]), self.cuts[k]) for k in np.flatnonzero(point.weights)]
        return point

    def _conic_minimum(self) -> MasterPoint:
        """The master in the space; over all features once those that should be used have entered."""
        space, program = self.space, self.program
        while True:
            point = minimise_model(
                program, space.unit, self._model(), space.narrow(self.center), self.monitor.remaining
            )
            point = replace(point, theta=space.widen(point.theta))
            if not isinstance(space, Sparse):
                return point
            slope, t = space.combine(point.weights), float(point.theta[-1])
            constant = float(sum(weight * cut.constant for weight, cut in zip(point.weights, self.cuts, strict=True)))
            bound = max(0.0, proved_bound(program, self.unit, constant, slope, t))
            rise = 2.0 * program.penalty * t if program.squared else program.penalty
            close = point.value - bound <= _PRICED * (self.best - point.value)
            if not space.enter(slope, rise - slope[-1]) or close or self.monitor.stopped():
                return replace(point, value=bound)

    def _promised(self, point: MasterPoint) -> float:
        """What the model holds possible within the box."""
        return min(max(point.value, self.lower), self.best)

    def _next(self, point: MasterPoint) -> Array:
        """The point on the level that is nearest to the best one; a mean of that and the minimum if need be."""
        bottom = self._promised(point)
        risen, fallen = bottom - self.reached[0], self.reached[1] - self.best
        self.settled = 0 if risen > 1e-9 * self.best else self.settled + 1
        self.stalled = 0 if max(risen, fallen) > 1e-9 * self.best else self.stalled + 1
        self.reached = bottom, self.best
        if self.settled and self.settled % _SETTLED == 0:
            # The model keeps its minimum: if it is exact there, that point is the last.
            self.space.include(point.theta)
            return point.theta
        if isinstance(self.space, Span) and self.program.uses_norm:
            # The round norm keeps the minimum from wandering, and the way to it does for the level.
            return (1.0 - _PART) * self.center + _PART * point.theta
        level = bottom + _LEVEL * (self.best - bottom)
        space, model = self.space, self._model()
        center, metric = space.narrow(self.center), space.metric
        found = project_on_level(
            self.program, space.unit, model, center, level, metric, self.length, self.monitor.remaining
        )
        if found is None or not np.isfinite(found[0]).all():
            self.space.include(point.theta)
            return _LEVEL * self.center + (1.0 - _LEVEL) * point.theta
        step, prices = found
        for k in np.flatnonzero(prices > 1e-6 * max(prices.max(), 1e-300)):
            self.cuts[k].used = self.iterations
        self.length = min(max(_length(step, metric), 1e-12), 1e12)
        return space.widen(center + step)

    def _model(self) -> Cuts:
        return Cuts(np.array([cut.constant for cut in self.cuts]), self.space.slopes)

    def _answer(self, status: Status, proof: list[tuple[float, Cut]]) -> tuple[RawSolution, float]:
        """The best point with the multipliers that the proof's weights make, and its gap."""
        sample = self.problem.sample
        varies = self.program.negative_capacity(sample) is not None
        multipliers = np.zeros(sample.n_pos), np.zeros(sample.n_neg), *([np.zeros(sample.n_neg)] if varies else [])
        total = max(1.0, sum(weight for weight, _ in proof))
        for weight, cut in proof:
            for sums, part in zip(multipliers, cut_multipliers(self.problem, cut), strict=True):
                sums += weight / total * part
        coef, intercept = self.center[:-2] * self.unit, float(self.center[-2])
        (pos, neg), share_neg = multipliers[:2], multipliers[2] if varies else None
        proving = self.problem.dual_problem(share_neg, neg)
        objective = self.problem.objective(coef, intercept)
        certificate, _ = certify(proving, coef, intercept, (pos, neg), objective)
        spent = Timings(solve=self.monitor.seconds)
        # What a master claimed beyond what is proved in the end was rounding.
        proved = certificate.lower_bound
        done = tuple((seconds, value, min(bound, proved)) for seconds, value, bound in self.monitor.history)
        answer = RawSolution(coef, intercept, status, (pos, neg), self.iterations, spent, (), done, share_neg)
        return answer, certificate.gap

    def _gap(self, bound: float) -> float:
        return (self.best - bound) / max(self.best, SMALL_OBJECTIVE)

    def _penalty(self, t: float) -> float:
        return self.program.penalty * float(t * t if self.program.squared else t)


def _metric(problem: Problem, unit: Array) -> Array:
    """The mean square change of a score for a step (x, b): of scores within a class for pairs, of points else."""
    sample, n = problem.sample, unit.size
    metric = np.zeros((n + 1, n + 1))
    for X, share, prior in _some_rows(sample):
        rows = (X.toarray() if sample.is_sparse else X) * unit
        if problem.over_pairs:
            rows = rows - share @ rows
            metric[:n, :n] += (rows * share[:, None]).T @ rows
        else:
            rows = np.c_[rows, np.ones(len(rows))]
            metric += (rows * (prior * share)[:, None]).T @ rows
    metric[np.arange(n + 1), np.arange(n + 1)] += _RIDGE
    return metric


def _some_rows(sample: Sample) -> list[tuple[Any, Array, float]]:
    parts = []
    for X, share, prior in (
        (sample.X_pos, sample.share_pos, sample.prior_pos),
        (sample.X_neg, sample.share_neg, 1.0 - sample.prior_pos),
    ):
        rows = slice(None, None, max(1, share.size // _ENOUGH_ROWS))
        parts.append((X[rows], share[rows] / max(float(share[rows].sum()), 1e-300), prior))
    return parts


def _length(step: Array, metric: Array) -> float:
    moved = step[: metric.shape[0]]
    square = moved @ (metric * moved) if metric.ndim == 1 else moved @ metric @ moved
    return math.sqrt(max(float(square), 0.0))
