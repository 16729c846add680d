"""A program together with the sample it is to be solved on."""

from __future__ import annotations

from dataclasses import dataclass

from auclab.comparisons import AllPairs
from auclab.formulations.accurate import accurate_objective
from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.composed import Composed
from auclab.samples.memory import Sample
from auclab.types import Array


@dataclass(frozen=True)
class Problem:
    """A program and the sample it is to be solved on.

    `constraints`: what w has to satisfy; None for no constraints.
    """

    program: Program
    sample: Sample
    constraints: ColumnConstraints | None = None

    def __post_init__(self) -> None:
        self.program.regulariser.norm.check(self.sample.n_features)

    @property
    def over_pairs(self) -> bool:
        """Whether the margins are those of pairs (else of points)."""
        return self.program.comparisons.name == "pairs"

    @property
    def n_margins(self) -> int:
        """Number of hinge terms: n_pos · n_neg pairs or n_pos + n_neg points."""
        return self.sample.n_pairs if self.over_pairs else self.sample.n_pos + self.sample.n_neg

    def objective(self, coef: Array, intercept: float) -> float:
        """The program's value at a point."""
        return self.program.objective(coef, intercept, self.sample)

    def accurate_objective(self, coef: Array, intercept: float, intercept_low: float = 0.0) -> float:
        """The program's value at a point, in twice the working precision where that is needed."""
        return accurate_objective(self.program, coef, intercept, self.sample, intercept_low)

    def null_intercept(self) -> float:
        """The best intercept for w = 0: the sign of the majority; 0 for pairs and for balanced points."""
        return self.program.null.intercept(self.sample)

    def dual_problem(self, share_neg: Array | None, multipliers_neg: Array) -> Problem:
        """The problem whose dual value at these weights of the negatives is a lower bound of this one.

        `share_neg` (n_neg,), or None: weights of the negatives near an admissible point; None if they are fixed.
        `multipliers_neg` (n_neg,): the marginals ``Σ_i q_ij`` of the dual point.
        """
        if share_neg is None:
            return self
        program = Composed(AllPairs(), self.program.loss, self.program.regulariser)
        weighted = self.program.comparisons.weighted(self.sample, share_neg, multipliers_neg)
        return Problem(program, weighted, self.constraints)
