"""A program together with the sample it is to be solved on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.formulations.base import Program
from auclab.samples.memory import Sample
from auclab.types import Array


@dataclass(frozen=True)
class Problem:
    """A program and the sample it is to be solved on."""

    program: Program
    sample: Sample

    @property
    def over_pairs(self) -> bool:
        """Whether the margins are those of pairs (else of points)."""
        return self.program.over == "pairs"

    @property
    def n_margins(self) -> int:
        """Number of hinge terms: n_pos · n_neg pairs or n_pos + n_neg points."""
        n_pos, n_neg = self.sample.n_pos, self.sample.n_neg
        return n_pos * n_neg if self.over_pairs else n_pos + n_neg

    def objective(self, coef: Array, intercept: float) -> float:
        """The program's value at a point."""
        return self.program.objective(coef, intercept, self.sample)

    def null_intercept(self) -> float:
        """The best intercept for w = 0: the sign of the majority; 0 for pairs and for balanced points."""
        return 0.0 if self.over_pairs else float(np.sign(self.sample.prior_pos - 0.5))
