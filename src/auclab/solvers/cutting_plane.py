"""The structured bundle solver: cuts from sorted scores, a master program, and steps to a level of the model.

Every point gives a cut of the loss in O(m log m) (`_cuts`). The master, the minimum of the largest cut plus the
penalty, is a lower bound; the next point is the nearest to the best one so far, in the metric of the scores, where the
model promises a fixed part of the gap (level method: Lemaréchal, Nemirovskii & Nesterov 1995, with the best point as
centre). The weights of the cuts in the master combine their marginals to the multipliers that prove the bound.

Linear programs have their master in HiGHS, warm from step to step, the others in Clarabel. Without a penalty the first
masters have no minimum nearby: theirs is taken in a box, and the bound is claimed once the box has been lifted.
"""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from auclab.formulations.norms import norm_of
from auclab.formulations.sample import Sample
from auclab.kernels.compiling import compile_hinge
from auclab.models.bundle_cone import Cuts, minimise_model, project_on_level
from auclab.models.bundle_master import LinearMaster, MasterPoint
from auclab.solvers._cuts import Cut, cut_multipliers, supporting_cut
from auclab.solvers._hardest import plain_problem
from auclab.solvers._subspace import Span, Subspace, Support
from auclab.solvers.base import Capabilities, Play, Problem
from auclab.solvers.certificate import SMALL_OBJECTIVE, certify
from auclab.types import Array, Status, Timings

CAPABILITIES = Capabilities(families=("hinge", "hardest"))
#: The level lies this far up from the lower bound to the best value (measured: 0.5 takes a third more steps).
_LEVEL = 0.8
#: Steps without a rise of the model until its minimum is looked at, and without any progress until the end.
_SETTLED, _STALLED = 5, 200
#: A bundle holds this many cuts and two a variable; those that had no weight for longest go first.
_CUTS = 60
#: Marginals of cuts are kept up to this many bytes, and made anew for the proof beyond.
_ROOM = 400_000_000
#: A full metric up to this many features, from at most so many observations a class; its diagonal beyond.
_FULL_METRIC, _ENOUGH_ROWS = 500, 10_000
_RIDGE = 1e-6


def play(problem: Problem, *, tolerance: float = 1e-6, time_limit: float | None = None, max_iters: int = 5_000) -> Play:
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
    answer = _Run(problem, tolerance, time_limit).solve(max_iters)
    return replace(answer, timings=replace(answer.timings, compile=compiling))


