"""Which programs are linear, and the default encoding of their pairs."""

from __future__ import annotations

from typing import Any

from auclab.formulations.base import Program
from auclab.formulations.problem import Problem
from auclab.margins.margins import Encoding
from auclab.types import AuclabError

#: Up to this many margins HiGHS, with every one of them in the dual, is faster than newton and than other encodings
#: (measured, benchmarks/pair_encodings.py).
HIGHS_PAIRS = 1_000


def is_linear(program: Program) -> bool:
    """Whether a program is linear: convex, with hinges, without an l2 norm or a square."""
    buffer_is_linear = program.threshold == 0 or program.regulariser.norm.is_polyhedral
    return program.is_convex and program.loss.is_hinge and buffer_is_linear and program.regulariser.is_linear


def check_exportable(program: Any) -> Program:
    """The program, if it is linear, as z > 0 and whole numbers are not; raises `AuclabError` for another one."""
    if not (isinstance(program, Program) and is_linear(program)):
        raise AuclabError(
            f"solver.export writes linear programs, and {program.name} is not one here, with z > 0 or whole numbers; "
            "leave it out"
        )
    return program


def encodings(program: Program) -> tuple[Encoding, ...]:
    """The encodings of the hinge terms that a linear-programming solver has for a program."""
    return program.comparisons.encodings if program.loss.is_hinge and program.kind not in ("mip", "integer") else ()


def fastest_encoding(problem: Problem) -> str:
    """The encoding that ``encoding="auto"`` selects.

    `problem`: a linear program.
    """
    known = encodings(problem.program)
    if "dual" not in known:
        return "full"
    return "aggregated" if "aggregated" in known and problem.n_margins > HIGHS_PAIRS else "dual"
