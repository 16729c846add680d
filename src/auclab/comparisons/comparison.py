"""What comparisons provide to a program, whatever the loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from auclab.losses import Loss
from auclab.losses.loss import Pieces
from auclab.regularisers import VectorNorm
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample
from auclab.types import Array, AuclabError

#: Numbers as unevaluated sums ``high + low``.
DoubleDouble = tuple[Array, Array]
#: Linear program of the hinge terms: a row each, a bounded column each, or columns for the undecided terms alone.
Encoding = Literal["full", "dual", "aggregated"]


class SealedError(AuclabError, TypeError):
    """A class was derived from one that is not an extension point."""


class Comparison(ABC):
    """Margins ``m_k(w, b)`` with weights that sum to 1; they are never formed individually.

    Sealed: values, slopes, multipliers and their proofs belong together, so a class of your own cannot be derived from
    it or its subclasses.

    Attributes
    ----------
    name : {"pairs", "points"}
    encodings : tuple of str
        The encodings available to a linear-programming solver.
    mean_symbol, margin_symbol : str
        The mean and the margin in an equation.
    error_name, score_name : str
        Names of error and score in sentences.
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
    >>> from auclab.comparisons import AllPairs, HardestNegatives, Points
    >>> [each.name for each in (AllPairs(), Points(), HardestNegatives())]
    ['pairs', 'points', 'pairs']
    """

    name: ClassVar[Literal["pairs", "points"]]
    encodings: ClassVar[tuple[Encoding, ...]]
    mean_symbol: ClassVar[str]
    margin_symbol: ClassVar[str]
    error_name: ClassVar[str]
    score_name: ClassVar[str]
    null_level_names: ClassVar[tuple[str, str]]
    is_tied_at_null: ClassVar[bool] = False
    hardest: ClassVar[bool] = False
    by_marginals: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__module__.startswith("auclab.comparisons."):
            raise SealedError(
                f"{cls.__name__} cannot be derived from {cls.__mro__[1].__name__}: margins are sealed, "
                "because the proofs of optima rest on them. Pairs of your own are auclab.comparisons.Bicliques(upper, "
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
