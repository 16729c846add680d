"""The programs that can be checked, as their equation says them; nothing of `auclab.formulations` is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from auclab.types import AuclabError

#: Margins of a formulation: of pairs, of points, of pairs with the hardest negatives; or whether it counts pairs.
KINDS: dict[str, Literal["pairs", "points", "hardest", "count"]] = {
    "bauc": "pairs",
    "generalized_bauc": "pairs",
    "ranksvm": "pairs",
    "csvm": "points",
    "ecsvm": "points",
    "partial_auc": "hardest",
    "exact_auc": "count",
}
_DUAL: dict[str, Literal["l1", "l2", "linf"]] = {"l1": "linf", "l2": "l2", "linf": "l1"}


@dataclass(frozen=True)
class Program:
    """``min mean_k [1 − m_k − z‖w‖]₊ + λΩ(w)``, with every number the rational that the float is.

    `max_fpr` is the share α of the hardest negatives, 1 where the mean is over all.
    """

    name: str
    kind: Literal["pairs", "points", "hardest", "count"]
    penalty: Fraction
    threshold: Fraction
    norm: Literal["l1", "l2", "linf"]
    squared: bool
    max_fpr: Fraction

    @property
    def over_pairs(self) -> bool:
        """Whether margins are those of pairs."""
        return self.kind != "points"

    @property
    def uses_norm(self) -> bool:
        """Whether ‖w‖ appears."""
        return self.threshold != 0 or self.penalty > 0

    @property
    def dual_norm(self) -> Literal["l1", "l2", "linf"]:
        """The norm of ``Σ q d``."""
        return _DUAL[self.norm]

    @property
    def has_dual(self) -> bool:
        """Whether multipliers can prove a bound: a mean of hinges with z ≤ 0."""
        return self.kind != "count" and self.threshold <= 0

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Program:
        """The program that ``certificate.json`` names.

        Raises
        ------
        AuclabError
            An unknown formulation, or a parameter outside its range.
        """
        name = str(stored.get("name"))
        if name not in KINDS:
            raise AuclabError(f"the formulation {name!r} is unknown; the checker knows {', '.join(KINDS)}")
        penalty, threshold = float(stored.get("penalty", 0.0)), float(stored.get("threshold", 0.0))
        max_fpr, norm = float(stored.get("max_fpr") or 1.0), str(stored.get("norm", "l2"))
        if not (math.isfinite(penalty) and penalty >= 0 and math.isfinite(threshold) and 0 < max_fpr <= 1):
            raise AuclabError(
                f"penalty={penalty}, threshold={threshold}, max_fpr={max_fpr} are no parameters of {name}"
            )
        if norm not in _DUAL:
            raise AuclabError(f"the norm {norm!r} is unknown; the checker knows {', '.join(_DUAL)}")
        return cls(
            name=name,
            kind=KINDS[name],
            penalty=Fraction(penalty),
            threshold=Fraction(threshold),
            norm=norm,  # type: ignore[arg-type]
            squared=bool(stored.get("squared", False)),
            max_fpr=Fraction(max_fpr),
        )
