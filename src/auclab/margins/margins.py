"""What is compared: points with a threshold, pairs, hardest negatives, pairs within groups; by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from auclab._core.accurate import UNIT, accurate_pair_hinge, two_sums
from auclab._core.base import Array, AuclabError
from auclab._core.bicliques import accurate_pair_slopes
from auclab._core.hinge import SortedMarginals, pair_hinge_active, pair_hinge_value, transport_factor
from auclab._core.pieces import opposite_piece_slopes, pair_piece_sums
from auclab._core.tolerances import FEW_ROUNDINGS, TOLERANCE
from auclab._core.validation import check_choice
from auclab.losses import Loss
from auclab.losses.loss import Pieces
from auclab.regularisers import VectorNorm
from auclab.regularisers.projection import distance_to_means
from auclab.samples.as_sample import as_sample
from auclab.samples.bicliques import ListedPairs, sums_of_rows
from auclab.samples.memory import Sample
from auclab.samples.ranked import RankedSample
from auclab.samples.tables import in_memory

if TYPE_CHECKING:
    from auclab._core.compiling import Family

#: Numbers as unevaluated sums ``high + low``.
DoubleDouble = tuple[Array, Array]
#: Linear program of the hinge terms: a row each, a bounded column each, or columns for the undecided terms alone.
Encoding = Literal["full", "dual", "aggregated"]


class SealedError(AuclabError, TypeError):
    """A class was derived from one that is not an extension point."""


@dataclass(frozen=True)
class MarginRows:
    """The observations of every margin ``s_i⁺ − s_j⁻ + sign · b`` and its weight.

    `pos`, `neg` (n_margins,): numbers of rows of either class; −1 for none. `weights` (n_margins,). `signs`
    (n_margins,), or None: None over pairs, where b cancels.
    """

    pos: NDArray[Any]
    neg: NDArray[Any]
    weights: Array
    signs: Array | None = None

    def differences(self, of_pos: Any, of_neg: Any) -> Any:
        """What a margin takes from its rows, of an array or CSR matrix of either class with a row each."""
        return _selecting(self.pos, of_pos.shape[0]) @ of_pos - _selecting(self.neg, of_neg.shape[0]) @ of_neg

    def marginals(self, values: Array, n_pos: int, n_neg: int) -> tuple[Array, Array]:
        """The sums of values of margins over those of every observation, shapes (n_pos,) and (n_neg,)."""
        return _selecting(self.pos, n_pos).T @ values, _selecting(self.neg, n_neg).T @ values


def _selecting(rows: NDArray[Any], width: int) -> sp.csr_array:
    """The 0/1 matrix whose row k selects entry rows[k], none where that is −1."""
    used = np.flatnonzero(rows >= 0)
    return sp.csr_array((np.ones(used.size), (used, rows[used])), shape=(rows.size, width))


class Comparison(ABC):
    """Margins ``m_k(w, b)`` with weights that sum to 1; they are never formed individually.

    Sealed: values, slopes, multipliers and their proofs belong together, so a class of your own cannot be derived from
    it or its subclasses.

    Attributes
    ----------
    name : {"pairs", "points"}
    loops : dict
        The compiled loops that values, cutting planes and Newton steps call.
    encodings : tuple of str
        The encodings available to a linear-programming solver.
    mean_symbol, margin_symbol : str
        The mean and the margin in an equation.
    error_name, score_name, separated : str
        Names of error, score and what a scorer separates in sentences.
    null_level_names : (str, str)
        Names of the λ and of the −z at which w = 0 becomes optimal.
    is_tied_at_null : bool
        Whether at w = 0 margins are at the kink of the hinge, or negatives are tied: many multipliers belong to it.
    hardest : bool
        Whether only the hardest negatives count, whose weights depend on w.
    by_marginals : bool
        Whether sums per observation suffice to check that multipliers of the hinge are feasible.

    See Also
    --------
    auclab.formulations.Composed : Comparisons with a loss and a regulariser.

    Examples
    --------
    >>> from auclab.margins import AllPairs, HardestNegatives, Points
    >>> [each.name for each in (AllPairs(), Points(), HardestNegatives())]
    ['pairs', 'points', 'pairs']
    """

    name: ClassVar[Literal["pairs", "points"]]
    loops: ClassVar[dict[Literal["values", "cuts", "steps"], tuple[Family, ...]]]
    encodings: ClassVar[tuple[Encoding, ...]]
    mean_symbol: ClassVar[str]
    margin_symbol: ClassVar[str]
    error_name: ClassVar[str]
    score_name: ClassVar[str]
    separated: ClassVar[str]
    null_level_names: ClassVar[tuple[str, str]]
    is_tied_at_null: ClassVar[bool] = False
    hardest: ClassVar[bool] = False
    by_marginals: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__module__.startswith("auclab.margins."):
            raise SealedError(
                f"{cls.__name__} cannot be derived from {cls.__mro__[1].__name__}: margins are sealed, "
                "because the proofs of optima rest on them. Pairs of your own are auclab.margins.Bicliques(upper, "
                "lower, weights), with the numbers of the rows that should have the larger and the smaller score"
            )

    def sample(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, pos_label: Any = None) -> Sample:
        """The checked rows that are compared: split by their labels."""
        return as_sample(X, y, sample_weight, pos_label=pos_label)

    def capacity(self, sample: Sample) -> Array | None:
        """The largest weight of each negative, shape (n_neg,); None where the weights are the shares in the sample."""
        return None

    def worst_negatives(self, scores_neg: Array, sample: Sample) -> Array | None:
        """The weights of the negatives with the largest mean loss at given scores; None where they are the shares."""
        return None

    def dual_shares(
        self, scores_neg: Array, multipliers_neg: Array, sample: Sample, tied: float = 1e-6
    ) -> Array | None:
        """The weights of the negatives that belong to the multipliers of an optimum; None where they are the shares."""
        return None

    def weighted(self, sample: Sample, share_neg: Array, multipliers_neg: Array) -> Sample:
        """The sample whose dual value at these weights of the negatives is a lower bound."""
        return sample

    @abstractmethod
    def mean(self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample) -> float:
        """``Σ_k weight_k ℓ(shift − m_k)`` at given scores of positives and negatives; O(m log m)."""

    def accurate_mean(
        self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> float:
        """`mean` where sums of squares of scores would cancel; the same where there are none."""
        return self.mean(loss, scores, intercept, shift, sample)

    @abstractmethod
    def accurate_mean_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`mean` of the hinge where scores, b and shift are given as ``high + low``."""

    @abstractmethod
    def slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[tuple[Array, Array], float, float]:
        """The sums of ``weight_k ℓ'(a_k)`` of every observation, and of ``ℓ(a_k)`` and ``ℓ*(ℓ'(a_k))`` over all."""

    @abstractmethod
    def bounded_slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[Array, Array, float, float, float]:
        """The sums of ``weight_k ℓ'(a_k)`` of every observation, and of ``ℓ*``, with bounds of their errors.

        The last two are error bounds of all sums over observations together, and of the sum of ``ℓ*``.
        """

    @abstractmethod
    def active(
        self, sample: Sample, scores: tuple[Array, Array], intercept: float, shift: float
    ) -> tuple[tuple[Array, ...], float]:
        """The weights of the margins with a positive hinge, by observation, and the mean hinge from them.

        Over the hardest negatives their weights r are a third array.
        """

    @abstractmethod
    def score_changes(self, rows: Array, share: Array, prior: float) -> tuple[Array, Array]:
        """The changes of the scores of a class for steps in w and b that margins see, and their weights.

        `rows` (k, n): some of the class. `share` (k,): their weights, with sum 1. `prior`: the weight of the class.
        Returned: shape (k, n + 1), and (k,).
        """

    @abstractmethod
    def n_pairs(self, sample: Sample) -> int:
        """Number of pairs that a method has to hold which holds every margin; 0 over points."""

    @abstractmethod
    def rows(self, sample: Sample) -> MarginRows:
        """The observations of every margin; for small samples."""

    @abstractmethod
    def total(self, of_pos: float, of_neg: float) -> float:
        """``Σ q`` of multipliers q with these sums over the positives and over the negatives."""

    @abstractmethod
    def of_intercept(self, value: float) -> float:
        """A number that concerns b, such as b or ``Σ q y``; 0 over pairs, where b cancels."""

    @abstractmethod
    def row_weights(self, sample: Sample) -> tuple[Array, Array]:
        """The weights of all margins of every observation, (n_pos,) and (n_neg,): its multipliers sum to no more."""

    def feasible(self, sample: Sample, pos: Array, neg: Array) -> tuple[Array, Array]:
        """The nearest multipliers of the same shape that belong to a feasible dual point.

        Negative entries become 0, both classes get the same sum (``Σ q y = 0`` over points), and excess over the
        capacities is removed: entry by entry over points, by the largest admissible common factor over pairs.
        """
        pos, neg = self._clipped(sample, np.maximum(pos, 0.0), np.maximum(neg, 0.0))
        sum_pos, sum_neg = float(pos.sum()), float(neg.sum())
        if sum_pos == 0 or sum_neg == 0:
            return np.zeros_like(pos), np.zeros_like(neg)
        smaller = min(sum_pos, sum_neg)
        pos *= smaller / sum_pos
        neg *= smaller / sum_neg
        factor = self.largest_factor(sample, pos, neg)
        return pos * factor, neg * factor

    @abstractmethod
    def _clipped(self, sample: Sample, pos: Array, neg: Array) -> tuple[Array, Array]:
        """Multipliers ≥ 0 without what can be removed observation by observation."""

    @abstractmethod
    def largest_factor(self, sample: Sample, pos: Array, neg: Array) -> float:
        """The largest factor ≤ 1 with which multipliers ≥ 0 of equal sums are within their capacities."""

    @abstractmethod
    def excess(self, sample: Sample, pos: Array, neg: Array, allowed: float = 0.0) -> float:
        """The largest excess of multipliers over their capacities, or a cheap bound of it that is `allowed`."""

    @abstractmethod
    def capacity_test(self, sample: Sample, pos: Array, neg: Array) -> Callable[[float, float, float], bool]:
        """Whether factor · multipliers, moved by a mass and relatively by a change, are within their capacities."""

    @abstractmethod
    def null_intercept(self, loss: Loss, sample: Sample) -> float:
        """The best b for w = 0."""

    @abstractmethod
    def null_value(self, loss: Loss, sample: Sample) -> float:
        """The mean loss at w = 0 with the best b."""

    def null_level(self, sample: Sample, norm: VectorNorm) -> float:
        """Of the hinge, where `is_tied_at_null`: the least ``‖Σ q d‖_*`` of multipliers that prove w = 0 optimal."""
        raise NotImplementedError

    def null_cause(self, sample: Sample) -> str:
        """What it means that ``Σ q d = 0`` for multipliers at w = 0, as the end of a sentence."""
        return "the means of the classes agree"

    @abstractmethod
    def null_meaning(self, sample: Sample) -> str:
        """What it means for the hinge that w = 0 is optimal, as the end of a sentence."""


