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

    Examples
    --------
    >>> from auclab.bounds import fixed_scorer_auc_bound
    >>> bound = fixed_scorer_auc_bound(0.9, n_pos=100, n_neg=100, rho=0.05)  # √(0.02 ln 40 / 2)
    >>> round(bound.half_width, 4), bound.vacuous
    (0.1921, False)
    """

    lower: float
    slack: float
    vacuous: bool
    assumptions: tuple[str, ...]
    half_width: float = math.nan
