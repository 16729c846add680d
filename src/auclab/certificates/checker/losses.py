"""How an error ``1 − margin`` is charged, in integers. A new loss is a class here and a line in `LOSSES`."""

from __future__ import annotations

import numpy as np

from auclab.certificates.checker.constraints import Integers


class Hinge:
    """``ℓ(e) = max(0, e)``, with ``ℓ*(α) = 0`` for α in [0, 1], so that multipliers q prove ``Σ q``.

    What other losses have is what this class has.

    `degree`: values are in the unit of the errors to this power, slopes in it to a power less by one. `by_marginals`:
    whether multipliers of the margins enter the bound by their sums for each observation alone; else the dual point is
    that of the scorer, ``α = ℓ'(e)``.

    Examples
    --------
    >>> numbers = np.array([0, 2, 5], dtype=object)
    >>> Hinge().sums(np.array([3], dtype=object), numbers, np.array([1, 1, 1], dtype=object))   # 3 + 1 + 0
    array([4], dtype=object)
    """

    degree = 1
    by_marginals = True

    def values(self, errors: Integers) -> Integers:
        """ℓ of every error."""
        return np.asarray(np.maximum(errors, 0))

    def slopes(self, errors: Integers) -> Integers:
        """ℓ' of every error."""
        return np.asarray((errors > 0).astype(np.int64).astype(object))

    def conjugates(self, errors: Integers) -> Integers:
        """``ℓ*(ℓ'(e)) = e ℓ'(e) − ℓ(e)`` of every error."""
        return np.asarray(errors * self.slopes(errors) - self.values(errors))

    def sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ(level − score_i)`` for every level, from running sums over the sorted scores."""
        counts, sums, _ = running_sums(levels, scores, weight)
        return np.asarray(levels * counts - sums)

    def slope_sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ'(level − score_i)``."""
        return running_sums(levels, scores, weight)[0]

    def conjugate_sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ*(ℓ'(level − score_i))``."""
        return np.asarray(levels * 0)

    def within(self, multipliers: Integers, weights: Integers) -> Integers:
        """Multipliers ``q ≥ 0`` of single margins, at most their weights times the largest slope of ℓ."""
        return np.asarray(np.minimum(multipliers, weights))

    def dual_costs(self, multipliers: Integers, weights: Integers) -> Integers:
        """``weight ℓ*(q / weight)`` of single margins, weights > 0, rounded up."""
        return np.asarray(multipliers * 0)


class SquaredHinge(Hinge):
    """``ℓ(e) = max(0, e)²``, with slope ``2 max(0, e)`` and ``ℓ*(α) = α²/4``, which is ℓ(e) at the slope of e."""

    degree = 2
    by_marginals = False

    def values(self, errors: Integers) -> Integers:
        """ℓ of every error."""
        return np.asarray(super().values(errors) ** 2)

    def slopes(self, errors: Integers) -> Integers:
        """ℓ' of every error."""
        return np.asarray(2 * super().values(errors))

    def sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ(level − score_i)`` for every level."""
        counts, sums, squares = running_sums(levels, scores, weight)
        return np.asarray(levels * (levels * counts - 2 * sums) + squares)

    def slope_sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ'(level − score_i)``."""
        return np.asarray(2 * super().sums(levels, scores, weight))

    def conjugate_sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ*(ℓ'(level − score_i))``."""
        return self.sums(levels, scores, weight)

    def within(self, multipliers: Integers, weights: Integers) -> Integers:
        """Multipliers of single margins: the slope of ℓ has no bound."""
        return multipliers

    def dual_costs(self, multipliers: Integers, weights: Integers) -> Integers:
        """``q²/(4 weight)``, rounded up."""
        return np.asarray(-(-(multipliers**2) // (4 * weights)))


def running_sums(levels: Integers, scores: Integers, weight: Integers) -> list[Integers]:
    """Sums of weight, weight · score and weight · score² over the scores below every level.

    Examples
    --------
    >>> numbers = np.array([0, 2, 5], dtype=object)
    >>> [part.tolist() for part in running_sums(np.array([3], dtype=object), numbers, numbers + 1)]
    [[4], [6], [12]]
    """
    order = np.argsort(scores, kind="stable")
    scores, weight = scores[order], weight[order]
    below = np.searchsorted(scores, levels)
    zero = np.array([0], dtype=object)
    return [np.concatenate([zero, np.cumsum(terms)])[below] for terms in (weight, weight * scores, weight * scores**2)]


LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}
