"""One program type carries every formulation whose loss is a mean of hinges.

    minimise over w (and b)    mean_k [ 1 − m_k(w, b) − z‖w‖ ]₊  +  λ Ω(w),      Ω = ‖w‖ or ‖w‖²

with margins m_k over pairs, ``w·(x_i⁺ − x_j⁻)`` (`pair_hinge`), or over points, ``y_k (w·x_k + b)`` (`point_hinge`). A
formulation is a row of this table: which margins, which z, which λ, which norm.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from auclab.compiled.doubledouble import two_product, two_sum
from auclab.formulations.base import DoubleDouble, Kind, NullProof, Program
from auclab.formulations.optimum import Optimum
from auclab.regularisers import Norm
from auclab.samples.memory import Sample
from auclab.types import Array, AuclabError
from auclab.validation import check_parameter_range

#: Relative differences below this are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class ThresholdForm:
    """An optimum as one of the threshold program: z, the value there, and the factor by which w is scaled for it.

    See Also
    --------
    auclab.formulations.hinge.HingeProgram.as_threshold : Returns it.
    """

    threshold: float
    value: float
    scale: float


class HingeProgram(Program):
    """A row of the table.

    See Also
    --------
    auclab.BufferedAUC, auclab.GeneralizedBufferedAUC, auclab.RankSVM : The rows over pairs.
    auclab.CSVM, auclab.ECSVM : The rows over points.
    """

    kind: ClassVar[Kind] = "hinge"
    #: The mean and the margin in the equation, and the names of error and score in sentences.
    mean_symbol: ClassVar[str]
    margin_symbol: ClassVar[str]
    error_name: ClassVar[str]
    score_name: ClassVar[str]
    #: Names of the λ and of the −z at which w = 0 becomes optimal.
    null_level_names: ClassVar[tuple[str, str]]

    def __post_init__(self) -> None:
        Norm(self.norm, self.penalty, self.squared)  # checks them
        if not math.isfinite(self.threshold):
            raise AuclabError(f"threshold z must be finite, got {self.threshold}")
        check_parameter_range("threshold z", self.threshold)

    @property
    def is_convex(self) -> bool:
        """Whether the program is convex: z ≤ 0."""
        return self.threshold <= 0

    @property
    def is_plain_hinge(self) -> bool:
        """Whether the program is a mean of hinges of linear margins: z = 0 and λ = 0."""
        return not self.uses_norm

    @abstractmethod
    def hinge(self, coef: Array, intercept: float, sample: Sample) -> float:
        """The loss part, ``mean_k [1 − m_k − z‖w‖]₊``."""

    @abstractmethod
    def null_meaning(self, sample: Sample) -> str:
        """What it means that w = 0 is optimal, as the end of a sentence."""

    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """`value` on a sample that was checked before."""
        return self.hinge(coef, intercept, sample) + self.penalty_part(coef)

    @abstractmethod
    def accurate_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`hinge` where scores, b and ``1 − z‖w‖`` are given as ``high + low``."""

    def objective_at(
        self,
        coef: Array,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
    ) -> float:
        """`objective` where scores and b are given as ``high + low``."""
        size = self.regulariser.norm.accurate(coef)
        product, error = two_product(-self.threshold, size[0])
        high, rest = two_sum(1.0, product)
        shift = high, rest + error - self.threshold * size[1]
        hinge = self.accurate_hinge(intercept, sample, scores_pos, scores_neg, shift)
        return hinge + self.penalty_part(coef)

    def penalty_part(self, coef: Array) -> float:
        """``λ‖w‖`` or ``λ‖w‖²``."""
        return self.regulariser.value(coef)

    def hinge_part(self, objective: float, coef: Array) -> float:
        """The mean hinge in a value of the program: what is left of it without the penalty."""
        return objective - self.penalty_part(coef)

    def equation(self) -> str:
        """The program in one line.

        Examples
        --------
        >>> from auclab.formulations import RankSVM
        >>> RankSVM(0.01, squared=True).equation()
        'min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + 0.01 ‖w‖₂²'
        """
        size = self.regulariser.norm.symbol
        buffer = f" {'+' if self.threshold < 0 else '−'} {abs(self.threshold):g} {size}" if self.threshold else ""
        return f"min  {self.mean_symbol} [1 − {self.margin_symbol}{buffer}]₊{self.regulariser.equation()}"

    def is_null_value(self, objective: float, sample: Sample) -> bool:
        """Whether a value of a convex program is no better than that of w = 0."""
        return self.is_convex and objective >= self.null_value(sample) * (1 - _ROUNDING)

    def null_slope(self, sample: Sample) -> float:
        """By what penalty and threshold raise the value at w = 0 for a unit of ‖w‖, all hinges with their weights."""
        return (0.0 if self.squared else self.penalty) - self.threshold * self.null_value(sample)

    def null_reason(self, sample: Sample, proof: NullProof | None) -> str | None:
        """Why w = 0 is optimal: λ (or −z) is at least the level that the proof shows."""
        if proof is None:
            return "w = 0 is optimal within the tolerance"
        value, level = self.null_value(sample), self.regulariser.norm.dual(sample.combine(*proof.multipliers))
        slope = self.null_slope(sample)
        if (self.squared and self.threshold == 0) or slope < level * (1 - _ROUNDING):
            return None
        (by_penalty, by_threshold), meaning = self.null_level_names, self.null_meaning(sample)
        if self.penalty > 0 and self.threshold < 0:
            what = "−z" if self.squared else "λ − z"
            what += "" if value == 1 else f" · {value:.4g}"
            return f"w = 0 is optimal because {what} = {slope:g} ≥ {by_penalty} = {level:.6g}; {meaning}"
        if self.penalty > 0:
            return f"w = 0 is optimal because λ = {self.penalty:g} ≥ λ_max = {level:.6g}; {meaning}"
        if self.threshold < 0:
            level = level / value
            return f"w = 0 is optimal because −z = {-self.threshold:g} ≥ {by_threshold} = {level:.6g}; {meaning}"
        useless = "no linear scorer distinguishes the classes"
        return f"w = 0 is optimal because {by_penalty} = {level:.3g}: {useless}; {meaning}"

    def is_separated(self, objective: float, coef: Array) -> bool:
        """Whether no hinge is left at an optimum but rounding noise."""
        return self.hinge_part(objective, coef) <= _ROUNDING * (objective if self.penalty > 0 else 1.0)

    def as_threshold(self, objective: float, coef: Array) -> ThresholdForm:
        """The optimum of a penalised program as that of the program with ``z − λ/V``, V the value (derivations 7.4).

        ``w = v/(1 − λ‖v‖/V)``; for the squared penalty the equivalent λ is ``2λ‖v‖``. A program without a penalty is
        its own threshold form.

        See Also
        --------
        auclab.ranksvm_to_threshold : The same for a solution.
        """
        if self.penalty == 0:
            return ThresholdForm(self.threshold, objective, 1.0)
        length = self.regulariser.norm(coef)
        penalty = 2 * self.penalty * length if self.squared else self.penalty
        value = self.hinge_part(objective, coef) + penalty * length
        shift = -penalty / value
        return ThresholdForm(self.threshold + shift, value, 1.0 / (1.0 + shift * length))

    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """What an optimal value says about the errors of the scorer (Norton & Uryasev 2018, Prop. 5)."""
        if self.regulariser.norm(coef) == 0:
            return Optimum(
                self.threshold, objective, 1 - objective, math.nan, math.nan,
                f"w = 0: no linear scorer has a buffered probability below {objective:.4g} here",
            )  # fmt: skip
        if self.is_separated(objective, coef):
            return Optimum(
                self.threshold, 0.0, 1.0, math.nan, math.nan,
                f"separated: no {self.error_name} exceeds the threshold, every margin is at least 1",
            )  # fmt: skip
        form = self.as_threshold(objective, coef)
        z, bpoe, length = form.threshold, form.value, self.regulariser.norm(coef * form.scale)
        quantile = z - 1.0 / length if 0 < bpoe < 1 and length > 0 else math.nan
        at = "" if z == 0 else f" at z = {z:.4g}"
        return Optimum(
            z, bpoe, 1 - bpoe, quantile, z if math.isfinite(quantile) else math.nan,
            f"{self.score_name}{at} is α* = {1 - bpoe:.4f}: the worst {bpoe:.2%} of the {self.error_name}s of w/‖w‖ "
            f"average {z:.4g} and start at about {quantile:.4g}",
        )  # fmt: skip
