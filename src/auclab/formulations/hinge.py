"""One program type carries every formulation whose loss is a mean of hinges.

    minimise over w (and b)    mean_k [ 1 − m_k(w, b) − z‖w‖ ]₊  +  λ Ω(w),      Ω = ‖w‖ or ‖w‖²

with margins m_k over pairs, ``w·(x_i⁺ − x_j⁻)``, or over points, ``y_k (w·x_k + b)`` (`auclab.comparisons`). A
formulation is a row of this table: which margins, which z, which λ, which norm. `composed` puts one together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from auclab.compiled.doubledouble import two_product, two_sum
from auclab.formulations.base import DoubleDouble, Encoding, Kind, Margins, NullProof, Program
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
    auclab.formulations.Composed : Any row, and other losses.
    """

    kind: ClassVar[Kind] = "hinge"

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

    @property
    def over(self) -> Margins:  # type: ignore[override]
        """Whose margins."""
        return self.comparisons.name

    @property
    def encodings(self) -> tuple[Encoding, ...]:  # type: ignore[override]
        """The encodings of the hinge terms that a linear-programming solver has for the program."""
        return self.comparisons.encodings

    @property
    def null_proof_takes_program(self) -> bool:  # type: ignore[override]
        """Whether `null_proof` solves a linear or quadratic program over the rows."""
        return self.comparisons.null_proof_takes_program

    def hinge(self, coef: Array, intercept: float, sample: Sample) -> float:
        """The loss part, ``mean_k ℓ(1 − m_k − z‖w‖)``."""
        shift = 1.0 - self.threshold * self.regulariser.norm(coef)
        return self.comparisons.mean(self.loss, sample.scores(coef), intercept, shift, sample)

    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """`value` on a sample that was checked before."""
        return self.hinge(coef, intercept, sample) + self.penalty_part(coef)

    def accurate_hinge(
        self,
        intercept: tuple[float, float],
        sample: Sample,
        scores_pos: DoubleDouble,
        scores_neg: DoubleDouble,
        shift: tuple[float, float],
    ) -> float:
        """`hinge` where scores, b and ``1 − z‖w‖`` are given as ``high + low``."""
        return self.comparisons.accurate_mean_hinge(intercept, sample, scores_pos, scores_neg, shift)

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
        error = self.loss.symbol.format(f"1 − {self.comparisons.margin_symbol}{buffer}")
        return f"min  {self.comparisons.mean_symbol} {error}{self.regulariser.equation()}"

    def null_value(self, sample: Sample) -> float:
        """Objective of w = 0 with the best intercept: ℓ(1) over pairs, 2·min(class shares) for hinges of points."""
        return self.comparisons.null_value(self.loss, sample)

    def null_intercept(self, sample: Sample) -> float:
        """The best intercept for w = 0; over pairs it cancels and is 0."""
        return self.comparisons.null_intercept(self.loss, sample)

    def null_proof(self, sample: Sample) -> NullProof | None:
        """The multipliers that prove w = 0 optimal where it is."""
        multipliers = self.comparisons.null_multipliers(sample, self.regulariser.norm)
        return None if multipliers is None else NullProof(multipliers)

    def null_is_certain(self, sample: Sample) -> bool:
        """Whether λ − z ≥ ‖Δ‖_*, Δ the difference of the class means (derivations 7.3); without λ if it is squared."""
        if self.comparisons.null_proof_takes_program or (self.squared and self.penalty > 0 and self.threshold == 0):
            return False
        return self.regulariser.norm.dual(sample.mean_difference) <= self.null_slope(sample)

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
        (by_penalty, by_threshold), meaning = self.comparisons.null_level_names, self.comparisons.null_meaning(sample)
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
                f"separated: no {self.comparisons.error_name} exceeds the threshold, every margin is at least 1",
            )  # fmt: skip
        form = self.as_threshold(objective, coef)
        z, bpoe, length = form.threshold, form.value, self.regulariser.norm(coef * form.scale)
        quantile = z - 1.0 / length if 0 < bpoe < 1 and length > 0 else math.nan
        error = self.comparisons.error_name
        at = "" if z == 0 else f" at z = {z:.4g}"
        return Optimum(
            z, bpoe, 1 - bpoe, quantile, z if math.isfinite(quantile) else math.nan,
            f"{self.comparisons.score_name}{at} is α* = {1 - bpoe:.4f}: the worst {bpoe:.2%} of the {error}s of w/‖w‖ "
            f"average {z:.4g} and start at about {quantile:.4g}",
        )  # fmt: skip
