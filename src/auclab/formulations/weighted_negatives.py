"""The hinge over the hardest negatives as the largest of plain programs, one for every weighting r of the negatives.

    max_{r ∈ R} min_w [ Σ_ij r_j/n_pos [1 − w·(x_i⁺ − x_j⁻)]₊ + λΩ(w) ] = min_w max_{r ∈ R} [ … ],
    R = {0 ≤ r_j ≤ share_j/α, Σ r_j = 1},

so a lower bound of the plain program with any r in R for the shares of the negatives is one of `PartialAUC`, and the
certificate over pairs serves both (derived).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from auclab.formulations.partial_auc import PartialAUC
from auclab.formulations.problem import Problem
from auclab.formulations.ranksvm import RankSVM
from auclab.types import Array

#: Below this part of the largest weight, a weight may be rounding.
_NOISE = 1e-6


def plain_problem(problem: Problem, share_neg: Array, multipliers_neg: Array) -> Problem:
    """RankSVM (for λ = 0 bAUC maximisation) with the negatives weighed by a point of R near `share_neg`.

    Rounding leaves r_j and the weight of the pairs of j at some 1e-12 where both should be 0. Their ratio is then
    anything, and the largest ratio costs all multipliers a factor: such r_j are raised to the ratio of the others.
    """
    program = problem.program
    assert isinstance(program, PartialAUC)
    weighty = share_neg > _NOISE * share_neg.max()
    ratio = float((multipliers_neg[weighty] / share_neg[weighty]).max(initial=0.0))
    if ratio > 0:
        share_neg = np.fmax(share_neg, multipliers_neg / ratio)
    share = admissible(share_neg, program.capacity(problem.sample))
    plain = RankSVM(program.penalty, program.norm, program.squared)
    return Problem(plain, replace(problem.sample, share_neg=share, weighted=True))


def admissible(share: Array, capacity: Array) -> Array:
    """`share` cut to ``0 ≤ r ≤ capacity`` and with the sum 1: what is missing goes where there is room.

    Examples
    --------
    >>> admissible(np.array([0.9, 0.1, -0.2]), np.array([0.5, 0.5, 0.5])).tolist()  # 0.4 missing, room 0.4 and 0.5
    [0.5, 0.277..., 0.222...]
    """
    share = np.clip(share, 0.0, capacity)
    total = float(share.sum())
    if total >= 1.0:
        return share / total
    room = capacity - share
    # Rounding may leave less room than is missing, by a digit.
    return np.minimum(share + (1.0 - total) * (room / max(float(room.sum()), 1e-300)), capacity)
