"""The minimum of the smoothed program as the band narrows, until it is certified.

Between changes of the set of margins in the band the minimum θ(h) is an affine function of the half-width h, so that

* the minimum at the next half-width is nearly ``θ₁ + (θ₁ − θ₀)(h − h₁)/(h₁ − h₀)``, and a few Newton steps end at it;
* ``h = 0`` in the same formula is the exact optimum once the margins at the kink are the only ones in the band, even
  where very many margins are tied there, as in tables of binary columns.

At an exact minimum the multipliers of the band satisfy the dual constraint for any h, so a certified gap that is larger
than the smoothing explains comes from steps that have not converged: a column that is nonzero in few observations has
as much weight as any other in the constraint, and hardly any in the smoothed value.

Primal and dual value of a smoothed minimum differ by about h² times the density of margins at the kink, from which the
half-width that a tolerance requires is known. On subsamples the band stays wide: their Hessian is passed on, and a wide
band makes it less noisy. From the minimum of a subsample one step on all observations leads to the half-width that the
tolerance requires, with the Hessian of the subsample where one of all observations would cost more than the steps; if
a few steps do not arrive there, the band is widened again. Where slopes are the proof, the last digits are those of
steps with the Hessian of all observations, cheap where few pairs are in the band.
"""

from __future__ import annotations

import math

import numpy as np

from auclab.precision import EPSILON, FEW_STEPS, HALF_OF_DIGITS, LITTLE, MOST_STEPS, SMALL_OBJECTIVE
from auclab.samples.memory import Sample
from auclab.solvers.monitor import OutOfTime
from auclab.solvers.newton.certified_step import certified_step
from auclab.solvers.newton.damped_newton import Iterate
from auclab.solvers.newton.state import State
from auclab.solvers.raw import RawSolution
from auclab.solvers.smoothed.evaluation import Evaluation
from auclab.solvers.smoothed.smoothed_loss import smooth_loss
from auclab.solvers.verified.scorers import proves_by_slopes
from auclab.types import Array

#: With more observations per class than this the Hessian of a subsample is that of the subsample before it.
_MAX_HESSIAN_SIZE = 40_000
#: The last half-width on a subsample, and the first one near a start that may be some way off.
_SUBSAMPLE_WIDTH, WIDER = 0.03, 0.125
#: The next half-width relative to the last: after a minimum that took few steps, and after others.
_FAST, _SLOW = 0.1, 0.3
#: Of the wanted gap: what the smoothing may leave open; and below how many times it a minimum is certified, after few
#: steps, and when there are enough that a certificate costs little compared with them.
_OPEN, _NEARLY, _FAR = 0.3, 3.0, 1e3


def follow_minima(state: State, sample: Sample) -> RawSolution | None:
    """Follow the minima from `state.theta` as the band narrows.

    `state`: its point, evaluation, Hessian and best solution are brought up to date. `sample`: all observations, or a
    subsample, on which nothing is certified. Returns: of a finish that applied at a minimum over all observations.
    None where the minimum is certified, the time is over, or the band is as narrow as it may be.
    """
    path = _Path(state, sample)
    while True:
        path.minimise()
        finished = state.finished() if path.whole else None
        if finished is not None:
            return finished
        last = path.is_narrow or state.monitor.stopped() is not None
        if path.is_lost and not last:
            path.widen()
        elif path.certifies(last) and not path.certified():
            path.converge()
        elif last or state.is_certified:
            break
        else:
            path.narrow()
    path.pass_on()
    return None