def _sizes(table: Pieces, longest: float, shift: float) -> tuple[float, float, float, float]:
    """The largest slope and conjugate, the largest argument, and the largest jump between neighbouring pieces.

    Jumps are rounding errors of the coefficients, through which the slope may also decrease.
    """
    at, change = table.breakpoints, np.diff(table.coefficients, axis=0, prepend=0.0)
    reach = 2.0 * (longest + abs(shift) + float(abs(at).max()))
    slope = float((abs(table.slopes) @ [1.0, reach]).sum())
    conjugate = float((abs(table.conjugates) @ [1.0, reach, reach * reach]).sum())
    turns = change[:, 1] + 2.0 * at * change[:, 2]
    apart = float(abs(change[:, 0] + at * (change[:, 1] + at * change[:, 2])).sum())
    return slope, conjugate, reach, apart + float(np.maximum(-turns, 0.0).sum()) * reach


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
        slope, of_conjugate, reach, apart = _sizes(table, longest, shift)
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


@dataclass(frozen=True)
class AllPairs(Comparison):
    """Every pair of a positive and a negative, evaluated on sorted scores.

    See Also
    --------
    auclab.margins.Points : Points in place of pairs.

    Examples
    --------
    >>> AllPairs().name, AllPairs().margin_symbol
    ('pairs', 'w·(x_i⁺ − x_j⁻)')
    """

    name = "pairs"
    loops: ClassVar = {"values": ("values",), "cuts": ("cuts",), "steps": ("pairs",)}
    encodings: ClassVar[tuple[Encoding, ...]] = ("full", "dual", "aggregated")
    mean_symbol = "mean_ij"
    margin_symbol = "w·(x_i⁺ − x_j⁻)"
    error_name = "ranking error"
    score_name = "bAUC"
    separated = "pairs"
    null_level_names = ("‖mean(x⁺) − mean(x⁻)‖_*", "‖mean(x⁺) − mean(x⁻)‖_*")

    def mean(self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample) -> float:
        """``Σ_ij u_i v_j ℓ(shift − m_ij)``; for the hinge without cancellation."""
        if loss.is_hinge:
            return pair_hinge_value(*scores, shift, *sample.weights)
        # Sums of squares cancel where every pair is ranked correctly: a value below 0 is a rounding error.
        return max(0.0, self.slopes(loss.table, scores, intercept, shift, sample)[1])

    def accurate_mean(
        self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> float:
        """`mean` with sums in twice the working precision."""
        pos, neg = sample.sides(scores)
        total = accurate_pair_slopes(
            pos.scores, neg.scores, pos.share, neg.share, pos.starts, neg.starts, shift,
            loss.table.breakpoints, loss.table.slopes, loss.table.coefficients, 0.0,
        )[2]  # fmt: skip
        return max(0.0, float(total))

    def accurate_mean_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`mean` of the hinge where scores and shift are given as ``high + low``."""
        return accurate_pair_hinge(scores_pos, scores_neg, shift, *sample.weights)

    def slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[tuple[Array, Array], float, float]:
        """The sums of ``u_i v_j ℓ'(a_ij)`` of every observation, and of ``ℓ(a_ij)`` and ``ℓ*(ℓ'(a_ij))`` over all."""
        pos, neg = sample.sides(scores)
        _, slope, totals = pair_piece_sums(
            pos.scores, neg.scores, pos.share, neg.share, pos.starts, neg.starts, shift,
            table.breakpoints, table.coefficients, table.slopes, table.conjugates, np.zeros(table.breakpoints.size),
        )  # fmt: skip
        _, opposite = opposite_piece_slopes(
            neg.scores, pos.scores, pos.share, neg.starts, pos.starts, shift, table.breakpoints, table.slopes
        )
        active = sums_of_rows(pos, slope, sample.n_pos), sums_of_rows(neg, opposite, sample.n_neg)
        return active, float(totals[0]), float(totals[1])

    def bounded_slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[Array, Array, float, float, float]:
        """`slopes`, summed in twice the working precision.

        Rounding may put a pair on either side of a breakpoint, but on one for both of its rows: its slope is that of a
        piece next to its own, continued to it.
        """
        upper, lower = sample.sides(scores)
        longest = max(float(abs(side.scores).max()) for side in (upper, lower))
        slope, of_conjugate, reach, apart = _sizes(table, longest, shift)
        near = 2.0**-48 * reach
        of_upper, of_lower, conjugate, nearby = accurate_pair_slopes(
            upper.scores, lower.scores, upper.share, lower.share, upper.starts, lower.starts, shift,
            table.breakpoints, table.slopes, table.conjugates, near,
        )  # fmt: skip
        ones = np.ones(max(upper.rows.size, lower.rows.size))
        pos, neg = (
            sums_of_rows(side._replace(share=ones[: side.rows.size]), values, size)
            for side, values, size in ((upper, of_upper, sample.n_pos), (lower, of_lower, sample.n_neg))
        )
        entries = float(max(np.bincount(side.rows).max() for side in (upper, lower)))
        unit = (upper.rows.size + lower.rows.size + 64.0) * UNIT
        beside = float(abs(np.diff(table.slopes[:, 1], prepend=0.0)) @ nearby) * near
        off = unit * slope + entries * 2.0**-52 * float(pos.sum() + neg.sum()) + beside
        off_conjugate = unit * (of_conjugate + slope * reach) + 2.0**-50 * abs(conjugate) + apart + beside * reach
        return pos, neg, conjugate, off * (1.0 + FEW_ROUNDINGS), off_conjugate * (1.0 + FEW_ROUNDINGS)

    def active(
        self, sample: Sample, scores: tuple[Array, Array], intercept: float, shift: float
    ) -> tuple[tuple[Array, ...], float]:
        """The weights of the pairs with a positive hinge, over the hardest negatives at the worst r."""
        # A common offset of the scores cancels in the pairs; without it no digits are lost in the sums.
        center = 0.5 * float(scores[1].min() + scores[1].max())
        pos, neg = scores[0] - center, scores[1] - center
        weight_pos, weight_neg = sample.weights
        share_neg = self.worst_negatives(neg, sample)
        active = pair_hinge_active(pos, neg, shift, weight_pos, weight_neg if share_neg is None else share_neg)
        loss = shift * float(active[0].sum()) - float(active[0] @ pos) + float(active[1] @ neg)
        return active if share_neg is None else (*active, share_neg), loss

    def score_changes(self, rows: Array, share: Array, prior: float) -> tuple[Array, Array]:
        """Of scores about the mean of their class, as a common offset changes nothing."""
        return np.c_[rows - share @ rows, np.zeros(len(rows))], share

    def n_pairs(self, sample: Sample) -> int:
        """All of them."""
        return sample.n_pairs

    def rows(self, sample: Sample) -> MarginRows:
        """The pairs, in row-major order (positive, negative)."""
        return MarginRows(*sample.pairs())

    def total(self, of_pos: float, of_neg: float) -> float:
        """The sum over one class: a multiplier belongs to an observation of each."""
        return of_pos

    def of_intercept(self, value: float) -> float:
        """0: over pairs the intercept cancels."""
        return 0.0

    def row_weights(self, sample: Sample) -> tuple[Array, Array]:
        """The weights within the class."""
        return sample.share_pos, sample.share_neg

    def _clipped(self, sample: Sample, pos: Array, neg: Array) -> tuple[Array, Array]:
        # Observations without weight have pairs without capacity.
        return pos * (sample.share_pos > 0), neg * (sample.share_neg > 0)

    def largest_factor(self, sample: Sample, pos: Array, neg: Array) -> float:
        """The factor with which they pass the transport condition."""
        return transport_factor(pos, neg, sample.share_pos, sample.share_neg)

    def excess(self, sample: Sample, pos: Array, neg: Array, allowed: float = 0.0) -> float:
        """The excess over the smallest cut; of multipliers that were scaled to fit, the rounding of running sums."""
        rounding = 2.0**-50 * (sample.n_pos + sample.n_neg) * float(pos.sum())
        if rounding <= allowed:
            return rounding
        return max(0.0, SortedMarginals(pos, neg, sample.share_pos, sample.share_neg).largest_excess(1.0))

    def capacity_test(self, sample: Sample, pos: Array, neg: Array) -> Callable[[float, float, float], bool]:
        """Whether the smallest cut has room for what is moved."""
        marginals = SortedMarginals(pos, neg, sample.share_pos, sample.share_neg)
        return lambda factor, mass, change: marginals.largest_excess(factor, change) + mass <= 0.0

    def null_intercept(self, loss: Loss, sample: Sample) -> float:
        """0: over pairs the intercept cancels."""
        return 0.0

    def null_value(self, loss: Loss, sample: Sample) -> float:
        """``ℓ(1)``: every margin is 0."""
        return float(loss.value(1.0))

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return "the value is 1 and the bAUC of every linear scorer is 0"


@dataclass(frozen=True)
class HardestNegatives(AllPairs):
    """Pairs of the positives with the hardest negatives, the share `max_fpr` with the highest scores; for the hinge.

        max over R of Σ_j r_j Σ_i u_i [shift − m_ij]₊,     R = {0 ≤ r_j ≤ v_j/max_fpr, Σ r_j = 1}

    The loss of a negative rises with its score, so the worst r puts its weight on the highest scores, and the largest
    mean is the superquantile of the losses at level 1 − max_fpr (derivations 2).

    Parameters
    ----------
    max_fpr : float
        In (0, 1].

    See Also
    --------
    auclab.PartialAUC : The formulation.
    auclab.margins.AllPairs : All negatives.

    Examples
    --------
    >>> HardestNegatives(0.3).max_fpr, HardestNegatives().hardest
    (0.3, True)
    """

    max_fpr: float = 0.3

    hardest = True
    loops: ClassVar = {**AllPairs.loops, "steps": ("pairs", "hardest")}
    encodings = ("full",)
    is_tied_at_null = True

    def mean(self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample) -> float:
        """The mean hinge over the hardest negatives."""
        share = self.worst_negatives(scores[1], sample)
        hard = share > 0
        return pair_hinge_value(scores[0], scores[1][hard], shift, sample.weights[0], share[hard])

    def accurate_mean_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`mean` where scores and shift are given as ``high + low``."""
        order = np.lexsort(scores_neg[::-1])
        rank = np.empty(order.size)
        rank[order] = np.arange(order.size)
        share = self.worst_negatives(rank, sample)
        hard = share > 0
        kept = scores_neg[0][hard], scores_neg[1][hard]
        return accurate_pair_hinge(scores_pos, kept, shift, sample.weights[0], share[hard])

    def slopes(
        self, table: Pieces, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample
    ) -> tuple[tuple[Array, Array], float, float]:
        """The weights of the pairs with a positive hinge at the worst r, and the mean hinge."""
        (pos, neg, _), value = self.active(sample, scores, intercept, shift)
        return (pos, neg), value, 0.0

    def capacity(self, sample: Sample) -> Array:
        """The largest r_j, v_j/max_fpr, shape (n_neg,)."""
        return sample.share_neg / self.max_fpr

    def worst_negatives(self, scores_neg: Array, sample: Sample) -> Array:
        """The r with its weight on the highest scores, shape (n_neg,); ties are broken arbitrarily.

        Examples
        --------
        >>> from auclab.samples.as_sample import as_sample
        >>> sample = as_sample([[0.0], [1.0], [2.0], [3.0]], [1, 0, 0, 0])
        >>> share = HardestNegatives(0.5).worst_negatives(np.array([5.0, 7.0, 6.0]), sample)
        >>> share.round(3).tolist()   # 1½ of three negatives
        [0.0, 0.667, 0.333]
        """
        order = np.argsort(-scores_neg)
        share = sample.share_neg[order]
        taken = np.clip(self.max_fpr - (np.cumsum(share) - share), 0.0, share)
        worst = np.empty_like(taken)
        worst[order] = taken / taken.sum()
        return worst

    def dual_shares(self, scores_neg: Array, multipliers_neg: Array, sample: Sample, tied: float = 1e-6) -> Array:
        """The r that belongs to the multipliers of an optimum, shape (n_neg,).

        Tied negatives have the same share of active pairs, so their r_j are proportional to their multipliers. Scores
        that differ by less than `tied` times their range count as tied.
        """
        share = self.worst_negatives(scores_neg, sample)
        border = float(scores_neg[share > 0].min())
        at_border = abs(scores_neg - border) <= tied * max(float(np.ptp(scores_neg)), 1e-300)
        weight = np.where(at_border, multipliers_neg, 0.0)
        if weight.sum() > 0:
            share = np.where(at_border, share[at_border].sum() * weight / weight.sum(), share)
        return admissible_shares(share, self.capacity(sample))

    def weighted(self, sample: Sample, share_neg: Array, multipliers_neg: Array) -> Sample:
        """The sample with the negatives weighted by a point of R near `share_neg`.

            max_{r ∈ R} min_w [ Σ_ij r_j u_i [1 − w·(x_i⁺ − x_j⁻)]₊ + R(w) ] = min_w max_{r ∈ R} [ … ],

        so for any r in R a lower bound over all pairs, weighted by r, is a lower bound over the hardest negatives
        (derived).

        Rounding can leave r_j and the weight of the pairs of j near 1e-12 where both should be 0. Their ratio is then
        arbitrary, and all multipliers are divided by the largest ratio; such r_j are therefore raised to the ratio of
        the others.
        """
        above_noise = share_neg > TOLERANCE * share_neg.max()
        ratio = float((multipliers_neg[above_noise] / share_neg[above_noise]).max(initial=0.0))
        if ratio > 0:
            share_neg = np.fmax(share_neg, multipliers_neg / ratio)
        share = admissible_shares(share_neg, self.capacity(sample))
        weighted = replace(sample, share_neg=share, weighted=True)
        # Rows and units do not change, so that a norm bound is in the units of the original sample.
        weighted.__dict__.update(spread=sample.spread, peaks=sample.peaks)
        return weighted

    def null_level(self, sample: Sample, norm: VectorNorm) -> float:
        """The least ``‖mean(x⁺) − Σ r_j x_j⁻‖_*``: every pair has its full weight at w = 0."""
        target = np.asarray(sample.X_pos.T @ sample.share_pos, dtype=float)
        return distance_to_means(sample.X_neg, self.capacity(sample), 1.0, target, norm)

    def null_cause(self, sample: Sample) -> str:
        """What it means that ``Σ q d = 0`` for multipliers at w = 0, as the end of a sentence."""
        return (
            "a weighted mean of negatives equals the mean of the positives, so that in every direction the hardest "
            "negatives score at least as high on average"
        )

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return "no direction has the hardest negatives below the positives on average"


