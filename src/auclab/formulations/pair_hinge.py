"""Means of hinges over pairs, ``mean_ij [1 − w·(x_i⁺ − x_j⁻) − z‖w‖]₊``, evaluated on sorted scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from auclab.compiled.accurate import accurate_pair_hinge
from auclab.compiled.hinge import pair_hinge_value
from auclab.formulations.base import DoubleDouble, Encoding, NullProof
from auclab.formulations.hinge import HingeProgram
from auclab.formulations.null import pair_null_level
from auclab.samples.memory import Sample
from auclab.types import Array, Norm


class PairHingeProgram(HingeProgram):
    """A row of the table over pairs of a positive and a negative; the intercept cancels.

    See Also
    --------
    auclab.formulations.point_hinge.PointHingeProgram : The rows over points.
    """

    over = "pairs"
    encodings: ClassVar[tuple[Encoding, ...]] = ("full", "dual", "aggregated")
    mean_symbol = "mean_ij"
    margin_symbol = "w·(x_i⁺ − x_j⁻)"
    error_name = "ranking error"
    score_name = "bAUC"
    null_level_names = ("‖mean(x⁺) − mean(x⁻)‖_*", "‖mean(x⁺) − mean(x⁻)‖_*")

    def hinge(self, coef: Array, intercept: float, sample: Sample) -> float:
        """The loss part, ``mean_ij [1 − w·(x_i⁺ − x_j⁻) − z‖w‖]₊``."""
        shift = 1.0 - self.threshold * self.regulariser.norm(coef)
        return pair_hinge_value(*sample.scores(coef), shift, *sample.weights)

    def accurate_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`hinge` where scores, b and ``1 − z‖w‖`` are given as ``high + low``."""
        return accurate_pair_hinge(scores_pos, scores_neg, shift, *sample.weights)

    def row_with(self, **parameters: Any) -> HingeProgram:
        """The program over pairs with other parameters, of its own class where they are its own."""
        if set(parameters) <= set(self.parameter_names()):
            return replace(self, **parameters)  # type: ignore[type-var]
        return replace(PairHinge(self.threshold, self.penalty, self.norm, self.squared), **parameters)

    def null_is_certain(self, sample: Sample) -> bool:
        """Whether λ − z ≥ ‖Δ‖_*, Δ the difference of the class means (derivations 7.3); without λ if it is squared."""
        if self.squared and self.penalty > 0 and self.threshold == 0:
            return False
        return pair_null_level(sample, self.regulariser.norm) <= self.null_slope(sample)

    def null_proof(self, sample: Sample) -> NullProof | None:
        """Every pair with its full weight."""
        return NullProof((sample.share_pos, sample.share_neg))

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return "the value is 1 and the bAUC of every linear scorer is 0"


@dataclass(frozen=True)
class PairHinge(PairHingeProgram):
    """The row over pairs with any threshold and penalty, both at once as well.

        min_w mean_ij [1 − w·(x_i⁺ − x_j⁻) − z‖w‖]₊ + λ‖w‖     (or λ‖w‖²)

    Derivations 7.1. Convex for z ≤ 0. bAUC has z = λ = 0, generalised bAUC λ = 0, RankSVM z = 0; with both, rows may be
    measured wrongly by vectors of dual norm −z/2 at most, and w is kept short besides.

    Parameters
    ----------
    threshold : float
        z, 0 or of modulus in [1e-150, 1e150].
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Penalise ‖w‖² in place of ‖w‖.

    Examples
    --------
    One pair, one feature apart: at ``w = 1`` the margin 1 falls short by ½, and the penalty adds 0.1.

    >>> PairHinge(-0.5, 0.1).value([1.0], 0.0, [[0.0], [1.0]], [0, 1])
    0.6

    See Also
    --------
    auclab.formulations.point_hinge.PointHinge : The same over points.
    """

    threshold: float = 0.0
    penalty: float = 0.0
    norm: Norm = "l2"
    squared: bool = False

    name = "pair_hinge"
