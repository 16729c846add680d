"""The solution w = 0: its value, from which λ or −z on it is optimal, and why, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab.precision import EQUAL
from auclab.samples.memory import Sample
from auclab.types import Array, AuclabError


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
            total = float(sum(part.sum() for part in at_null)) / (2.0 if comparisons.name == "pairs" else 1.0)
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
