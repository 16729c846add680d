"""What every set of margins answers for itself: value, slopes, multipliers and whether they are feasible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError
from auclab.losses import Loss
from auclab.losses.loss import Pieces
from auclab.regularisers import VectorNorm
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample

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


def piece_sizes(table: Pieces, longest: float, shift: float) -> tuple[float, float, float, float]:
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
