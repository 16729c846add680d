"""Structural components: how much every observation contributes to a metric, and the variance that follows.

Every metric here has, to first order, the form ``value + mean_i (V10_i − value) + mean_j (V01_j − value)`` with one
number for each positive and each negative. For a mean of a kernel over pairs they are its row and column means
(Hoeffding 1948; DeLong, DeLong & Clarke-Pearson 1988), and

    variance = S10/m₊ + S01/m₋,

S10 and S01 the sample variances of the two lists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auclab.inference.sample import Observations
from auclab.types import Array

#: Values that differ by less, relatively, are equal: the rest is rounding of sums.
FLAT = 2.0**-40


@dataclass(frozen=True)
class Components:
    """A metric's value with one component for every positive and every negative, in the caller's order.

    Attributes
    ----------
    value : float
        What the metric's own function returns.
    pos, neg : arrays of shape (n_pos,) and (n_neg,)
        V10 and V01; their (weighted) means are the value, up to rounding.
    share_pos, share_neg : arrays of the same shapes
        Weight of an observation as a share of its class.

    See Also
    --------
    estimate : Standard error and confidence interval from them.
    compare_scorers : Their differences between two scorers.

    Examples
    --------
    AUC of the positives 3 and 1 with the negatives 2 and 0: the kernel is [[1, 1], [0, 1]].

    >>> half = np.array([0.5, 0.5])
    >>> auc = Components(0.75, np.array([1.0, 0.5]), np.array([0.5, 1.0]), half, half)
    >>> round(auc.standard_error**2, 12)                  # S10 = S01 = 1/8, and (1/8)/2 + (1/8)/2
    0.125
    """

    value: float
    pos: Array
    neg: Array
    share_pos: Array
    share_neg: Array

    @cached_property
    def parts(self) -> tuple[float, float]:
        """Standard errors due to the positives and due to the negatives; NaN for a class of one observation."""
        return _error_of_mean(self.pos, self.share_pos), _error_of_mean(self.neg, self.share_neg)

    @property
    def standard_error(self) -> float:
        """``√(S10/m₊ + S01/m₋)``."""
        return math.hypot(*self.parts)

    @property
    def degrees_of_freedom(self) -> float:
        """Of the variance, after Welch and Satterthwaite; ∞ where the standard error is 0."""
        if self.standard_error == 0.0:
            return math.inf
        share = (self.parts[0] / self.standard_error) ** 2
        return 1.0 / (share**2 / max(self.pos.size - 1, 1) + (1.0 - share) ** 2 / max(self.neg.size - 1, 1))

    def __sub__(self, other: Components) -> Components:
        """Components of the difference of two metrics or scorers on the same observations."""
        return Components(
            self.value - other.value, self.pos - other.pos, self.neg - other.neg, self.share_pos, self.share_neg
        )


def arrange(value: float, rows_pos: Array, rows_neg: Array, observations: Observations) -> Components:
    """Components in the caller's order, from those of the sorted scores of either class."""
    order_pos, order_neg = observations.part.class_order
    return Components(value, _unsorted(rows_pos, order_pos), _unsorted(rows_neg, order_neg), *observations.shares)


def _unsorted(rows: Array, order: NDArray[np.intp]) -> Array:
    """Undo the sorting; equal scores have equal rows, so any order among them will do."""
    out = np.empty_like(rows)
    out[order] = rows
    return out


def _error_of_mean(components: Array, share: Array) -> float:
    """``√(n/(n−1) Σ share² (V − mean)²)``, which is S/√n for equal shares."""
    n = components.size
    if n == 1:
        return math.nan
    largest = float(np.max(np.abs(components))) or 1.0
    scaled = components / largest  # their squares stay in range
    if np.ptp(scaled) <= FLAT:
        return 0.0
    deviation = share * (scaled - np.sum(share * scaled))
    return math.sqrt(n / (n - 1) * float(np.sum(deviation**2))) * largest