class _Path:
    """The minima of the smoothed loss of one sample."""

    def __init__(self, state: State, sample: Sample):
        self.state, self.method, self.sample = state, state.method, sample
        self.whole, sampled = sample is state.problem.sample, state.evaluation is not None
        self.loss, self.minima = smooth_loss(state.problem, sample, self.method.monitor.check), list[Iterate]()
        self.hessian = state.hessian if _borrows(state, sample) else None
        fewest = min(sample.n_pos, sample.n_neg)
        self._least_width = HALF_OF_DIGITS if self.whole else _SUBSAMPLE_WIDTH
        self.noise = 0.0 if self.whole else 1e-2 * sample.n_features / fewest
        self.ridge = 0.0 if self.whole else 1.0 / fewest  # in units of one observation
        #: Whether the next half-width is to be the last one, from a subsample's minimum not far away, and whether the
        #: present one is.
        self.leaps, self.direct = self.whole and sampled, False
        self.proves_by_slopes = proves_by_slopes(state.problem.program)
        #: What the steps at this half-width have to reach, and how many there were.
        self.relative, self.steps = self._first_relative, 0
        if self.leaps and sample.is_sparse and self.hessian is None:
            # Subsamples miss the curvature of rare features; a wide band over all observations contains most of it.
            state.half_width = WIDER
        elif self.leaps:
            self.narrow()

    def minimise(self) -> None:
        """The minimum at the half-width of the state."""
        state, before = self.state, self.method.iterations
        iterate = self._from(self._begin())
        if self.direct and self.proves_by_slopes and self.hessian is not None and iterate.converged:
            self.hessian = None  # that of a subsample would take many steps to an exact minimum
            self.relative = self._first_relative
            iterate = self._from(iterate.evaluation)
        self.steps += self.method.iterations - before
        repeated = bool(self.minima) and self.minima[-1].half_width == state.half_width
        self.minima = [*(self.minima[:-1] if repeated else self.minima[-1:]), iterate]
        state.theta, state.evaluation, self.hessian = iterate.theta, iterate.evaluation, iterate.given
        if self.whole:
            state.monitor.record(state.smoothed_value, 0.0)  # above the true one, and no hinge is negative

    def _from(self, begin: Evaluation) -> Iterate:
        """Steps at the half-width of the state."""
        return self.method.minimise(
            self.loss,
            begin.theta,
            self.state.half_width,
            self.hessian,
            noise=self.noise,
            ridge=self.ridge,
            relative_tolerance=self.relative,
            max_steps=FEW_STEPS if self.direct else MOST_STEPS,
            evaluation=begin,
        )

    @property
    def is_narrow(self) -> bool:
        """Whether the band may not be narrowed by half, or there is none."""
        return self.state.problem.program.loss.is_smooth or 0.5 * self.state.half_width < self._least_width

    @property
    def is_lost(self) -> bool:
        """Whether the direct step failed: it was too long, or the subsample misses curvature of the whole sample."""
        return self.direct and not self.minima[-1].converged

    def widen(self) -> None:
        """A wide band and the sample's own Hessian."""
        self.hessian, self.minima = None, []
        self._go_to(max(WIDER, self.state.half_width))

    def certifies(self, last: bool) -> bool:
        """Whether a certificate may have the required gap, or costs little compared with the steps."""
        near = self._wanted * (_NEARLY if self.steps <= FEW_STEPS else _FAR)
        return self.whole and (last or self.minima[-1].evaluation.smoothing_gap <= near)

    def certified(self) -> bool:
        """Certify the last minimum; False where its steps ended too early."""
        state, iterate, before = self.state, self.minima[-1], self.state.gap
        # A point that is proved by its own slopes is preferred, except for the last digits.
        other = self._extrapolated(0.0) if self.is_narrow or not self.proves_by_slopes else None
        certificate = certified_step(state, self.loss, iterate, other)
        if state.is_certified or state.monitor.stopped() is not None:
            return True
        if state.gap > _SLOW * before:
            self.hessian = None  # that of other points or observations does not converge
        too_large = max(_NEARLY * iterate.evaluation.smoothing_gap, self._wanted)
        return certificate.absolute_gap <= too_large or self.relative <= EPSILON

    def converge(self) -> None:
        """Continue at the same half-width, until the predicted reduction has fallen to a hundredth."""
        self.direct, self.relative = False, self.relative * LITTLE**2

    def narrow(self) -> None:
        """Near the half-width that the tolerance requires, not too far from the last one."""
        width = self.state.half_width
        if self.leaps:
            self.hessian = self._reusable if self.minima else self.hessian
            width = min(width, self._required_width)
        else:
            slowest = (_FAST if self.steps <= FEW_STEPS else _SLOW) * width
            width = max(min(self._required_width, 0.5 * width), slowest)
        self._go_to(max(width, self._least_width))

    def _go_to(self, half_width: float) -> None:
        if self.proves_by_slopes:  # with a power of 2 the slopes can be found again from the point
            half_width = 2.0 ** math.floor(math.log2(half_width))
        self.state.half_width, self.steps = half_width, 0
        self.direct, self.leaps = self.leaps, False
        self.relative = self._first_relative

    @property
    def _first_relative(self) -> float:
        """What the steps at a half-width have to reach.

        Slopes prove a bound at an exact minimum, and exact minima lie on lines. Other steps need not go as far; with a
        given Hessian one more costs less than what it saves in the last step.
        """
        if self.whole and self.proves_by_slopes and self.hessian is None:
            return EPSILON if self.is_narrow else LITTLE**8
        few = (self.direct or self.leaps) and self.hessian is None
        return LITTLE if few or not self.whole else LITTLE**2

    def pass_on(self) -> None:
        """Keep the Hessian for a larger sample."""
        if not self.whole:
            self.state.hessian = self._reusable if self.hessian is None else self.hessian

    @property
    def _reusable(self) -> Array | None:
        """The part of the last Hessian that is usable at other points and for other samples; None for an operator."""
        last = self.minima[-1]
        try:
            return self.loss.reusable(last.hessian, last.evaluation) if isinstance(last.hessian, np.ndarray) else None
        except OutOfTime:  # no step follows
            return None

    @property
    def _wanted(self) -> float:
        return self.state.tolerance * max(self.state.smoothed_value, SMALL_OBJECTIVE)

    @property
    def _required_width(self) -> float:
        """The half-width at which smoothing causes the allowed share of the gap, which is proportional to h²."""
        evaluation = self.state.evaluation
        if evaluation is None or evaluation.smoothing_gap <= 0:
            return math.inf
        return evaluation.half_width * math.sqrt(min(1.0, _OPEN * self._wanted / evaluation.smoothing_gap))

    def _extrapolated(self, half_width: float) -> Array | None:
        """The point at another half-width on the line through the last two minima."""
        if len(self.minima) < 2:
            return None
        first, second = self.minima
        along = (half_width - second.half_width) / (second.half_width - first.half_width)
        return second.theta + along * (second.theta - first.theta)

    def _begin(self) -> Evaluation:
        """The smoothed loss at the last minimum, or at the extrapolated one where its value is less."""
        state = self.state
        last, predicted = self.loss.evaluate(state.theta, state.half_width), self._extrapolated(state.half_width)
        if predicted is None or self.minima[-1].half_width == state.half_width:
            return last
        other = self.loss.evaluate(self.method.feasible(predicted), state.half_width)
        return min((last, other), key=lambda evaluation: evaluation.value + self.method.penalty(evaluation.theta))


def _borrows(state: State, sample: Sample) -> bool:
    """Whether the sample's own Hessian would cost more than the extra steps with the previous one.

    That is so for all observations; a subsample is to pass on a Hessian of its own unless it is large. Not for a
    subsample of the pairs of bicliques, few of which are in the band of a smaller subsample.
    """
    if sample.is_sparse and not sample.in_blocks:
        return False
    if sample is state.problem.sample:
        return True
    return sample.is_of_classes and max(sample.n_pos, sample.n_neg) > _MAX_HESSIAN_SIZE
