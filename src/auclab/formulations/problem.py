"""A program together with the sample it is to be solved on, and what the rows of a sample are ranked by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError, GroupWeights
from auclab.formulations.base import Program, accurate_objective
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.programs import Composed
from auclab.formulations.properties import check_own_pieces
from auclab.margins import AllPairs, Bicliques, RankedPairs
from auclab.regularisers import EUCLIDEAN
from auclab.samples.bicliques import LevelPairs, censored_pairs, group_numbers, ordered_pairs
from auclab.samples.blocks.ranked_blocks import RankedBlockSample, by_block
from auclab.samples.memory import Sample
from auclab.samples.ranked import RankedSample
from auclab.samples.tables import in_memory


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


@dataclass(frozen=True)
class Ranking:
    """The data that determine which rows are compared; without any of them, all pairs of two classes.

    `groups` (n_samples,): rows of one group are compared. `ordered`: y are grades. `event` (n_samples,): y are times,
    and this is True where a time ended with an event.
    """

    groups: ArrayLike | None = None
    ordered: bool = False
    event: ArrayLike | None = None
    group_weights: GroupWeights = "pairs"

    def __post_init__(self) -> None:
        if self.ordered and self.event is not None:
            raise AuclabError("ordered=True says that y are grades, and event that y are times; leave out one of them")

    @property
    def is_of_classes(self) -> bool:
        """Whether nothing was given: two classes, and all pairs of them."""
        return self.groups is None and not self.ordered and self.event is None

    def problem_parts(
        self, program: Program, X: Any, y: Any, sample_weight: ArrayLike | None = None, pos_label: Any = None
    ) -> tuple[Program, Sample]:
        """The program over these pairs, and the checked sample."""
        if self.is_of_classes:
            return program, program.comparisons.sample(X, y, sample_weight, pos_label)
        over_pairs = self.program(program)
        if not in_memory(X):
            return over_pairs, RankedBlockSample.of_table(X, self._in_blocks(X)._pairs(y, sample_weight, pos_label))
        return over_pairs, RankedSample.of_pairs(X, self._pairs(y, sample_weight, pos_label))

    def _pairs(self, y: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any) -> LevelPairs:
        """The pairs of rows with these targets."""
        if self.event is not None:
            return censored_pairs(y, self.event, self.groups, sample_weight, group_weights=self.group_weights)
        return ordered_pairs(y, self.groups, sample_weight, group_weights=self.group_weights, pos_label=pos_label)

    def _in_blocks(self, X: Any) -> Ranking:
        """The same with groups numbered as the blocks are read."""
        if self.groups is None:
            raise AuclabError(
                f"{self.given} compares all rows with each other, which must be in memory, and X is a table in blocks; "
                "give groups, or read a part of the table"
            )
        groups = group_numbers(self.groups, len(X))
        return replace(self, groups=by_block(groups, X))

    @property
    def kind(self) -> Literal["groups", "grades", "times"]:
        """Why rows are compared."""
        return "times" if self.event is not None else "groups" if self.groups is not None else "grades"

    @property
    def given(self) -> str:
        """The argument that was given."""
        return {"times": "event", "groups": "groups", "grades": "ordered=True"}[self.kind]

    def program(self, program: Program) -> Program:
        """A program over these pairs."""
        if self.is_of_classes:
            return program
        _check_over_pairs(program, self.given)
        return Composed(RankedPairs(self.kind), program.loss, program.regulariser, program.threshold)


def _check_over_pairs(program: Program, given: str) -> None:
    """Raise `AuclabError` unless the program is a convex mean over pairs."""
    if isinstance(program.comparisons, Bicliques):
        raise AuclabError(f"the bicliques of the program say which rows are compared; leave out {given}")
    if program.comparisons.hardest:
        raise AuclabError(
            f"formulation {program.name} does not support {given}: the hardest share of the negatives is that of one "
            "ROC curve, and comparable pairs have none; use bauc or ranksvm"
        )
    if program.kind == "mip":
        raise AuclabError(
            f"formulation {program.name} does not support {given}: its integer variables count the pairs of two "
            "classes; use bauc, generalized_bauc or ranksvm"
        )
    if program.kind not in ("hinge", "piecewise") or program.comparisons.name != "pairs":
        raise AuclabError(
            f"formulation {program.name} does not support {given}: it is not a mean over pairs; use bauc, "
            "generalized_bauc or ranksvm"
        )
    if not program.is_convex:
        raise AuclabError(
            f"formulation {program.name} does not support {given} with z = {program.threshold:g} > 0, which makes it "
            "not convex; use z ≤ 0"
        )
