"""EC-SVM: Norton & Uryasev (29)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from auclab.comparisons import Points
from auclab.formulations.hinge import HingeProgram, OfParameters
from auclab.samples.as_sample import as_sample
from auclab.types import Norm


@dataclass(frozen=True)
class ECSVM(HingeProgram):
    """The extended C-SVM: minimise the buffered probability that a misclassification error exceeds z.

        min_{w,b} mean_k [1 − y_k (w·x_k + b) − z‖w‖]₊

    Norton & Uryasev 2018, (29). Convex for z ≤ 0 (equivalent to C-SVM), not convex for z > 0.

    Parameters
    ----------
    threshold : float
        z, in units of the distance to the hyperplane; 0 or of modulus in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}

    See Also
    --------
    auclab.CSVM : The same optima with a penalty, for z ≤ 0.
    auclab.threshold_to_ranksvm : The map between them, for points too.
    auclab.GeneralizedBufferedAUC : Pairs in place of points.

    Examples
    --------
    >>> import auclab
    >>> program = auclab.ECSVM(threshold=-0.5)
    >>> program.value([1.0], 0.0, [[-1.0], [0.5]], [0, 1])  # mean of [1 − 1 + 0.5]₊ and [1 − 0.5 + 0.5]₊
    0.75
    """

    threshold: float = -0.1
    norm: Norm = "l2"

    name = "ecsvm"
    comparisons = Points()
    regulariser = OfParameters()

    def null_threshold(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The −z at or above which w = 0 is optimal: ``λ_max / (2·min(class shares))``."""
        sample = as_sample(X, y, sample_weight)
        return self.null.penalty(sample) / self.null.value(sample)
