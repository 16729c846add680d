"""A counterexample: what the print gives, what the correction gives, and the value by definition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Counterexample:
    """Three numbers of one example.

    `printed` is NaN where the print is not defined. `truth` is computed from the definition, without the correction.
    A bound (`relation` "at least") is right if it is not below the truth, a formula if it equals it.

    Examples
    --------
    >>> example = Counterexample(printed=1.2, corrected=1.0, truth=1.0)
    >>> example.allows(example.corrected), example.allows(example.printed)
    (True, False)
    """

    printed: float
    corrected: float
    truth: float
    relation: Literal["equal", "at least"] = "equal"
    tolerance: float = 1e-9

    def allows(self, value: float) -> bool:
        """Whether a value is the truth, or a bound of it."""
        if math.isnan(value):
            return False
        if self.relation == "at least":
            return value >= self.truth - self.tolerance
        return abs(value - self.truth) <= self.tolerance
