"""bAUC maximisation: Norton & Uryasev (21), (22)."""

from __future__ import annotations

from dataclasses import dataclass

from auclab.comparisons import AllPairs
from auclab.formulations.hinge import HingeProgram


@dataclass(frozen=True)
class BufferedAUC(HingeProgram):
    """Maximise buffered AUC of a linear scorer: a linear program.

        max_w bAUC(w) = 1 − min_w mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊

    Norton & Uryasev 2018, (21) with the missing "1 −" restored, and (22). The optimal value is the smallest
    buffered probability that a ranking error exceeds 0. `w` is fixed up to the buffer: ``1/‖w‖`` is how far the
    buffer reaches below 0. Value 1 means that every linear scorer has bAUC 0 (mean(x⁺) = mean(x⁻)); value 0,
    that the pairs are linearly separable, and then any longer `w` is optimal too.

    Examples
    --------
    Margins 3, 1, 1 and −1: three pairs have no hinge at w = 1, the wrong one has 2.

    >>> BufferedAUC().value([1.0], 0.0, [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    0.5

    See Also
    --------
    auclab.GeneralizedBufferedAUC : With a threshold z.
    auclab.ExactAUC : AUC itself, for small data.
    auclab.metrics.bauc_score : The buffered AUC of given scores.
    """

    name = "bauc"
    comparisons = AllPairs()
    threshold = 0.0
