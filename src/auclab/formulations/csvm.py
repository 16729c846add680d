"""C-SVM: Norton & Uryasev (28)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from auclab.comparisons import Points
from auclab.formulations.hinge import HingeProgram, OfParameters
from auclab.losses import Loss
from auclab.samples.as_sample import as_sample
from auclab.types import Norm


@dataclass(frozen=True)
class CSVM(HingeProgram):
    """The soft-margin support vector machine: the same program on points in place of pairs.

        min_{w,b} mean_k [1 − y_k (w·x_k + b)]₊ + λ‖w‖     (or λ‖w‖²)

    Norton & Uryasev 2018, (28). It is EC-SVM at z = −λ/V, V the optimal value (Prop. 6). ``w = 0`` has value
    2·min(class shares). The convention ``½‖w‖² + C Σ_k hinge`` has ``λ = 1/(2 C m)``.

    Parameters
    ----------
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Penalise ‖w‖² in place of ‖w‖.
    loss : str or Loss
        Cost of an error: a name of `auclab.losses.LOSSES`, ``"hinge"`` by default, or an object.

    See Also
    --------
    auclab.ECSVM : The same optima with a threshold.
    auclab.ranksvm_to_threshold : The map between them, for points too.
    auclab.RankSVM : Pairs in place of points.

    Examples
    --------
    >>> import auclab
    >>> program = auclab.CSVM(penalty=0.5)
    >>> program.value([1.0], 0.0, [[-1.0], [0.5]], [0, 1])  # mean of the hinges 0 and 0.5, and 0.5·|1|
    0.75
    """

    penalty: float = 0.01
    norm: Norm = "l2"
    squared: bool = False
    loss: Loss = "hinge"  # type: ignore[assignment]  # a name becomes an object

    name = "csvm"
    comparisons = Points()
    regulariser = OfParameters()
    threshold = 0.0

    def null_penalty(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """λ_max at or above which w = 0 is optimal: for the hinge ``min ‖Σ q_k y_k x_k‖_*`` over full minority weights.

        Infinite for the squared penalty unless the minimum is 0.
        """
        return self.null.penalty(as_sample(X, y, sample_weight))