def admissible_shares(share: Array, capacity: Array) -> Array:
    """`share` clipped to ``0 ≤ r ≤ capacity``, with the missing sum added where there is capacity left.

    `share`, `capacity` (n_neg,): the capacities sum to at least 1.
    """
    share = np.clip(share, 0.0, capacity)
    total = float(share.sum())
    if total >= 1.0:
        return share / total
    left = capacity - share
    # Through rounding the capacity that is left may be slightly less than the missing sum.
    return np.minimum(share + (1.0 - total) * (left / max(float(left.sum()), 1e-300)), capacity)


@dataclass(frozen=True)
class RankedPairs(AllPairs):
    """The pairs (i, j) of the bicliques of a `RankedSample`: row i should have the larger score.

    A row may be in several bicliques. The sum of its multipliers over all of them does not show whether they are
    feasible in each, so the certificate uses multipliers that are the slopes of the loss at some scorer.

    Parameters
    ----------
    kind : {"groups", "grades", "times"}
        Why rows are compared.

    See Also
    --------
    auclab.samples.ranked.RankedSample : The samples that it is evaluated on.
    auclab.margins.AllPairs : Two classes, and all pairs of them.

    Examples
    --------
    >>> RankedPairs("times").kind
    'times'
    """

    kind: Literal["groups", "grades", "times", "given"] = "groups"

    by_marginals = False
    encodings = ("dual",)
    margin_symbol = "w·(x_i − x_j)"
    null_level_names = ("‖mean(x_i − x_j)‖_*", "‖mean(x_i − x_j)‖_*")

    @property
    def mean_symbol(self) -> str:  # type: ignore[override]
        """The mean in an equation."""
        pairs = {
            "groups": "y_i > y_j, g_i = g_j",
            "grades": "y_i > y_j",
            "times": "t_i < t_j, event_i",
            "given": "the given pairs",
        }
        return f"mean over {pairs[self.kind]} of"

    def mean(self, loss: Loss, scores: tuple[Array, Array], intercept: float, shift: float, sample: Sample) -> float:
        """``Σ q_ij ℓ(shift − m_ij)`` over the pairs."""
        # Sums of squares cancel where every pair is ranked correctly: a value below 0 is a rounding error.
        return max(0.0, self.slopes(loss.table, scores, intercept, shift, sample)[1])


