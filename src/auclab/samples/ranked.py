"""Listed pairs, and a checked sample whose pairs are those of bicliques: every row may be on either side of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from auclab._core.accurate import weighted_column_sums
from auclab._core.base import Array, AuclabError
from auclab._core.forms import column_names
from auclab._core.rows import Check, gram, never
from auclab._core.smooth import Index
from auclab._core.validation import finite_vector, label_for_every_row
from auclab.samples.bicliques import LevelPairs, Side, weights_of_rows
from auclab.samples.features import checked_features, moved_rows
from auclab.samples.memory import Sample
from auclab.samples.protocol import Sums


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


#: Positives whose groups are looked at where a sample tells enough.
_LOOKED_AT = 10_000

#: Least ratio of the distances between groups to those within groups.
_FAR = 30.0


@dataclass(frozen=True)
class RankedSample(Sample):
    """Rows, held once, as the positives and as the negatives of a sample, with the pairs that count.

    `share_pos`, `share_neg` (n_samples,): the weight of the pairs in which a row is the upper one, and the lower one.
    `bicliques`: which rows are compared, and with which weight.

    Examples
    --------
    >>> from auclab.samples.bicliques import ordered_pairs
    >>> sample = RankedSample.of_pairs([[0.0], [1.0], [3.0]], ordered_pairs([0, 1, 2]))
    >>> sample.n_pairs, sample.mean_difference.tolist()   # the mean of 1, 2 and 3
    (3, [2.0])
    """

    is_of_classes = False
    bicliques: LevelPairs | ListedPairs = field(kw_only=True)

    @classmethod
    def of_pairs(cls, X: Any, bicliques: LevelPairs | ListedPairs) -> RankedSample:
        """Check `X` of shape (n_samples, n_features); `bicliques` are the pairs of its rows."""
        features, offset, peaks = checked_features(X)
        label_for_every_row(features.shape[0], bicliques.n_rows)
        sample = cls._of(moved_rows(features, offset, -1.0), bicliques, offset, column_names(X))
        sample.__dict__["peaks"] = peaks  # the cached property, known by now
        return sample

    @classmethod
    def _of(
        cls,
        X: Any,
        bicliques: LevelPairs | ListedPairs,
        offset: Array | None = None,
        columns: tuple[str, ...] | None = None,
    ) -> Self:
        every = np.ones(bicliques.n_rows, dtype=np.bool_)
        shares = bicliques.shares
        return cls(X, X, *shares, 0.5, every, True, offset=offset, columns=columns, bicliques=bicliques)

    @property
    def n_pairs(self) -> int:
        """Number of pairs that are compared."""
        return self.bicliques.n_pairs

    @property
    def n_entries(self) -> int:
        """Entries of the rows."""
        return int(self.X_pos.nnz if self.is_sparse else self.X_pos.size)

    def sides(self, scores: tuple[Array, Array]) -> tuple[Side, Side]:
        """Both sides of every biclique in ascending order of the scores."""
        return self.bicliques.sorted_by(scores[0])

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any], Array]:
        """Every pair: upper and lower rows, and weights."""
        return self.bicliques.pairs()

    def __str__(self) -> str:
        return "ranked rows"

    def joined_dual(self, signed: Array) -> Array:
        """Itself: a row is on both sides, and keeps its sign."""
        return signed

    @property
    def class_order(self) -> NDArray[np.intp]:
        """The order of the data, because every row is on both sides."""
        return np.arange(self.n_pos)

    @property
    def in_data_order(self) -> Any:
        """The rows."""
        return self.X_pos

    def of_rows(self, rows: Any) -> Sample:
        """The sample with other features."""
        return self.with_rows(rows, offset=None, columns=None)

    def signed(self, values_pos: Array, values_neg: Array) -> Array:
        """The factors of the rows in `combine`."""
        return values_pos - values_neg

    def scores(self, coef: Array) -> tuple[Array, Array]:
        """``X @ coef``, twice."""
        scores = np.asarray(self.X_pos @ coef)
        return scores, scores

    def combine(self, multipliers_pos: Array, multipliers_neg: Array) -> Array:
        """``Σ_i (α_i − β_i) x_i``, shape (n_features,)."""
        return np.asarray(self.X_pos.T @ (multipliers_pos - multipliers_neg), dtype=float)

    def accurate_sums(self, pos: Array, neg: Array) -> tuple[Sums, Sums]:
        """``Σ_i α_i x_i`` and ``Σ_j β_j x_j`` as ``(high, low, error)``, in twice the working precision."""
        return weighted_column_sums(self.X_pos, pos), weighted_column_sums(self.X_pos, neg)

    def gram(self, weight_pos: Array, weight_neg: Array, check: Check = never) -> Array:
        """``Σ_i (u_i + v_i) x_i x_iᵀ``, shape (n_features, n_features)."""
        return gram(self.X_pos, weight_pos + weight_neg, check)

    def with_rows(self, X: Any, **changes: Any) -> RankedSample:
        """The sample with other rows in the same places."""
        return replace(self, X_pos=X, X_neg=X, **changes)

    def uncentred(self) -> Sample:
        """The sample with its rows as they were given."""
        return self if self.offset is None else self.with_rows(moved_rows(self.X_pos, self.offset, 1.0), offset=None)

    def in_units(self, unit: Array) -> Sample:
        """The sample with its columns divided by `unit`, powers of 2."""
        rows = self.X_pos @ sp.diags_array(1.0 / unit) if self.is_sparse else self.X_pos / unit
        return self.with_rows(rows, offset=None)

    def join(self, values_pos: Array, values_neg: Array) -> Array:
        """Values as the upper row less those as the lower one, shape (n_samples,)."""
        return values_pos - values_neg

    def within_groups(self) -> RankedSample:
        """The sample with a row of its group subtracted from every row, up to rounding, where groups are far apart.

        It cancels in the pairs, and would cost digits in sums over all rows.
        """
        if self.is_sparse or isinstance(self.bicliques, ListedPairs) or self.bicliques.n_groups == 1:
            return self
        order, ends, blocks = self.bicliques.by_level
        groups, of_group = self.bicliques.groups, np.zeros(int(self.bicliques.groups.max()) + 1, dtype=np.intp)
        representatives = order[ends[blocks[:-1]]]
        of_group[groups[representatives]] = representatives
        some = np.arange(0, self.n_pos, max(1, self.n_pos // _LOOKED_AT))
        inside = abs(self.X_pos[some] - self.X_pos[of_group[groups[some]]]).max(axis=0)
        if (_FAR * inside >= np.ptp(self.X_pos[some], axis=0)).all():
            return self
        return self.with_rows(self.X_pos - self.X_pos[of_group[groups]], offset=None)

    def thinned(self, size: int, generator: np.random.Generator) -> RankedSample | None:
        """About `size` rows and the pairs among them; None where there is none."""
        found = self.bicliques.thinned(size, generator)
        return None if found is None else self._of(self.X_pos[found[0]], found[1])
