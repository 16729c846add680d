"""The solvers by name, what each is able to do, and the encodings of pairs.

A solver is a module with a function ``solve(problem, monitor, **options) -> RawSolution``; its keyword arguments are
its options, and the monitor has the tolerance and the time. The module is imported when it is needed, so that a
modelling language that is not used costs no time.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from auclab._core.base import AuclabError
from auclab._core.validation import check_choice
from auclab._core.words import did_you_mean
from auclab.formulations.base import Kind, Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.margins.comparison import Encoding
from auclab.solvers.solution import RawSolution

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


#: All w, a convex set of them, or those with a largest number of features.
Scorers = Literal["all", "convex set", "few features"]


@dataclass(frozen=True)
class Capabilities:
    """What a solver is able to minimise.

    `linear_only`: linear programs alone. `nonconvex`: also z > 0 and counts of pairs. `blocks`: samples whose rows are
    out of memory. `scorers`: over all w, over a convex set, or over those with a largest number of features.
    `needs_norm`: programs with a penalty or z < 0 alone. `l2_squared`: of the norm l2, its square alone, which is
    smooth at w = 0.
    """

    linear_only: bool = False
    nonconvex: bool = False
    blocks: bool = False
    scorers: tuple[Scorers, ...] = ("all",)
    needs_norm: bool = False
    l2_squared: bool = False
    kinds: tuple[Kind, ...] = ("hinge",)

    def why_not(self, program: Program, constraints: ColumnConstraints | None = None) -> str | None:
        """Why this solver cannot take `program` with `constraints`, or None if it can."""
        if program.kind not in self.kinds:
            return _REQUIRES[program.kind]
        if program.kind == "integer":
            return None
        if program.kind == "piecewise" and not program.is_convex:
            return "z > 0 is supported with the hinge alone"
        scorers: Scorers = "all"
        if constraints is not None:
            scorers = "convex set" if constraints.is_convex else "few features"
        if scorers not in self.scorers:
            return _NEEDS_OTHER_SCORERS[scorers]
        if self.needs_norm and not program.uses_norm:
            return "it needs a norm in the program: a penalty, or z < 0"
        kinked = program.threshold != 0 or program.regulariser.has_kink
        if self.l2_squared and kinked and program.regulariser.norm.is_euclidean:
            return "it takes λ‖w‖² in norm l2, and neither λ‖w‖ nor z‖w‖"
        if not program.is_convex:
            return None if self.nonconvex else f"z = {program.threshold:g} > 0 makes it not convex"
        if self.linear_only and not program.loss.is_hinge:
            return _REQUIRES["piecewise"]
        if self.linear_only and not is_linear(program):
            if program.regulariser.ridge:
                return f"its{program.regulariser.equation().removeprefix(' +')} is not linear"
            square = "²" if program.regulariser.squared else ""
            return f"its ‖w‖{square} in norm {program.regulariser.norm.name} is not linear"
        return None

    def takes(self, problem: Problem) -> bool:
        """Whether this solver can take a problem, with its constraints and where its rows are."""
        return (self.blocks or not problem.sample.in_blocks) and not self.why_not(problem.program, problem.constraints)


#: Why a solver does not support a set of scorers.
_NEEDS_OTHER_SCORERS: dict[Scorers, str] = {
    "all": "it is for constraints with max_features",
    "convex set": "it takes no such constraints on w",
    "few features": "max_features makes the set of scorers not convex, which takes integer variables",
}

#: Why a solver does not support programs of a kind.
_REQUIRES: dict[Kind, str] = {
    "hinge": "it does not support hinge losses",
    "piecewise": "it supports the hinge alone, and no other loss",
    "cvar": "it averages over all negatives, not over the hardest ones",
    "mip": "counting pairs needs integer variables",
    "integer": "its coefficients are whole numbers",
}

Solver = Callable[..., RawSolution]


@dataclass(frozen=True)
class SolverEntry:
    """A solver of the registry: the module with its `solve`, and what it is able to do.

    `reformulations`: of `auclab.solvers.reformulations`, those that suit it. `generates_columns`: whether it is run
    on a working set of columns where most coefficients are 0 (`auclab.solvers.column_generation`). `asks_monitor`:
    whether it asks between its steps if it has to stop, so that Ctrl-C ends it with the best point. `takes_start`:
    whether it can begin at a given point.
    """

    module: str
    capabilities: Capabilities
    reformulations: tuple[str, ...] = ()
    generates_columns: bool = False
    asks_monitor: bool = False
    takes_start: bool = False


#: Means of any loss, of the hinge over all or over the hardest negatives.
_CONVEX: tuple[Kind, ...] = ("hinge", "piecewise", "cvar")

_CONVEX_SETS: tuple[Scorers, ...] = ("all", "convex set")

_TO_FEWER_COLUMNS = ("units", "hard margin", "row space")

SOLVERS: dict[str, SolverEntry] = {
    "clarabel": SolverEntry(
        "auclab.solvers.clarabel",
        Capabilities(scorers=_CONVEX_SETS, kinds=_CONVEX),
        reformulations=_TO_FEWER_COLUMNS,
    ),
    "cutting_plane": SolverEntry(
        "auclab.solvers.cutting_plane",
        Capabilities(blocks=True, scorers=_CONVEX_SETS, kinds=_CONVEX),
        reformulations=_TO_FEWER_COLUMNS,
        asks_monitor=True,
    ),
    "highs": SolverEntry(
        "auclab.solvers.highs",
        Capabilities(
            linear_only=True, nonconvex=True, scorers=_CONVEX_SETS, kinds=("hinge", "piecewise", "cvar", "mip")
        ),
        reformulations=("units",),
    ),
    "integer": SolverEntry(
        "auclab.solvers.integer.solver",
        Capabilities(scorers=("few features",), kinds=("hinge", "integer")),
        asks_monitor=True,
    ),
    "interior": SolverEntry(
        "auclab.solvers.interior",
        Capabilities(needs_norm=True, l2_squared=True, kinds=("hinge", "cvar")),
        reformulations=("units",),
        generates_columns=True,
        asks_monitor=True,
    ),
    "newton": SolverEntry(
        "auclab.solvers.binned",
        Capabilities(blocks=True, scorers=_CONVEX_SETS, kinds=_CONVEX),
        reformulations=(*_TO_FEWER_COLUMNS, "sparse rows"),
        generates_columns=True,
        asks_monitor=True,
        takes_start=True,
    ),
    "scs": SolverEntry(
        "auclab.solvers.scs",
        Capabilities(scorers=_CONVEX_SETS, kinds=_CONVEX),
        reformulations=_TO_FEWER_COLUMNS,
    ),
}

#: The same for parts of solvers.
PARTS: dict[str, Capabilities] = {
    "bins of scores": Capabilities(blocks=True),
    "cones without CVXPY": Capabilities(scorers=_CONVEX_SETS),
    "hard margin": Capabilities(kinds=("hinge", "cvar")),
    "smoothed path": Capabilities(needs_norm=True, kinds=_CONVEX),
    "windows": Capabilities(scorers=_CONVEX_SETS),
    "working set of columns": Capabilities(needs_norm=True, kinds=("hinge", "cvar")),
}


def find_solver(name: str) -> SolverEntry:
    """The entry of the solver called `name`."""
    if name not in SOLVERS:
        check_choice("solver", name, ["auto", *SOLVERS])
    return SOLVERS[name]


def load_solver(name: str) -> Solver:
    """The `solve` function of the solver called `name`; imports its module."""
    solve: Solver = importlib.import_module(find_solver(name).module).solve
    return solve


def capable_solvers(program: Program, constraints: ColumnConstraints | None = None) -> Iterator[str]:
    """Names of the solvers that can take `program` with `constraints`."""
    return (name for name, entry in SOLVERS.items() if entry.capabilities.why_not(program, constraints) is None)


def check_capable(name: str, program: Program, constraints: ColumnConstraints | None = None) -> None:
    """Raise `AuclabError` unless the solver can take `program` with `constraints`; the message names what works."""
    capabilities = find_solver(name).capabilities
    reason = capabilities.why_not(program, constraints)
    if reason is None:
        return
    check_solvable(program, constraints)
    advice = "use " + " or ".join(f"solver={other}" for other in capable_solvers(program, constraints))
    if program.loss.is_hinge and replace(capabilities, linear_only=False).why_not(program, constraints) is None:
        unsquared = " and squared=false" if program.regulariser.squared else ""
        advice += f", or keep solver={name} with norm l1 or linf{unsquared}"
    raise AuclabError(f"solver={name} cannot solve {program.name}: {reason}; {advice}")


def _without_solver(program: Program, constraints: ColumnConstraints | None) -> str:
    """What to change where no solver takes a program with its constraints."""
    if constraints is not None and constraints.max_features is not None:
        if not program.comparisons.by_marginals:
            return (
                "max_features is for two classes, and rows are compared within groups, by grades or by times: "
                "leave it out"
            )
        able = "bauc, ranksvm and csvm with the hinge, or generalized_bauc and ecsvm with z ≤ 0"
        loss = "" if program.loss.is_hinge else f" (loss={program.loss.name})"
        return f"no solver takes {program.name}{loss} with max_features: leave max_features out, or use {able}"
    # Constraints were refused where the program is not convex, and every convex one has solvers that take them.
    loss = program.loss.name
    return f"no solver takes {program.name} with z = {program.threshold:g} and loss={loss}: take z ≤ 0, or loss=hinge"


def check_solvable(program: Program, constraints: ColumnConstraints | None) -> None:
    """Raise `AuclabError` if no solver takes the program with such constraints, whatever the rows are.

    Examples
    --------
    >>> from auclab.formulations import PartialAUC
    >>> check_solvable(PartialAUC(), ColumnConstraints.of(3, max_features=2))
    Traceback (most recent call last):
        ...
    auclab.AuclabError: no solver takes partial_auc with max_features: leave max_features out, or use bauc, \