@dataclass(frozen=True, eq=False)
class Bicliques(RankedPairs):
    """The pairs (i, j) of bicliques: i in ``upper[k]``, j in ``lower[k]``; row i should have the larger score.

        mean over k, i, j of ℓ(shift − w·(x_i − x_j)), each pair with the weight weights[k], scaled to sum 1

    Any set of pairs is one of bicliques, at worst of one pair each. Programs over it have no labels:
    ``auclab.solve(Composed(Bicliques(…), "hinge", Norm("l2", 0.1)), X, None)``. With sample weights s the weight of a
    pair is ``weights[k] s_i s_j``.

    Parameters
    ----------
    upper, lower : sequences of sequences of int
        The numbers of the rows of X on either side of each biclique, from 0 on; none is on both sides of one.
    weights : array of shape (n_bicliques,), optional
        ≥ 0; ones if not given.

    Raises
    ------
    AuclabError
        Numbers of sides or weights that differ, an empty side, a row that is compared with itself or does not exist, no
        weight above 0.

    See Also
    --------
    auclab.formulations.Composed : Puts them into a program.
    auclab.margins.RankedPairs : Pairs within groups, of grades and of censored times, which `auclab.solve` makes.

    Examples
    --------
    Row 3 should be above rows 0 and 1, and row 2 above row 1, which counts twice:

    >>> import auclab
    >>> from auclab.formulations import Composed
    >>> from auclab.regularisers import Norm
    >>> program = Composed(Bicliques([[3], [2]], [[0, 1], [1]], [1, 2]), "hinge", Norm("l2", 0.1))
    >>> program.value([0.5], 0.0, [[0.0], [2.0], [1.0], [3.0]], None)     # (0 + ½ + 2·(1 + ½))/4 + 0.1/2
    0.925
    >>> auclab.solve(program, [[0.0], [2.0], [1.0], [3.0]], None).status.value
    'optimal'
    """

    upper: Sequence[ArrayLike] = ()
    lower: Sequence[ArrayLike] = ()
    weights: ArrayLike | None = None
    kind: Literal["given"] = field(default="given", init=False)

    def __post_init__(self) -> None:
        ListedPairs.of(self.upper, self.lower, self.weights)  # checks them

    def __repr__(self) -> str:
        return f"Bicliques({len(self.upper)} of them)"

    def sample(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, pos_label: Any = None) -> Sample:
        """The checked rows with these pairs."""
        if y is not None or pos_label is not None:
            raise AuclabError("the bicliques of the program say which rows are compared; give y=None and no pos_label")
        if not in_memory(X):
            raise AuclabError("bicliques compare rows in memory, and X is a table in blocks; read a part of it")
        n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        return RankedSample.of_pairs(X, ListedPairs.of(self.upper, self.lower, self.weights, n_rows, sample_weight))


#: The comparisons by their names in the configuration.
COMPARISONS: dict[str, Comparison] = {kind.name: kind for kind in (AllPairs(), Points())}


def comparison_named(name: str | Comparison) -> Comparison:
    """Return the comparison with this name, or the object itself.

    Parameters
    ----------
    name : {"pairs", "points"} or Comparison

    Raises
    ------
    AuclabError
        No such comparison; the choices are listed.

    See Also
    --------
    auclab.margins.AllPairs, auclab.margins.Points : The comparisons with a name.

    Examples
    --------
    >>> from auclab.margins import comparison_named
    >>> comparison_named("points")
    Points()
    """
    if isinstance(name, Comparison):
        return name
    check_choice("comparisons", name, COMPARISONS)
    return COMPARISONS[name]
