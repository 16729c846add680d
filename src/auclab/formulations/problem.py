"""A program together with the sample it is to be solved on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from auclab._core.base import Array
from auclab.formulations.base import Program, accurate_objective
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.programs import Composed
from auclab.formulations.properties import check_own_pieces
from auclab.margins import AllPairs
from auclab.regularisers import EUCLIDEAN
from auclab.samples.memory import Sample


class Lengths(NamedTuple):
    """How w is measured where a bound holds up to a length (`Certificate.norm_bound`), and dual vectors with it.

    `unit`: the length of w for which scores differ by about 1.
    """

    of: Callable[[Array], float]
    dual: Callable[[Array], float]
    unit: float


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
        check_own_pieces(self.program.loss, self.program.regulariser, self.sample.n_features)

    @property
    def over_pairs(self) -> bool:
        """Whether the margins are those of pairs (else of points)."""
        return self.program.comparisons.name == "pairs"

    @property
    def n_margins(self) -> int:
        """Number of hinge terms: n_pos · n_neg pairs or n_pos + n_neg points."""
        return self.program.comparisons.n_pairs(self.sample) or self.sample.n_pos + self.sample.n_neg

    def objective(self, coef: Array, intercept: float) -> float:
        """The program's value at a point."""
        return self.program.objective(coef, intercept, self.sample)

    def accurate_objective(self, coef: Array, intercept: float, intercept_low: float = 0.0) -> float:
        """The program's value at a point, in twice the working precision where that is needed."""
        return accurate_objective(self.program, coef, intercept, self.sample, intercept_low)

    def null_intercept(self) -> float:
        """The best intercept for w = 0: the sign of the majority; 0 for pairs and for balanced points."""
        return self.program.null.intercept(self.sample)

    def enclosed(self, low: Array, high: Array) -> tuple[Array, float]:
        """A vector g and a number ε for which every vector between `low` and `high` has ``‖·‖_* ≤ ‖g‖_* + ε``.

        Of an absolute norm g has the largest moduli and ε is 0. Of any norm g is the centre, and with it
        ``‖g + δ‖_* ≤ ‖g‖_* + Σ abs(δ_k) ‖e_k‖_*``.
        """
        if self.program.used_norm.is_absolute:
            return np.maximum(abs(low), abs(high)), 0.0
        centre = 0.5 * low + 0.5 * high
        radius = np.maximum(high - centre, centre - low)
        if not radius.any():
            return centre, 0.0
        radius += 2.0**-51 * (abs(low) + abs(high))
        return centre, float(radius @ self._unit_lengths) * (1.0 + 2.0**-50 * radius.size)

    @cached_property
    def lengths(self) -> Lengths:
        """In the program's norm; without one Euclidean, with every feature in units of its spread."""
        norm, spread = self.program.regulariser.norm, self.sample.spread
        if self.program.uses_norm:
            return Lengths(norm, norm.dual, norm(1.0 / spread))
        return Lengths(lambda w: EUCLIDEAN(w * spread), lambda g: EUCLIDEAN(g / spread), 1.0)

    @property
    def largest_row(self) -> float:
        """An upper bound of the ‖x‖_* of all rows."""
        peaks, norm = self.sample.peaks, self.program.regulariser.norm
        return norm.dual(peaks) if norm.is_absolute else float(peaks @ self._unit_lengths)

    @cached_property
    def _unit_lengths(self) -> Array:
        """‖e_k‖_* of the unit vectors, shape (n_features,): each may be a program of its own."""
        return self.program.regulariser.norm.unit_lengths(self.sample.n_features)

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
