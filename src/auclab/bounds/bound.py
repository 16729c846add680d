"""The result of every bound."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """A guarantee that holds with probability at least ``1 − ρ``.

    `lower` bounds the unknown quantity from below; two-sided statements give `half_width` instead (the other
    one is NaN). `slack` is what was subtracted from the empirical value. `vacuous` says that the statement
    excludes nothing. `assumptions` are sentences to be shown with the number.

    See Also
    --------
    auclab.bounds : The functions that return it.
    """

    lower: float
    slack: float
    vacuous: bool
    assumptions: tuple[str, ...]
    half_width: float = math.nan
