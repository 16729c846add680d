"""What programs that are means of a loss share: their value, their equation, what an optimum says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import EQUAL
from auclab._core.validation import check_parameter_range, check_types
from auclab.formulations.base import Kind, Optimum, Program, parameter_names
from auclab.losses import loss_named
from auclab.regularisers import Norm, Regulariser
from auclab.regularisers.norms import as_factor
from auclab.samples.memory import Sample


@dataclass(frozen=True)
class ThresholdForm:
    """An optimum in terms of the threshold program: z, the value there, and the factor that scales w."""

    threshold: float
    value: float
    scale: float


class HingeProgram(Program):
    """Base class of the named formulations whose loss is a mean over pairs or points.

    See Also
    --------
    auclab.BufferedAUC, auclab.GeneralizedBufferedAUC, auclab.RankSVM : Formulations over pairs.
    auclab.CSVM, auclab.ECSVM : Formulations over points.
    auclab.formulations.Composed : Any combination of margins, loss and regulariser.

    Examples
    --------
    >>> from auclab.formulations import BufferedAUC, RankSVM
    >>> isinstance(BufferedAUC(), HingeProgram), isinstance(RankSVM(0.1), HingeProgram)
    (True, True)
    """

    @cached_property
    def regulariser(self) -> Regulariser:  # type: ignore[override]
        """λ times the norm: of the fields `norm` (or l2), `penalty` (or 0) and `squared` (or False)."""
        # A solve reads it hundreds of times, and parameters do not change.
        weight, squared = getattr(self, "penalty", 0.0), getattr(self, "squared", False)
        return Norm(getattr(self, "norm", "l2"), weight, squared)

    def __post_init__(self) -> None:
        if "loss" in parameter_names(type(self)):
            object.__setattr__(self, "loss", loss_named(self.loss))  # a name becomes an object
            if not self.loss.table.at(np.ones(1), self.loss.table.coefficients)[0] > 0:
                raise AuclabError(f"{self.loss!r} is 0 at w = 0, where a = 1: let it rise from a breakpoint below 1")
        check_types(self)
        self.regulariser  # noqa: B018 - checks it
        if not math.isfinite(self.threshold):
            raise AuclabError(f"threshold z must be finite, got {self.threshold}")
        check_parameter_range("threshold z", self.threshold)

    @property
    def is_convex(self) -> bool:
        """Whether the program is convex: z ≤ 0."""
        return self.threshold <= 0

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """What a solver must be able to minimise."""
        if self.comparisons.hardest:
            return "cvar"
        return "hinge" if self.loss.is_hinge and self.comparisons.by_marginals else "piecewise"

    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """`value` on a sample that was checked before."""
        shift = 1.0 - self.threshold * self.regulariser.norm(coef)
        mean = self.comparisons.mean(self.loss, sample.scores(coef), intercept, shift, sample)
        return mean + self.regulariser.value(coef)

    def equation(self) -> str:
        """The program in one line.

        Examples
        --------
        >>> from auclab.formulations import RankSVM
        >>> RankSVM(0.01, squared=True).equation()
        'min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + 0.01 ‖w‖₂²'
        """
        size = as_factor(self.regulariser.norm.symbol)
        buffer = f" {'+' if self.threshold < 0 else '−'} {abs(self.threshold):g} {size}" if self.threshold else ""
        error = self.loss.symbol.format(f"1 − {self.comparisons.margin_symbol}{buffer}")
        return f"min  {self.comparisons.mean_symbol} {error}{self.regulariser.equation()}"

    def is_separated(self, objective: float, coef: Array) -> bool:
        """Whether the hinges at an optimum are 0 up to rounding."""
        scale = objective if self.regulariser.weight > 0 else 1.0
        return objective - self.regulariser.value(coef) <= EQUAL * scale

    def as_threshold(self, objective: float, coef: Array) -> ThresholdForm:
        """The optimum of a penalised program as that of the program with threshold ``z − λ/V``, V the value.

        Derivations 7.4: ``w = v/(1 − λ‖v‖/V)``; for the squared penalty the equivalent λ is ``2λ‖v‖``. A program
        without a penalty is its own threshold form.

        See Also
        --------
        auclab.ranksvm_to_threshold : The same for a solution.
        """
        if self.regulariser.weight == 0:
            return ThresholdForm(self.threshold, objective, 1.0)
        length = self.regulariser.norm(coef)
        penalty = self.regulariser.slope(length)
        value = objective - self.regulariser.value(coef) + penalty * length
        shift = -penalty / value
        return ThresholdForm(self.threshold + shift, value, 1.0 / (1.0 + shift * length))

    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """What an optimal value says about the errors of the scorer: for the hinge (Norton & Uryasev 2018, Prop. 5)."""
        if not self.loss.is_hinge:
            loss = objective - self.regulariser.value(coef)
            sentence = f"the mean loss is {loss:.4g}; buffered probabilities belong to the hinge"
            return Optimum(self.threshold, math.nan, math.nan, math.nan, math.nan, sentence)
        if self.regulariser.norm(coef) == 0:
            return Optimum(
                self.threshold, objective, 1 - objective, math.nan, math.nan,
                f"w = 0: no linear scorer has a buffered probability below {objective:.4g} here",
            )  # fmt: skip
        if self.is_separated(objective, coef):
            return Optimum(
                self.threshold, 0.0, 1.0, math.nan, math.nan,
                f"separated: no {self.comparisons.error_name} exceeds the threshold, every margin is at least 1",
            )  # fmt: skip
        if self.regulariser.ridge:
            loss = objective - self.regulariser.value(coef)
            sentence = f"the mean hinge is {loss:.4g}; it is a buffered probability where R is a function of ‖w‖ alone"
            return Optimum(self.threshold, math.nan, math.nan, math.nan, math.nan, sentence)
        form = self.as_threshold(objective, coef)
        z, bpoe, length = form.threshold, form.value, self.regulariser.norm(coef * form.scale)
        quantile = z - 1.0 / length if 0 < bpoe < 1 and length > 0 else math.nan
        error = self.comparisons.error_name
        at = "" if z == 0 else f" at z = {z:.4g}"
        return Optimum(
            z, bpoe, 1 - bpoe, quantile, z if math.isfinite(quantile) else math.nan,
            f"{self.comparisons.score_name}{at} is α* = {1 - bpoe:.4f}: the largest {bpoe:.2%} of the {error}s of "
            f"w/‖w‖ have mean {z:.4g}, and the smallest of them is about {quantile:.4g}",
        )  # fmt: skip