class _Run:
    """One solve: the bundle, the best point, and what is proved. Points are θ = (x, b, t) with ``w = x·unit``."""

    def __init__(self, problem: Problem, tolerance: float, time_limit: float | None):
        self.problem, self.program, self.tolerance = problem, problem.program, tolerance
        self.begin = perf_counter()
        self.deadline = math.inf if time_limit is None else self.begin + time_limit
        sample, n = problem.sample, problem.sample.n_features
        self.many = n > _FULL_METRIC
        self.unit = 1.0 / sample.spread
        if self.many and self.program.uses_norm and self.program.norm == "l2":
            # One unit for all keeps the l2 norm round, so that a span will do for all features.
            self.unit = np.full(n, float(np.median(self.unit)))
        self.to_scaled = np.r_[self.unit, 1.0, 1.0]
        self.metric = np.ones(n + 1) if self.many else _metric(problem, self.unit)
        self.span = Span(n)
        self.master = LinearMaster(self.program, self.unit) if self.program.is_linear else None
        self.cuts: list[Cut] = []
        self.max_cuts = _CUTS + 2 * min(n, _FULL_METRIC)
        self.keeps = 8 * (sample.n_pos + sample.n_neg) * self.max_cuts <= _ROOM
        self.center = np.zeros(n + 2)
        self.best, self.lower, self.iterations = math.inf, 0.0, 0
        self.proof: list[tuple[float, Cut]] = []
        # Without a penalty a model of few cuts has its minimum anywhere.
        self.radius = 1.0 if self.master and self.program.penalty == 0 else math.inf
        self.length = 1.0
        self.reached, self.settled, self.stalled = (-math.inf, math.inf), 0, 0
        self.history: list[tuple[float, float, float]] = []

    def solve(self, max_iters: int) -> Play:
        """Cut, bound, step, until the gap is proved or a limit is reached."""
        for theta in self._starts():
            self._cut(theta)
        allowed, status = self.tolerance, Status.ITERATION_LIMIT
        while True:
            point = self._model_minimum(self.radius)
            if point.boxed and self._gap(self._promised(point)) <= 0.5 * allowed:
                self.radius *= 4.0
                point = self._model_minimum(math.inf)
            self.history.append((perf_counter() - self.begin, self.best, self.lower))
            if self._gap(self.lower) <= allowed:
                answer, proved = self._answer(Status.OPTIMAL)
                if proved <= self.tolerance:
                    return answer
                # Rounding in the master: ask for more, from a basis that has none of it.
                allowed, self.lower, self.proof = 0.3 * allowed, 0.0, []
                if self.master:
                    self.master.restart()
            if perf_counter() > self.deadline:
                status = Status.TIME_LIMIT
                break
            if self.iterations >= max_iters or self.stalled >= _STALLED or allowed < 1e-3 * self.tolerance:
                break
            self._cut(self._next(point))
        if not self.proof:
            self._model_minimum(math.inf)
        return self._answer(status)[0]

    def _starts(self) -> list[Array]:
        """W = 0, and the difference of the class means at the best of a few lengths."""
        problem, sample = self.problem, self.problem.sample
        intercept = problem.null_intercept()
        direction = sample.mean_difference * self.unit**2
        if self.many and self.program.uses_norm and self.program.norm == "l1":
            leading = np.abs(direction / self.unit)
            direction = np.where(leading >= np.partition(leading, -_CUTS)[-_CUTS], direction, 0.0)
        lengths = (0.1, 0.3, 1.0, 3.0)
        best = min(lengths, key=lambda length: problem.objective(length * direction, intercept))
        return [np.r_[x, intercept, 0.0] for x in (np.zeros(sample.n_features), best * direction / self.unit)]

    def _cut(self, theta: Array) -> None:
        """Look at a point: its value, and its cut for the model."""
        theta = theta.copy()
        theta[-1] = norm_of(theta[:-2] * self.unit, self.program.norm) if self.program.uses_norm else 0.0
        loss, cut = supporting_cut(self.problem, theta * self.to_scaled)
        value = loss + self._penalty(theta[-1])
        if value < self.best:
            self.best, self.center = value, theta
        # The slope in scaled features.
        cut = replace(cut, slope=cut.slope * self.to_scaled, used=self.iterations)
        if not self.keeps:
            cut.multipliers = None
        self.cuts.append(cut)
        if self.master:
            self.master.add(cut.constant, cut.slope)
        self.iterations += 1
        if len(self.cuts) > self.max_cuts:
            self._forget()

    def _forget(self) -> None:
        """Drop the tenth of the cuts that had no weight for longest, but none of those that carry the bound."""
        carrying = {id(cut) for _, cut in self.proof}
        used = np.array([math.inf if id(cut) in carrying else cut.used for cut in self.cuts])
        oldest = np.argsort(used, kind="stable")[: max(1, len(used) // 10)]
        gone = np.sort(oldest[np.isfinite(used[oldest])])
        if self.master:
            self.master.remove(gone)
        dropped = set(gone.tolist())
        self.cuts = [cut for k, cut in enumerate(self.cuts) if k not in dropped]
        self.span = Span(self.unit.size)

    def _model_minimum(self, radius: float) -> MasterPoint:
        """The master, in a box of that radius; the bound rises where the box does not bind."""
        if self.master:
            reach = max(1.0, float(np.abs(self.center[:-2]).max()))
            point = self.master.minimise(self.center, radius * reach, self._remaining())
        else:
            unit, cuts, center, subspace = self._view()
            point = minimise_model(self.program, unit, cuts, center, self._remaining())
            if subspace:
                point = replace(point, theta=subspace.widen(point.theta))
        weighty = np.flatnonzero(point.weights)
        for k in weighty:
            self.cuts[k].used = self.iterations
        if not point.boxed and point.value > self.lower:
            self.lower = min(point.value, self.best)
            self.proof = [(float(point.weights[k]), self.cuts[k]) for k in weighty]
        return point

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
            return point.theta
        level = bottom + _LEVEL * (self.best - bottom)
        unit, cuts, center, subspace = self._view(point.theta)
        metric = np.ones(unit.size + 1) if subspace else self.metric
        found = project_on_level(self.program, unit, cuts, center, level, metric, self.length, self._remaining())
        if found is None or not np.isfinite(found[0]).all():
            return _LEVEL * self.center + (1.0 - _LEVEL) * point.theta
        step, prices = found
        for k in np.flatnonzero(prices > 1e-6 * max(prices.max(), 1e-300)):
            self.cuts[k].used = self.iterations
        self.length = min(max(_length(step, metric), 1e-12), 1e12)
        theta = center + step
        return subspace.widen(theta) if subspace else theta

    def _view(self, *others: Array) -> tuple[Array, Cuts, Array, Subspace | None]:
        """Unit, cuts and centre as the conic programs see them: in a subspace where there are many features."""
        cuts = Cuts(np.array([cut.constant for cut in self.cuts]), np.array([cut.slope for cut in self.cuts]))
        subspace: Subspace | None = None
        if self.many and not (self.program.uses_norm and self.program.norm != "l2"):
            for vector in (self.center, *(cut.slope for cut in self.cuts[-1 if self.span.size else 0 :])):
                self.span.include(vector[:-2])
            subspace = self.span
        elif self.many and self.program.norm == "l1" and others:
            subspace = Support(self.center, *others)
        if subspace is None:
            return self.unit, cuts, self.center, None
        unit = self.unit[subspace.features] if isinstance(subspace, Support) else np.full(subspace.size, self.unit[0])
        return unit, Cuts(cuts.constants, subspace.narrow(cuts.slopes)), subspace.narrow(self.center), subspace

    def _answer(self, status: Status) -> tuple[Play, float]:
        """The best point with the multipliers that the proof's weights make, and its gap."""
        sample, hardest = self.problem.sample, self.program.family == "hardest"
        multipliers = np.zeros(sample.n_pos), np.zeros(sample.n_neg), *([np.zeros(sample.n_neg)] if hardest else [])
        total = max(1.0, sum(weight for weight, _ in self.proof))
        for weight, cut in self.proof:
            for sums, part in zip(multipliers, cut_multipliers(self.problem, cut), strict=True):
                sums += weight / total * part
        coef, intercept = self.center[:-2] * self.unit, float(self.center[-2])
        (pos, neg), share_neg = multipliers[:2], multipliers[2] if hardest else None
        proving = self.problem if share_neg is None else plain_problem(self.problem, share_neg, neg)
        objective = self.problem.objective(coef, intercept)
        certificate, _ = certify(proving, coef, intercept, (pos, neg), objective)
        spent = Timings(solve=perf_counter() - self.begin)
        done = tuple(self.history)
        answer = Play(coef, intercept, status, (pos, neg), self.iterations, spent, (), done, share_neg)
        return answer, certificate.gap

    def _gap(self, bound: float) -> float:
        return (self.best - bound) / max(self.best, SMALL_OBJECTIVE)

    def _penalty(self, t: float) -> float:
        return self.program.penalty * float(t * t if self.program.squared else t)

    def _remaining(self) -> float | None:
        return max(self.deadline - perf_counter(), 0.05) if math.isfinite(self.deadline) else None


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
