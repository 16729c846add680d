"""Margins as explicit directions, and the hard-margin separator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab.formulations.problem import Problem
from auclab.models.dual_lp import Margins
from auclab.regularisers.projection import separating_multipliers, solve_quadratic_pair
from auclab.samples.memory import Sample
from auclab.samples.rotated import MAX_ROWS, centred_gram


def pair_margins(problem: Problem, rows_pos: NDArray[np.intp], rows_neg: NDArray[np.intp]) -> Margins:
    """Directions ``x_i⁺ − x_j⁻``, in units of the features, of the given pairs, and capacities ``share_i share_j``."""
    sample = problem.sample
    X_pos, X_neg = sample.take(rows_pos, rows_neg)
    return Margins(X_pos - X_neg, sample.share_pos[rows_pos] * sample.share_neg[rows_neg])


def all_margins(problem: Problem) -> Margins:
    """Every hinge term of the problem: pairs in row-major order (positive, negative), or positives then negatives.

    Directions are in units of the features; capacities are shares and sum to 1.
    """
    rows = problem.program.comparisons.rows(problem.sample)
    return Margins(rows.differences(problem.sample.X_pos, problem.sample.X_neg), rows.weights, rows.signs)


def marginals(problem: Problem, weights: Array) -> tuple[Array, Array]:
    """Multipliers per class, shapes (n_pos,) and (n_neg,), from the weights of `all_margins`."""
    sample = problem.sample
    return problem.program.comparisons.rows(sample).marginals(weights, sample.n_pos, sample.n_neg)


#: For larger samples (observations times features) with few features the solver's own separator is kept.
_MAX_SIZE = 300_000


@dataclass(frozen=True)
class Separator:
    """The hard-margin separator with the multipliers of its margins.

    `coef` (n_features,): w, in scores per unit of each feature. `intercept`: b, in scores. `multipliers` (n_pos,) and
    (n_neg,): ≥ 0, with equal sums and ``Σ α_i x_i⁺ − Σ β_j x_j⁻ = w``; their sums are ‖w‖² over pairs, ½‖w‖² over
    points.
    """

    coef: Array
    intercept: float
    multipliers: tuple[Array, Array]


def is_separated_by_rows(sample: Sample) -> bool:
    """Whether the separator is found by the Gram matrix: of rows that have half as many columns or more."""
    n_rows = sample.n_pos + sample.n_neg
    return not sample.in_blocks and n_rows <= min(MAX_ROWS, 2 * sample.n_features)


def is_quickly_separated(sample: Sample) -> bool:
    """Whether the separator is cheap to compute."""
    n_entries = (sample.n_pos + sample.n_neg) * sample.n_features
    return is_separated_by_rows(sample) or (not sample.in_blocks and n_entries <= _MAX_SIZE)


def hard_margin(problem: Problem, stopped: Callable[[], object] = lambda: None) -> Separator | None:
    """Argmin ‖w‖₂ with every margin at least 1, over pairs or points; None if it is not found.

    Pairs need no pair rows: ``w·x_i⁺ ≥ c + ½`` and ``w·x_j⁻ ≤ c − ½`` for one c; points have 1 in place of ½ and
    ``b = −c``.

    `stopped`: a result other than None gives up.
    """
    sample = problem.sample
    if not is_quickly_separated(sample):
        return None
    weighted = sample.share_pos > 0, sample.share_neg > 0
    rows = sample.stack([sample.X_pos[weighted[0]], sample.X_neg[weighted[1]]])
    n_pos = int(np.count_nonzero(weighted[0]))
    sides = np.r_[np.ones(n_pos), -np.ones(rows.shape[0] - n_pos)]
    found = (_by_gram if is_separated_by_rows(sample) else _by_cone)(rows, sides, stopped)
    if found is None:
        return None
    coef, multipliers = found
    half = 0.5 * problem.program.comparisons.total(1.0, 1.0)
    # The method ends slightly inside or outside: rescale until the smallest margin is 1.
    scores = np.asarray(rows @ coef)
    least, largest = float(scores[:n_pos].min()), float(scores[n_pos:].max())
    if least <= largest:
        return None
    factor = 2.0 * half / (least - largest) * (1 + 1e-14)
    of_rows = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
    of_rows[0][weighted[0]], of_rows[1][weighted[1]] = np.split(half * multipliers, [n_pos])
    return Separator(factor * coef, -0.5 * factor * (least + largest), of_rows)


def _by_gram(rows: Any, sides: Array, stopped: Callable[[], object]) -> tuple[Array, Array] | None:
    """The separator with margins of 1 over points, and its multipliers: a program over rows."""
    with np.errstate(over="ignore", invalid="ignore"):  # rows whose squares leave the range are left to others
        multipliers = separating_multipliers(centred_gram(rows), sides, lambda: stopped() is not None)
    return None if multipliers is None else (np.asarray(rows.T @ (sides * multipliers)), multipliers)


def _by_cone(rows: Any, sides: Array, stopped: Callable[[], object]) -> tuple[Array, Array] | None:
    """The same as a program over columns."""
    n_features = rows.shape[1]
    with_intercept = sp.hstack([sp.csc_array(rows), sp.csc_array(np.ones((sides.size, 1)))], format="csc")
    matrix = sp.csc_array(sp.diags_array(-sides) @ with_intercept)
    quadratic = sp.diags_array(np.r_[np.ones(n_features), 0.0], format="csc")
    found = solve_quadratic_pair(quadratic, np.zeros(n_features + 1), None, (matrix, -np.ones(sides.size)))
    return None if found is None else (found[0][:-1], found[1])
