"""A formulation over the pairs that groups, grades or censored times determine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from auclab._core.base import AuclabError, GroupWeights
from auclab.formulations.base import Program
from auclab.formulations.programs import Composed
from auclab.margins import Bicliques, RankedPairs
from auclab.samples.bicliques import LevelPairs, censored_pairs, group_numbers, ordered_pairs
from auclab.samples.blocks.ranked_blocks import RankedBlockSample, by_block
from auclab.samples.memory import Sample
from auclab.samples.ranked import RankedSample
from auclab.samples.tables import in_memory


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
