"""The constraints that a solution satisfies with equality, and the cost of each, in the units of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.precision import EQUAL
from auclab.sizes import FEW, LINES
from auclab.types import Array
from auclab.wording import few


@dataclass(frozen=True)
class ActiveConstraint:
    """A constraint that holds with equality.

    `text`: in the units of the data, such as ``debt ≥ 0``. `multiplier`: rate at which the optimum falls as the limit
    is relaxed; for an equation, its absolute value.
    """

    text: str
    multiplier: float


@dataclass(frozen=True)
class SolvedConstraints:
    """The constraints of a solution.

    `count`: inequalities, equations and bounds of coefficients. `active`: those that hold with equality, the largest
    multipliers first. `violation`: largest violation of the point. `used`: with `max_features` the columns of
    the data that are used; else None. `convex`: whether an inactive constraint costs nothing.
    """

    count: int
    active: tuple[ActiveConstraint, ...]
    violation: float
    used: tuple[str, ...] | None = None
    convex: bool = True

    @property
    def statement(self) -> str:
        """A one-line summary.

        Examples
        --------
        >>> SolvedConstraints(3, (ActiveConstraint("debt ≥ 0", 0.25),), 0.0).statement
        '1 of 3 holds with equality: debt ≥ 0 (0.25). In brackets: the rate at which the optimum falls if it is relaxed'
        >>> SolvedConstraints(1, (), 0.0).statement
        'none of 1 holds with equality: without them the optimum is the same'
        >>> SolvedConstraints(0, (), 0.0, used=("age", "debt")).statement
        '2 columns are used: age, debt'
        """
        if self.used is not None:
            also = f"; {self._equalities}" if self.count else ""
            several = "1 column is" if len(self.used) == 1 else f"{len(self.used)} columns are"
            return f"{several} used: {few(self.used, LINES) or 'none'}{also}"
        return self._equalities

    @property
    def _equalities(self) -> str:
        if not self.active:
            same = ": without them the optimum is the same" if self.convex and self.used is None else ""
            return f"none of {self.count} holds with equality{same}"
        shown = few(f"{each.text} ({each.multiplier:.3g})" for each in self.active)
        verb, which = ("holds", "it is") if len(self.active) == 1 else ("hold", "one is")
        meaning = f"In brackets: the rate at which the optimum falls if {which} relaxed"
        return f"{len(self.active)} of {self.count} {verb} with equality: {shown}. {meaning}"


def solved_constraints(
    solution: Any, names: Sequence[str], scales: Array, sources: Sequence[str] | None = None
) -> SolvedConstraints | None:
    """The constraints of a solution on prepared columns; None if it has none.

    `names`: of the prepared columns. `scales` (n_features,): divisor of each. `sources`: the column of the data that
    each is made from, which `max_features` counts; by default each is a column of the data.
    """
    stated: ColumnConstraints | None = getattr(solution, "constraints", None)
    if stated is None:
        return None
    # The solver works with w · scale instead of w.
    own, coef = stated.in_units(1.0 / scales), solution.coef / scales
    matrix, limit, equal = own.all_rows()
    found = solution.constraint_multipliers
    multipliers = np.zeros(limit.size) if found is None else abs(found)
    n_rows = stated.limit.size
    fixed, above, below = _bounds(stated)
    # A limit u of a coefficient in units of the data is u · scale for the prepared column.
    multipliers = multipliers * np.r_[np.ones(n_rows), scales[fixed], scales[above], scales[below]]
    texts = [_row(matrix[r], limit[r], bool(equal[r]), names) for r in range(n_rows)]
    texts += [f"{names[k]} = {own.upper[k]:g}" for k in fixed]
    texts += [f"{names[k]} ≤ {own.upper[k]:g}" for k in above] + [f"{names[k]} ≥ {own.lower[k]:g}" for k in below]
    terms = abs(matrix) @ abs(coef) + abs(limit)
    active = equal | (limit - matrix @ coef <= EQUAL * np.maximum(terms, 1e-12 * abs(coef).max(initial=0.0)))
    order = sorted(np.flatnonzero(active), key=lambda r: -multipliers[r])
    chosen = tuple(ActiveConstraint(texts[r], float(multipliers[r])) for r in order)
    limited = stated.max_features is not None
    counted = names if sources is None else sources
    used = tuple(dict.fromkeys(counted[int(k)] for k in np.flatnonzero(solution.coef))) if limited else None
    violation = float(solution.certificate.violation)
    return SolvedConstraints(limit.size, chosen, violation, used, bool(solution.formulation.is_convex))


def _bounds(constraints: ColumnConstraints) -> tuple[Any, Any, Any]:
    """The columns that are fixed, and those bounded above and below, in the order of `all_rows`."""
    is_fixed = constraints.lower == constraints.upper
    above, below = np.isfinite(constraints.upper) & ~is_fixed, np.isfinite(constraints.lower) & ~is_fixed
    return np.flatnonzero(is_fixed), np.flatnonzero(above), np.flatnonzero(below)


def _row(row: Array, limit: float, equal: bool, names: Sequence[str]) -> str:
    """A row such as ``age − 2 debt ≤ 0``."""
    used = np.flatnonzero(row)
    words: list[str] = []
    for place in used[:FEW]:
        size = "" if abs(row[place]) == 1 else f"{abs(row[place]):.4g} "
        sign = "− " if row[place] < 0 else "+ " if words else ""
        words.append(f"{sign}{size}{names[place]}")
    rest = f" + {used.size - FEW} more" if used.size > FEW else ""
    return f"{' '.join(words) or '0'}{rest} {'=' if equal else '≤'} {limit:g}"