ranksvm and csvm with the hinge, or generalized_bauc and ecsvm with z ≤ 0
    """
    check_constrainable(program, constraints)
    if next(capable_solvers(program, constraints), None) is None:
        raise AuclabError(_without_solver(program, constraints))


def check_blocks(name: str, program: Program, constraints: ColumnConstraints | None = None) -> None:
    """Raise `AuclabError` if the solver needs all rows in memory; the message names what does not."""
    all_rows = program.kind == "piecewise" and program.comparisons.by_marginals
    capable = [] if all_rows else capable_solvers(program, constraints)
    able = [other for other in capable if SOLVERS[other].capabilities.blocks]
    if find_solver(name).capabilities.blocks and not all_rows:
        return
    if able:
        advice = f"use {' or '.join(f'solver={other}' for other in able)}"
    else:
        advice = (
            f"every solver of {program.name} with these parameters does: read the rows, or a part of them, into memory"
        )
    raise AuclabError(f"solver={name} needs all rows in memory, and the sample is in blocks; {advice}")


def check_options(name: str, solve: Solver, options: dict[str, object]) -> None:
    """Raise `AuclabError` if the solver does not have one of the `options`."""
    available = {p.name for p in inspect.signature(solve).parameters.values() if p.kind is p.KEYWORD_ONLY}
    unknown = sorted(set(options) - available)
    if unknown:
        rest = sorted(available)
        meant = did_you_mean(unknown[0], available)
        raise AuclabError(
            f"solver={name} has no option {', '.join(unknown)}{meant}; options are "
            f"{', '.join(rest) if rest else 'none'}"
        )


def check_constrainable(program: Program, constraints: ColumnConstraints | None) -> None:
    """Raise `AuclabError` if constraints are given and the program does not take any."""
    if constraints is None or program.is_convex or program.kind == "integer":
        return
    what = f"z = {program.threshold:g} > 0 makes it not convex" if encodings(program) else "it counts pairs"
    raise AuclabError(
        f"formulation {program.name} takes no constraints on w: {what}, and a bound over the constrained scorers is "
        "not known for it; use a convex formulation, such as bauc, or ranksvm with its penalty"
    )
