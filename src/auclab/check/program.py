"""The programs that can be checked, as their equation says them; nothing of `auclab.formulations` is used.

minimise over (w, b)    mean_k ℓ(1 − m_k − z‖w‖) + R(w):    comparison × loss × regulariser, and the buffer z
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from auclab.check.comparisons import CountedPairs, HardestNegatives, Pairs, Points
from auclab.check.losses import LOSSES, Hinge
from auclab.check.regularisers import NORMS, Norm, Penalty, SquaredPenalty
from auclab.types import AuclabError

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
    "composed": "",
}
#: Comparisons, made of the share of the hardest negatives, and regularisers with a class here.
COMPARISONS: dict[str, Callable[[Fraction], Pairs]] = {
    "all_pairs": lambda _: Pairs(),
    "points": lambda _: Points(),
    "hardest": HardestNegatives,
    "counted": lambda _: CountedPairs(),
}
REGULARISERS = {"norm"}
#: What a stored program may say about itself.
PARAMETERS = {"name", "class", "penalty", "threshold", "norm", "squared", "max_fpr", "norm_bound"}
PARAMETERS |= {"comparisons", "loss", "regulariser"}


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
    def no_multipliers(self) -> str:
        """Why no multipliers can prove a bound; empty where they can."""
        unbounded = "not convex (z > 0): the bound has no multipliers" if self.threshold > 0 else ""
        return self.comparison.no_multipliers or unbounded

    def excess(self, total: Fraction, gradient: Sequence[Fraction]) -> Fraction:
        """``‖Σ q d‖_* + zΣq``, rounded up: not positive where the dual constraint without a penalty is satisfied."""
        return self.norm.dual(gradient)[1] + self.threshold * total

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Program:
        """The program that ``certificate.json`` names.

        Raises
        ------
        AuclabError
            A formulation, loss, norm or parameter without a twin here, or a parameter outside its range.
        """
        name = str(stored.get("name"))
        if not (home := str(stored.get("class", HOME))).startswith(HOME):
            raise no_twin("formulation", home, FORMULATIONS)
        comparison = FORMULATIONS.get(name) or piece_name(stored.get("comparisons"), "comparisons")
        regulariser = stored.get("regulariser", "norm")
        if isinstance(regulariser, Mapping):  # of which the program repeats λ, norm and square
            parts = {"penalty": "weight", "norm": "name", "squared": "squared"}
            stored = {**stored, **{key: regulariser[part] for key, part in parts.items() if part in regulariser}}
        loss = piece_name(stored.get("loss", "hinge"), "losses")
        norm = piece_name(stored.get("norm", "l2"), "regularisers")
        named: list[tuple[str, str, Iterable[str]]] = [
            ("formulation", name, FORMULATIONS),
            ("comparison", comparison, COMPARISONS),
            ("loss", loss, LOSSES),
            ("regulariser", piece_name(regulariser, "regularisers"), REGULARISERS),
            ("norm", norm, NORMS),
            *((f"parameter of {name},", key, PARAMETERS) for key in stored),
        ]
        for piece, value, known in named:
            if value not in known:
                raise no_twin(piece, value, known)
        penalty, threshold = float(stored.get("penalty", 0.0)), float(stored.get("threshold", 0.0))
        max_fpr = float(stored.get("max_fpr") or 1.0)
        if not (math.isfinite(penalty) and penalty >= 0 and math.isfinite(threshold) and 0 < max_fpr <= 1):
            raise AuclabError(
                f"penalty={penalty}, threshold={threshold}, max_fpr={max_fpr} are no parameters of {name}"
            )
        kind = SquaredPenalty if penalty > 0 and stored.get("squared", False) else Penalty
        cost = kind(NORMS[norm], Fraction(penalty))
        return cls(name, COMPARISONS[comparison](Fraction(max_fpr)), LOSSES[loss], cost, Fraction(threshold))


def piece_name(stored: Any, package: str) -> str:
    """The name of a stored piece: a word, or its class, of a package of ours as a word and without the module.

    Examples
    --------
    >>> piece_name({"class": "auclab.comparisons.pairs.AllPairs"}, "comparisons")
    'all_pairs'
    >>> piece_name({"class": "mine.Hinge"}, "losses")
    'mine.Hinge'
    """
    name = str(stored.get("class") or stored.get("_target_") if isinstance(stored, Mapping) else stored)
    home, _, last = name.rpartition(".")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower() if f"{home}.".startswith(f"auclab.{package}.") else name


def no_twin(piece: str, name: str, known: Iterable[str]) -> AuclabError:
    """The error for something that the checker has no class of its own for."""
    return AuclabError(
        f"the checker has no rational twin of the {piece} {name}, so it claims nothing about objective, bound and "
        f"status; it knows {', '.join(sorted(known))}"
    )
