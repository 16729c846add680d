"""The best certified value as a function of the number of features, compared with the l1 path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.formulations import Program, RankSVM, as_formulation
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.samples.as_sample import as_sample
from auclab.solvers.dispatch import solve_problem
from auclab.solvers.path import solve_path
from auclab.solvers.solution import Solution


@dataclass(frozen=True)
class FeaturePath:
    """Solutions with at most 1, 2, … features.

    `counts`: numbers of features k. `solutions`: with at most the number of features in `counts` each; their lower
    bounds hold for all choices of features, without a penalty up to `Certificate.norm_bound`. `l1`: of RankSVM with an
    l1 penalty, along its path: features that are used, and the value of the program once it is solved on these features
    without the penalty of the path.
    """

    counts: tuple[int, ...]
    solutions: tuple[Solution, ...]
    l1: tuple[tuple[int, float], ...]


def feature_path(
    formulation: str | Program,
    X: Any,
    y: ArrayLike,
    counts: Sequence[int],
    *,
    constraints: ColumnConstraints | None = None,
    tolerance: float = 1e-4,
    time_limit: float | None = 60.0,
    penalties: int = 20,
) -> FeaturePath:
    """Solve a convex formulation with at most k features, for several k.

    Parameters
    ----------
    formulation : str or Program
        Convex.
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    counts : sequence of int
        Numbers of features, ≥ 1.
    constraints : ColumnConstraints, optional
        Bounds, rows, groups; its `max_features` is ignored.
    tolerance, time_limit : float
        Tolerance and time limit of each solve.
    penalties : int
        Penalties on the l1 path, ≥ 1.

    See Also
    --------
    auclab.displays.coefficients.draw_feature_path : Draws it.
    auclab.solve : A single limit `max_features`.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [3.0, 1.0]])
    >>> path = feature_path(RankSVM(0.1, "l1"), X, [0, 0, 1, 1], [1, 2])
    >>> path.solutions[1].objective <= path.solutions[0].objective + 1e-6
    True
    """
    program, sample = as_formulation(formulation), as_sample(X, y)
    n = sample.n_features
    given = ColumnConstraints.of(n) if constraints is None else constraints
    solutions = [
        solve_problem(
            Problem(program, sample, replace(given, max_features=int(count))),
            "auto",
            tolerance=tolerance,
            clock=Clock(time_limit),
        )
        for count in counts
    ]
    largest = RankSVM(1.0, "l1").null_penalty(X, y)
    values = np.geomspace(0.7 * largest, 1e-3 * largest, penalties)
    found: dict[int, float] = {}
    for each in solve_path(RankSVM(1.0, "l1"), X, y, values.tolist(), parameter="penalty", tolerance=1e-4):
        used = np.isin(given.groups, given.groups[np.abs(each.coef) * sample.spread > 1e-6])
        count = int(np.unique(given.groups[used]).size)
        if not 0 < count <= max(counts):
            continue
        lower, upper = np.where(used, given.lower, 0.0), np.where(used, given.upper, 0.0)
        only = replace(given, lower=lower, upper=upper, max_features=None)
        value = solve_problem(Problem(program, sample, only), "auto", tolerance=tolerance, clock=Clock(time_limit))
        found[count] = min(found.get(count, np.inf), value.objective)
    return FeaturePath(tuple(int(count) for count in counts), tuple(solutions), tuple(sorted(found.items())))
