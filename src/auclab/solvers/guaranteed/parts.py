"""Mean hinges over some of the pairs, each with a limit or as the objective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.bauc import BufferedAUC
from auclab.formulations.problem import Problem
from auclab.precision import ROUNDING, tenfold
from auclab.samples.memory import Sample
from auclab.types import Array

#: Blocks of a mean hinge (measured: 8 take a fourth of the steps of 1, and more blocks hardly fewer).
_BLOCKS = 8
#: Least number of positives in a block.
_LEAST_BLOCK = 4
#: Shares of an inner point that are mixed in, one after the other: none, rounding, and ten times as much.
_SHARES = (0.0, *tenfold(ROUNDING, 0.1))


@dataclass(frozen=True)
class Part:
    """The mean hinge ``h(w) = mean_ij [1 − w·d_ij]₊`` over the pairs of a sample, as a sum over blocks of positives.

    `name`: whose pairs: "all pairs", or of a group. `sample`: positives and negatives of the pairs, in memory.
    """

    name: str
    sample: Sample

    @cached_property
    def problem(self) -> Problem:
        """The program that minimises it: buffered AUC."""
        return Problem(BufferedAUC(), self.sample)

    @cached_property
    def blocks(self) -> tuple[NDArray[np.intp], ...]:
        """The positives of each block, drawn at random with a fixed seed, so that the blocks are alike."""
        count = max(1, min(_BLOCKS, self.sample.n_pos // _LEAST_BLOCK))
        return tuple(np.array_split(np.random.default_rng(0).permutation(self.sample.n_pos), count))

    @cached_property
    def _rows(self) -> tuple[Any, ...]:
        return tuple(self.sample.X_pos[block] for block in self.blocks)

    @cached_property
    def _block_of(self) -> NDArray[np.intp]:
        """The block of every positive."""
        numbers = np.empty(self.sample.n_pos, np.intp)
        for number, block in enumerate(self.blocks):
            numbers[block] = number
        return numbers

    def cuts(self, coef: Array) -> tuple[Array, Array]:
        """Cuts that support the blocks at a point; O(m n + m log m).

        Returned `slopes`: block b is at least ``constants[b] − slopes[b]·w``, and equal to it at the point.
        """
        pos, neg = self.active(coef)
        constants: Array = np.bincount(self._block_of, pos, minlength=len(self.blocks)).astype(np.float64)
        slopes = np.array([rows.T @ pos[block] for rows, block in zip(self._rows, self.blocks, strict=True)])
        return constants, slopes - (self.sample.X_neg.T @ neg.T).T

    def active(self, coef: Array) -> tuple[Array, Array]:
        """The weights of the pairs with a positive hinge at a point, summed for each observation.

        Returned `neg`: for the pairs with the positives of each block.
        """
        sample, n_blocks = self.sample, len(self.blocks)
        pos, neg = sample.scores(coef)
        center = 0.5 * float(neg.min() + neg.max())  # without a common offset no digits are lost
        order = np.argsort(neg)
        first = np.searchsorted(neg[order] - center, (pos - center) - 1.0, side="right")  # active from here on
        share = sample.share_neg[order]
        above = np.r_[np.cumsum(share[::-1])[::-1], 0.0]
        size = sample.n_neg + 1
        begins = np.bincount(self._block_of * size + first, sample.share_pos, minlength=n_blocks * size)
        of_neg = np.empty((n_blocks, sample.n_neg))
        of_neg[:, order] = share * np.cumsum(begins.reshape(n_blocks, size)[:, :-1], axis=1)
        return sample.share_pos * above[first], of_neg

    def value(self, coef: Array) -> float:
        """The value at a point, in twice the working precision where that is needed."""
        return self.problem.accurate_objective(coef, 0.0)


def limit_of(level: float) -> float:
    """The largest mean hinge with which bAUC is at least `level`: 1 − level, rounded down.

    Examples
    --------
    >>> 0.0 < 0.1 - limit_of(0.9) < 1e-16
    True
    """
    return math.nextafter(1.0 - level, -math.inf)


def kept_inside(parts: Sequence[Part], limits: Sequence[float], coef: Array, inner: Array) -> Array:
    """The point if it keeps all limits, in twice the working precision, or the nearest mixture with one that does.

    A mean hinge is convex: the mixture ``(1 − s) w + s v`` has at most ``(1 − s) h(w) + s h(v)``.
    """
    for share in _SHARES:
        mixed = coef + share * (inner - coef)
        if all(part.value(mixed) <= limit for part, limit in zip(parts, limits, strict=True)):
            return mixed
    return inner
