"""The solution of a program over the space of a kernel, and statements about its scorer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, Status
from auclab._core.forms import dense, row_scores
from auclab._core.tolerances import TOLERANCE
from auclab.formulations.base import Optimum
from auclab.kernels.kernel import Kernel
from auclab.models.timings import Timings
from auclab.solvers.budget import BLOCK_BYTES
from auclab.solvers.certificate import relative_gap
from auclab.solvers.kernel.space_bound import DualPoint, Functions, evaluate
from auclab.solvers.kernel.training import Training
from auclab.solvers.solution import Certificate, InFeatures, Solution

#: Phrases about coefficients w, and the same for functions h.
_IN_SPACE = (
    ("− w·(x_i⁺ − x_j⁻)", "− h(x_i⁺) + h(x_j⁻)"),
    ("− w·(x_i − x_j)", "− h(x_i) + h(x_j)"),
    ("w·x_k", "h(x_k)"),
    ("w/‖w‖", "h/‖h‖"),
    ("‖w‖₂", "‖h‖"),
    ("‖w‖", "‖h‖"),
    ("w = 0", "h = 0"),
)


def in_space(words: str) -> str:
    """An equation or a statement about coefficients w as one about functions h.

    Examples
    --------
    >>> in_space("min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + 0.01 ‖w‖₂²")
    'min  mean_ij [1 − h(x_i⁺) + h(x_j⁻)]₊ + 0.01 ‖h‖²'
    >>> in_space("mean over y_i > y_j of [1 − w·(x_i − x_j)]₊")
    'mean over y_i > y_j of [1 − h(x_i) + h(x_j)]₊'
    >>> in_space("mean_k [1 − y_k (w·x_k + b) + 0.1 ‖w‖₂]₊")
    'mean_k [1 − y_k (h(x_k) + b) + 0.1 ‖h‖]₊'
    """
    for of_coefficients, of_function in _IN_SPACE:
        words = words.replace(of_coefficients, of_function)
    return words


@dataclass(frozen=True)
class Found:
    """A scorer on landmarks and a dual point, not verified yet.

    `landmarks` (n,): numbers of observations in `Training.order`. `bound`: its lower bound, or that of a solve in the
    span. `space`: for which functions the bound is.
    """

    landmarks: NDArray[np.intp]
    coefficients: Array
    intercept: float
    status: Status
    dual: DualPoint
    bound: float
    iterations: int = 0
    stages: tuple[Stage, ...] = ()
    history: tuple[tuple[float, float, float], ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    space: Literal["whole", "span"] = "whole"
    norm_bound: float = field(default=math.inf)


def verified(training: Training, found: Found, tolerance: float) -> KernelSolution:
    """The solution with its objective evaluated again from the coefficients, and its certificate."""
    program, labels = training.program, training.labels
    landmarks, coefficients, intercept, notes = found.landmarks, found.coefficients, found.intercept, found.notes
    used = coefficients != 0
    landmarks, coefficients = landmarks[used], coefficients[used]
    value = evaluate(training, landmarks, coefficients, intercept)
    if not value.objective < program.null.value(labels):
        landmarks, coefficients = landmarks[:0], coefficients[:0]
        intercept = program.null.intercept(labels)
        value = evaluate(training, landmarks, coefficients, intercept)
        notes = (*notes, "h = 0 is optimal within the tolerance") if found.status is Status.OPTIMAL else notes
    # Rounding of the objective lowers the bound.
    bound = max(0.0, found.bound - value.rounding)
    certificate = Certificate(
        objective=value.objective,
        lower_bound=bound,
        absolute_gap=value.objective - bound,
        gap=relative_gap(value.objective, bound),
        dual_residual=0.0,
        norm_bound=found.norm_bound,
    )
    status = found.status
    if found.bound > value.objective + value.rounding + 1e-9 * max(1.0, value.objective):
        # Only if γᵀKγ is too small, because a large precomputed matrix is not positive semidefinite.
        certificate = Certificate(value.objective, math.nan, math.nan, math.nan, math.nan)
        status = Status.UNCERTIFIED
        notes = (*notes, "the bound exceeds the objective: the matrix of kernel values is not positive semidefinite")
    if status is Status.OPTIMAL and found.space == "span":
        status = Status.OPTIMAL_WITHIN
    if status in (Status.OPTIMAL, Status.OPTIMAL_WITHIN) and certificate.gap > (1.0 + TOLERANCE) * tolerance:
        status = Status.ITERATION_LIMIT
        notes = (*notes, f"rounding of kernel values may change the objective by {value.rounding:.1g}")
    scale = found.dual.scaled(program)[1]
    multipliers = training.multipliers(scale * found.dual.dual)
    return KernelSolution(
        coef=None,  # type: ignore[arg-type]
        intercept=intercept,
        formulation=program,
        certificate=certificate,
        status=status,
        solver="landmarks",
        timings=Timings(solve=found.seconds),
        iterations=found.iterations,
        history=found.history or ((found.seconds, value.objective, bound),),
        multipliers=multipliers,
        notes=notes,
        shares_neg=found.dual.share_neg,
        columns=training.labels.columns,
        kernel=training.kernel,
        landmarks=training.order[landmarks],
        rows=training.rows_of(landmarks),
        offset=training.offset,
        dual_coef=coefficients,
        length=value.length,
        space=found.space,
        rounding=value.rounding,
        stages=found.stages,
        dual_functions=_in_data_order(training, found.dual) if found.space == "whole" else (),
    )


def _in_data_order(training: Training, dual: DualPoint) -> Functions:
    """The scorers of a dual point over ranked pairs, of rows in the order of the data."""
    if training.labels.is_of_classes or dual.scorers is None:
        return ()
    place = np.argsort(training.order)
    most = sum(weight for weight, *_ in dual.scorers) * (1.0 + 2.0**-50)  # rounded sums are at most 1, exactly
    return tuple((weight / max(1.0, most), coef[place], width, start) for weight, coef, width, start in dual.scorers)


#: Why bounds over rows do not hold, by kind.
_NEEDS_BOUNDED = "{} bounds hold with a kernel whose values are bounded, rbf or laplacian"


@dataclass(frozen=True)
class Stage:
    """One solve on the way: landmarks, seconds since the start, objective and lower bound until then."""

    landmarks: int
    seconds: float
    objective: float
    lower_bound: float


@dataclass(frozen=True, repr=False)
class KernelSolution(Solution):
    """A scorer ``h(x) = Σ_k c_k κ(x_k, x) + b`` on landmarks x_k, with its certificate.

    Attributes shared with a linear solution are described in `auclab.Solution`; `coef` is None.

    Attributes
    ----------
    kernel : Kernel
        With numbers for all parameters.
    landmarks : array of shape (n_landmarks,)
        Row numbers of the training sample.
    rows : array of shape (n_landmarks, n_features)
        Those rows minus `offset`; empty for a precomputed kernel.
    offset : array of shape (n_features,) or None
        Subtracted from rows before they are scored; it does not change κ.
    dual_coef : array of shape (n_landmarks,)
        c.
    length : float
        ``‖h‖_H = √(cᵀKc)``.
    space : {"whole", "span"}
        Whether the lower bound is for every function of the space, or for those in the span of the landmarks.
    rounding : float
        Bound on the change of the objective by rounding of kernel values; it is already subtracted from the lower
        bound.
    stages : tuple of Stage
        The solves on the way, one for each number of landmarks.
    dual_functions : tuple
        Over pairs within groups, of grades or of times: functions whose slopes are the dual point. Each has a weight,
        coefficients of all rows, the half-width of the smoothed loss, and the ``1 − z‖h‖`` that margins are taken from.

    See Also
    --------
    auclab.solve : Returns it if a kernel is given.
    auclab.displays.LandmarkGapDisplay : Draws the `stages`.

    Examples
    --------
    >>> import auclab
    >>> from auclab.kernels import RBF
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]  # no line ranks them
    >>> solution = auclab.solve(auclab.RankSVM(0.01, squared=True), X, y, kernel=RBF(1.0))
    >>> scores = solution.decision_function(X)
    >>> bool(scores[1:3].min() > max(scores[0], scores[3])), solution.n_landmarks <= 4
    (True, True)
    """

    kernel: Kernel = field(kw_only=True)
    landmarks: NDArray[np.intp] = field(kw_only=True)
    rows: Any = field(kw_only=True)
    offset: Array | None = field(kw_only=True)
    dual_coef: Array = field(kw_only=True)
    length: float = field(kw_only=True)
    space: Literal["whole", "span"] = field(kw_only=True)
    rounding: float = field(kw_only=True, default=0.0)
    stages: tuple[Stage, ...] = field(kw_only=True, default=())
    dual_functions: Functions = field(kw_only=True, default=())

    def __repr__(self) -> str:
        """One line."""
        point = f"kernel={self.kernel}, n_landmarks={self.n_landmarks}, intercept={self.intercept:.6g}"
        value = f"objective={self.objective:.6g}, lower_bound={self.lower_bound:.6g}, gap={self.gap:.2g}"
        within = "" if self.space == "whole" else " within the span"
        end = f"status={self.status!s}, solver={self.solver}, seconds={self.timings.total:.3g}"
        return f"KernelSolution({self.formulation}, {point}, {value}{within}, {end})"

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks."""
        return int(self.landmarks.size)

    @property
    def on_landmarks(self) -> KernelSolution:
        """The scorer itself."""
        return self

    @property
    def radius_text(self) -> str:
        """The span, where it limits the claim, and the length up to which the bound holds there; else empty."""
        length = super().radius_text if math.isfinite(self.certificate.norm_bound) else ""
        span = "the span of its landmarks" if self.status is Status.OPTIMAL_WITHIN and self.space == "span" else ""
        return ", ".join(filter(None, (span, self.in_words(length))))

    @property
    def proved_for(self) -> str:
        """The scorers for which the lower bound is proved."""
        return f"for {self.radius_text or 'every scorer of the space'}"

    @property
    def words(self) -> str:
        """Kernel, number of landmarks and length."""
        return f"{self.kernel} · {self.n_landmarks} landmarks · ‖h‖ = {self.length:.4g}"

    def in_words(self, statement: str) -> str:
        """A statement about coefficients w as one about functions h."""
        return in_space(statement)

    def in_features(self, features: Any, radius: float | None) -> InFeatures:
        """The scorer as a linear one in φ(x), of length ‖h‖.

        Bounds need the scores of h, its length, and ``sup ‖φ(x) − φ(y)‖``, which does not depend on a sample for a
        bounded kernel.
        """
        kernel = self.kernel
        if not math.isfinite(kernel.diameter):
            return InFeatures(features, None, None, remark=_NEEDS_BOUNDED)
        radius = math.sqrt(kernel.largest)
        ensured = f"the kernel itself ensures ‖φ(x)‖ ≤ {radius:.4g} and ‖φ(x) − φ(y)‖ ≤ {kernel.diameter:.4g}, "
        return InFeatures(features, np.array([self.length]), radius, kernel.diameter, f"{ensured}of whatever rows")

    def read_optimum(self) -> Optimum:
        """What the optimal value says about the errors of h/‖h‖_H, as `auclab.formulations.read_optimum` of a w."""
        read = self.formulation.read_optimum(self.objective, self.lower_bound, np.array([self.length]))
        return replace(read, statement=self.in_words(read.statement))

    @property
    def _n_features(self) -> int:
        """Number of columns; for a precomputed kernel there is one for each training observation."""
        if self.kernel.is_given and self.multipliers is not None:
            return int(self.multipliers.size)
        return int(self.rows.shape[1])

    def _scores(self, rows: Any) -> Array:
        """O(n_landmarks) kernel values a row."""
        if self.n_landmarks == 0:
            return np.full(rows.shape[0], self.intercept)
        return np.asarray(self._each(rows) if self.kernel.is_given else _of_distinct_rows(self._each, rows))

    def _each(self, rows: Any) -> Array:
        scores = np.full(rows.shape[0], self.intercept)
        step = max(1, BLOCK_BYTES // (8 * self.n_landmarks))
        for begin in range(0, scores.size, step):
            part = slice(begin, begin + step)
            moved = rows[part] if self.offset is None else dense(rows[part]) - self.offset
            values = self.kernel.at_landmarks(moved, self.rows, self.landmarks)
            scores[part] += row_scores(values, self.dual_coef)
        return scores


def _of_distinct_rows(score: Callable[[Any], Array], rows: Any) -> Array:
    """Scores of rows, computed once for equal ones: products of matrices round by the place of a row."""
    if hasattr(rows, "tocsr"):  # SciPy adds the terms of sparse rows in their order
        return score(rows)
    distinct, place = np.unique(np.asarray(rows, dtype=float), axis=0, return_inverse=True)
    return score(distinct)[place.ravel()]
