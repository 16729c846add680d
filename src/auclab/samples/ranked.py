"""A checked sample whose pairs are those of bicliques: every row may be the upper one of a pair, or the lower one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.accurate import weighted_column_sums
from auclab._core.base import Array
from auclab._core.forms import column_names
from auclab._core.rows import Check, gram, never
from auclab._core.validation import label_for_every_row
from auclab.samples.bicliques import LevelPairs, ListedPairs, Side
from auclab.samples.features import checked_features, moved_rows
from auclab.samples.memory import Sample
from auclab.samples.protocol import Sums

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
