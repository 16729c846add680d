"""How an error ``1 − margin`` is charged, in integers. A new loss is a class here and a line in `LOSSES`."""

from __future__ import annotations

import numpy as np

from auclab.check.exact import Integers


class Hinge:
    """``ℓ(e) = max(0, e)``, with ``ℓ*(α) = 0`` for α in [0, 1], so that multipliers q prove ``Σ q``.

    Attributes
    ----------
    degree : int
        Values are in the unit of the errors to this power.

    Examples
    --------
    >>> numbers = np.array([0, 2, 5], dtype=object)
    >>> Hinge().sums(np.array([3], dtype=object), numbers, np.array([1, 1, 1], dtype=object))   # 3 + 1 + 0
    array([4], dtype=object)
    """

    degree = 1

    def values(self, errors: Integers) -> Integers:
        """ℓ of every error."""
        return np.asarray(np.maximum(errors, 0))

    def sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ(level − score_i)`` for every level, from running sums over the sorted scores."""
        order = np.argsort(scores, kind="stable")
        scores, weight = scores[order], weight[order]
        zero = np.array([0], dtype=object)
        counts = np.concatenate([zero, np.cumsum(weight)])
        sums = np.concatenate([zero, np.cumsum(weight * scores)])
        below = np.searchsorted(scores, levels)
        return np.asarray(levels * counts[below] - sums[below])


LOSSES = {"hinge": Hinge()}
