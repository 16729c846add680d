"""Means of hinges over points, ``mean_k [1 − y_k (w·x_k + b) − z‖w‖]₊``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from auclab.compiled.accurate import two_sums
from auclab.formulations.base import DoubleDouble, Encoding, NullProof
from auclab.formulations.hinge import HingeProgram
from auclab.formulations.null import point_null_multipliers
from auclab.samples.memory import Sample
from auclab.types import Array, Norm


class PointHingeProgram(HingeProgram):
    """A row of the table over points, with an intercept.

    See Also
    --------
    auclab.formulations.pair_hinge.PairHingeProgram : The rows over pairs.
    """

    over = "points"
    encodings: ClassVar[tuple[Encoding, ...]] = ("full", "dual")
    null_proof_takes_program = True
    mean_symbol = "mean_k"
    margin_symbol = "y_k (w·x_k + b)"
    error_name = "misclassification error"
    score_name = "buffered accuracy"
    null_level_names = ("λ_max", "λ_max / (2·min(class shares))")

    def hinge(self, coef: Array, intercept: float, sample: Sample) -> float:
        """The loss part, ``mean_k [1 − y_k (w·x_k + b) − z‖w‖]₊``."""
        shift = 1.0 - self.threshold * self.regulariser.norm(coef)
        scores_pos, scores_neg = sample.scores(coef)
        weight_pos, weight_neg = sample.point_weights
        loss_pos = np.maximum(shift - (scores_pos + intercept), 0.0)
        loss_neg = np.maximum(shift + (scores_neg + intercept), 0.0)
        return float(weight_pos @ loss_pos + weight_neg @ loss_neg)

    def accurate_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`hinge` where scores, b and ``1 − z‖w‖`` are given as ``high + low``."""
        weight_pos, weight_neg = sample.point_weights
        value = 0.0
        for (high, low), weight, sign in ((scores_pos, weight_pos, -1.0), (scores_neg, weight_neg, 1.0)):
            # Score and intercept first: they may be long and nearly cancel.
            base, lost = two_sums(high, intercept[0])
            total, rest = two_sums(shift[0], sign * base)
            value += float(weight @ np.maximum(total + (rest + shift[1] + sign * (lost + low + intercept[1])), 0.0))
        return value

    def row_with(self, **parameters: Any) -> HingeProgram:
        """The program over points with other parameters, of its own class where they are its own."""
        if set(parameters) <= set(self.parameter_names()):
            return replace(self, **parameters)  # type: ignore[type-var]
        return replace(PointHinge(self.threshold, self.penalty, self.norm, self.squared), **parameters)

    def null_value(self, sample: Sample) -> float:
        """Objective of w = 0 with the best intercept, 2·min(class shares)."""
        return 2.0 * min(sample.prior_pos, sample.prior_neg)

    def null_intercept(self, sample: Sample) -> float:
        """The best intercept for w = 0: the sign of the majority; 0 for classes of equal weight."""
        return float(np.sign(sample.prior_pos - sample.prior_neg))

    def null_proof(self, sample: Sample) -> NullProof | None:
        """The minority with its full weights, the majority with those that bring its mean nearest.

        None for a sample in blocks: the weights are those of a program over all rows.
        """
        return None if sample.in_blocks else NullProof(point_null_multipliers(sample, self.regulariser.norm))

    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal."""
        return f"the value is 2·min(class shares) = {self.null_value(sample):.4g}"


@dataclass(frozen=True)
class PointHinge(PointHingeProgram):
    """The row over points with any threshold and penalty, both at once as well.

        min_{w,b} mean_k [1 − y_k (w·x_k + b) − z‖w‖]₊ + λ‖w‖     (or λ‖w‖²)

    Derivations 7.1. Convex for z ≤ 0. C-SVM has z = 0, EC-SVM λ = 0; with both, rows may be measured wrongly by vectors
    of dual norm −z at most, and w is kept short besides.

    Parameters
    ----------
    threshold : float
        z, 0 or of modulus in [1e-150, 1e150].
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Penalise ‖w‖² in place of ‖w‖.

    See Also
    --------
    auclab.formulations.pair_hinge.PairHinge : The same over pairs.
    """

    threshold: float = 0.0
    penalty: float = 0.0
    norm: Norm = "l2"
    squared: bool = False

    name = "point_hinge"
