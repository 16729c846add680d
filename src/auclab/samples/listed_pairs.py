"""The pairs of bicliques that somebody has listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.compiled.smooth import Index
from auclab.samples.bicliques import Side, weights_of_rows
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector


class ListedSide(NamedTuple):
    """The rows of one side of all bicliques, one biclique after the other, and which biclique each entry is of."""

    rows: Index
    owners: NDArray[np.intp]

    @classmethod
    def of(cls, name: str, sides: Sequence[ArrayLike]) -> ListedSide:
        """From lists of row numbers."""
        listed = [np.atleast_1d(np.asarray(side)) for side in sides]
        for k, rows in enumerate(listed):
            whole = rows.ndim == 1 and rows.size > 0 and rows.dtype.kind in "iu"
            if not whole or rows.min() < 0 or rows.max() > np.iinfo(np.int32).max:
                raise AuclabError(f"{name}[{k}] must be one or more row numbers, from 0 on, got {sides[k]!r}")
        rows = np.concatenate(listed) if listed else np.empty(0, np.int32)
        return cls(rows.astype(np.int32), np.repeat(np.arange(len(listed)), [rows.size for rows in listed]))

    def mass(self, weights: Array, n_bicliques: int) -> Array:
        """The sum of the weights of the rows of every biclique."""
        return np.bincount(self.owners, weights[self.rows], n_bicliques).astype(float, copy=False)

    def sorted_by(self, scores: Array, share: Array, n_bicliques: int) -> Side:
        """The side in ascending order of the scores within each biclique; `share` of every entry."""
        order = np.lexsort((scores[self.rows], self.owners))
        starts = np.searchsorted(self.owners, np.arange(n_bicliques + 1)).astype(np.int64)
        rows = self.rows[order]
        return Side(rows, starts, scores[rows], share[order])


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """The pairs of bicliques that are listed: pair (i, j) of biclique k has the weight ``factors[k] s_i s_j``.

    `factors` (n_bicliques,), `weights` (n_rows,): s; all weights of pairs sum to 1.
    """

    upper: ListedSide
    lower: ListedSide
    factors: Array
    weights: Array

    n_groups = 1

    @classmethod
    def of(
        cls,
        upper: Sequence[ArrayLike],
        lower: Sequence[ArrayLike],
        factors: ArrayLike | None = None,
        n_rows: int | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> ListedPairs:
        """Check row numbers and weights; `n_rows`: one more than the largest number if not given."""
        above, below = ListedSide.of("upper", upper), ListedSide.of("lower", lower)
        if len(upper) != len(lower) or not len(upper):
            raise AuclabError(f"give an upper and a lower side for each biclique, got {len(upper)} and {len(lower)}")
        most = 1 + int(max(above.rows.max(), below.rows.max()))
        if n_rows is not None and most > n_rows:
            raise AuclabError(f"the bicliques have row {most - 1}, and X has the rows 0 to {n_rows - 1}")
        cells, others = (side.owners * np.int64(most) + side.rows for side in (above, below))
        if np.unique(cells).size < cells.size or np.unique(others).size < others.size:
            raise AuclabError("a row is twice on one side of a biclique; give it once, or another biclique")
        if (both := np.intersect1d(cells, others)).size:
            raise AuclabError(f"row {both[0] % most} is on both sides of biclique {both[0] // most}: leave out one")
        each = np.ones(len(upper)) if factors is None else finite_vector("weights", factors)
        if each.shape != (len(upper),) or (each < 0).any():
            raise AuclabError(f"weights must be {len(upper)} numbers ≥ 0, one for each biclique, got {factors!r}")
        s = weights_of_rows(sample_weight, np.zeros(most if n_rows is None else n_rows, dtype=np.intp), "pairs")
        return cls(above, below, each, s)._normalised()

    def _normalised(self) -> ListedPairs:
        """The same with factors for which the weights of all pairs sum to 1."""
        upper, lower = (side.mass(self.weights, self.factors.size) for side in (self.upper, self.lower))
        scaled = self.factors / max(float(self.factors.max()), 1e-300)
        total = float(scaled @ (upper * lower))
        if not total > 0:
            raise AuclabError("no pair has a weight: give a biclique a weight above 0, of rows with weights above 0")
        return replace(self, factors=scaled / total)

    def __repr__(self) -> str:
        return f"ListedPairs({self.n_pairs} pairs of {self.n_rows} rows in {self.factors.size} bicliques)"

    @property
    def n_rows(self) -> int:
        """Number of rows, including those without a pair."""
        return int(self.weights.size)

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(np.bincount(self.upper.owners) @ np.bincount(self.lower.owners))

    @cached_property
    def shares(self) -> tuple[Array, Array]:
        """The weight of all pairs of a row, as the upper and as the lower one; two arrays of shape (n_rows,)."""
        both = (self.upper, self.lower), (self.lower, self.upper)
        upper, lower = (
            np.bincount(
                side.rows,
                (self.factors * other.mass(self.weights, self.factors.size))[side.owners] * self.weights[side.rows],
                self.n_rows,
            ).astype(float, copy=False)
            for side, other in both
        )
        return upper, lower

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any], Array]:
        """Every pair: the upper rows, the lower rows, and the weights; for small samples."""
        upper, lower = (np.bincount(side.owners, minlength=self.factors.size) for side in (self.upper, self.lower))
        sizes = upper * lower
        biclique = np.repeat(np.arange(sizes.size), sizes)
        number = np.arange(biclique.size) - (np.cumsum(sizes) - sizes)[biclique]
        above, below = np.divmod(number, lower[biclique])
        i = self.upper.rows[(np.cumsum(upper) - upper)[biclique] + above]
        j = self.lower.rows[(np.cumsum(lower) - lower)[biclique] + below]
        return i, j, self.factors[biclique] * self.weights[i] * self.weights[j]

    def sorted_by(self, scores: Array) -> tuple[Side, Side]:
        """The upper and the lower sides for scores of shape (n_rows,)."""
        share_upper = self.factors[self.upper.owners] * self.weights[self.upper.rows]
        upper = self.upper.sorted_by(scores, share_upper, self.factors.size)
        return upper, self.lower.sorted_by(scores, self.weights[self.lower.rows], self.factors.size)

    def thinned(self, size: int, generator: np.random.Generator) -> tuple[NDArray[np.intp], ListedPairs] | None:
        """About `size` rows and the pairs among them, or None if there are none; which rows, and their pairs."""
        chosen = generator.random(self.n_rows) < size / self.n_rows
        above, below = (side.owners[chosen[side.rows]] for side in (self.upper, self.lower))
        kept = np.intersect1d(above, below)
        if not kept.size:
            return None
        rows, places, numbers = np.flatnonzero(chosen), np.cumsum(chosen) - 1, np.arange(self.factors.size)
        numbers[kept] = np.arange(kept.size)

        def among(side: ListedSide) -> ListedSide:
            used = chosen[side.rows] & np.isin(side.owners, kept)
            return ListedSide(places[side.rows[used]].astype(np.int32), numbers[side.owners[used]])

        try:
            held = ListedPairs(among(self.upper), among(self.lower), self.factors[kept], self.weights[rows])
            return rows, held._normalised()
        except AuclabError:
            return None
