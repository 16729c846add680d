"""Points with an intercept: every observation by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from auclab._core.accurate import two_sums
from auclab._core.base import Array
from auclab._core.tolerances import FEW_ROUNDINGS
from auclab.losses import Loss
from auclab.losses.loss import Pieces
from auclab.regularisers import VectorNorm
from auclab.regularisers.projection import distance_to_means
from auclab.samples.memory import Sample

if TYPE_CHECKING:
    pass

from auclab.margins.comparison import Comparison, DoubleDouble, MarginRows, piece_sizes


@dataclass(frozen=True)
class Points(Comparison):
    """Every observation by itself, with an intercept.

    See Also
    --------
    auclab.margins.AllPairs : Pairs in place of points.

    Examples
    --------
    >>> Points().name, Points().margin_symbol
    ('points', 'y_k (w·x_k + b)')
    """

    name = "points"
    loops: ClassVar = {"values": (), "cuts": (), "steps": ("points",)}
    encodings = ("full", "dual")
    mean_symbol = "mean_k"
    margin_symbol = "y_k (w·x_k + b)"
    error_name = "misclassification error"
    score_name = "buffered accuracy"
    separated = "classes"
    null_level_names = ("λ_max", "λ_max / (2·min(class shares))")
    is_tied_at_null = True

    def mean(self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample) -> float:
        """``Σ_k weight_k ℓ(shift − m_k)``."""
        arguments = shift - (scores[0] + intercept), shift + (scores[1] + intercept)
        return sum(float(weight @ loss.value(a)) for weight, a in zip(sample.point_weights, arguments, strict=True))

    def accurate_mean_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`mean` of the hinge where scores, b and shift are given as ``high + low``."""
        weight_pos, weight_neg = sample.point_weights
        value = 0.0
        for (high, low), weight, sign in ((scores_pos, weight_pos, -1.0), (scores_neg, weight_neg, 1.0)):
            # Score and intercept are added first, because they may be large and nearly cancel.
            base, lost = two_sums(high, intercept[0])
            total, rest = two_sums(shift[0], sign * base)
            value += float(weight @ np.maximum(total + (rest + shift[1] + sign * (lost + low + intercept[1])), 0.0))
        return value

    def slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[tuple[Array, Array], float, float]:
        """The ``weight_k ℓ'(a_k)`` of each class, and the weighted sums of ``ℓ(a_k)`` and ``ℓ*(ℓ'(a_k))``."""
        weights = sample.point_weights
        arguments = shift - (scores[0] + intercept), shift + (scores[1] + intercept)
        active_pos, active_neg = (
            weight * table.at(a, table.slopes) for weight, a in zip(weights, arguments, strict=True)
        )
        value, conjugate = (
            sum(float(weight @ table.at(a, part)) for weight, a in zip(weights, arguments, strict=True))
            for part in (table.coefficients, table.conjugates)
        )
        return (active_pos, active_neg), value, conjugate

    def bounded_slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[Array, Array, float, float, float]:
        """`slopes`; rounding may put a point on either side of a breakpoint."""
        (pos, neg), _, conjugate = self.slopes(table, scores, intercept, shift, sample)
        longest = max(float(abs(part + intercept).max()) for part in scores)
        slope, of_conjugate, reach, apart = piece_sizes(table, longest, shift)
        off_conjugate = 2.0**-52 * (sample.n_pos + sample.n_neg) * of_conjugate + 2.0**-47 * slope * reach + apart
        return pos, neg, conjugate, 2.0**-47 * slope, off_conjugate

    def active(
        self, sample: Sample, scores: tuple[Array, Array], intercept: float, shift: float
    ) -> tuple[tuple[Array, ...], float]:
        """The weights of the points with a positive hinge."""
        weight_pos, weight_neg = sample.point_weights
        hinge_pos, hinge_neg = shift - (scores[0] + intercept), shift + (scores[1] + intercept)
        active = np.where(hinge_pos > 0, weight_pos, 0.0), np.where(hinge_neg > 0, weight_neg, 0.0)
        return active, float(active[0] @ hinge_pos + active[1] @ hinge_neg)

    def score_changes(self, rows: Array, share: Array, prior: float) -> tuple[Array, Array]:
        """Of all scores."""
        return np.c_[rows, np.ones(len(rows))], prior * share

    def n_pairs(self, sample: Sample) -> int:
        """None."""
        return 0

    def rows(self, sample: Sample) -> MarginRows:
        """The positives, then the negatives."""
        pos, neg = np.arange(sample.n_pos), np.arange(sample.n_neg)
        none_pos, none_neg = np.full(pos.size, -1), np.full(neg.size, -1)
        signs = np.r_[np.ones(pos.size), -np.ones(neg.size)]
        return MarginRows(np.r_[pos, none_neg], np.r_[none_pos, neg], np.concatenate(sample.point_weights), signs)

    def total(self, of_pos: float, of_neg: float) -> float:
        """The sum over both classes: a multiplier belongs to one observation."""
        return of_pos + of_neg

    def of_intercept(self, value: float) -> float:
        """The number itself."""
        return value

    def row_weights(self, sample: Sample) -> tuple[Array, Array]:
        """The weights of the points."""
        return sample.point_weights

    def _clipped(self, sample: Sample, pos: Array, neg: Array) -> tuple[Array, Array]:
        weight_pos, weight_neg = sample.point_weights
        return np.minimum(pos, weight_pos), np.minimum(neg, weight_neg)

    def largest_factor(self, sample: Sample, pos: Array, neg: Array) -> float:
        """The least ratio of a weight to its multiplier."""
        q, capacity = np.r_[pos, neg], np.concatenate(sample.point_weights)
        return min(1.0, float((capacity[q > 0] / q[q > 0]).min(initial=1.0)))

    def excess(self, sample: Sample, pos: Array, neg: Array, allowed: float = 0.0) -> float:
        """The sum of what multipliers are above their weights."""
        over = np.maximum(np.r_[pos, neg] - np.concatenate(sample.point_weights), 0.0)
        return float(over.sum()) * (1.0 + FEW_ROUNDINGS)

    def capacity_test(self, sample: Sample, pos: Array, neg: Array) -> Callable[[float, float, float], bool]:
        """Whether every multiplier, moved, is at most its weight."""
        q, capacity = np.r_[pos, neg], np.concatenate(sample.point_weights)
        return lambda factor, mass, change: bool((q * (factor * (1.0 + change + 2.0**-50)) <= capacity).all())

    def null_intercept(self, loss: Loss, sample: Sample) -> float:
        """The sign of the majority for the hinge (0 for equal weights); otherwise the point where the slopes balance.

        The mean loss of a constant is quadratic between its knots, with a minimum at one of them or where its slope,
        which is linear there, is 0.
        """
        ends = loss.table.breakpoints - 1.0
        knots = np.unique(np.r_[ends, 0.0, -ends])
        low, high = knots[:-1] + 0.25 * np.diff(knots), knots[1:] - 0.25 * np.diff(knots)
        slopes = [sample.prior_neg * loss.slope(1.0 + b) - sample.prior_pos * loss.slope(1.0 - b) for b in (low, high)]
        rises = slopes[1] > slopes[0]
        flat = low[rises] - (slopes[0] * (high - low))[rises] / (slopes[1] - slopes[0])[rises]
        choices = np.r_[knots, np.clip(flat, knots[:-1][rises], knots[1:][rises])]
        values = sample.prior_pos * loss.value(1.0 - choices) + sample.prior_neg * loss.value(1.0 + choices)
        return float(min(choices[values == values.min()], key=abs))

    def null_value(self, loss: Loss, sample: Sample) -> float:
        """The mean loss of the best constant; of the hinge 2·min(class shares)."""
        b = self.null_intercept(loss, sample)
        return sample.prior_pos * float(loss.value(1.0 - b)) + sample.prior_neg * float(loss.value(1.0 + b))

    def null_level(self, sample: Sample, norm: VectorNorm) -> float:
        """The least ``‖Σ_k q_k y_k x_k‖_*``, with full weights of the minority and any of the majority with their sum.

        The dual of C-SVM (NU (28)) then has the value 2·min(class shares), which is that of w = 0.
        """
        (few, rows), (capacity, others) = sorted(
            zip(sample.point_weights, (sample.X_pos, sample.X_neg), strict=True), key=lambda part: float(part[0].sum())
        )
        target = np.asarray(rows.T @ few, dtype=float)
        return distance_to_means(others, capacity, float(few.sum()), target, norm)

    def null_cause(self, sample: Sample) -> str:
        """What it means that ``Σ q d = 0`` for multipliers at w = 0, as the end of a sentence."""
        few, many = ("positives", "negatives") if sample.prior_pos <= sample.prior_neg else ("negatives", "positives")
        if sample.prior_pos == sample.prior_neg:
            return "the means of the classes agree"
        return f"the {many} outweigh the {few}, and a weighted mean of the {many} equals the mean of the {few}"

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return f"the value is 2·min(class shares) = {2.0 * min(sample.prior_pos, sample.prior_neg):.4g}"
