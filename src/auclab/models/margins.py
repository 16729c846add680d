"""The margins of a problem as explicit directions, for the models that need every one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.problem import Problem
from auclab.models.dual_lp import Margins
from auclab.types import Array


def pair_margins(problem: Problem, rows_pos: NDArray[np.intp], rows_neg: NDArray[np.intp]) -> Margins:
    """Directions ``x_i⁺ − x_j⁻``, in units of the features, of the given pairs, and capacities ``share_i share_j``."""
    sample = problem.sample
    X_pos, X_neg = sample.take(rows_pos, rows_neg)
    return Margins(X_pos - X_neg, sample.share_pos[rows_pos] * sample.share_neg[rows_neg])


def all_margins(problem: Problem) -> Margins:
    """Every hinge term of the problem: pairs in row-major order (positive, negative), or positives then negatives.

    Directions are in units of the features; capacities are shares and sum to 1.
    """
    sample = problem.sample
    if problem.over_pairs:
        rows_pos, rows_neg, weights = sample.pairs()
        X_pos, X_neg = sample.take(rows_pos, rows_neg)
        return Margins(X_pos - X_neg, weights)
    signs = np.r_[np.ones(sample.n_pos), -np.ones(sample.n_neg)]
    return Margins(sample.stack([sample.X_pos, -sample.X_neg]), np.concatenate(sample.point_weights), signs)


def marginals(problem: Problem, weights: Array) -> tuple[Array, Array]:
    """Multipliers per class, shapes (n_pos,) and (n_neg,), from the weights of `all_margins`."""
    sample = problem.sample
    if problem.over_pairs:
        rows_pos, rows_neg, _ = sample.pairs()
        pos, neg = np.bincount(rows_pos, weights, sample.n_pos), np.bincount(rows_neg, weights, sample.n_neg)
        return pos.astype(float), neg.astype(float)
    return weights[: sample.n_pos], weights[sample.n_pos :]
