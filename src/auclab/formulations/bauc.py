"""bAUC maximisation: Norton & Uryasev (21), (22)."""

from __future__ import annotations

from dataclasses import dataclass

from auclab.formulations.base import HingeProgram


@dataclass(frozen=True)
class BufferedAUC(HingeProgram):
    """Maximise buffered AUC of a linear scorer: a linear program.

        max_w bAUC(w) = 1 − min_w mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊

    Norton & Uryasev 2018, (21) with the missing "1 −" restored, and (22). The optimal value is the smallest
    buffered probability that a ranking error exceeds 0. `w` is fixed up to the buffer: ``1/‖w‖`` is how far the
    buffer reaches below 0. Value 1 means that every linear scorer has bAUC 0 (mean(x⁺) = mean(x⁻)); value 0,
    that the pairs are linearly separable, and then any longer `w` is optimal too.
    """

    name = "bauc"
    threshold = 0.0
    penalty = 0.0
    norm = "l2"
    squared = False
