"""The minimum of the smoothed program as the smoothing width falls, until it is certified.

Between changes of the set of margins near the kinks the minimum θ(h) is a smooth function of the smoothing width h,
and an affine one where the gradient of R is constant (no regulariser, or l1 and linf on a face):

* the minimum at the next width is nearly ``θ₁ + (θ₁ − θ₀)(h − h₁)/(h₁ − h₀)``, and a few Newton steps end at it;
* ``h = 0`` in the same formula is the exact optimum then, and else near it, once the margins at the kink are the only
  ones within h, even where very many margins are tied there, as in tables of binary columns.

At an exact minimum the multipliers satisfy the dual constraint for any h, so a certified gap that is larger than the
smoothing explains comes from steps that have not converged: a column that is nonzero in few observations has as much
weight as any other in the constraint, and hardly any in the smoothed value.

Primal and dual value of a smoothed minimum differ by about h² times the density of margins at the kink, from which the
width that a tolerance requires is known. On subsamples the width stays large: their Hessian is borrowed for all
observations, where one would cost more than the steps, and a large width makes it less noisy. From the minimum of a
subsample a few steps on all observations lead to the width that the tolerance requires. Of sparse rows a subsample
misses the curvature of rare columns, and the Hessian that is borrowed is that of a wide minimum over all observations.
If the steps do not end there, the width is raised again, and the Hessian is that of all observations at every point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from auclab._core.base import Array, Status
from auclab._core.tolerances import EPSILON, SMALL_OBJECTIVE
from auclab.certificates.scorers import proves_by_slopes
from auclab.certificates.value import dual_bound
from auclab.formulations.problem import Problem
from auclab.models.timings import Timings
from auclab.samples.memory import Sample
from auclab.solvers.certificate import certify, certify_scorers, relative_gap
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.minimise import DampedNewton, Iterate, NewtonOptions, with_secant
from auclab.solvers.smoothed import smooth_loss
from auclab.solvers.smoothed.losses import Evaluation
from auclab.solvers.solution import Certificate, RawSolution

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: The part of a gap, or of a step, that does not count.
LITTLE = 0.1
#: The part of a gap that is left to one of its two causes.
PART_OF_GAP = 0.5
#: The first width near a start that may be some way off.
WIDER = 0.125
#: The next width relative to the last one: after a minimum that took few steps, and after others.
_FAST, _SLOW = 0.1, 0.3
#: Of the wanted gap: what the smoothing may leave open; and below how many times it a minimum is certified.
_OPEN, _NEAR = 0.3, 1e3
#: How many times the smoothing gap the certified gap is at most, if the steps have converged.
_EXPLAINED = 3.0
#: The error of a value on a subsample that steps leave, in units of features per observation.
_NOISE = 1e-2
#: The predicted reduction, relative to the smoothing gap, at which steps end: far from the required width, there, and
#: where slopes are to prove a bound; and by what it falls where the certificate shows that steps ended too early.
_ROUGHLY, _CLOSELY, _EXACTLY, _MORE = 1e-1, 1e-2, 1e-8, 1e-4


@dataclass
class State:
    """The state of a running solve.

    `theta` (n_features + 2,): ``(w, b, ‖w‖)``, the last minimum. `width`: the smoothing width of the next minimisation,
    and after it of `evaluation`. `evaluation`: the smoothed loss at the last minimum, of all observations or of a
    subsample; None before the first step. `hessian` (n_features + 2, n_features + 2): that of a subsample. `point`: of
    the least objective, and `proof`: with the multipliers of the largest bound. These may belong to different minima:
    the multipliers of a converged minimum prove a bound close to the optimum while its point, slightly off the kinks,
    is still far from optimal; at a very small width rounding makes the multipliers worse again.
    """

    problem: Problem
    monitor: Monitor
    method: DampedNewton
    options: NewtonOptions
    theta: Array
    width: float
    evaluation: Evaluation | None = None
    hessian: Array | None = None
    point: RawSolution | None = None
    proof: RawSolution | None = None
    objective: float = math.inf
    bound: float = -math.inf

    @property
    def smoothed_value(self) -> float:
        """The smoothed objective at the last minimum."""
        assert self.evaluation is not None
        return self.evaluation.value + self.method.penalty(self.theta)

    @property
    def wanted(self) -> float:
        """The absolute gap that the tolerance allows."""
        return self.monitor.tolerance * max(self.smoothed_value, SMALL_OBJECTIVE)

    @property
    def is_certified(self) -> bool:
        """Whether the best point has the gap that is wanted."""
        return self.point is not None and relative_gap(self.objective, self.bound) <= self.monitor.tolerance

    def measured(self, theta: Array) -> tuple[float, Array, float]:
        """The objective at the feasible point nearest to one, and its w and b."""
        theta = self.method.feasible(theta)
        coef, intercept = theta[:-2], float(theta[-2])
        return self.problem.objective(coef, intercept), coef, intercept

    def consider(self, found: RawSolution, certificate: Certificate) -> Certificate:
        """Keep the point and the bound if they are better; returns the certificate."""
        self.monitor.record(certificate.objective, certificate.lower_bound)
        if found.scorers:  # a point that is proved by slopes stays with its proof
            if self.point is None or certificate.gap < relative_gap(self.objective, self.bound):
                self.point = self.proof = found
                self.objective, self.bound = certificate.objective, certificate.lower_bound
            return certificate
        if self.point is None or certificate.objective < self.objective:
            self.point, self.objective = found, certificate.objective
        if self.proof is None or certificate.lower_bound > self.bound:
            self.proof, self.bound = found, certificate.lower_bound
        return certificate

    def solution(self) -> RawSolution:
        """The best point with the multipliers of the largest bound."""
        assert self.point is not None
        assert self.proof is not None
        status = Status.OPTIMAL if self.is_certified else self.method.stopped() or Status.ITERATION_LIMIT
        found = replace(self.proof, coef=self.point.coef, intercept=self.point.intercept, status=status)
        return self.timed(found)

    def timed(self, solution: RawSolution) -> RawSolution:
        """A solution with the steps, the seconds and the history of the solve."""
        timings, history = Timings(solve=self.monitor.seconds), tuple(self.monitor.history)
        iterations = self.method.iterations + solution.iterations
        return replace(solution, iterations=iterations, timings=timings, history=history)


class Continuation:
    """The minima of the smoothed loss of one sample, all observations or a subsample, as the width falls.

    `state`: its point, evaluation, Hessian and best solution are brought up to date.
    """

    def __init__(self, state: State, sample: Sample):
        self.state, self.method = state, state.method
        self.whole = sample is state.problem.sample
        self.loss = smooth_loss(state.problem, sample, state.monitor.check)
        #: The last two, at different widths.
        self.minima = list[Iterate]()
        self.by_slopes = proves_by_slopes(state.problem.program)
        self.least_width = state.options.least_width if self.whole else state.options.subsample_width
        borrows = self.whole and state.evaluation is not None  # the sample's own Hessian would cost more than the steps
        is_sparse = sample.is_sparse and not sample.in_blocks
        #: Borrowed from a subsample, later perhaps from a wide minimum; None: the sample's own at every point.
        self.hessian = state.hessian if borrows and not is_sparse else None
        #: Whether the path begins at a wide minimum, whose Hessian is to be borrowed: a subsample lacks rare columns.
        self.begins_wide = borrows and is_sparse
        #: Of the sums of a subsample.
        self.noise = 0.0 if self.whole else _NOISE * sample.n_features / min(sample.n_pos, sample.n_neg)
        self.relative = self._first_relative
        #: Steps at this width.
        self.steps = 0
        if self.begins_wide:
            self._go_to(WIDER)
        elif borrows:
            self._go_to(min(state.width, self._required_width))

    def follow(self) -> bool:
        """One minimum and its certificate; whether another one is to follow."""
        self._minimise()
        last = self.is_narrow or self.method.stopped() is not None
        if self.hessian is not None and not self.minima[-1].converged and not last:
            self._give_up_borrowed()
            return True
        if self._may_certify(last) and self._ended_early(self._certify()):
            self.relative *= _MORE  # the same width again
            return True
        if last or self.state.is_certified:
            self._keep_hessian()
            return False
        if self._borrows_from_wide:
            assert isinstance(self.minima[-1].hessian, np.ndarray)
            self.begins_wide, self.hessian = False, self.minima[-1].hessian
            self._go_to(min(self.state.width, self._required_width))
        else:
            self._narrow()
        return True

    @property
    def _borrows_from_wide(self) -> bool:
        """Whether the required width is to be tried next, with the Hessian of the wide minimum."""
        return self.begins_wide and isinstance(self.minima[-1].hessian, np.ndarray)

    def _give_up_borrowed(self) -> None:
        """The borrowed Hessian failed: from the minimum before on with the sample's own, or from here at a wider width.

        It is that of another point, and may miss curvature.
        """
        self.hessian, self.minima = None, self.minima[:-1]
        if self.minima:
            wide = self.minima[-1]
            self.state.theta, self.state.evaluation, self.state.width = wide.theta, wide.evaluation, wide.width
            self._narrow()
        else:
            self._go_to(max(WIDER, self.state.width))

    def _narrow(self) -> None:
        """Towards the required width, not too far from the last one."""
        # Slopes prove a bound at an exact minimum only, which takes many steps from too wide a width.
        is_fast = self.steps <= FEW_STEPS and not self.by_slopes
        least = (_FAST if is_fast else _SLOW) * self.state.width
        self._go_to(max(min(self._required_width, 0.5 * self.state.width), least))

    @property
    def is_narrow(self) -> bool:
        """Whether the width may not be halved, or there is no smoothing."""
        return self.state.problem.program.loss.is_smooth or 0.5 * self.state.width < self.least_width

    def _minimise(self) -> None:
        """The minimum at the width of the state."""
        state, before = self.state, self.method.iterations
        iterate = self.method.minimise(
            self.loss,
            self._begin(),
            self.hessian,
            relative_tolerance=self.relative,
            noise=self.noise,
        )
        self.steps += self.method.iterations - before
        repeated = bool(self.minima) and self.minima[-1].width == state.width
        self.minima = [*(self.minima[:-1] if repeated else self.minima[-1:]), iterate]
        state.theta, state.evaluation = iterate.theta, iterate.evaluation
        if self.hessian is not None:
            assert isinstance(iterate.hessian, np.ndarray)
            self.hessian = iterate.hessian
        if self.whole:
            state.monitor.record(state.smoothed_value, 0.0)  # above the true one, and no hinge is negative

    def _begin(self) -> Evaluation:
        """The smoothed loss at the last minimum, or at the extrapolated one where its value is less."""
        state = self.state
        last, predicted = self.loss.evaluate(state.theta, state.width), self._extrapolated(state.width)
        if predicted is None or self.minima[-1].width == state.width:
            return last
        other = self.loss.evaluate(self.method.feasible(predicted), state.width)
        return min((last, other), key=lambda evaluation: evaluation.value + self.method.penalty(evaluation.theta))

    def _extrapolated(self, width: float) -> Array | None:
        """The point at another width on the line through the last two minima."""
        if len(self.minima) < 2:
            return None
        first, second = self.minima
        along = (width - second.width) / (second.width - first.width)
        return second.theta + along * (second.theta - first.theta)

    def _go_to(self, width: float) -> None:
        width = max(width, self.least_width)
        if self.by_slopes:  # with a power of 2 the slopes can be found again from the point
            width = 2.0 ** math.floor(math.log2(width))
        self.state.width, self.steps = width, 0
        self.relative = self._first_relative

    @property
    def _first_relative(self) -> float:
        """The predicted reduction, relative to the smoothing gap, at which the steps at a width end at first.

        Slopes prove a bound at an exact minimum, and exact minima lie on lines. Other steps need not go as far.
        """
        if self.whole and self.by_slopes and self.hessian is None:
            return EPSILON if self.is_narrow else _EXACTLY
        return _CLOSELY if self.whole and not self.begins_wide else _ROUGHLY

    @property
    def _required_width(self) -> float:
        """The width at which smoothing causes the allowed share of the gap, which is proportional to h²."""
        evaluation = self.state.evaluation
        if evaluation is None or evaluation.smoothing_gap <= 0:
            return math.inf
        return evaluation.width * math.sqrt(min(1.0, _OPEN * self.state.wanted / evaluation.smoothing_gap))

    def _may_certify(self, last: bool) -> bool:
        """Whether a certificate may have the required gap, or helps to get there."""
        return self.whole and (last or self.minima[-1].evaluation.smoothing_gap <= _NEAR * self.state.wanted)

    def _certify(self) -> Certificate:
        """The certificate of the last minimum."""
        return self._by_slopes(self.minima[-1]) if self.by_slopes else self._by_multipliers(self.minima[-1])

    def _ended_early(self, certificate: Certificate) -> bool:
        """Whether the steps at this width ended before the minimum: the smoothing does not explain the gap."""
        state, left_open = self.state, self.minima[-1].evaluation.smoothing_gap
        if state.is_certified or self.method.stopped() is not None or self.relative <= EPSILON:
            return False
        # Over the hardest negatives multipliers of a wide minimum prove little, however exact it is.
        if left_open > _EXPLAINED * state.wanted and state.problem.program.comparisons.hardest:
            return False
        return certificate.absolute_gap > max(_EXPLAINED * left_open, state.wanted)

    def _by_multipliers(self, iterate: Iterate) -> Certificate:
        """The certificate by the multipliers linearised in a step: they satisfy the dual constraint to rounding.

        Iterative refinement of the step until the bound is close, because its Hessian may be that of a subsample.
        """
        state, loss, problem = self.state, self.loss, self.state.problem
        theta, evaluation = iterate.theta, iterate.evaluation
        step, multipliers, hessian = np.zeros_like(theta), evaluation.multipliers, iterate.hessian
        negative_gradient = loss.direction_sum(multipliers)
        # Linearised multipliers may leave their capacities: an estimate, which `certify` makes a bound.
        estimate = dual_bound(problem, theta[:-2], (multipliers[0], multipliers[1]), negative_gradient[:-2]).bound
        rise, rose, enough = np.inf, np.inf, state.smoothed_value - PART_OF_GAP * state.wanted
        # If the rises do not decrease, the Hessian is too inaccurate.
        while estimate < enough and rise > LITTLE * state.wanted and rise <= rose:
            correction = self.method.step(hessian, negative_gradient, theta + step)
            if self.method.is_too_long(step + correction, theta):
                break
            step = step + correction
            multipliers = loss.linearised(evaluation, step)
            before, negative_gradient = negative_gradient, loss.direction_sum(multipliers)
            if isinstance(hessian, np.ndarray):
                hessian = with_secant(hessian, correction, before - negative_gradient)
            of_pairs = multipliers[0], multipliers[1]
            following = dual_bound(problem, (theta + step)[:-2], of_pairs, negative_gradient[:-2]).bound
            rise, rose, estimate = following - estimate, rise, following
        evaluation.release()
        # The multipliers of a step that is too long may prove a bound although its point is worse.
        measured, others = [state.measured(theta + step)], (theta, self._extrapolated(0.0))
        if measured[0][0] - estimate > state.wanted:
            measured += [state.measured(other) for other in others if other is not None]
        objective, coef, intercept = min(measured, key=lambda point: point[0])
        of_pairs, share_neg = (multipliers[0], multipliers[1]), multipliers[2] if len(multipliers) > 2 else None
        certificate, _ = certify(problem.dual_problem(share_neg, of_pairs[1]), coef, intercept, of_pairs, objective)
        point = RawSolution(coef, intercept, Status.ITERATION_LIMIT, of_pairs, share_neg=share_neg)
        return state.consider(point, certificate)

    def _by_slopes(self, iterate: Iterate) -> Certificate:
        """The certificate of other losses than the hinge, and of pairs within groups, by the slopes at a point.

        They can be recomputed from the point. Those after a step are tried where those at the minimum do not prove
        enough: the step may have promised less than rounding.
        """
        state, theta = self.state, iterate.theta
        step = self.method.step(iterate.hessian, self.loss.direction_sum(iterate.evaluation.multipliers), theta)
        iterate.evaluation.release()
        found: list[Certificate] = []
        tried, exact = [(theta, theta), (theta + step, theta + step)], self._extrapolated(0.0)
        if exact is not None and self.is_narrow:
            tried.append((exact, theta))  # the minimum is off the kinks by about the width
        for at, of_slopes in tried:
            if found and state.is_certified:
                break
            objective, coef, intercept = state.measured(at)
            scorer = self.method.feasible(of_slopes)
            scorers = ((1.0, scorer[:-2], float(scorer[-2]), iterate.width),)
            certificate, *_ = certify_scorers(state.problem, coef, objective, scorers)
            point = RawSolution(coef, intercept, Status.ITERATION_LIMIT, scorers=scorers)
            found.append(state.consider(point, certificate))
        return min(found, key=lambda certificate: certificate.gap)

    def _keep_hessian(self) -> None:
        """Keep the Hessian of a subsample."""
        last = self.minima[-1].hessian
        if not self.whole and self.loss.lends_hessian and isinstance(last, np.ndarray):
            self.state.hessian = last
