"""Valid bounds on the coefficients of an optimum, without which no tree can prove anything.

A point that is no worse than U lies where ``λΩ(w) ≤ U`` and where every cut of the loss is at most U. The first bounds
each coefficient by itself; of the second a linear program finds the ends. It is solved in a box: where no end touches
the box, none is there without it, since the set is convex and has a point inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter
from typing import Any

import highspy
import numpy as np

from auclab.formulations.base import Program
from auclab.models.dual_lp import quiet_highs
from auclab.precision import MOST_STEPS, TOLERANCE
from auclab.types import Array

#: The first box of the search, in scores at unit spread, and the factor to the next: what touches that of 1/TOLERANCE
#: has no bound.
_BOX = 1e2


def penalty_bounds(program: Program, value: float, unit: Array) -> Array:
    """The largest ``|x_k|`` of a w with ``λΩ(w) ≤ value``, x = w·unit; infinite without a penalty.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> penalty_bounds(RankSVM(0.25, squared=True), 1.0, np.ones(1)).round(9).tolist()
    [2.0]
    """
    if program.regulariser.weight == 0:
        return np.full(unit.size, math.inf)
    length = value / program.regulariser.weight
    return (math.sqrt(length) if program.regulariser.squared else length) * unit * (1.0 + 1e-12)


def level_bounds(
    cut: Callable[[Array], tuple[float, float, Array]], value: float, lower: Array, upper: Array, seconds: float
) -> tuple[Array, Array, bool]:
    """Bounds of all x where the loss is at most `value`, and whether the search was ended by the time.

    They are infinite where none is found.

    `cut`: from x to the value there, and the constant and slope of a cut of the loss. `value`: that of a known point.
    `lower`, `upper` (n_columns,): −∞ and ∞ where there is none. `seconds`: after which the search ends with what it
    has, > 0.
    """
    end, n = perf_counter() + seconds, lower.size
    open_ends = [(k, side) for k in range(n) for side in (-1.0, 1.0) if not math.isfinite((lower, upper)[side > 0][k])]
    level: Any = quiet_highs(None)
    level.setOptionValue("presolve", "off")
    columns = np.arange(n, dtype=np.int32)
    level.addVars(n, np.maximum(lower, -_BOX), np.minimum(upper, _BOX))

    def add(x: Array) -> float:
        found, constant, slope = cut(x)
        used = np.flatnonzero(slope).astype(np.int32)  # S − G·x ≤ value
        level.addRow(constant - value, highspy.kHighsInf, used.size, used, slope[used])
        return found

    add(np.zeros(n))
    box, found = _BOX, dict.fromkeys(open_ends, math.inf)
    while True:
        touches = False
        for k, side in open_ends:
            for _ in range(MOST_STEPS):
                if perf_counter() > end:
                    return lower, upper, True
                level.changeColCost(k, -side)
                level.run()
                optimal = level.getModelStatus() == highspy.HighsModelStatus.kOptimal
                x = np.array(level.getSolution().col_value) if optimal else np.zeros(n)
                level.changeColCost(k, 0.0)
                if not optimal:
                    level.clearSolver()
                    return lower, upper, False
                if add(x) <= value * 1.05 or abs(x).max() < 0.5 * box:
                    break
            found[k, side] = abs(x[k]) if side * x[k] > 0 else 0.0
            touches |= bool((abs(x) >= box * (1.0 - 1e-6)).any())
        if not touches:
            break
        box *= _BOX
        if box > 1.0 / TOLERANCE:
            return lower, upper, False
        level.changeColsBounds(n, columns, np.maximum(lower, -box), np.minimum(upper, box))
    lower, upper = lower.copy(), upper.copy()
    for (k, side), size in found.items():
        (lower, upper)[side > 0][k] = side * (size * (1.0 + TOLERANCE) + TOLERANCE)
    return lower, upper, False
