"""Partial AUC maximisation: the pairwise hinge over the negatives with the highest scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from auclab.comparisons import HardestNegatives
from auclab.formulations.hinge import HingeProgram, OfParameters
from auclab.formulations.optimum import Optimum
from auclab.samples.as_sample import as_sample
from auclab.types import Array, AuclabError, Norm


@dataclass(frozen=True)
class PartialAUC(HingeProgram):
    """Maximise the area under the ROC curve up to a false positive rate: a CVaR over the negatives.

        min_w  max_{r ∈ R} Σ_j r_j mean_i [1 − w·(x_i⁺ − x_j⁻)]₊ + λ‖w‖     (or λ‖w‖²),
        R = {0 ≤ r_j ≤ 1/(α n_neg), Σ r_j = 1},     α = max_fpr

    The loss of a negative, ``mean_i [1 − w·(x_i⁺ − x_j⁻)]₊``, rises with its score, so the worst r averages over the
    share α of the negatives with the highest scores (one of them in part, unless ``α n_neg`` is whole), which is the
    superquantile of the losses at level 1 − α (derivations 2). As a maximum of convex functions the objective is
    convex; for λ = 0 or the norms l1 and linf it is a linear program. Derived; Narasimhan & Agarwal 2013 (KDD) derive a
    structural SVM from the same sets of negatives.

    The pairs with the hardest negatives, those with the highest scores, are those of the ROC curve up to FPR α, so for
    every w ``∫₀^α roc / α ≥ 1 − value(w)``, tied pairs counted 0. ``max_fpr=1`` is bAUC maximisation (λ = 0) or
    RankSVM.

    Without a penalty, w = 0 (value 1) is often optimal, namely if the mean of the positives equals ``Σ r_j x_j⁻`` for
    some r in R: then no direction ranks the hardest negatives below the positives on average.

    Parameters
    ----------
    max_fpr : float
        α in (0, 1].
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Penalise ‖w‖² in place of ‖w‖.

    Examples
    --------
    Positive 2; the harder of the negatives 0 and 1.5 has margin ½, so at ``w = 1`` its hinge is ½, and the mean of both
    is ¼:

    >>> X, y = [[2.0], [0.0], [1.5]], [1, 0, 0]
    >>> PartialAUC(0.5).value([1.0], 0.0, X, y), PartialAUC(1.0).value([1.0], 0.0, X, y)
    (0.5, 0.25)

    See Also
    --------
    auclab.RankSVM : The mean over all negatives.
    auclab.metrics.partial_auc : The partial AUC of given scores.
    """

    max_fpr: float = 0.3
    penalty: float = 0.0
    norm: Norm = "l2"
    squared: bool = False

    name = "partial_auc"
    regulariser = OfParameters()
    threshold = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.max_fpr <= 1.0:
            raise AuclabError(f"max_fpr is a false positive rate in (0, 1], got {self.max_fpr}")

    @property
    def comparisons(self) -> HardestNegatives:  # type: ignore[override]
        """The pairs with the hardest negatives."""
        return HardestNegatives(self.max_fpr)

    def null_penalty(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """λ_max = min over R of ‖mean(x⁺) − Σ r_j x_j⁻‖_*: w = 0 is optimal iff λ ≥ λ_max.

        Infinite for the squared penalty unless the minimum is 0.

        Examples
        --------
        >>> round(PartialAUC(0.5).null_penalty([[0.0], [1.0], [3.0]], [0, 0, 1]), 9)  # to the upper of the negatives
        2.0
        """
        return self.null.penalty(as_sample(X, y, sample_weight))

    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """The hinge as a lower bound of the partial AUC."""
        loss, band = objective - self.regulariser.value(coef), f"up to FPR {self.max_fpr:g}"
        sentence = f"the partial AUC {band}, divided by {self.max_fpr:g}, is at least {1 - loss:.4f} (a hinge bound)"
        if not coef.any():
            share = f"{100 * self.max_fpr:g}%"
            sentence = f"w = 0: the hinge over the hardest {share} of the negatives proves no partial AUC {band}"
        return Optimum(0.0, loss, 1.0 - loss, math.nan, math.nan, sentence)

    def equation(self) -> str:
        """The program in one line.

        Examples
        --------
        >>> PartialAUC(0.1).equation()
        'min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ over the hardest 10% of j'
        """
        hinge, *penalty = super().equation().partition("]₊")
        return f"{hinge}]₊ over the hardest {100 * self.max_fpr:g}% of j{penalty[1]}"
