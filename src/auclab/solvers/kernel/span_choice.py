"""The span that a solve works in: which landmarks a stage adds, and which it leaves out again.

The cost of a span is, to first order, the loss of the bound from the component r of g outside the span, ``price ·
‖r‖²``. Each stage aims to divide it by ten, until it is a fraction of the tolerance. More landmarks are added than
needed, and those with the least loss are removed again: early ones were chosen for a poor g.
"""

from __future__ import annotations

import math

import numpy as np

from auclab.solvers.kernel.bound import DualPoint
from auclab.solvers.kernel.landmarks import Residual, extend, residual_of, superfluous
from auclab.solvers.kernel.span import Span
from auclab.solvers.kernel.training import Training
from auclab.types import Array

#: Landmarks of the first stage, and least and largest growth factor of later stages.
_FIRST, _LEAST_GROWTH, _GROWTH = 100, 1.4, 2.5
#: Factor by which each stage aims to divide the gap, and the cost of the span.
PROGRESS = 10.0
#: Final cost of the span, as a fraction of the tolerance (measured: with a half 3 % more landmarks and 12 % more time).
_PART = 0.6
#: Landmarks are added until the cost is this fraction of the allowed one, and the worst are then removed; with a gap
#: above the second number the dual point does not show which those are.
_OVERSHOOT, _POOR = 0.5, 0.2
#: If the component of g outside the span costs more than this many times the expected cost, the dual point does not
#: show which landmarks can be removed.
_TRUSTED = 3.0
#: With the largest number of landmarks, this fraction of them is exchanged.
_EXCHANGED = 0.3
#: With this fraction of the observations in the span all others are added too.
_NEARLY_ALL = 0.75


class SpanChoice:
    """A span, a scorer in it, and how both change from stage to stage.

    `most`: landmarks. `coef` (span.size,): the scorer in the orthonormal functions of the span.
    """

    def __init__(self, training: Training, most: int) -> None:
        self.program, self.matrix, self.most = training.program, training.matrix, most
        self.span, self.coef = Span.empty(training.matrix), np.empty(0)
        self._is_trusted, self._expected, self._part = True, math.inf, _PART

    def take(self, span: Span, coef: Array | None = None) -> None:
        """Another span and a scorer in it, h = 0 if left out."""
        self.span, self.coef = span, np.zeros(span.size) if coef is None else coef

    def add(self, dual: DualPoint, number: int) -> None:
        """`number` landmarks for the component outside the span of the g of a dual point."""
        span, _ = extend(self.matrix, self.span, residual_of(self.span, dual.dual, dual.product), 0.0, number)
        self._widen(span)

    def change(self, dual: DualPoint, allowed: float, gap: float) -> bool:
        """Add landmarks for the component of g outside the span and remove superfluous ones; whether any changed.

        `allowed`: gap, in units of the objective, that the solve may end with. `gap`: relative gap until now.
        """
        before, size = self.span.landmarks, self.span.size
        residual, price = residual_of(self.span, dual.dual, dual.product), self._price(dual)
        goal, target = self._targets(self._part * allowed, residual.square * price)
        left = self._extended(residual, goal / price, target / price)
        everything = self.most >= self.matrix.size and self.span.size >= _NEARLY_ALL * self.matrix.size
        if everything:
            span, left = extend(self.matrix, self.span, left, 0.0, self.matrix.size - self.span.size)
            self._widen(span)
        added = self.span.size > size
        if size and added and not everything:
            self._leave_out(dual, math.inf, self.span.size - self.most)
            if gap <= _POOR and self._is_trusted:
                self._leave_out(dual, target / price - left.square, self.span.size - 1)
        self._expected = max(target, left.square * price)
        return added and not np.array_equal(np.sort(before), np.sort(self.span.landmarks))

    def judge(self, dual: DualPoint) -> None:
        """Whether the dual point of the solve in the span costs about what was expected, so that landmarks can go."""
        self._is_trusted = self.cost(dual) <= _TRUSTED * self._expected

    def cost(self, dual: DualPoint) -> float:
        """Loss of the bound, to first order, from the component of g outside the span."""
        return residual_of(self.span, dual.dual, dual.product).square * self._price(dual)

    def _targets(self, goal: float, cost: float) -> tuple[float, float]:
        """The allowed cost of the span at the end, and after this stage."""
        target = max(goal, cost / PROGRESS)
        if target < 2.0 * goal:
            # The cost with the next dual point may be higher, so less is allowed.
            target, self._part = goal, 0.5 * self._part
        return (goal, target) if self._is_trusted else (0.0, 0.0)

    def _extended(self, residual: Residual, goal: float, target: float) -> Residual:
        """A few landmarks until ``‖r‖²`` is at most `goal`, more of them only until it is at most `target`."""
        size = self.span.size
        most = self.most + (max(1, int(_EXCHANGED * self.most)) if size else 0)
        for growth, allowed in ((_LEAST_GROWTH, goal), (_GROWTH if self._is_trusted else _LEAST_GROWTH, target)):
            room = min(int(growth * size) if size else _FIRST, most) - self.span.size
            span, residual = extend(self.matrix, self.span, residual, _OVERSHOOT * allowed, room)
            self._widen(span)
        return residual

    def _widen(self, span: Span) -> None:
        self.span, self.coef = span, np.r_[self.coef, np.zeros(span.size - self.coef.size)]

    def _leave_out(self, dual: DualPoint, allowed: float, most: int) -> None:
        if most <= 0 or allowed <= 0:
            return
        kept = superfluous(self.span, self.span.values @ dual.dual, allowed, most)
        if not kept.all():
            self.span, Q = self.span.reduced(self.matrix, kept)
            self.coef = Q.T @ self.coef

    def _price(self, dual: DualPoint) -> float:
        """Loss of the bound per unit of ``‖r‖²``, to first order."""
        program = self.program
        if program.regulariser.weight > 0 and program.regulariser.squared:
            return 1.0 / (4.0 * program.regulariser.weight)
        if program.regulariser.weight > 0:
            return max(dual.total, 1e-3) / (2.0 * program.regulariser.weight**2)
        length = float(np.linalg.norm(self.coef)) or 1.0 / math.sqrt(self.matrix.largest)
        return length / max(2.0 * dual.length, 1e-300)
