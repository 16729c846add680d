"""What a solve returns, raw and verified: a scorer, its certificate, the steps and the seconds.

Code that measures, shows or stores a scorer uses these attributes and does not test for its class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.accurate import bins_of
from auclab._core.base import Array, Status
from auclab._core.forms import row_scores
from auclab._core.scores import moved_scores
from auclab._core.tolerances import EQUAL, SMALL_OBJECTIVE
from auclab._core.words import html_table
from auclab.formulations.base import Optimum, Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.equivalence import read_optimum
from auclab.formulations.problem import Problem
from auclab.models.hard_margin import Separator
from auclab.models.timings import Timings
from auclab.samples.blocks.labels import BlockLabels, LabelledBlock, labels_of
from auclab.samples.blocks.table import BlockTable
from auclab.samples.tables import new_rows

if TYPE_CHECKING:
    from auclab.formulations.base import Optimum
    from auclab.models.timings import Timings


@dataclass(frozen=True)
class BinMultipliers:
    """The multipliers that prove a bound, by class and bin: a few kilobytes for any number of rows.

    `coef` (n_features,): the w whose scores were binned: that of the pass that proved the bound. `moves` (2,): what is
    added to the scores of negatives and of positives. `edges` (n_bins − 1,): bin b holds moved scores ``edges[b − 1] ≤
    t < edges[b]``. `values` (2, n_bins): the multiplier of a row over its weight within its class, negatives first.
    `offset` (n_features,), or None: subtracted from the rows first.
    """

    coef: Array
    moves: Array
    edges: Array
    values: Array
    offset: Array | None = None

    def of_rows(
        self,
        table: BlockTable,
        y: ArrayLike | BlockLabels,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
    ) -> Array:
        """The multiplier of every row, shape (n_rows,), as `Solution.multipliers` has them; one pass.

        `table`: that of the solve. `y` (n_rows,), or BlockLabels: `BlockLabels` have their weights, and say which class
        is positive. `pos_label`: the label of the positive class.
        """
        return np.concatenate(list(self.by_block(table, y, sample_weight, pos_label=pos_label)))

    def by_block(
        self,
        table: BlockTable,
        y: ArrayLike | BlockLabels,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
    ) -> Iterator[Array]:
        """The multipliers of the rows block by block, in their order: some blocks are in memory at a time; one pass.

        Parameters and errors as in `of_rows`.
        """
        labels = labels_of(table, y, sample_weight, pos_label=pos_label)
        of_pos, of_neg = labels.units()
        return table.less(self.offset).run(_Multiply(self, (of_neg, of_pos)), labels)


@dataclass(frozen=True)
class _Multiply:
    """The task: the multipliers of the rows of a block."""

    multipliers: BinMultipliers
    unit: tuple[float, float]

    def __call__(self, rows: Array, block: LabelledBlock) -> Array:
        of, positive = self.multipliers, block.positive
        columns = np.ascontiguousarray(np.asarray(rows).T, dtype=np.float64)
        moves = float(of.moves[0]), float(of.moves[1])
        bins = bins_of(moved_scores(columns, of.coef, positive, moves), of.edges)
        side = positive.astype(np.intp)
        values = of.values[side, bins] * np.asarray(self.unit)[side]
        return np.asarray(values if block.weight is None else values * block.weight)


#: Largest number of coefficients shown in full; of more, the first and the last two are shown.
_SHOWN = 8


def coef_in_words(coef: Array) -> str:
    """The coefficients in a line; of many, the ends and the number of all."""
    shown = np.array2string(coef, precision=6, threshold=_SHOWN, edgeitems=2, separator=", ", max_line_width=500)
    return shown if coef.size <= _SHOWN else f"{shown} ({coef.size} features)"


@dataclass(frozen=True)
class InFeatures:
    """A scorer as generalization bounds see it: linear in some features of the training part.

    `coef` (n_features,), or None: None if the scorer is not linear in known features. `radius`: of a ball that contains
    every possible row; None if there is no such ball. `diameter`: largest distance of a positive and a negative, if it
    is less than twice the radius. `ensured`: what ensures both, if it is not the preprocessing. `remark`: why bounds
    that depend on the rows do not hold, with ``{}`` for their kind; empty for no remark, None if they hold.
    """

    features: Any
    coef: Array | None
    radius: float | None
    diameter: float | None = None
    ensured: str = ""
    remark: str | None = None


class Fitted(Protocol):
    """A fitted scorer and what is known about it.

    See Also
    --------
    auclab.solvers.solution.Solution : Of a formulation; what its attributes mean.
    auclab.estimators.baselines.BaselineFit : Of another library.
    """

    @property
    def formulation(self) -> Any:
        """What was fitted; it has a `name` and an `equation`."""

    @property
    def certificate(self) -> Any:
        """`Certificate`: numbers of the proof, NaN where there is none."""

    @property
    def status(self) -> Status:
        """How the fit ended."""

    @property
    def solver(self) -> str:
        """What fitted it."""

    @property
    def timings(self) -> Timings:
        """Seconds."""

    @property
    def iterations(self) -> int:
        """Number of iterations."""

    @property
    def history(self) -> tuple[tuple[float, float, float], ...]:
        """Seconds, objective and lower bound of every outer step."""

    @property
    def steps(self) -> tuple[Any, ...]:
        """What was done (`auclab.solvers.solution.Step`); empty for a scorer of another library."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""

    @property
    def coef(self) -> Any:
        """Coefficients of shape (n_features,); None of a scorer that is not linear."""

    @property
    def intercept(self) -> float:
        """What is added to every score."""

    @property
    def multipliers(self) -> Array | None:
        """The dual point of the bound, an entry per observation."""

    @property
    def shares_neg(self) -> Array | None:
        """Weights of the negatives that belong to it."""

    @property
    def bin_multipliers(self) -> Any:
        """The dual point by bins of the scores."""

    @property
    def constraints(self) -> Any:
        """`ColumnConstraints` that `coef` satisfies."""

    @property
    def constraint_multipliers(self) -> Array | None:
        """Their multipliers."""

    @property
    def spread(self) -> Array | None:
        """Units of the length up to which the bound holds, if the program has no norm."""

    @property
    def objective(self) -> float:
        """Value of the point."""

    @property
    def lower_bound(self) -> float:
        """Lower bound of the values of all scorers."""

    @property
    def gap(self) -> float:
        """Relative distance of objective and lower bound."""

    @property
    def has_objective(self) -> bool:
        """Whether the minimised objective is known."""

    @property
    def equation(self) -> str:
        """The program in one line."""

    @property
    def proved_for(self) -> str:
        """The scorers of which none is better, such as ``for every w``."""

    @property
    def radius_text(self) -> str:
        """The length up to which the bound holds, such as ``‖w‖ ≤ 3``; empty where it holds for any."""

    @property
    def on_landmarks(self) -> Any:
        """The scorer itself if it is a `KernelSolution`, with landmarks; else None."""

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,)."""

    def read_optimum(self) -> Optimum | None:
        """What the optimal value says about the ranking errors; None where nothing is proved about it."""

    def in_words(self, statement: str) -> str:
        """A statement about coefficients w as one about this kind of scorer."""

    def not_verified(self) -> str:
        """Why the certificate proves no optimality, where it never does."""

    def in_features(self, features: Any, radius: float | None) -> InFeatures:
        """What bounds need, from features of the training part and the radius that preprocessing ensures."""


@dataclass(frozen=True)
class Certificate:
    """Result of an independent verification of a point.

    Attributes
    ----------
    objective
        Value of the formulation at the returned point, re-evaluated without pairs.
    lower_bound
        Value of a feasible dual point with every rounding charged to it (docs/guarantees.md), or the bound of a
        branch-and-bound tree where pairs are counted: no `w` has a smaller objective (with ``‖w‖ ≤ norm_bound`` if that
        is finite). NaN when the solver gave no multipliers or
        only a local optimum is claimed.
    absolute_gap, gap
        ``objective − lower_bound`` and the same divided by ``max(|objective|, 1e-3)``: below an objective of 1e-3
        the gap is an absolute one in units of 1e-3. Never negative beyond rounding.
    dual_residual
        Violation of the dual constraint ``‖Σ q d‖_* ≤ λ − z Σ q`` (in the dual norm; without a norm, l2 with every
        feature in units of its spread) by multipliers within their capacities, after they were corrected: for λ > 0
        they are then scaled until they satisfy it, for λ = 0 the violation is charged to `lower_bound`. 0 where the
        constraint is proved to be satisfied, and for a squared penalty, whose dual has none; NaN without multipliers.
    norm_bound
        The radius within which `lower_bound` holds; infinite when the dual point was proved to be feasible. In the
        program's norm, or, where it has none, in the l2 norm with every feature in units of its spread.
    violation
        Largest violation of the constraints at the point; the bound is for all `w` that satisfy them.

    See Also
    --------
    auclab.solvers.certificate.certify : Computes it from a solver's multipliers.

    Examples
    --------
    >>> import auclab
    >>> certificate = auclab.solve(auclab.BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]).certificate
    >>> certificate.lower_bound <= certificate.objective, certificate.gap <= 1e-6
    (True, True)
    """

    objective: float
    lower_bound: float
    absolute_gap: float
    gap: float
    dual_residual: float
    norm_bound: float = math.inf
    violation: float = 0.0

    @property
    def contradiction(self) -> str | None:
        """Why nothing is proved: the bound is above the objective by more than rounding; None where it is not.

        A point that violates constraints may have an objective below that of all points that satisfy them.
        """
        excess = self.lower_bound - self.objective
        if self.violation > 0 or not excess > EQUAL * max(abs(self.objective), SMALL_OBJECTIVE):
            return None
        return (
            f"the lower bound {self.lower_bound:.9g} is above the objective {self.objective:.9g}, so one of them is "
            "wrong: a norm or loss of your own is not what it says (`dual`, `pieces`), or the rows changed during the "
            "solve; if neither is so, please report it"
        )


@dataclass(frozen=True)
class Step:
    """One step of a solve: what was done, in words, and the seconds it took."""

    words: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.words} ({self.seconds:.2g} s)"


@dataclass(frozen=True, repr=False)
class Solution:
    """A linear scorer ``h(x) = coef · x + intercept`` with its certificate.

    `multipliers` has one entry per observation: the share of the pair weights ``Σ_j q_ij`` (or the weight
    ``q_i`` on point formulations) of the dual point, 0 for an observation whose margins are all large.
    For partial AUC, `shares_neg` are the weights r of the negatives, in their order, that belong to the dual point.
    `history` has one row ``(seconds, objective, lower bound)`` per outer step. `notes` are remarks in sentences, for
    example on a trivial optimum, separable data or a local optimum. `constraints` are the constraints on `coef`, on the
    columns of X, and `constraint_multipliers` the multipliers that prove the bound with them, in the order of
    `ColumnConstraints.all_rows`: ≥ 0, of any sign for equations. For large samples in blocks `multipliers` is None and
    `bin_multipliers` has them by bins of the scores. `spread` has the units of `Certificate.norm_bound` if that is
    finite and the program has no norm. `null_for_every_value` says that w = 0 is proved to be optimal for every λ and z
    ≤ 0. `dual_scorers` (weight, w, half-width of the smoothed loss) have the dual point as their slopes, where that is
    not `coef`'s own (`auclab.certificates.scorers`). `dual_pairs` is the dual point of a model of every pair within
    groups, of grades or of times: the upper row, the lower row and the multiplier of the pairs that have one. `columns`
    are the names of the columns, if the training rows had names: `decision_function` refuses a table with others.
    `steps` are what was done, with seconds: reformulations, solvers, certificates.

    See Also
    --------
    auclab.solve : Returns it.
    auclab.solvers.solution.Fitted : What it shares with scorers of other libraries.
    auclab.formulations.read_optimum : What its value says about the ranking errors.

    Examples
    --------
    >>> import auclab
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> solution = auclab.solve(auclab.BufferedAUC(), X, y)
    >>> solution.status.value, solution.gap <= 1e-6, solution.decision_function(X).argmax().item()
    ('optimal', True, 3)
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
    shares_neg: Array | None = None
    constraints: ColumnConstraints | None = None
    constraint_multipliers: Array | None = None
    bin_multipliers: BinMultipliers | None = None
    spread: Array | None = None
    dual_scorers: tuple[tuple[float, Array, float], ...] = ()
    dual_pairs: tuple[NDArray[np.intp], NDArray[np.intp], Array] | None = None
    null_for_every_value: bool = False
    columns: tuple[str, ...] | None = None
    steps: tuple[Step, ...] = ()

    has_objective: ClassVar[bool] = True
    #: The solution itself where it is a scorer on landmarks (`auclab.solvers.kernel.solution.KernelSolution`).
    on_landmarks: ClassVar[Any] = None

    def __post_init__(self) -> None:
        """A bound above the objective proves nothing, whatever it is made of: the solution is FAILED."""
        if (reason := self.certificate.contradiction) is not None:
            unproved = replace(self.certificate, lower_bound=math.nan, absolute_gap=math.nan, gap=math.nan)
            object.__setattr__(self, "certificate", unproved)
            object.__setattr__(self, "status", Status.FAILED)
            object.__setattr__(self, "notes", (*self.notes, reason))

    def __repr__(self) -> str:
        """One line, without what has an entry for every observation."""
        point = f"coef={coef_in_words(self.coef)}, intercept={self.intercept:.6g}"
        value = f"objective={self.objective:.6g}, lower_bound={self.lower_bound:.6g}, gap={self.gap:.2g}"
        end = f"status={self.status!s}, solver={self.solver}, seconds={self.timings.total:.3g}"
        return f"Solution({self.formulation}, {point}, {value}, {end})"

    def _repr_html_(self) -> str:
        """The certificate and the largest coefficients, for a notebook."""
        rows: list[tuple[str, object]] = [
            ("program", self.formulation.equation()),
            ("objective", self.objective),
            ("lower bound", self.lower_bound),
            ("gap", f"{self.gap:.2g}"),
            ("status", self.status),
            ("solver", f"{self.solver}, {self.timings.total:.3g} s"),
        ]
        largest = [] if self.on_landmarks else np.argsort(-abs(self.coef), kind="stable")[:5].tolist()
        names = self.columns or [f"w[{k}]" for k in range(self.coef.size)]
        return html_table([*rows, *((names[k], float(self.coef[k])) for k in largest)], self.notes)

    @property
    def objective(self) -> float:
        """Objective at `coef`, re-evaluated by the verification."""
        return self.certificate.objective

    @property
    def lower_bound(self) -> float:
        """Certified lower bound on the optimal value; NaN if unknown."""
        return self.certificate.lower_bound

    @property
    def gap(self) -> float:
        """Relative gap ``(objective − lower_bound) / max(|objective|, 1e-3)``; NaN if unknown."""
        return self.certificate.gap

    @property
    def threshold(self) -> float:
        """The z of the formulation."""
        return self.formulation.threshold

    @property
    def penalty(self) -> float:
        """The λ of the formulation."""
        return self.formulation.regulariser.weight

    @property
    def equation(self) -> str:
        """The program that was solved in one line."""
        return self.in_words(str(self.formulation.equation()))

    @property
    def radius_text(self) -> str:
        """The length of w up to which the bound holds, where that limits the claim; else empty."""
        if self.status is not Status.OPTIMAL_WITHIN:
            return ""
        length = "‖w‖" if self.formulation.uses_norm else "‖w · spread‖"
        return f"{length} ≤ {self.certificate.norm_bound:.3g}"

    @property
    def proved_for(self) -> str:
        """The scorers for which the lower bound is proved."""
        return f"for {self.radius_text or 'every w'}"

    def read_optimum(self) -> Optimum | None:
        """What the optimal value says about the ranking errors, as `auclab.formulations.read_optimum`."""
        return read_optimum(self)

    def in_words(self, statement: str) -> str:
        """A statement about coefficients w, unchanged."""
        return statement

    def not_verified(self) -> str:
        """Nothing: the certificate proves the whole statement."""
        return ""

    def in_features(self, features: Any, radius: float | None) -> InFeatures:
        """The features that bounds use: the scorer is linear in its own."""
        return InFeatures(features, self.coef, radius)

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,), ``X @ coef`` plus the intercept of a linear one; equal rows, equal scores.

        Raises
        ------
        AuclabError
            Columns that differ from those of the fit, or their order.
        """
        return self._scores(new_rows(X, self._n_features, self.columns))

    @property
    def _n_features(self) -> int:
        """Number of columns of the rows that are scored."""
        return int(self.coef.size)

    def _scores(self, rows: Any) -> Array:
        """Scores of rows in one form."""
        return row_scores(rows, self.coef) + self.intercept

    def mapped_to(self, formulation: Program, scale: float, value: float) -> Solution:
        """The solution of an equivalent program: w times `scale`, of value `value`; the gap is carried over.

        See Also
        --------
        auclab.ranksvm_to_threshold, auclab.threshold_to_ranksvm : The maps that use it.
        """
        certificate = self.certificate
        return replace(
            self,
            coef=self.coef * scale,
            intercept=self.intercept * scale,
            formulation=formulation,
            certificate=replace(
                certificate, objective=value, lower_bound=value - certificate.absolute_gap, dual_residual=math.nan
            ),
            notes=(*self.notes, f"carried over from {self.formulation.name} by the map λ = −zV"),
            history=(),
        )


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
    and half-widths), or `margin_multipliers` of every margin (`auclab.certificates.scorers`); the point itself
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
