"""One program type carries every formulation.

    minimise over w (and b)    mean_k [ 1 − m_k(w, b) − z‖w‖ ]₊  +  λ Ω(w),      Ω = ‖w‖ or ‖w‖²

with margins m_k over pairs, ``w·(x_i⁺ − x_j⁻)``, or over points, ``y_k (w·x_k + b)``. A formulation is a row of
this table: which margins, which z, which λ, which norm. Two neighbours are programs of another family: the mean over
the hardest negatives (`partial_auc`) and the count of pairs (`exact_auc`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.hinge import pair_hinge_value
from auclab.formulations.norms import SYMBOL, check_norm, norm_of
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample
from auclab.types import Array, AuclabError, Norm

Margins = Literal["pairs", "points"]
#: What a solver must know to take a program: means of hinges; their mean over the hardest negatives; counts of pairs.
Family = Literal["hinge", "hardest", "count"]


class Program(ABC):
    """Something to minimise over linear scorers; the subclasses are frozen dataclasses of their free parameters."""

    name: ClassVar[str]
    family: ClassVar[Family]
    over: ClassVar[Margins] = "pairs"
    # No values here: a dataclass would take them for defaults of its own fields.
    threshold: float
    penalty: float
    norm: Norm
    squared: bool

    @property
    @abstractmethod
    def is_convex(self) -> bool:
        """Whether the program is convex."""

    @property
    def uses_norm(self) -> bool:
        """Whether ‖w‖ appears at all; without it the norm makes no difference."""
        return self.threshold != 0 or self.penalty > 0

    @property
    def is_linear(self) -> bool:
        """Whether the program is a linear one: convex, and no l2 norm and no square in it."""
        return self.is_convex and (not self.uses_norm or (self.norm != "l2" and not self.squared))

    @abstractmethod
    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """`value` on a sample that was checked before."""

    @abstractmethod
    def equation(self) -> str:
        """The program in one line."""

    def null_value(self, sample: Sample) -> float:
        """Objective of w = 0 with the best intercept: 1 over pairs, 2·min(class shares) over points."""
        return 1.0 if self.over == "pairs" else 2.0 * min(sample.prior_pos, 1.0 - sample.prior_pos)

    def value(
        self, coef: ArrayLike, intercept: float, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Objective at (`coef`, `intercept`), in O(m log m) without forming pairs.

        Parameters
        ----------
        coef : array of shape (n_features,)
        intercept : float
            Ignored by pair formulations, where it cancels.
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            0/1, −1/+1 or booleans.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; equal to repeating observations.

        Raises
        ------
        AuclabError
            Bad shapes, NaN, one class only, weights below 0.
        """
        sample = as_sample(X, y, sample_weight)
        vector = np.asarray(coef, dtype=np.float64)
        if vector.shape != (sample.n_features,):
            raise AuclabError(f"coef has shape {vector.shape}, but X has {sample.n_features} columns")
        return self.objective(vector, float(intercept), sample)


class HingeProgram(Program):
    """A row of the table."""

    family: ClassVar[Family] = "hinge"

    def __post_init__(self) -> None:
        check_norm(self.norm)
        if not math.isfinite(self.penalty) or self.penalty < 0:
            raise AuclabError(f"penalty λ must be finite and ≥ 0, got {self.penalty}")
        if not math.isfinite(self.threshold):
            raise AuclabError(f"threshold z must be finite, got {self.threshold}")

    @property
    def is_convex(self) -> bool:
        """Whether the program is convex: z ≤ 0."""
        return self.threshold <= 0

    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """`value` on a sample that was checked before."""
        size = norm_of(coef, self.norm)
        regularizer = self.penalty * (size * size if self.squared else size)
        return self.hinge(coef, intercept, sample) + regularizer

    def hinge(self, coef: Array, intercept: float, sample: Sample) -> float:
        """The loss part, ``mean_k [1 − m_k − z‖w‖]₊``."""
        shift = 1.0 - self.threshold * norm_of(coef, self.norm)
        scores_pos, scores_neg = sample.scores(coef)
        if self.over == "pairs":
            return pair_hinge_value(scores_pos, scores_neg, shift, *sample.weights)
        weight_pos, weight_neg = sample.point_weights
        loss_pos = np.maximum(shift - (scores_pos + intercept), 0.0)
        loss_neg = np.maximum(shift + (scores_neg + intercept), 0.0)
        return float(weight_pos @ loss_pos + weight_neg @ loss_neg)

    def equation(self) -> str:
        """The program in one line.

        Examples
        --------
        >>> from auclab.formulations import RankSVM
        >>> RankSVM(0.01, squared=True).equation()
        'min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + 0.01 ‖w‖₂²'
        """
        mean = "mean_ij" if self.over == "pairs" else "mean_k"
        margin = "w·(x_i⁺ − x_j⁻)" if self.over == "pairs" else "y_k (w·x_k + b)"
        size = SYMBOL[self.norm]
        buffer = f" {'+' if self.threshold < 0 else '−'} {abs(self.threshold):g} {size}" if self.threshold else ""
        penalty = f" + {self.penalty:g} {size}{'²' if self.squared else ''}" if self.penalty else ""
        return f"min  {mean} [1 − {margin}{buffer}]₊{penalty}"
