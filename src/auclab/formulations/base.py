"""The base of all formulations: w = 0, the value in twice the working precision.

minimise over w (and b)    loss(w, b) + λ Ω(w),      Ω = ‖w‖ or ‖w‖²

The formulations of `hinge` are means of hinges; `partial_auc` is the mean over the negatives with
the highest scores, and `exact_auc` counts pairs. All differences are in the methods of this class, so that no solver
tests for the type of a program.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.accurate import accurate_scores, two_product, two_sum
from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import EQUAL, ROUNDING, SMALL_OBJECTIVE
from auclab._core.validation import finite_array
from auclab._core.words import did_you_mean
from auclab.losses import Hinge, Loss
from auclab.margins import AllPairs, Comparison
from auclab.margins.comparison import DoubleDouble
from auclab.regularisers import Norm, Regulariser, VectorNorm
from auclab.regularisers.norms import NO_NORM
from auclab.samples.features import moved_intercept_parts
from auclab.samples.memory import Sample


@dataclass(frozen=True)
class Optimum:
    """Statement of an optimal value about the error ξ of the scorer scaled to norm 1.

    Attributes
    ----------
    threshold
        z: the superquantile of the error at `level` equals it. For a penalised program, the equivalent one.
    bpoe
        The optimal value of the bAUC_z (EC-SVM) program: buffered probability that the error exceeds z. NaN where
        pairs are counted.
    level
        α* = 1 − bpoe; for pairs this is the bAUC_z of the scorer, over the hardest negatives a lower bound of the
        partial AUC divided by its band; where pairs are counted, the AUC.
    quantile, superquantile
        ``z − 1/‖w‖`` and ``z``: an element of [q_α*, q_α*⁺] and the superquantile of the normalised error at
        α* (Norton & Uryasev 2018, Prop. 5, with atoms as in the interval). NaN where w = 0 or the value is 0 or 1.
    statement
        The same in a sentence.

    See Also
    --------
    auclab.formulations.read_optimum : Read a solution.

    Examples
    --------
    >>> import auclab
    >>> solution = auclab.solve(auclab.BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    >>> found = auclab.formulations.read_optimum(solution)
    >>> found.threshold, round(found.level, 6) == round(1 - solution.objective, 6)
    (0.0, True)
    """

    threshold: float
    bpoe: float
    level: float
    quantile: float
    superquantile: float
    statement: str


@dataclass(frozen=True)
class FixedNull:
    """The solution w = 0 of a program without a dual: its value is 1.

    `meaning`: why w = 0 is optimal where no value is less.
    """

    meaning: str

    def value(self, sample: Sample) -> float:
        """Objective of w = 0 with the best intercept."""
        return 1.0

    def intercept(self, sample: Sample) -> float:
        """The best intercept for w = 0; over pairs it cancels and is 0."""
        return 0.0

    def is_attained(self, objective: float, sample: Sample) -> bool:
        """Whether a value is no better than that of w = 0, so that w = 0 may replace its point."""
        return objective >= 1.0

    def multipliers(self, sample: Sample) -> tuple[Array, Array] | None:
        """The multipliers at w = 0 that prove it optimal where it is; None where they are not unique."""
        return None

    def penalty(self, sample: Sample) -> float:
        """The least λ at which w = 0 is optimal; infinite if none is known."""
        return math.inf

    def holds_for_every_value(self, sample: Sample, multipliers: tuple[Array, Array]) -> bool:
        """Whether multipliers that prove w = 0 optimal prove it for every λ and every z ≤ 0."""
        return False

    def reason(self, sample: Sample, multipliers: tuple[Array, Array] | None) -> str:
        """Why w = 0 is optimal where it is, in one sentence; `multipliers` prove it."""
        return self.meaning


class NullPoint(FixedNull):
    """The solution w = 0 of a mean of losses."""

    def __init__(self, program: Any):
        self.program = program

    def value(self, sample: Sample) -> float:
        """Objective of w = 0 with the best intercept: ℓ(1) over pairs, 2·min(class shares) for hinges of points."""
        return self.program.comparisons.null_value(self.program.loss, sample)

    def intercept(self, sample: Sample) -> float:
        """The best intercept for w = 0; over pairs it cancels and is 0."""
        return self.program.comparisons.null_intercept(self.program.loss, sample)

    def is_attained(self, objective: float, sample: Sample) -> bool:
        """Whether a value of a convex program is no better than that of w = 0."""
        return self.program.is_convex and objective >= self.value(sample) * (1 - EQUAL)

    def multipliers(self, sample: Sample) -> tuple[Array, Array] | None:
        """The slopes of the loss at w = 0; None where margins are at the kink of a hinge, or negatives are tied."""
        program = self.program
        if program.kind != "piecewise" and program.comparisons.is_tied_at_null:
            return None
        scores = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
        return program.comparisons.slopes(program.loss.table, scores, self.intercept(sample), 1.0, sample)[0]

    def penalty(self, sample: Sample) -> float:
        """The least λ at which w = 0 is optimal, for z = 0; infinite, or 0, for a penalty without a kink at 0."""
        level, norm = self.level(sample), self.program.regulariser.norm
        if level <= EQUAL * norm.dual(sample.spread) * self.value(sample):
            return 0.0
        return level if self.program.regulariser.has_kink else math.inf

    def level(self, sample: Sample) -> float:
        """λ_max, the least ``‖Σ q d‖_*`` of multipliers that prove w = 0 optimal (derivations 7.3)."""
        program, norm = self.program, self.program.regulariser.norm
        multipliers = self.multipliers(sample)
        if multipliers is not None:
            return norm.dual(sample.combine(*multipliers))
        if sample.in_blocks:
            raise AuclabError("λ_max over points needs a program over all rows in memory; use a sample of the rows")
        return program.comparisons.null_level(sample, norm)

    def holds_for_every_value(self, sample: Sample, multipliers: tuple[Array, Array]) -> bool:
        """Whether ``‖Σ q d‖_*`` is 0 up to rounding: λ_max is then 0."""
        if sample.in_blocks or self.program.kind == "piecewise":
            return False
        norm = self.program.regulariser.norm
        level = norm.dual(sample.combine(*multipliers))
        return bool(level <= EQUAL * norm.dual(sample.spread) * float(multipliers[0].sum()))

    def reason(self, sample: Sample, multipliers: tuple[Array, Array] | None) -> str:
        """Why w = 0 is optimal where it is: λ (or −z) is at least λ_max, with its value where that has a formula."""
        program, comparisons, regulariser = self.program, self.program.comparisons, self.program.regulariser
        total, at_null = self.value(sample), self.multipliers(sample)
        (by_penalty, by_threshold), meaning = comparisons.null_level_names, comparisons.null_meaning(sample)
        if program.kind == "piecewise":
            assert at_null is not None
            meaning, by_penalty, by_threshold = f"the value is {total:.4g}", "λ_max", "the largest one"
            total = comparisons.total(*(float(part.sum()) for part in at_null))
        slope = regulariser.slope(0.0) - program.threshold * total  # of penalty and buffer, in ‖w‖
        of_formula, of_threshold = "", ""
        if at_null is not None:
            level = self.level(sample)
            if slope < level * (1 - EQUAL):
                return "w = 0 is optimal within the tolerance"
            of_formula, of_threshold = f" = {level:.6g}", f" = {level / total:.6g}"
        elif multipliers is not None and self.holds_for_every_value(sample, multipliers):
            every = " for every λ, because λ_max = 0" if regulariser.weight > 0 or program.threshold < 0 else ""
            return f"w = 0 is optimal{every}: {comparisons.null_cause(sample)}"
        elif slope == 0:
            return "w = 0 is optimal within the tolerance"
        if regulariser.weight > 0 and program.threshold < 0:
            what = "λ − z" if regulariser.has_kink else "−z"
            what += "" if total == 1 else f" · {total:.4g}"
            return f"w = 0 is optimal because {what} = {slope:g} ≥ {by_penalty}{of_formula}; {meaning}"
        if regulariser.weight > 0:
            return f"w = 0 is optimal because λ = {regulariser.weight:g} ≥ λ_max{of_formula}; {meaning}"
        if program.threshold < 0:
            return f"w = 0 is optimal because −z = {-program.threshold:g} ≥ {by_threshold}{of_threshold}; {meaning}"
        useless = "no linear scorer distinguishes the classes"
        return f"w = 0 is optimal because {by_penalty} = {level:.3g}: {useless}; {meaning}"


def accurate_objective(
    program: Any, coef: Array, intercept: float, sample: Sample, intercept_low: float = 0.0
) -> float:
    """The objective, computed again in twice the working precision where its rounding error may exceed 1e-12.

    The error of a score ``w·x`` is about ``n · 1e-16 · Σ|w_k x_k|``: with margins of 1e-9, w is of the order of 1e9,
    and a hinge of 1 would be known to 1e-7 only. Counts of pairs and samples in blocks keep their value. Other losses
    have sums of squares of scores over pairs, which cancel: they are computed again where that may lose digits.

    Where scores are so far apart that a hinge of 1 is below their rounding in twice the working precision as well, and
    a pair is nearer than that, a hinge is added, so that the value is not below that of the program.

    `intercept`, `intercept_low`: b, as ``high + low``.
    """
    plain = program.objective(coef, intercept, sample)
    if sample.in_blocks or program.kind not in ("hinge", "cvar", "piecewise"):
        return plain
    size = float(abs(coef) @ sample.peaks) + abs(intercept)
    if program.kind == "piecewise":
        if not EQUAL < 2.0**-52 * size**2 / max(plain, SMALL_OBJECTIVE) < np.inf:
            return plain
        shift = 1.0 - program.threshold * program.regulariser.norm(coef)
        mean = program.comparisons.accurate_mean(program.loss, sample.scores(coef), intercept, shift, sample)
        return float(mean + program.regulariser.value(coef))
    if program.threshold:
        size += abs(program.threshold) * program.regulariser.norm(coef)
    if not (sample.n_features + 4) * 2.0**-52 * size > ROUNDING:
        return plain
    scores = accurate_scores(sample.X_pos, coef), accurate_scores(sample.X_neg, coef)
    if not all(np.isfinite(part).all() for score in scores for part in score):
        return plain
    value = objective_at(program, coef, (intercept, intercept_low), sample, *scores)
    return value + _unknown(scores[0][0], scores[1][0], size)


def _unknown(pos: Array, neg: Array, size: float) -> float:
    """What the hinges of scores in twice the working precision may lack: 0 unless a hinge of 1 is below their rounding.

    `pos` (n_pos,), `neg` (n_neg,): scores, rounded. `size`: at least the largest of them. Pairs that are farther apart
    than the rounding have a hinge of 0, or one to which it does not matter.
    """
    if 2.0**-103 * size <= ROUNDING:
        return 0.0
    rounding = 2.0**-103 * float(np.ptp(np.r_[pos, neg]))
    ascending = np.sort(neg)
    places = np.searchsorted(ascending, pos)
    nearest = min(float(abs(pos - ascending[np.clip(places + side, 0, neg.size - 1)]).min()) for side in (-1, 0))
    return 1.0 + rounding if nearest <= rounding and rounding > ROUNDING else 0.0


def objective_at(
    program: Any,
    coef: Array,
    intercept: tuple[float, float],
    sample: Sample,
    scores_pos: DoubleDouble,
    scores_neg: DoubleDouble,
) -> float:
    """The objective of a mean of hinges where scores and b are given as ``high + low``."""
    size = program.regulariser.norm.accurate(coef)
    product, error = two_product(-program.threshold, size[0])
    high, rest = two_sum(1.0, product)
    shift = high, rest + error - program.threshold * size[1]
    hinge = program.comparisons.accurate_mean_hinge(intercept, sample, scores_pos, scores_neg, shift)
    return hinge + program.regulariser.value(coef)


#: What a solver must be able to minimise: a mean of hinges, of another loss, of hinges over the hardest negatives, a
#: count of pairs, or a mean of hinges over whole coefficients.
Kind = Literal["hinge", "piecewise", "cvar", "mip", "integer"]


class Program(ABC):
    """Base class of the objectives over linear scorers; subclasses are frozen dataclasses of their parameters.

    Attributes
    ----------
    name : str
        As in the configuration.
    kind : {"hinge", "piecewise", "cvar", "mip", "integer"}
        What a solver must be able to minimise.
    comparisons : Comparison
        Which margins: ``w·(x_i⁺ − x_j⁻)`` or ``y_k (w·x_k + b)``.
    loss : Loss
        Cost of the shortfall of a margin.
    regulariser : Regulariser
        Cost of w; its norm is also the norm of the buffer z‖w‖.
    threshold : float
        z, in units of the score of a scorer with ‖w‖ = 1.

    See Also
    --------
    auclab.formulations.problem.Problem : A program together with a sample.
    auclab.solve : Minimise it.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> program = RankSVM(0.1)
    >>> program.name, program.is_convex, program.with_params(penalty=0.2).penalty
    ('ranksvm', True, 0.2)
    """

    name: ClassVar[str]
    kind: ClassVar[Kind]
    # No values here: a dataclass would use them as defaults of its own fields.
    comparisons: Comparison = AllPairs()
    loss: Loss = Hinge()
    regulariser: Regulariser = Norm()
    threshold: float

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn reads them: `sklearn.base.clone` makes an equal formulation.

        Parameters
        ----------
        deep : bool
            For scikit-learn; the parameters are not nested.

        See Also
        --------
        auclab.formulations.base.Program.with_params : Changes them.

        Examples
        --------
        >>> from auclab.formulations import ECSVM
        >>> ECSVM(-0.5).get_params()
        {'threshold': -0.5, 'norm': 'l2'}
        """
        return {name: getattr(self, name) for name in parameter_names(type(self))}

    def with_params(self, **parameters: Any) -> Self:
        """The formulation with some parameters changed; formulations themselves do not change.

        There is no `set_params`: an object that holds a formulation replaces it, as
        ``AUCClassifier.set_params(formulation__penalty=0.1)`` does.

        Raises
        ------
        AuclabError
            A parameter that the formulation does not have, or a value outside its range.

        See Also
        --------
        auclab.formulations.base.Program.get_params : The parameters by name.

        Examples
        --------
        >>> from auclab.formulations import RankSVM
        >>> RankSVM(0.01, "l1").with_params(penalty=0.1)
        RankSVM(penalty=0.1, norm='l1', squared=False, loss=Hinge())
        """
        names = parameter_names(type(self))
        if unknown := [name for name in parameters if name not in names]:
            has = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
            raise AuclabError(f"formulation {self.name} has no {unknown[0]}{did_you_mean(unknown[0], names)}; {has}")
        return replace(self, **parameters)  # type: ignore[type-var]

    @property
    @abstractmethod
    def is_convex(self) -> bool:
        """Whether the program is convex."""

    @property
    def uses_norm(self) -> bool:
        """Whether ‖w‖ appears at all; without it the norm makes no difference."""
        return self.threshold != 0 or self.regulariser.weight > 0

    @property
    def used_norm(self) -> VectorNorm:
        """The norm that makes a difference: that of the regulariser, or a norm of 0 where ‖w‖ does not appear."""
        return self.regulariser.norm if self.uses_norm else NO_NORM

    @abstractmethod
    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """`value` on a sample that was checked before."""

    @abstractmethod
    def equation(self) -> str:
        """The program in one line."""

    @abstractmethod
    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """What an optimal value says about the errors of the scorer (Norton & Uryasev 2018, Prop. 5).

        Parameters
        ----------
        objective, lower_bound : float
            The value at the optimum and its best proved lower bound.
        coef : array of shape (n_features,)

        See Also
        --------
        auclab.formulations.read_optimum : The same for a solution.
        """

    @property
    def null(self) -> FixedNull:
        """The solution w = 0: its value, when it is optimal, and the proof."""
        return NullPoint(self)

    def value(
        self, coef: ArrayLike, intercept: float, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Objective at (`coef`, `intercept`), in O(m log m) without forming pairs.

        Parameters
        ----------
        coef : array of shape (n_features,)
        intercept : float
            Ignored by pair formulations, where it cancels.
        X : array, table or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            0/1, −1/+1 or booleans; None over `auclab.margins.Bicliques`.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; equal to repeating observations.

        Raises
        ------
        AuclabError
            Bad shapes, NaN, one class only, weights below 0.

        See Also
        --------
        auclab.solve : The w with the least value.
        """
        sample = self.comparisons.sample(X, y, sample_weight)
        vector = finite_array("coef", coef, (sample.n_features,))
        centred, low = moved_intercept_parts(float(intercept), vector, sample.offset, 1.0)
        return accurate_objective(self, vector, centred, sample, low)


def parameter_names(program: type[Program]) -> tuple[str, ...]:
    """Names of the parameters of a formulation that may be set.

    Examples
    --------
    >>> from auclab.formulations import BufferedAUC, RankSVM
    >>> parameter_names(RankSVM), parameter_names(BufferedAUC)
    (('penalty', 'norm', 'squared', 'loss'), ())
    """
    return tuple(field.name for field in fields(program))  # type: ignore[arg-type]
