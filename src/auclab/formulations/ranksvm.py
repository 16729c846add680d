"""RankSVM: Norton & Uryasev (27), and Prop. 8 for the squared norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from auclab.comparisons import AllPairs
from auclab.formulations.hinge import HingeProgram, OfParameters
from auclab.losses import Loss
from auclab.samples.as_sample import as_sample
from auclab.types import Norm


@dataclass(frozen=True)
class RankSVM(HingeProgram):
    """Pairwise hinge with a norm penalty.

        min_w mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + λ‖w‖     (or λ‖w‖²)

    Norton & Uryasev 2018, (27) and Prop. 8. It is bAUC_z at z = −λ/V, V the optimal value (Prop. 7 and
    `ranksvm_to_threshold`). The loss is a mean over pairs: the convention ``½‖w‖² + C Σ_ij hinge`` has
    ``λ = 1/(2 C n_pos n_neg)``.

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
    auclab.GeneralizedBufferedAUC : The same optima with a threshold.
    auclab.ranksvm_to_threshold : The map between them.
    auclab.CSVM : Points in place of pairs.

    Examples
    --------
    >>> import auclab
    >>> program = auclab.RankSVM(penalty=0.5)
    >>> program.value([1.0], 0.0, [[0.0], [0.5]], [0, 1])  # the hinge 0.5 of the one pair, and 0.5·|1|
    1.0
    """

    penalty: float = 0.01
    norm: Norm = "l2"
    squared: bool = False
    loss: Loss = "hinge"  # type: ignore[assignment]  # a name becomes an object

    name = "ranksvm"
    comparisons = AllPairs()
    regulariser = OfParameters()
    threshold = 0.0

    def null_penalty(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """λ_max = ℓ'(1)·‖mean(x⁺) − mean(x⁻)‖_*: w = 0 is optimal iff λ ≥ λ_max; ℓ'(1) is 1 for the hinge.

        Infinite for the squared penalty, whose solution is never 0 (0 if the class means coincide).

        Examples
        --------
        >>> RankSVM(1.0).null_penalty([[0.0], [1.0], [2.0]], [0, 0, 1])     # 2 − ½
        1.5
        """
        return self.null.penalty(as_sample(X, y, sample_weight))
