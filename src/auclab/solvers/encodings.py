"""Which programs are linear, and which encoding of the pairs they get where none is named."""

from __future__ import annotations

from auclab.comparisons.comparison import Encoding
from auclab.formulations.base import Program
from auclab.formulations.problem import Problem

#: Up to this many margins HiGHS, with every one of them in the dual, is faster than newton and than other encodings
#: (measured, benchmarks/pair_encodings.py).
HIGHS_PAIRS = 1_000


def is_linear(program: Program) -> bool:
    """Whether a program is a linear one: convex, of hinges, and no l2 norm and no square in it."""
    buffer_is_linear = program.threshold == 0 or program.regulariser.norm.is_polyhedral
    return program.is_convex and program.loss.is_hinge and buffer_is_linear and program.regulariser.is_linear


def encodings(program: Program) -> tuple[Encoding, ...]:
    """The encodings of the hinge terms that a linear-programming solver has for a program."""
    return program.comparisons.encodings if program.loss.is_hinge and program.kind not in ("mip", "integer") else ()


def fastest_encoding(problem: Problem) -> str:
    """What ``encoding="auto"`` stands for.

    `problem`: a linear program.
    """
    known = encodings(problem.program)
    if "dual" not in known:
        return "full"
    return "aggregated" if "aggregated" in known and problem.n_margins > HIGHS_PAIRS else "dual"
