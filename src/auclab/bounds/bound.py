"""What every bound returns."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """A guarantee that holds with probability at least ``1 − ρ``.

    `lower` bounds the unknown quantity from below; two-sided statements give `half_width` instead (the other
    one is NaN). `slack` is what was subtracted from the empirical value. `vacuous` says that the statement
    excludes nothing. `assumptions` are words to be shown wherever the number is shown.
    """

    lower: float
    slack: float
    vacuous: bool
    assumptions: tuple[str, ...]
    half_width: float = math.nan
