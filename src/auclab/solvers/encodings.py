"""Which encoding of the pairs the linear programs get where none is named."""

from __future__ import annotations

from auclab.formulations.problem import Problem

#: Up to this many margins the dual with every one of them is the fastest (measured, benchmarks/pair_encodings.py).
DUAL_UP_TO = 1_000


def fastest_encoding(problem: Problem) -> str:
    """What ``encoding="auto"`` stands for.

    Parameters
    ----------
    problem : Problem
        A linear program.
    """
    encodings = problem.program.encodings
    if "dual" not in encodings:
        return "full"
    return "aggregated" if "aggregated" in encodings and problem.n_margins > DUAL_UP_TO else "dual"
