"""Weights of single pairs, slightly changed so that ``Σ q d`` is exactly 0, or well within its limit.

A program without a penalty has the dual constraint ``Σ q d = 0`` or ``‖Σ q d‖_* ≤ −z Σ q``, which floating-point sums
satisfy only up to rounding, and the violation would lower the bound in proportion to ‖w‖. A few pairs whose weight is
neither 0 nor full have room on both sides: with their differences as the columns of D and B near ``D⁻¹``, weights
``δ`` with ``Dδ = −g`` exist and have ``|δ| ≤ |B||g| + ρ/(1 − ρ) max |B||g|`` if ``ρ = ‖I − BD‖ < 1`` (Neumann).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab.compiled.pieces import pair_piece_sums
from auclab.formulations.problem import Problem
from auclab.types import Array

#: Pairs that are examined for each column.
_PAIRS_A_COLUMN = 50
#: The fraction of its room that a weight may use.
_ROOM = 0.99


@dataclass(frozen=True)
class FreePairs:
    """Pairs whose weights may increase and decrease.

    `differences` (n_features, n_pairs): ``x_i − x_j``, rounded. `largest` (n_features,): of the moduli of the entries
    of the rows. `room` (n_pairs,): by how much each weight may change.
    """

    differences: Array
    largest: Array
    room: Array

    @classmethod
    def of(cls, problem: Problem, i: NDArray[np.integer], j: NDArray[np.integer], room: Array) -> FreePairs:
        """Those of pairs of rows with the most room, a limited number."""
        sample = problem.sample
        most = np.argsort(-room)[: _PAIRS_A_COLUMN * sample.n_features]
        upper, lower = sample.take(i[most], j[most])
        differences = upper - lower
        differences = differences.toarray() if sample.is_sparse else differences
        return cls(np.asarray(differences, dtype=float).T, sample.peaks, _ROOM * room[most])

    @classmethod
    def in_band(cls, problem: Problem, coef: Array, half_width: float) -> FreePairs:
        """The pairs whose smoothed hinge at a scorer has a slope between 0 and 1."""
        program, sample = problem.program, problem.sample
        shift = 1.0 - program.threshold * program.regulariser.norm(coef)
        upper, lower = sample.sides(sample.scores(coef))
        none, no_slopes = np.zeros((2, 3)), np.zeros((2, 2))
        first, _, _ = pair_piece_sums(
            upper.scores, lower.scores, upper.share, lower.share, upper.starts, lower.starts, shift,
            np.array([-half_width, half_width]), none, no_slopes, none, np.zeros(2),
        )  # fmt: skip
        counts = first[1] - first[0]
        most = np.argsort(-counts, kind="stable")[: _PAIRS_A_COLUMN * sample.n_features]
        counts = np.minimum(counts[most], _PAIRS_A_COLUMN)
        above = np.repeat(most, counts)
        below = first[0][above] + np.arange(above.size) - np.repeat(np.cumsum(counts) - counts, counts)
        slope = 0.5 + 0.5 * (shift - upper.scores[above] + lower.scores[below]) / half_width
        room = np.maximum(np.minimum(slope, 1.0 - slope), 0.0) * upper.share[above] * lower.share[below]
        return cls.of(problem, upper.rows[above], lower.rows[below], room)

    def balancing(self, gradient: Array, error: Array) -> float | None:
        """An upper bound of ``Σ|δ|`` for changes that make ``Σ q d`` exactly 0; None if there is not enough room.

        `gradient`, `error` (n_features,): ``Σ q d`` is within `error` of `gradient`.
        """
        used = self.largest > 0  # constant columns have no differences
        chosen = self._independent(used)
        if chosen is None:
            return None
        D = self.differences[np.ix_(used, chosen)]
        try:
            B = np.linalg.inv(D)
        except np.linalg.LinAlgError:
            return None
        size, unit = D.shape[0], 2.0**-52
        apart = abs(np.eye(size) - B @ D) + (size + 2.0) * unit * (abs(B) @ abs(D))
        apart += abs(B) @ np.broadcast_to(unit * 2.0 * self.largest[used][:, None], D.shape)
        rho = float(apart.sum(axis=1).max()) * (1.0 + 2.0 * size * unit)
        if not rho < 0.5:
            return None
        most = abs(B @ gradient[used]) + abs(B) @ (error[used] + (size + 2.0) * unit * abs(gradient[used]))
        most = (most + rho / (1.0 - rho) * float(most.max())) * (1.0 + (size + 8.0) * unit)
        return float(most.sum()) * (1.0 + size * unit) if (most <= self.room[chosen]).all() else None

    def reducing(self, gradient: Array, part: float) -> Iterator[tuple[Array, Array, float]]:
        """A gradient from which about `part` is taken, its error, and ``Σ|δ|``: of all columns, and of the largest.

        Where the norm is a largest entry, the others need not fall.
        """
        used = (self.largest > 0) & (gradient != 0)
        size, D = abs(gradient[used]), self.differences[used]
        if not (size.size and self.room.size):
            return
        for weight in (np.ones_like(size), (size / size.max()) ** 4 + 1e-3):
            columns = weight[:, None] * D * self.room
            change = self.room * np.linalg.lstsq(columns, -part * weight * gradient[used], rcond=1e-9)[0]
            if (abs(change) <= self.room).all():
                total = float(abs(change).sum())
                left = gradient + self.differences @ change
                unit = 2.0**-52 * (change.size + 4.0)
                yield left, unit * (abs(gradient) + 2.0 * total * self.largest), total * (1.0 + unit)

    def _independent(self, used: NDArray[np.bool_]) -> NDArray[np.intp] | None:
        """As many pairs as columns, of independent differences and with room; None if there are none."""
        size = int(np.count_nonzero(used))
        if np.count_nonzero(self.room) < size:
            return None
        _, pivots = la.qr(self.differences[used] * self.room, mode="r", pivoting=True)
        return np.asarray(pivots[:size])
