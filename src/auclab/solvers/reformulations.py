"""A problem in other coordinates, in which a solver is faster or can be run at all; solutions are carried back.

A solver of the registry names the reformulations that suit it. They are tried in the order of `REFORMULATIONS`, and
what the solver returns is carried back through those that applied, the last first:

* **units**: features in powers of two near their spread, so that nothing is rounded on either way. Without a norm in
  the program every feature has its own unit, ``w_k = x_k/u_k`` on rows ``x/u``; a norm allows one unit for all, which
  λ and z take up: ``λ‖w‖ = (λ/u)‖x‖,  λ‖w‖² = (λ/u²)‖x‖²,  z‖w‖ = (z/u)‖x‖``. Features of different spread in a program
  with a norm are scaled by the solvers themselves, which put the units into the norm (`feature_units`);
* **hard margin**: the separator of separable data needs only the Gram matrix. It is the answer where it is proved to be
  the optimum (`auclab.solvers.canonical`);
* **row space**: more columns than rows are replaced by a basis of the span of the rows, if the norm is l2 or none;
* **sparse rows**: minus the most frequent value of every column, rows of one-hot columns are mostly zero. Over pairs
  that value cancels; over points ``w·x + b = w·(x − c) + (b + w·c)``.

What rounding these have is harmless: every solution is verified on the rows as given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from auclab._core.base import Array, Status
from auclab._core.validation import LARGEST_SQUARED
from auclab.formulations.base import Program
from auclab.formulations.problem import Problem
from auclab.formulations.programs import row_with
from auclab.models.dual_lp import ORDINARY
from auclab.models.hard_margin import is_separated_by_rows
from auclab.samples.features import compressed, pays_as_csr
from auclab.samples.memory import Sample
from auclab.samples.rotated import RotatedRows, is_wide, rotated
from auclab.solvers.canonical import separates
from auclab.solvers.monitor import Monitor, stop_on_interrupt
from auclab.solvers.path_parameters import penalty_level
from auclab.solvers.registry import find_solver, load_solver
from auclab.solvers.solution import RawSolution, Step

#: A point: w and b.
Point: TypeAlias = tuple[Array, float]


class Reformulation(Protocol):
    """A problem in other coordinates, `problem`, with the ways between them."""

    @property
    def problem(self) -> Problem:
        """In the new coordinates."""

    def __str__(self) -> str:
        """What was done, in a few words."""

    def forth(self, coef: Array, intercept: float) -> Point:
        """A point of the problem as given in the new coordinates."""

    def back(self, coef: Array, intercept: float) -> Point:
        """A point in the new coordinates as one of the problem as given."""


def reformulations(
    names: tuple[str, ...], problem: Problem, monitor: Monitor
) -> Iterator[tuple[Reformulation | RawSolution, float]]:
    """Those of the named reformulations that apply, one after the other, with their seconds; an answer is the last."""
    for name, kind in REFORMULATIONS.items():
        if name not in names:
            continue
        begin = monitor.clock.seconds
        found = kind(problem, monitor)
        if found is None:
            continue
        yield found, monitor.clock.seconds - begin
        if isinstance(found, RawSolution):
            return
        problem = found.problem


def run_solver(
    name: str, problem: Problem, monitor: Monitor, start: Point | None = None, **options: Any
) -> RawSolution:
    """What a solver of the registry returns for a problem, by way of the reformulations that suit it.

    `start`: a point near the optimum, for a solver that takes one. `options`: of the solver. FAILED, with a note, where
    numbers leave the range of floats.
    """
    entry, steps, answer = find_solver(name), [], None
    passed: list[Reformulation] = []
    with np.errstate(all="ignore"):  # what is not finite is found by the verification
        try:
            for found, seconds in reformulations(entry.reformulations, problem, monitor):
                if isinstance(found, RawSolution):
                    answer = found
                    steps.append(Step("the hard-margin separator is the optimum", seconds))
                else:
                    passed.append(found)
                    steps.append(Step(str(found), seconds))
                    start = None if start is None else found.forth(*start)
            if answer is None:
                inner = passed[-1].problem if passed else problem
                begin = monitor.clock.seconds
                if start is not None:
                    options["start"] = start
                with stop_on_interrupt(monitor.interrupted) if entry.asks_monitor else nullcontext():
                    answer = load_solver(name)(inner, monitor, **options)
                steps.append(Step(f"{name}: {answer.iterations:,} iterations", monitor.clock.seconds - begin))
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            note = f"the numbers left the range of floating point ({error}); scale the features"
            return RawSolution.null(problem, Status.FAILED, note=note)
        for reformulation in reversed(passed):
            answer = answer.moved(reformulation.back)
    timings = replace(answer.timings, build=answer.timings.build + sum(step.seconds for step in steps[:-1]))
    return replace(answer, timings=timings, steps=(*steps, *answer.steps))


# --- units ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InUnits:
    """Features in units near their spread."""

    problem: Problem
    unit: Array

    def __str__(self) -> str:
        smallest, largest = (f"{float(unit):.3g}" for unit in (self.unit.min(), self.unit.max()))
        return f"features in units of {smallest}" + (f" to {largest}" if largest != smallest else "")

    @classmethod
    def of(cls, problem: Problem, monitor: Monitor) -> InUnits | None:
        """The problem in units; None where the features may stay as they are."""
        unit = units_of(problem)
        return None if unit is None else cls(scaled(problem, unit), unit)

    def forth(self, coef: Array, intercept: float) -> Point:
        """``x = w u``."""
        return coef * self.unit, intercept

    def back(self, coef: Array, intercept: float) -> Point:
        """``w = x/u``."""
        return coef / self.unit, intercept


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
    if sample.in_blocks or program.kind == "mip":
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


# --- more columns than rows -------------------------------------------------------------------------------------------

#: Of sparse rows, the share of `penalty_level` above which many hinges are left. Text-like rows, 2,000 × 20,000 and
#: 4,000 × 50,000: at a tenth 0.3 and 0.6 s by products, uncertified after 5 s in the span; at a hundredth the reverse.
LARGE_PENALTY = 0.03


def separated(problem: Problem, monitor: Monitor) -> RawSolution | None:
    """The hard-margin separator, if the data have more columns than rows and it is proved to be the optimum."""
    apart = problem.constraints is None and is_separated_by_rows(problem.sample) and not _has_many_hinges(problem)
    if not (apart or is_rotated(problem)):
        return None
    with stop_on_interrupt(monitor.interrupted):
        return separates(problem, monitor)


@dataclass(frozen=True)
class InRowSpace:
    """Rows in a basis of their span, of at most as many columns as rows."""

    problem: Problem
    rows: RotatedRows

    def __str__(self) -> str:
        return f"rows in a basis of their span, {self.problem.sample.n_features:,} columns"

    @classmethod
    def of(cls, problem: Problem, monitor: Monitor) -> InRowSpace | None:
        """The problem in the span of its rows; None where that has no fewer columns, or the norm is not l2."""
        rows = rotated(problem.sample) if is_rotated(problem) else None
        return None if rows is None else cls(Problem(problem.program, rows.sample), rows)

    def forth(self, coef: Array, intercept: float) -> Point:
        """The coordinates of w, and the score of the centre in the intercept."""
        return self.rows.coordinates(coef), intercept + self._of_centre(coef)

    def back(self, coef: Array, intercept: float) -> Point:
        """The w of its coordinates."""
        original = self.rows.original(coef)
        return original, intercept - self._of_centre(original)

    def _of_centre(self, coef: Array) -> float:
        return self.problem.program.comparisons.of_intercept(float(coef @ self.rows.centre))


def is_rotated(problem: Problem) -> bool:
    """Whether solvers get the rows of a problem in a basis of their span."""
    program = problem.program
    return (
        problem.constraints is None
        and program.is_convex
        and program.comparisons.by_marginals
        and program.used_norm.is_euclidean
        and is_wide(problem.sample)
        and not _has_many_hinges(problem)
    )


def _has_many_hinges(problem: Problem) -> bool:
    """Whether rows are sparse, and λ or the buffer −z so large that products take less than a basis of their span."""
    program, sample = problem.program, problem.sample
    strength = max(program.regulariser.weight, -program.threshold)
    return sample.is_sparse and strength > 0 and strength > LARGE_PENALTY * penalty_level(program, sample)


# --- rows that are mostly zero ----------------------------------------------------------------------------------------

#: Approximate number of rows that are examined before all are.
_LOOKED_AT = 500


@dataclass(frozen=True)
class AsSparseRows:
    """CSR rows less the most frequent value of each column."""

    problem: Problem
    common: Array

    def __str__(self) -> str:
        return "sparse rows: less the most frequent value of each column"

    @classmethod
    def of(cls, problem: Problem, monitor: Monitor) -> AsSparseRows | None:
        """The problem on CSR rows; None where these would not be faster."""
        common = common_values(problem.sample)
        if common is None:
            return None
        return cls(Problem(problem.program, viewed(problem.sample, common), problem.constraints), common)

    def forth(self, coef: Array, intercept: float) -> Point:
        """``b + w·c``."""
        return coef, self.problem.program.comparisons.of_intercept(intercept + float(coef @ self.common))

    def back(self, coef: Array, intercept: float) -> Point:
        """``b − w·c``."""
        return coef, self.problem.program.comparisons.of_intercept(intercept - float(coef @ self.common))


def common_values(sample: Sample) -> Array | None:
    """Value to subtract from every column, shape (n_features,); None if CSR rows would not be faster.

    The value is that of more than half of the rows, if there is one; it is then also the median of some hundred rows.
    Other columns are not changed.
    """
    n_rows, n_columns = sample.n_pos + sample.n_neg, sample.n_features
    if sample.in_blocks or sample.is_sparse or not pays_as_csr(n_rows, n_columns, 0.0):
        return None
    step = max(1, n_rows // _LOOKED_AT)
    rows = np.vstack([sample.X_pos[::step], sample.X_neg[::step]])
    middle = len(rows) // 2
    median = np.partition(rows, middle, axis=0)[middle]
    share = (rows == median).mean(axis=0)
    if not pays_as_csr(n_rows, n_columns, float(np.where(share > 0.5, 1.0 - share, 1.0).mean())):
        return None
    return np.where(share > 0.5, median, 0.0)


def viewed(sample: Sample, common: Array) -> Sample:
    """The sample with `common` subtracted from its rows, as CSR matrices."""
    X_pos, X_neg = (compressed(X, common) for X in (sample.X_pos, sample.X_neg))
    return replace(sample, X_pos=X_pos, X_neg=X_neg, offset=None)


#: In the order in which they are tried: from a problem to itself in other coordinates, to its answer, or to None.
REFORMULATIONS = {
    "units": InUnits.of,
    "hard margin": separated,
    "row space": InRowSpace.of,
    "sparse rows": AsSparseRows.of,
}
