"""Solvers get their problem in units in which features vary by about 1, and solutions are mapped back exactly.

Units are powers of two, so nothing is rounded on either way. Without a norm in the program every feature has its own
unit, ``w_k = x_k u_k`` on rows ``x / u``; a norm allows one unit for all features, which λ and z take up:

    λ‖w‖ = (λ/u)‖x‖,     λ‖w‖² = (λ/u²)‖x‖²,     z‖w‖ = (z/u)‖x‖,     w = x/u on rows divided by u.

Features whose spreads differ in a program with a norm are scaled by the solvers themselves, which put the units into
the norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from auclab.formulations.base import Program
from auclab.formulations.problem import Problem
from auclab.formulations.programs import row_with
from auclab.models.dual_lp import ORDINARY
from auclab.solvers.raw import RawSolution
from auclab.types import Array
from auclab.validation import LARGEST_SQUARED


def in_own_units(solve: Callable[..., RawSolution]) -> Callable[..., RawSolution]:
    """A solver that is given the problem in units near its spread, and whose solution is mapped back.

    `solve`: a solver of the registry, ``solve(problem, **options)``. Returns: a function with the same signature.
    """

    @wraps(solve)
    def solve_scaled(problem: Problem, **options: Any) -> RawSolution:
        unit = units_of(problem)
        if unit is None:
            return solve(problem, **options)
        start = options.get("start")
        if start is not None:
            options["start"] = (start[0] * unit, start[1])
        answer = solve(scaled(problem, unit), **options)
        return answer.moved(lambda w: w / unit, lambda w, b: b)

    return solve_scaled


def power_of_two(scale: Array) -> Array:
    """The powers of two nearest to positive numbers, on a logarithmic scale.

    Examples
    --------
    >>> power_of_two(np.array([1.0, 3.0, 1e-9])).tolist() == [1.0, 4.0, 2.0**-30]
    True
    """
    return np.asarray(np.exp2(np.rint(np.log2(scale))))


def units_of(problem: Problem) -> Array | None:
    """The unit of every feature, shape (n_features,), or None where the features may stay as they are."""
    program, sample = problem.program, problem.sample
    if sample.in_blocks:
        return None
    unit = power_of_two(sample.spread)
    if program.uses_norm:
        unit = np.full(unit.size, _common_unit(program, float(unit.max())))
    if ((unit >= 1.0 / ORDINARY) & (unit <= ORDINARY)).all():
        return None
    return unit


def scaled(problem: Problem, unit: Array) -> Problem:
    """The problem on rows divided by `unit`; its solution is that of `problem` times `unit`.

    `unit` (n_features,): powers of two; all equal where the program has a norm.
    """
    sample, program = problem.sample, problem.program
    if program.uses_norm:
        program = with_scaled_parameters(program, 1.0 / float(unit[0]))
    constraints = None if problem.constraints is None else problem.constraints.in_units(unit)
    return Problem(program, sample.in_units(unit), constraints)


def feature_units(problem: Problem) -> Array | None:
    """Powers of two near the inverse spreads, for models that put them into the norm; None where all are near 1.

    Returns: ``w_k = x_k · unit_k`` on rows times `unit`; at most 1e8, so that a norm of x keeps its digits.
    """
    spread = problem.sample.spread
    if ((spread >= 1.0 / ORDINARY) & (spread <= ORDINARY)).all():
        return None
    return 1.0 / power_of_two(np.clip(spread, 1e-8, 1e8))


def with_scaled_parameters(program: Program, factor: float) -> Program:
    """The program whose λ (or, squared, its root) and z are times `factor`."""
    threshold = program.threshold * factor if program.threshold else None
    regulariser = program.regulariser.in_units(factor) if program.regulariser.weight else None
    return row_with(program, threshold=threshold, regulariser=regulariser)


def _common_unit(program: Program, wanted: float) -> float:
    """The power of two nearest to `wanted` for which λ and z stay within their ranges."""
    least, largest = 0.0, math.inf
    roots = *program.regulariser.parameters(), (abs(program.threshold), 1)
    for parameter, root in roots:
        if parameter:
            # least ≤ parameter / uʳ ≤ largest, with a factor of 4 for rounding in the root
            largest = min(largest, (0.25 * parameter * LARGEST_SQUARED) ** (1 / root))
            least = max(least, (parameter / (0.25 * LARGEST_SQUARED)) ** (1 / root))
    exponent = round(math.log2(wanted))
    if wanted > largest:
        exponent = math.floor(math.log2(largest))
    if wanted < least:
        exponent = math.ceil(math.log2(least))
    return 2.0**exponent
