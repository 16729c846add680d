"""The least norm as a function of the level of bAUC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints
from auclab.solvers.dispatch import check_limits
from auclab.solvers.guaranteed.least_norm import LeastNorm, check_level
from auclab.solvers.guaranteed.records import Frontier
from auclab.types import AuclabError, Status

#: The highest default level, as a share of the largest bAUC, at which there would be nothing left to minimise.
_HIGHEST = 0.999


def frontier(
    X: Any,
    y: ArrayLike,
    levels: Sequence[float] | None = None,
    *,
    n_points: int = 10,
    cost: ArrayLike | None = None,
    constraints: Constraints | ColumnConstraints | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Frontier:
    """The least ``Σ_k cost_k |w_k|`` for several levels of buffered AUC, each certified by itself.

    The least norm is a nondecreasing convex function of the level. Levels are solved from the highest to the lowest:
    every scorer is a start for the next, and the cuts are kept.

    Parameters
    ----------
    X, y, cost, constraints, sample_weight, pos_label
        As in `auclab.solvers.guaranteed.least_norm`.
    levels : sequence of float in (0, 1), optional
        In any order.
    n_points : int ≥ 1
        Without `levels`: number of levels, equally spaced from 0 to 99.9 % of the largest bAUC.
    tolerance : float
        Relative gap of each, > 0.
    time_limit : float, optional
        Seconds for all of it, > 0.

    Returns
    -------
    Frontier
        The points in ascending order of their levels.

    Raises
    ------
    AuclabError
        A level that no scorer has, and what `least_norm` refuses.
    KeyboardInterrupt
        A solve was stopped by Ctrl-C.

    See Also
    --------
    auclab.displays.frontier.draw_frontier : The figure.

    Examples
    --------
    Margins 3, 1, 1 and −1 times w: the mean hinge is ``1 − w`` up to ⅓, then ``¾ − w/4`` up to 1, where it is least.

    >>> found = frontier([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], [0.2, 0.4])
    >>> found.norms.round(6).tolist(), round(found.best_bauc, 6)
    ([0.2, 0.6], 0.5)
    """
    check_limits(tolerance, time_limit)
    if n_points < 1:
        raise AuclabError(f"n_points must be at least 1, got {n_points}")
    if levels is not None:
        if len(levels) == 0:
            raise AuclabError("levels is empty; give numbers between 0 and 1, or leave it out")
        for level in levels:
            check_level(level, "a level")
    begin = perf_counter()
    search = LeastNorm(X, y, cost, constraints, tolerance, time_limit, sample_weight, pos_label)
    best = search.largest_level
    if levels is None and best <= 0.0:
        raise AuclabError("no linear scorer has a bAUC above 0 here: there is no frontier")
    chosen = np.linspace(0.0, _HIGHEST * best, n_points + 1)[1:] if levels is None else np.unique(levels)
    points = []
    for level in chosen[::-1]:
        point = search.at(float(level))
        if point.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        points.append(point)
    bound = 1.0 - search.best.lower_bound
    if not math.isinf(search.best.certificate.norm_bound):
        points[0] = replace(points[0], notes=(*points[0].notes, *search.best.notes))
    return Frontier(tuple(points[::-1]), best, bound, perf_counter() - begin)
