"""The programs that an interior-point method solves: all margins of a problem, or its hard-margin separator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.problem import Problem
from auclab.regularisers import Regulariser
from auclab.solvers.interior.margins import Margins, PairMargins, PointMargins


@dataclass(frozen=True)
class Setting:
    """The rows with weight, their margins, masks of these rows within each class, the regulariser, and z."""

    rows: Any
    margins: Margins
    weighted: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    regulariser: Regulariser
    threshold: float


def _rows(problem: Problem) -> tuple[Any, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    sample = problem.sample
    weighted = sample.share_pos > 0, sample.share_neg > 0
    return sample.stack([sample.X_pos[weighted[0]], sample.X_neg[weighted[1]]]), weighted


def hard_margin(problem: Problem) -> Setting:
    """The shortest separator: a margin a row, of half the length over pairs."""
    rows, weighted = _rows(problem)
    sides = np.r_[np.ones(np.count_nonzero(weighted[0])), -np.ones(np.count_nonzero(weighted[1]))]
    least = 0.5 if problem.over_pairs else 1.0
    regulariser = problem.program.regulariser
    if not regulariser.weight and not regulariser.ridge:  # any weight: w is shortened to margins of 1 − z‖w‖
        regulariser = regulariser.with_weight(1.0)
    return Setting(rows, PointMargins(sides, np.full(sides.size, np.inf), least), weighted, regulariser, 0.0)


def all_margins(problem: Problem) -> Setting:
    """Every pair or point with its slack variable."""
    rows, weighted = _rows(problem)
    sample, program = problem.sample, problem.program
    if problem.over_pairs:
        shares = sample.share_pos[weighted[0]], sample.share_neg[weighted[1]]
        return Setting(rows, PairMargins(*shares), weighted, program.regulariser, program.threshold)
    pos, neg = (part[used] for part, used in zip(sample.point_weights, weighted, strict=True))
    sides = np.r_[np.ones(pos.size), -np.ones(neg.size)]
    return Setting(rows, PointMargins(sides, np.r_[pos, neg]), weighted, program.regulariser, program.threshold)
