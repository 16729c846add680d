"""The result of a solver before it is verified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.hard_margin import Separator
from auclab.models.timings import Timings
from auclab.solvers.bin_multipliers import BinMultipliers
from auclab.solvers.solution import Certificate, Step
from auclab.types import Array, Status


@dataclass(frozen=True)
class RawSolution:
    """The result of a solver, all of which is verified independently before it becomes a `Solution`.

    `multipliers` are the marginals of the dual point per class: ``(Σ_j q_ij, Σ_i q_ij)`` over pairs, the weights
    ``q`` themselves over points. The dual value depends on a pair weighting through these alone. For partial AUC,
    `share_neg` are the weights r of the negatives that belong to them. `bound` is the lower bound of a
    branch-and-bound tree, which has no multipliers, or of exact arithmetic, for w up to the length `norm_bound`.
    `certificate` is what a solver has verified
    itself, by the same methods, where the rows are not in one place (`auclab.solvers.binned`); `bin_multipliers` are
    then in place of `multipliers`. In a program of the kind ``piecewise`` the dual point is `scorers` (weights, w, b
    and half-widths), or `margin_multipliers` of every margin (`auclab.solvers.verified.scorers`); the point itself
    where there are none.
    `separator` is the hard-margin one that the point was made of. `steps` are what was done. `timings` and the first
    column of `history` are in seconds.
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
    norm_bound: float = math.inf
    certificate: Certificate | None = None
    bin_multipliers: BinMultipliers | None = None
    scorers: tuple[tuple[float, Array, float, float], ...] = ()
    margin_multipliers: Array | None = None
    separator: Separator | None = None
    steps: tuple[Step, ...] = ()

    def moved(self, back: Callable[[Array, float], tuple[Array, float]]) -> RawSolution:
        """The same in other coordinates: `back` is applied to every point (w, b)."""
        scorers = tuple((weight, *back(w, b), h) for weight, w, b, h in self.scorers)
        coef, intercept = back(self.coef, self.intercept)
        return replace(self, coef=coef, intercept=intercept, scorers=scorers, separator=None)

    @classmethod
    def null(cls, problem: Problem, status: Status, timings: Timings | None = None, note: str = "") -> RawSolution:
        """The point w = 0 with its best intercept, for a solver that returns no point."""
        coef = np.zeros(problem.sample.n_features)
        notes = (note,) if note else ()
        return cls(coef, problem.null_intercept(), status, timings=timings or Timings(), notes=notes)
