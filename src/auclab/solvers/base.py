"""What a solver is given, what it answers, what it is able to do, and how it is found by name.

A solver is a module of this package, named as in the configuration, with a constant ``CAPABILITIES`` and a function
``play(problem, *, tolerance, time_limit, **options) -> Play``. It is imported when it is asked for, so that nobody
pays for a modelling language that is not used.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from auclab.formulations.base import Family, Program
from auclab.formulations.sample import Sample
from auclab.types import Array, AuclabError, Status, Timings

#: Modules of this package that are the house's own and not solvers.
_INTERNAL = {"base", "certificate", "nonconvex", "path", "referee"}


@dataclass(frozen=True)
class Problem:
    """A program and the sample it is to be solved on."""

    program: Program
    sample: Sample

    @property
    def over_pairs(self) -> bool:
        """Whether the margins are those of pairs (else of points)."""
        return self.program.over == "pairs"

    @property
    def n_margins(self) -> int:
        """Number of hinge terms: n_pos · n_neg pairs or n_pos + n_neg points."""
        n_pos, n_neg = self.sample.n_pos, self.sample.n_neg
        return n_pos * n_neg if self.over_pairs else n_pos + n_neg

    def objective(self, coef: Array, intercept: float) -> float:
        """The program's value at a point."""
        return self.program.objective(coef, intercept, self.sample)

    def null_intercept(self) -> float:
        """The best intercept for w = 0: the sign of the majority; 0 for pairs and for balanced points."""
        return 0.0 if self.over_pairs else float(np.sign(self.sample.prior_pos - 0.5))


@dataclass(frozen=True)
class Play:
    """A solver's answer; nothing in it is believed before the referee has looked.

    `multipliers` are the marginals of the dual point per class: ``(Σ_j q_ij, Σ_i q_ij)`` over pairs, the weights
    ``q`` themselves over points. The dual value depends on a pair weighting through these alone. Over the hardest
    negatives, `share_neg` are the weights r of the negatives that belong to them. `bound` is the lower bound of a
    branch-and-bound tree, which has no multipliers to show for it.
    """

    coef: Array
    intercept: float
    status: Status
    multipliers: tuple[Array, Array] | None = None
    iterations: int = 0
    timings: Timings = field(default_factory=Timings)
    notes: tuple[str, ...] = ()
    history: tuple[tuple[float, float, float], ...] = ()
    share_neg: Array | None = None
    bound: float = math.nan

    @classmethod
    def null(cls, problem: Problem, status: Status, timings: Timings | None = None, note: str = "") -> Play:
        """W = 0 with its best intercept: the best that is known where a solver came back with nothing."""
        coef = np.zeros(problem.sample.n_features)
        notes = (note,) if note else ()
        return cls(coef, problem.null_intercept(), status, timings=timings or Timings(), notes=notes)


@dataclass(frozen=True)
class Capabilities:
    """What a solver works on; `why_not` turns a mismatch into words. `blocks`: samples that are out of memory."""

    linear_only: bool = False
    nonconvex: bool = False
    blocks: bool = False
    families: tuple[Family, ...] = ("hinge",)

    def why_not(self, program: Program) -> str | None:
        """Why this solver cannot take `program`, or None if it can."""
        if program.family not in self.families:
            return _FOREIGN[program.family]
        if program.family == "count":
            return None
        if not program.is_convex:
            return None if self.nonconvex else f"z = {program.threshold:g} > 0 makes it not convex"
        if self.linear_only and not program.is_linear:
            square = "²" if program.squared else ""
            return f"its ‖w‖{square} in norm {program.norm} is not linear"
        return None


_FOREIGN: dict[Family, str] = {
    "hinge": "it minimises no hinges",
    "hardest": "it averages over all negatives, not over the hardest ones",
    "count": "counting pairs needs integer variables",
}

Solver = Callable[..., Play]


def solver_names() -> list[str]:
    """Names of the solvers: the modules of this package that are not its own internals."""
    folder = Path(__file__).parent
    return sorted(p.stem for p in folder.glob("*.py") if not p.stem.startswith("_") and p.stem not in _INTERNAL)


def load_solver(name: str) -> tuple[Solver, Capabilities]:
    """The `play` function and the capabilities of the solver called `name`.

    Raises
    ------
    AuclabError
        No such solver (the choices are listed).
    """
    if name not in solver_names():
        raise AuclabError(f"solver={name!r} is unknown; choose one of {', '.join(['auto', *solver_names()])}")
    module = importlib.import_module(f"auclab.solvers.{name}")
    return module.play, module.CAPABILITIES


def capable_solvers(program: Program) -> Iterator[str]:
    """Names of the solvers that can take `program`."""
    return (name for name in solver_names() if load_solver(name)[1].why_not(program) is None)


def check_capable(name: str, program: Program) -> Solver:
    """The solver's `play`, once it is clear that it can take `program`.

    Raises
    ------
    AuclabError
        A mismatch, in one line that names what works.
    """
    play, capabilities = load_solver(name)
    reason = capabilities.why_not(program)
    if reason is None:
        return play
    working = " or ".join(f"solver={other}" for other in capable_solvers(program)) or "no solver yet"
    advice = f"use {working}"
    if capabilities.linear_only and program.is_convex and program.family in capabilities.families:
        advice += f", or keep solver={name} with norm l1 or linf" + (" and squared=false" if program.squared else "")
    raise AuclabError(f"solver={name} cannot solve {program.name}: {reason}; {advice}")


def check_blocks(name: str) -> None:
    """Raise `AuclabError` if the solver needs all rows in memory."""
    if not load_solver(name)[1].blocks:
        able = " or ".join(f"solver={other}" for other in solver_names() if load_solver(other)[1].blocks)
        raise AuclabError(f"solver={name} needs all rows in memory, and the sample is in blocks; use {able}")


def check_options(name: str, play: Solver, options: dict[str, object]) -> None:
    """Raise `AuclabError` if the solver knows nothing of one of the `options`."""
    known = {p.name for p in inspect.signature(play).parameters.values() if p.kind is p.KEYWORD_ONLY}
    unknown = sorted(set(options) - known)
    if unknown:
        rest = sorted(known - {"tolerance", "time_limit"})
        raise AuclabError(
            f"solver={name} has no option {', '.join(unknown)}; it takes {', '.join(rest) if rest else 'none'}"
        )
