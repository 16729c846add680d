"""Generalised bAUC at a threshold z: Norton & Uryasev (25), (26)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from auclab.comparisons import AllPairs
from auclab.formulations.hinge import HingeProgram, OfParameters
from auclab.samples.as_sample import as_sample
from auclab.types import Norm


@dataclass(frozen=True)
class GeneralizedBufferedAUC(HingeProgram):
    """Maximise bAUC_z of a linear scorer with normalised error ξ(w)/‖w‖.

        min_w mean_ij [1 − w·(x_i⁺ − x_j⁻) − z‖w‖]₊,     max bAUC_z = 1 − min

    Norton & Uryasev 2018, (25), (26). Convex for z ≤ 0 (more conservative than bAUC, equivalent to RankSVM);
    not convex for z > 0, up to plain AUC at z₀ = E[ξ | ξ ≥ 0].

    Parameters
    ----------
    threshold : float
        z, in units of the score of a unit-norm scorer; 0 or of modulus in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}

    See Also
    --------
    auclab.RankSVM : The same optima with a penalty, for z ≤ 0.
    auclab.threshold_to_ranksvm : The map between them.
    auclab.metrics.auc_threshold : The z₀ at which bAUC_z is the AUC of given scores.

    Examples
    --------
    >>> import auclab
    >>> program = auclab.GeneralizedBufferedAUC(threshold=-0.5)
    >>> program.value([1.0], 0.0, [[0.0], [0.5]], [0, 1])  # [1 − 0.5 + 0.5]₊
    1.0
    """

    threshold: float = -0.1
    norm: Norm = "l2"

    name = "generalized_bauc"
    comparisons = AllPairs()
    regulariser = OfParameters()

    def null_threshold(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """‖mean(x⁺) − mean(x⁻)‖_*: w = 0 is optimal iff ``−z`` is at least this (value 1, bAUC_z = 0)."""
        return self.regulariser.norm.dual(as_sample(X, y, sample_weight).mean_difference)
