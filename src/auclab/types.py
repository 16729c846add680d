"""The records that travel from stage to stage: data in, certified solution out. All of them are frozen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse as sp

    from auclab.blocks.table import BlockTable
    from auclab.formulations.base import Program

Array = NDArray[np.float64]
Matrix = "Array | sp.csr_matrix | sp.csr_array"
Norm = Literal["l1", "l2", "linf"]
NORMS: tuple[Norm, ...] = ("l1", "l2", "linf")


class AuclabError(ValueError):
    """An input or a combination of choices that cannot be worked with; the message says what to try."""


class Status(StrEnum):
    """How a solve ended. Only `OPTIMAL` and `LOCAL` come with a converged point; a limit is never `OPTIMAL`."""

    OPTIMAL = "optimal"
    LOCAL = "local"
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    INTERRUPTED = "interrupted"
    FAILED = "failed"

    @property
    def advice(self) -> str:
        """What the status means for the person who reads it."""
        return {
            Status.OPTIMAL: "the gap is within the tolerance",
            Status.LOCAL: "a local optimum of a problem that is not convex; other starts may be better",
            Status.TIME_LIMIT: "the best point within the time limit; raise time_limit or loosen tolerance",
            Status.ITERATION_LIMIT: "the solver ran out of iterations or stalled; loosen tolerance or change solver",
            Status.INTERRUPTED: "the best point until Ctrl-C",
            Status.FAILED: "no usable point; try another solver or preprocess=standard",
        }[self]


@dataclass(frozen=True)
class Timings:
    """Seconds spent, each kind apart: building the model, loading it, compiling code, solving."""

    build: float = 0.0
    load: float = 0.0
    compile: float = 0.0
    solve: float = 0.0

    @property
    def total(self) -> float:
        """Sum of the four."""
        return self.build + self.load + self.compile + self.solve


@dataclass(frozen=True)
class Certificate:
    """What the referee found out about a solution, on its own account.

    Attributes
    ----------
    objective
        Value of the formulation at the returned point, re-evaluated without pairs.
    lower_bound
        Value of a feasible dual point, or the bound of a branch-and-bound tree where pairs are counted: no `w` has a
        smaller objective (with ``‖w‖ ≤ norm_bound`` if that is finite). NaN when the solver gave no multipliers or
        only a local optimum is claimed.
    absolute_gap, gap
        ``objective − lower_bound`` and the same divided by ``max(|objective|, 1e-12)``, or the absolute gap
        where the objective is 0 (separable data); never negative beyond rounding.
    dual_residual
        Violation of the dual constraint ``‖Σ q d‖_* ≤ λ − z Σ q`` that is left after repair.
    norm_bound
        The radius within which `lower_bound` holds; infinite when the dual point could be made feasible. In the
        program's norm, or, where it has none, in the l2 norm with every feature in units of its spread.
    """

    objective: float
    lower_bound: float
    absolute_gap: float
    gap: float
    dual_residual: float
    norm_bound: float = math.inf


@dataclass(frozen=True)
class Solution:
    """A linear scorer ``h(x) = coef · x + intercept`` and what is known about it.

    `multipliers` has one entry per observation: the share of the pair weights ``Σ_j q_ij`` (or the weight
    ``q_i`` on point formulations) of the dual point, 0 for an observation whose margins are all large.
    `history` has one row ``(seconds, objective, lower bound)`` per outer step. `notes` says in words what a
    reader should know: a trivial optimum, separable data, a local optimum.
    """

    coef: Array
    intercept: float
    formulation: Program
    certificate: Certificate
    status: Status
    solver: str
    timings: Timings = field(default_factory=Timings)
    iterations: int = 0
    history: tuple[tuple[float, float, float], ...] = ()
    multipliers: Array | None = None
    notes: tuple[str, ...] = ()

    @property
    def objective(self) -> float:
        """Objective at `coef`, re-evaluated by the referee."""
        return self.certificate.objective

    @property
    def lower_bound(self) -> float:
        """Certified lower bound on the optimal value; NaN if unknown."""
        return self.certificate.lower_bound

    @property
    def gap(self) -> float:
        """Relative gap ``(objective − lower_bound) / objective``; NaN if unknown."""
        return self.certificate.gap

    @property
    def threshold(self) -> float:
        """The z of the formulation."""
        return self.formulation.threshold

    @property
    def penalty(self) -> float:
        """The λ of the formulation."""
        return self.formulation.penalty

    def decision_function(self, X: Any) -> Array:
        """Scores ``X @ coef + intercept``, shape (n_samples,)."""
        return np.asarray(X @ self.coef, dtype=float) + self.intercept


@dataclass(frozen=True)
class Dataset:
    """A binary data set as published: nothing is scaled, imputed or encoded yet.

    `X` is a DataFrame, a CSR matrix for sparse sources, or a table whose rows stay in files; `y` holds 1 for the
    positive class and 0 for the other, shape (n_samples,). `nominal` names the columns that are categories whatever
    their dtype.
    """

    name: str
    X: pd.DataFrame | sp.csr_matrix | sp.csr_array | BlockTable
    y: NDArray[np.int64]
    nominal: tuple[str, ...] = ()
    positive: str = "1"
    negative: str = "0"
    sha256: str = ""
    source: str = ""
    citation: str = ""

    @property
    def n_pos(self) -> int:
        """Number of positive observations."""
        return int(np.count_nonzero(self.y == 1))

    @property
    def n_neg(self) -> int:
        """Number of negative observations."""
        return int(np.count_nonzero(self.y == 0))


@dataclass(frozen=True)
class Split:
    """Row numbers of one training part and one test part; the test part may be empty (``split=none``)."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    name: str


@dataclass(frozen=True)
class Bound:
    """A guarantee that holds with probability at least ``1 − ρ``.

    `lower` bounds the unknown quantity from below; two-sided statements give `half_width` instead (the other
    one is NaN). `slack` is what was subtracted from the empirical value. `vacuous` says that the statement
    excludes nothing. `assumptions` are words to be shown wherever the number is shown.
    """

    lower: float
    slack: float
    vacuous: bool
    assumptions: tuple[str, ...]
    half_width: float = math.nan


Progress = Callable[[float, float, float], None]
