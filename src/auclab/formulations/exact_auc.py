"""Direct AUC maximisation: Norton & Uryasev (19)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from auclab.compiled.ranking import concordance
from auclab.formulations.base import Program
from auclab.formulations.null import FixedNull
from auclab.formulations.optimum import Optimum
from auclab.regularisers import Norm
from auclab.samples.memory import Sample
from auclab.samples.row_scores import row_scores
from auclab.types import Array, AuclabError
from auclab.validation import check_parameter_range, check_types


@dataclass(frozen=True)
class ExactAUC(Program):
    """Maximise AUC itself: count the wrong pairs, whatever the size of their errors.

        min_w P(ξ(w) ≥ 0) = 1 − AUC_strict(w),     ξ_ij = −w·(x_i⁺ − x_j⁻)

    Norton & Uryasev 2018, (19): neither continuous nor convex. A tied pair counts 0, so w = 0 has value 1
    (derivations 1). It is a mixed-integer program with one binary variable per pair, for small data only. It shows how
    much AUC is lost by maximising bAUC: ``1 − value ≥ max bAUC`` always.

    AUC does not depend on the length of w, so a bound on the length excludes no direction. The mixed-integer program
    needs one for its constants, and the solution attains it.

    Parameters
    ----------
    norm_bound : float
        ``max_k |w_k|`` of the solution, in [1e-150, 1e150].

    Examples
    --------
    Of two pairs one is ranked correctly and one is tied:

    >>> ExactAUC().value([1.0], 0.0, [[0.0], [1.0], [1.0]], [0, 0, 1])
    0.5

    See Also
    --------
    auclab.BufferedAUC : The lower bound of AUC that is a linear program.
    auclab.metrics.auc_score : The AUC of given scores.
    """

    norm_bound: float = 1.0

    name = "exact_auc"
    kind = "mip"
    regulariser = Norm("linf")
    threshold = 0.0

    def __post_init__(self) -> None:
        check_types(self)
        if not (math.isfinite(self.norm_bound) and self.norm_bound > 0):
            raise AuclabError(f"norm_bound must be finite and > 0, got {self.norm_bound}")
        check_parameter_range("norm_bound", self.norm_bound)

    @property
    def is_convex(self) -> bool:
        """Whether the program is convex: it is not."""
        return False

    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """``1 − AUC_strict`` on a sample that was checked before."""
        ranked = []
        for X, weight in zip((sample.X_pos, sample.X_neg), sample.weights, strict=True):
            scores = row_scores(X, coef)
            order = np.argsort(scores)
            ranked.append((scores[order], np.empty(0) if weight is None else weight[order]))
        (pos, weight_pos), (neg, weight_neg) = ranked
        right, _, pairs = concordance(pos, neg, weight_pos, weight_neg)
        return float((pairs - right) / pairs)

    def of_length(self, coef: Array) -> Array:
        """The w of a direction with ``max_k |w_k| = norm_bound``; 0 stays 0."""
        largest = float(np.abs(coef).max())
        return coef * (self.norm_bound / largest) if largest > 0 else coef

    @property
    def null(self) -> FixedNull:
        """The solution w = 0."""
        return FixedNull("no w has any pair right: all observations are equal")

    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """The AUC, 1 − value, and the largest that any linear scorer may have."""
        auc, best = 1.0 - objective, 1.0 - lower_bound
        sentence = f"AUC is {auc:.4f} with tied pairs counted 0; no linear scorer has more than {best:.4f}"
        return Optimum(0.0, math.nan, auc, math.nan, math.nan, sentence)

    def equation(self) -> str:
        """The program in one line."""
        return "min  mean_ij 1{w·(x_i⁺ − x_j⁻) ≤ 0} = 1 − AUC"
