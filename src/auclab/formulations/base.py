"""What every program offers: its value, its equation, and what a solver has to know about it.

    minimise over w (and b)    loss(w, b) + λ Ω(w),      Ω = ‖w‖ or ‖w‖²

The rows of the table in `auclab.formulations.hinge` are means of hinges; `partial_auc` is their mean over the negatives
with the highest scores, and `exact_auc` counts pairs. Where they differ, they differ in the methods of this class, so
that no solver tests for the type of a program.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from auclab.comparisons import Comparison
from auclab.compiled.accurate import accurate_scores
from auclab.formulations.optimum import Optimum
from auclab.losses import Hinge, Loss
from auclab.regularisers import Norm
from auclab.samples.as_sample import as_sample
from auclab.samples.centring import moved_intercept_parts
from auclab.samples.memory import Sample
from auclab.types import Array, AuclabError
from auclab.types import Norm as NormName
from auclab.validation import did_you_mean

Margins = Literal["pairs", "points"]
#: Numbers as unevaluated sums ``high + low``.
DoubleDouble = tuple[Array, Array]
#: What a solver must be able to minimise: a mean of hinges, its superquantile over the negatives, a count of pairs, or
#: a mean of hinges over whole coefficients.
Kind = Literal["hinge", "piecewise", "cvar", "mip", "integer"]
#: How the hinge terms enter a linear program: a row each, a boxed column each, or columns for the undecided ones alone.
Encoding = Literal["full", "dual", "aggregated"]
#: Objectives that may be off by more are evaluated in twice the working precision.
_ACCEPTED_ERROR = 1e-12


@dataclass(frozen=True)
class NullProof:
    """Dual point whose value is that of w = 0: marginals per class, and the weights of the negatives if they vary.

    See Also
    --------
    auclab.formulations.base.Program.null_proof : Returns it.
    """

    multipliers: tuple[Array, Array]
    share_neg: Array | None = None


class _OfParameters:
    """The regulariser that λ, norm and square make up; a program may have a field of this name in its place."""

    def __get__(self, program: Program, owner: type[Program]) -> Norm:
        return Norm(program.norm, program.penalty, program.squared)


class Program(ABC):
    """Something to minimise over linear scorers; the subclasses are frozen dataclasses of their free parameters.

    Attributes
    ----------
    name : str
        As in the configuration.
    kind : {"hinge", "cvar", "mip", "integer"}
        What a solver must be able to minimise.
    over : {"pairs", "points"}
        Whose margins: ``w·(x_i⁺ − x_j⁻)`` or ``y_k (w·x_k + b)``.
    encodings : tuple of {"full", "dual", "aggregated"}
        The encodings of the hinge terms that a linear-programming solver has for the program.
    null_proof_takes_program : bool
        Whether `null_proof` solves a linear or quadratic program over the rows.
    threshold : float
        z, in units of the score of a scorer with ‖w‖ = 1.
    penalty : float
        λ, 0 or in [1e-150, 1e150].
    norm : {"l1", "l2", "linf"}
    squared : bool
        Whether the penalty is λ‖w‖² in place of λ‖w‖.
    regulariser : Norm
        λ‖w‖ or λ‖w‖², with the norm that is also that of the buffer z‖w‖.
    comparisons : Comparison
        Which margins.
    loss : Loss
        How what a margin lacks is charged.

    See Also
    --------
    auclab.formulations.problem.Problem : A program together with a sample.
    auclab.solve : Minimise it.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind]
    over: ClassVar[Margins] = "pairs"
    encodings: ClassVar[tuple[Encoding, ...]]
    null_proof_takes_program: ClassVar[bool] = False
    # No values here: a dataclass would take them for defaults of its own fields.
    comparisons: Comparison
    threshold: float
    penalty: float
    norm: NormName
    squared: bool
    regulariser = _OfParameters()
    loss: Loss = Hinge()

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Names of the parameters that may be set.

        Examples
        --------
        >>> from auclab.formulations import BufferedAUC, RankSVM
        >>> RankSVM.parameter_names(), BufferedAUC.parameter_names()
        (('penalty', 'norm', 'squared'), ())
        """
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn reads them: `sklearn.base.clone` makes an equal formulation.

        Parameters
        ----------
        deep : bool
            For scikit-learn; there is nothing below the parameters.

        See Also
        --------
        auclab.formulations.base.Program.with_params : The other way.

        Examples
        --------
        >>> from auclab.formulations import ECSVM
        >>> ECSVM(-0.5).get_params()
        {'threshold': -0.5, 'norm': 'l2'}
        """
        return {name: getattr(self, name) for name in self.parameter_names()}

    def with_params(self, **parameters: Any) -> Self:
        """The formulation with some parameters changed; formulations themselves do not change.

        There is no `set_params`: what holds a formulation puts another one in its place, as
        ``AUCClassifier.set_params(formulation__penalty=0.1)`` does.

        Raises
        ------
        AuclabError
            A parameter that the formulation does not have, or a value outside its range.

        See Also
        --------
        auclab.formulations.base.Program.get_params : What can be changed.

        Examples
        --------
        >>> from auclab.formulations import RankSVM
        >>> RankSVM(0.01, "l1").with_params(penalty=0.1)
        RankSVM(penalty=0.1, norm='l1', squared=False)
        """
        names = self.parameter_names()
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
        return self.threshold != 0 or self.penalty > 0

    @property
    def is_plain_hinge(self) -> bool:
        """Whether the program is a mean of hinges of linear margins, without any norm."""
        return False

    @property
    def is_linear(self) -> bool:
        """Whether the program is a linear one: convex, and no l2 norm and no square in it."""
        buffer_is_linear = self.threshold == 0 or self.regulariser.norm.is_polyhedral
        return self.is_convex and buffer_is_linear and self.regulariser.is_linear

    @abstractmethod
    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """`value` on a sample that was checked before."""

    def accurate_objective(self, coef: Array, intercept: float, sample: Sample, intercept_low: float = 0.0) -> float:
        """`objective`, once more in twice the working precision where rounding may cost it more than 1e-12.

        A score ``w·x`` is off by about ``n · 1e-16 · Σ|w_k x_k|``: with margins of 1e-9, w is of the order of 1e9, and
        a hinge of 1 would be known to 1e-7 only. Counts of pairs and samples in blocks stay as they are.
        """
        plain = self.objective(coef, intercept, sample)
        if sample.in_blocks or not self.rounding_error(coef, intercept, sample) > _ACCEPTED_ERROR:
            return plain
        scores = accurate_scores(sample.X_pos, coef), accurate_scores(sample.X_neg, coef)
        if not all(np.isfinite(part).all() for score in scores for part in score):
            return plain
        return self.objective_at(coef, (intercept, intercept_low), sample, *scores)

    def rounding_error(self, coef: Array, intercept: float, sample: Sample) -> float:
        """By how much `objective` may be off because of the rounding of the scores, of b and of ``z‖w‖``."""
        size = float(abs(coef) @ sample.peaks) + abs(intercept)
        if self.threshold:
            size += abs(self.threshold) * self.regulariser.norm(coef)
        return (sample.n_features + 4) * 2.0**-52 * size

    def objective_at(
        self,
        coef: Array,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
    ) -> float:
        """`objective` of scores and b that are ``high + low``; a program without hinges has no other value."""
        return self.objective(coef, intercept[0], sample)

    @abstractmethod
    def equation(self) -> str:
        """The program in one line."""

    @abstractmethod
    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """What an optimal value says about the errors of the scorer (Norton & Uryasev 2018, Prop. 5).

        Parameters
        ----------
        objective, lower_bound : float
            The value at the optimum and the largest lower bound of it that is proved.
        coef : array of shape (n_features,)

        See Also
        --------
        auclab.formulations.read_optimum : The same for a solution.
        """

    def hinge_part(self, objective: float, coef: Array) -> float:
        """The mean hinge in a value of the program, or NaN for a program without hinges."""
        return math.nan

    def penalty_part(self, coef: Array) -> float:
        """The penalty in the value at w: 0 for a program without one."""
        return 0.0

    def canonical_coef(self, coef: Array) -> Array:
        """The scorer to report among those that differ in their length alone and have one value."""
        return coef

    def unshifted(self) -> Program | None:
        """The convex program whose shifted copies make up this one where z > 0 (derivations 7.5); else None."""
        return None

    def null_value(self, sample: Sample) -> float:
        """Objective of w = 0 with the best intercept: 1 over pairs, 2·min(class shares) over points."""
        return 1.0

    def null_intercept(self, sample: Sample) -> float:
        """The best intercept for w = 0; over pairs it cancels and is 0."""
        return 0.0

    def null_is_certain(self, sample: Sample) -> bool:
        """Whether w = 0 is seen to be optimal without solving anything (derivations 7.3)."""
        return False

    def is_null_value(self, objective: float, sample: Sample) -> bool:
        """Whether a value is no better than that of w = 0, so that w = 0 may stand for its point."""
        return False

    def null_proof(self, sample: Sample) -> NullProof | None:
        """The multipliers that prove w = 0 optimal where it is; None if the program has no such dual point."""
        return None

    def null_reason(self, sample: Sample, proof: NullProof | None) -> str | None:
        """Why w = 0 is optimal, in one sentence; None where the proof does not say so."""
        return None

    def negative_capacity(self, sample: Sample) -> Array | None:
        """Largest weight of each negative, shape (n_neg,), where the loss is the worst weighted mean over them.

        None where the weights of the negatives are their shares.
        """
        return None

    @property
    def is_mean_of_hinges(self) -> bool:
        """Whether the loss is a mean of hinges over all pairs or points."""
        return self.kind == "hinge"

    @property
    def counts_pairs(self) -> bool:
        """Whether the loss counts pairs: a mixed-integer program."""
        return self.kind == "mip"

    @property
    def has_whole_points(self) -> bool:
        """Whether the coefficients are whole numbers."""
        return self.kind == "integer"

    @property
    def over_hardest(self) -> bool:
        """Whether the hinge is averaged over the hardest negatives only, whose weights depend on w."""
        return self.kind == "cvar"

    def worst_negatives(self, scores_neg: Array, sample: Sample) -> Array | None:
        """The weights of the negatives that attain the worst mean at given scores; None where they are the shares."""
        return None

    def dual_shares(
        self, scores_neg: Array, multipliers_neg: Array, sample: Sample, tied: float = 1e-6
    ) -> Array | None:
        """The weights of the negatives that belong to the multipliers of an optimum; None where they are the shares."""
        return None

    def dual_program(self, sample: Sample, share_neg: Array, multipliers_neg: Array) -> tuple[Program, Sample]:
        """The program and sample whose dual value at weights `share_neg` of the negatives is a lower bound of this one.

        See Also
        --------
        auclab.formulations.problem.Problem.dual_problem : The same for a problem.
        """
        return self, sample

    def value(
        self, coef: ArrayLike, intercept: float, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Objective at (`coef`, `intercept`), in O(m log m) without forming pairs.

        Parameters
        ----------
        coef : array of shape (n_features,)
        intercept : float
            Ignored by pair formulations, where it cancels.
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            0/1, −1/+1 or booleans.
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
        sample = as_sample(X, y, sample_weight)
        vector = np.asarray(coef, dtype=np.float64)
        if vector.shape != (sample.n_features,):
            raise AuclabError(f"coef has shape {vector.shape}, but X has {sample.n_features} columns")
        centred, low = moved_intercept_parts(float(intercept), vector, sample.offset, 1.0)
        return self.accurate_objective(vector, centred, sample, low)
