"""The smoothed loss at one point: value, multipliers, and what its Hessian needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab.compiled.smooth import Index
from auclab.samples.memory import Sample
from auclab.solvers.smoothed.row_products import Check, with_secant
from auclab.types import Array


@dataclass
class Evaluation:
    """The smoothed loss at a point.

    `half_width`: h of the band ``|a| < h`` in which the hinge is quadratic, in units of the margins. `value`: the
    smoothed mean. `multipliers` (n_pos,) and (n_neg,): the marginals of ``q α`` with ``α = φ'(a)``; over the hardest
    negatives also their weights r. `smoothing_gap`: ``mean(φ(a) − α a)`` ≥ 0: the difference of primal and dual value
    that the smoothing leaves at its minimum. `band_share` in [0, 1]: share of the margins in the band. `state`: further
    data for the Hessian; None once released. `theta` (n_features + 2,): the point ``(w, b, ‖w‖)``.
    """

    half_width: float
    value: float
    multipliers: tuple[Array, ...]
    smoothing_gap: float
    band_share: float
    state: Any
    theta: Array

    def release(self) -> None:
        """Drop the data that only the Hessian needs, at 10⁷ observations most of the memory."""
        self.state = None


class SmoothedLoss(ABC):
    """The smoothed loss of a program on a sample (`auclab.solvers.smoothed.smoothed_loss`).

    `sample`: the observations to sum over: those of the problem, or a subsample. `check`: called between the parts of a
    Hessian.
    """

    over_pairs = True

    def __init__(self, sample: Sample, check: Check):
        self.sample, self.check = sample, check

    @abstractmethod
    def evaluate(self, theta: Array, half_width: float) -> Evaluation:
        """Value and multipliers at `theta`."""

    @abstractmethod
    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_features + 2,)."""

    @abstractmethod
    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ q φ'' D Dᵀ`` over the band, shape (n_features + 2, n_features + 2)."""

    @abstractmethod
    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """The Hessian's diagonal or an upper bound of it, shape (n_features + 2,)."""

    @abstractmethod
    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, ...]:
        """The marginals of ``q φ'' D·step``, by which a step lowers the multipliers; O(m n)."""

    def linearised(self, evaluation: Evaluation, step: Array) -> tuple[Array, ...]:
        """The multipliers ``α − φ'' D·step`` of either class (and r over the hardest negatives) after a step."""
        result = self.multiplier_change(evaluation, step)
        for before, change in zip(evaluation.multipliers, result, strict=True):
            np.subtract(before, change, out=change)
        return with_one_sum(result) if self.over_pairs else result

    def reusable(self, hessian: Array, evaluation: Evaluation) -> Array:
        """The part of a Hessian that is usable at other points and for other samples: all of it."""
        return hessian

    def completed(self, hessian: Array, evaluation: Evaluation) -> Array:
        """A reusable Hessian plus the terms of this point: none here."""
        return hessian

    def learned(self, hessian: Array, step: Array, change: Array) -> Array:
        """A reusable Hessian improved by how the negative gradient fell along a step."""
        return with_secant(hessian, step, change)


def with_one_sum(multipliers: tuple[Array, ...]) -> tuple[Array, ...]:
    """Multipliers of pairs, made to have equal sums over both classes, in place; they differ by rounding.

    The difference is multiplied by the means of the columns: in a gradient it moves the minimum along them as far as
    the penalty allows, and in a dual point it lowers the bound.

    Examples
    --------
    >>> [part.tolist() for part in with_one_sum((np.array([0.5, 0.5]), np.array([2.0])))]
    [[0.5, 0.5], [1.0]]
    """
    sums = [float(part.sum()) for part in multipliers[:2]]
    for part, total in zip(multipliers[:2], sums, strict=True):
        if 0.0 < min(sums) < total:
            part *= min(sums) / total
    return multipliers


def in_sample_order(values: Array, order: Index, size: int | None = None) -> Array:
    """Values of sorted observations in the order of the sample; 0 for the others of `size` where not all are sorted.

    Examples
    --------
    >>> in_sample_order(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1], dtype=np.int32)).tolist()
    [2.0, 3.0, 1.0]
    """
    original = np.empty_like(values) if size is None else np.zeros(size)
    original[order] = values
    return original


def entrywise_square(X: Any) -> Any:
    """``X * X`` of an array or a CSR matrix."""
    return X.multiply(X).tocsr() if hasattr(X, "toarray") else X * X
