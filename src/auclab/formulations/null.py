"""The solution w = 0: its value, when it is optimal, and the proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab.precision import EQUAL
from auclab.samples.memory import Sample
from auclab.types import Array, AuclabError


@dataclass(frozen=True)
class NullProof:
    """Dual point with the value of w = 0: marginals of each class, and the weights of the negatives if they vary."""

    multipliers: tuple[Array, Array]
    share_neg: Array | None = None


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

    def is_certain(self, sample: Sample) -> bool:
        """Whether w = 0 is known to be optimal without a solve (derivations 7.3)."""
        return False

    def certain_proof(self, sample: Sample) -> NullProof | None:
        """The multipliers that prove w = 0 optimal for every λ and every z ≤ 0; None where a fast search finds none."""
        return None

    def holds_for_every_value(self, sample: Sample, multipliers: tuple[Array, Array]) -> bool:
        """Whether multipliers prove w = 0 optimal for every λ and every z ≤ 0."""
        return False

    def is_attained(self, objective: float, sample: Sample) -> bool:
        """Whether a value is no better than that of w = 0, so that w = 0 may replace its point."""
        return objective >= 1.0

    def proof(self, sample: Sample) -> NullProof | None:
        """The multipliers that prove w = 0 optimal where it is; None if the program has no such dual point."""
        return None

    @property
    def proof_takes_program(self) -> bool:
        """Whether `proof` takes long."""
        return False

    def penalty(self, sample: Sample) -> float:
        """The least λ at which w = 0 is optimal; infinite if none is known."""
        return math.inf

    def reason(self, sample: Sample, proof: NullProof | None) -> str | None:
        """Why w = 0 is optimal, in one sentence; None if the proof does not show it."""
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

    def is_certain(self, sample: Sample) -> bool:
        """Whether λ − zs ≥ s‖Δ‖_*, Δ the difference of the class means (derivations 7.3); without λ if it is squared.

        s is the slope ℓ'(1), 1 for the hinge.
        """
        program, regulariser = self.program, self.program.regulariser
        if program.comparisons.null_proof_takes_program:
            return False
        if not regulariser.has_kink and program.threshold == 0:
            return False
        steepness = float(program.loss.slope(1.0))
        return regulariser.norm.dual(sample.mean_difference) * steepness <= self._slope(steepness)

    def certain_proof(self, sample: Sample) -> NullProof | None:
        """Multipliers with ``Σ q d = 0``: one class has the mean of the other under some of its admissible weights.

        They exist for hinges of points where one class outweighs the other and surrounds its mean, and for those over
        the hardest negatives where these surround the mean of the positives: λ_max is then 0. None for other programs,
        whose multipliers at w = 0 have a closed form, and where the search was not successful.
        """
        program = self.program
        if sample.in_blocks or program.threshold > 0 or program.kind not in ("hinge", "cvar"):
            return None
        multipliers = program.comparisons.vanishing_multipliers(sample)
        if multipliers is None:
            return None
        return NullProof(multipliers, multipliers[1] if program.comparisons.hardest else None)

    def holds_for_every_value(self, sample: Sample, multipliers: tuple[Array, Array]) -> bool:
        """Whether ``‖Σ q d‖_*`` is 0 up to rounding."""
        if sample.in_blocks or self.program.kind == "piecewise":
            return False
        norm = self.program.regulariser.norm
        level = norm.dual(sample.combine(*multipliers))
        return bool(level <= EQUAL * norm.dual(sample.spread) * float(multipliers[0].sum()))

    def is_attained(self, objective: float, sample: Sample) -> bool:
        """Whether a value of a convex program is no better than that of w = 0."""
        return self.program.is_convex and objective >= self.value(sample) * (1 - EQUAL)

    def proof(self, sample: Sample) -> NullProof | None:
        """The multipliers that prove w = 0 optimal where it is."""
        program = self.program
        if program.kind == "piecewise":
            scores = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
            b = self.intercept(sample)
            return NullProof(program.comparisons.slopes(program.loss.table, scores, b, 1.0, sample)[0])
        norm = program.regulariser.norm if program.uses_norm else None
        multipliers = program.comparisons.null_multipliers(sample, norm)
        if multipliers is None:
            return None
        return NullProof(multipliers, multipliers[1] if program.comparisons.hardest else None)

    @property
    def proof_takes_program(self) -> bool:
        """Whether `proof` solves a linear or quadratic program over the rows."""
        return self.program.comparisons.null_proof_takes_program and self.program.kind != "piecewise"

    def penalty(self, sample: Sample) -> float:
        """The least λ at which w = 0 is optimal, for z = 0; infinite, or 0, for a penalty without a kink at 0."""
        proof = self.proof(sample)
        if proof is None and sample.in_blocks:
            raise AuclabError("λ_max over points needs a program over all rows in memory; use a sample of the rows")
        level = math.inf if proof is None else self._level(sample, proof)
        return level if self.program.regulariser.has_kink or level == 0 else math.inf

    def _level(self, sample: Sample, proof: NullProof) -> float:
        """``‖Σ q d‖_*`` of the multipliers at w = 0."""
        return self.program.regulariser.norm.dual(sample.combine(*proof.multipliers))

    def _slope(self, total: float) -> float:
        """Slope at w = 0, in ‖w‖, of penalty and buffer together, for multipliers with this sum."""
        return self.program.regulariser.slope(0.0) - self.program.threshold * total

    def reason(self, sample: Sample, proof: NullProof | None) -> str | None:
        """Why w = 0 is optimal: λ (or −z) is at least the level that the proof shows."""
        program, comparisons, regulariser = self.program, self.program.comparisons, self.program.regulariser
        if comparisons.hardest and regulariser.weight == 0:
            return f"w = 0 is optimal: {comparisons.null_cause(sample)}"
        if proof is None:
            return "w = 0 is optimal within the tolerance"
        if comparisons.null_proof_takes_program and self.holds_for_every_value(sample, proof.multipliers):
            return f"w = 0 is optimal for every λ, because λ_max = 0: {comparisons.null_cause(sample)}"
        total, level = self.value(sample), self._level(sample, proof)
        (by_penalty, by_threshold), meaning = comparisons.null_level_names, comparisons.null_meaning(sample)
        if program.kind == "piecewise":
            meaning, by_penalty, by_threshold = f"the value is {total:.4g}", "λ_max", "the largest one"
            total = float(sum(part.sum() for part in proof.multipliers))
            total /= 2.0 if comparisons.name == "pairs" else 1.0
        slope = self._slope(total)
        if (not regulariser.has_kink and program.threshold == 0) or slope < level * (1 - EQUAL):
            return None
        if regulariser.weight > 0 and program.threshold < 0:
            what = "λ − z" if regulariser.has_kink else "−z"
            what += "" if total == 1 else f" · {total:.4g}"
            return f"w = 0 is optimal because {what} = {slope:g} ≥ {by_penalty} = {level:.6g}; {meaning}"
        if regulariser.weight > 0:
            return f"w = 0 is optimal because λ = {regulariser.weight:g} ≥ λ_max = {level:.6g}; {meaning}"
        if program.threshold < 0:
            level = level / total
            return f"w = 0 is optimal because −z = {-program.threshold:g} ≥ {by_threshold} = {level:.6g}; {meaning}"
        useless = "no linear scorer distinguishes the classes"
        return f"w = 0 is optimal because {by_penalty} = {level:.3g}: {useless}; {meaning}"
