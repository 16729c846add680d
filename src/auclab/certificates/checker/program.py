"""The program of a run as it was written, and its objective.

minimise over (w, b)    mean_k ℓ(1 − m_k − z‖w‖) + R(w):    comparison × loss × regulariser, and the buffer z
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError
from auclab.certificates.checker.constraints import Integers, in_units
from auclab.certificates.checker.data import Data, fractions
from auclab.certificates.checker.margins import CardPairs, CountedPairs, HardestNegatives, Pairs, Points, RankedPairs
from auclab.certificates.checker.pieces import LOSSES, REGULARISERS, Hinge, Norm, Penalty, no_twin, piece_name

#: Where the formulations of the package are; a class of the same name elsewhere may be another program.
HOME = "auclab.formulations."
#: The comparison that a formulation is made of; one that is composed names its own.
FORMULATIONS = {
    "bauc": "all_pairs",
    "generalized_bauc": "all_pairs",
    "ranksvm": "all_pairs",
    "csvm": "points",
    "ecsvm": "points",
    "partial_auc": "hardest",
    "exact_auc": "counted",
    "scorecard": "card",
    "composed": "",
}
#: Their names by the classes that a configuration names.
CLASSES = {
    "BufferedAUC": "bauc",
    "GeneralizedBufferedAUC": "generalized_bauc",
    "RankSVM": "ranksvm",
    "CSVM": "csvm",
    "ECSVM": "ecsvm",
    "PartialAUC": "partial_auc",
    "ExactAUC": "exact_auc",
    "Scorecard": "scorecard",
    "Composed": "composed",
}
#: Comparisons, made of what the stored program says.
COMPARISONS: dict[str, Callable[[Mapping[str, Any]], Pairs]] = {
    "all_pairs": lambda _: Pairs(),
    "points": lambda _: Points(),
    "hardest": lambda stored: HardestNegatives(Fraction(float(stored.get("max_fpr") or 1.0))),
    "counted": lambda _: CountedPairs(),
    "card": lambda stored: CardPairs(margins_of(stored)),
    "ranked_pairs": lambda _: RankedPairs(),
}
#: Comparison of a formulation over all pairs where the data say which of them.
RANKED = "ranked_pairs"
#: What a stored program may say about itself.
PARAMETERS = {"name", "class", "penalty", "threshold", "norm", "squared", "max_fpr", "norm_bound"}
PARAMETERS |= {"comparisons", "loss", "regulariser"}
PARAMETERS |= {"points", "max_items", "max_features", "margins", "signs", "features"}  # of a scorecard


@dataclass(frozen=True)
class Program:
    """A comparison, a loss, a regulariser and a buffer, with every number the rational that the float is."""

    name: str
    comparison: Pairs
    loss: Hinge
    regulariser: Penalty
    threshold: Fraction

    @property
    def norm(self) -> Norm:
        """That of the buffer ``z‖w‖``."""
        return self.regulariser.norm

    @property
    def uses_norm(self) -> bool:
        """Whether ‖w‖ appears."""
        return self.threshold != 0 or self.regulariser.reach != 0

    @property
    def by_marginals(self) -> bool:
        """Whether multipliers of the observations prove a bound; else slopes at scorers do."""
        return self.loss.by_marginals and self.comparison.by_marginals

    @property
    def is_ranked(self) -> bool:
        """Whether rows are compared within groups, by grades or by times."""
        return self.comparison.is_ranked

    @property
    def no_multipliers(self) -> str:
        """Why no multipliers can prove a bound; empty where they can."""
        unbounded = "not convex (z > 0): the bound has no multipliers" if self.threshold > 0 else ""
        return self.comparison.no_multipliers or unbounded

    def excess(self, total: Fraction, gradient: Sequence[Fraction]) -> Fraction:
        """``‖Σ q d‖_* + zΣq``, rounded up: not positive where the dual constraint without a penalty is satisfied."""
        return self.norm.dual(gradient)[1] + self.threshold * total

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Program:
        """The program that ``certificate.json`` names."""
        name = str(stored.get("name"))
        if not (home := str(stored.get("class", HOME))).startswith(HOME):
            raise no_twin("formulation", home, FORMULATIONS)
        comparison, given = FORMULATIONS.get(name), piece_name(stored.get("comparisons"), "margins")
        if not comparison or (comparison == "all_pairs" and given == RANKED):
            comparison = given
        regulariser = stored.get("regulariser", "norm")
        kind = piece_name(regulariser, "regularisers")
        if not isinstance(regulariser, Mapping):  # else the program repeats its λ, norm and square
            parts = {"weight": "penalty", "name": "norm", "squared": "squared"}
            regulariser = {part: stored[key] for part, key in parts.items() if key in stored}
        loss = piece_name(stored.get("loss", "hinge"), "losses")
        named: list[tuple[str, str, Iterable[str]]] = [
            ("formulation", name, FORMULATIONS),
            ("comparison", comparison, COMPARISONS),
            ("loss", loss, LOSSES),
            ("regulariser", kind, REGULARISERS),
            *((f"parameter of {name},", key, PARAMETERS) for key in stored),
        ]
        for piece, value, known in named:
            if value not in known:
                raise no_twin(piece, value, known)
        threshold, max_fpr = float(stored.get("threshold", 0.0)), float(stored.get("max_fpr") or 1.0)
        if not (math.isfinite(threshold) and 0 < max_fpr <= 1):
            raise AuclabError(
                f"certificate.json has threshold={threshold} and max_fpr={max_fpr}; a threshold is finite and max_fpr "
                "lies in (0, 1]: restore the file, or run again"
            )
        cost = REGULARISERS[kind](regulariser)
        return cls(name, COMPARISONS[comparison](stored), LOSSES[loss], cost, Fraction(threshold))


def margins_of(stored: Mapping[str, Any]) -> tuple[int, ...]:
    """The margins γ of a scorecard.

    Raises
    ------
    AuclabError
        Others than whole numbers ≥ 1, or none.
    """
    given = stored.get("margins")
    if not isinstance(given, list) or not given or not all(type(each) is int and each >= 1 for each in given):
        raise AuclabError(f"margins={given!r} are not those of a scorecard, which are whole numbers of at least 1")
    return tuple(given)


def objective(program: Program, data: Data, coef: NDArray[np.float64], intercept: float) -> tuple[Fraction, Fraction]:
    """Lower and upper bound of the value of `program` at ``(w, b)``."""
    scores, exponent = data.scores(coef)
    entries, offset = fractions(coef), Fraction(float(intercept))
    sizes = program.norm.of(entries) if program.threshold else (Fraction(0), Fraction(0))
    ends = [
        _loss(program, data, scores, exponent, 1 - program.threshold * size, offset) for size in dict.fromkeys(sizes)
    ]
    low, high = program.regulariser.value(entries)
    error = 2 * data.score_error(coef)  # of a margin, whose hinge changes by no more
    return max(Fraction(0), min(ends) - error) + low, max(ends) + error + high


def _loss(
    program: Program, data: Data, scores: Integers, exponent: int, start: Fraction, intercept: Fraction
) -> Fraction:
    """The mean of ``ℓ(start − m)``, monotone in `start`, whose denominator is a power of two as those of floats."""
    return program.comparison.mean(program.loss, data, *in_units(scores, exponent, start, intercept))
