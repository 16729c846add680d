"""Every observation with an intercept: ``m_k = y_k (w·x_k + b)``, with the weights of the observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.comparisons.comparison import Comparison, DoubleDouble
from auclab.compiled.accurate import two_sums
from auclab.losses import Loss
from auclab.losses.loss import Pieces
from auclab.projection.distance import distance_to_means
from auclab.regularisers import VectorNorm
from auclab.samples.memory import Sample
from auclab.types import Array


@dataclass(frozen=True)
class Points(Comparison):
    """Every observation by itself, with an intercept.

    See Also
    --------
    auclab.comparisons.AllPairs : Pairs in place of points.

    Examples
    --------
    >>> Points().name, Points().margin_symbol
    ('points', 'y_k (w·x_k + b)')
    """

    name = "points"
    encodings = ("full", "dual")
    mean_symbol = "mean_k"
    margin_symbol = "y_k (w·x_k + b)"
    error_name = "misclassification error"
    score_name = "buffered accuracy"
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
