"""A sample in memory, split by class.

Pair programs do not depend on an offset of a column, and in point programs the intercept absorbs it; but scores of
1e8 ± 1 have lost eight digits. If ``c/2 ≤ x ≤ 2c``, then ``x − c`` is exact in floating point (Sterbenz 1974), so a
c can be subtracted from a column in such an interval without a change of any difference of two rows. Any other column
is closer to 0 than its own range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from auclab._core.accurate import weighted_column_sums
from auclab._core.base import Array
from auclab._core.forms import column_names, dense
from auclab._core.hinge import ascending
from auclab._core.rows import Check, gram, never
from auclab._core.threads import LARGE, in_parallel
from auclab._core.validation import (
    both_classes_weighted,
    label_for_every_row,
    positive_mask,
    same_length,
    weight_vector,
)
from auclab.samples.bicliques import Side
from auclab.samples.features import checked_features, moved_rows
from auclab.samples.protocol import Sums


@dataclass(frozen=True)
class RowRounding:
    """Rounding errors of the rows of a sample: the true rows are ``X + rest``, within `error`."""

    rest_pos: Array
    rest_neg: Array
    error: Array

    @property
    def largest(self) -> Array:
        """Bounds on the errors of the entries of each column, shape (n_features,)."""
        return np.asarray(np.maximum(abs(self.rest_pos).max(axis=0), abs(self.rest_neg).max(axis=0)) + self.error)

    def in_units(self, unit: Array) -> RowRounding:
        """The rounding errors of the rows divided by `unit`, powers of 2."""
        return RowRounding(self.rest_pos / unit, self.rest_neg / unit, self.error / unit)


@dataclass(frozen=True)
class Sample:
    """The positive and the negative observations of a sample, with their weights.

    `X_pos`, `X_neg` (n_pos, n_features) and (n_neg, n_features): less `offset`. Arrays that are mostly zero are kept as
    CSR matrices. `share_pos`, `share_neg` (n_pos,) and (n_neg,): weights of the observations within their class, each
    with sum 1: a pair has the weight ``share_pos[i] · share_neg[j]``. `prior_pos` in (0, 1): weight of the positive
    class in the whole: a point has the weight ``prior_pos · share_pos[i]`` or ``(1 − prior_pos) · share_neg[j]``.
    `positive` (n_samples,): which observations are positive, in the order of the data. `weighted`: whether sample
    weights were given. `prior_neg` in (0, 1): weight of the negative class, which ``1 − prior_pos`` would round to 0
    if it is tiny. `offset` (n_features,), or None: what was subtracted from every row, without any rounding
    (`auclab.samples.memory`); None stands for zeros. `columns`: their names, where the data have some.
    """

    X_pos: Any
    X_neg: Any
    share_pos: Array
    share_neg: Array
    prior_pos: float
    positive: NDArray[np.bool_]
    weighted: bool
    prior_neg: float = field(default=math.nan, kw_only=True)
    offset: Array | None = field(default=None, kw_only=True)
    columns: tuple[str, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if math.isnan(self.prior_neg):
            object.__setattr__(self, "prior_neg", 1.0 - self.prior_pos)

    #: Whether the rows are read from files block by block (`auclab.samples.blocks.block_sample.BlockSample`).
    in_blocks: ClassVar[bool] = False
    #: Whether a row is on one side of its pairs, that of its class.
    is_of_classes: ClassVar[bool] = True
    #: Rounding errors of the rows, if they are means of others (`auclab.solvers.binned_loss`).
    rounding: RowRounding | None = field(default=None, kw_only=True)

    @classmethod
    def from_labels(
        cls, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None
    ) -> Sample:
        """Check `X` (n_samples, n_features), `y` and the weights, and split them by class."""
        features, offset, peaks = checked_features(X)
        positive = positive_mask(y, pos_label)
        label_for_every_row(features.shape[0], positive.size)
        weight = weight_vector(sample_weight, positive.size)
        same_length(y=positive, sample_weight=weight)
        share_pos, share_neg, prior_pos, prior_neg = class_shares(positive, weight)

        def rows_where(chosen: NDArray[np.bool_]) -> Any:
            return moved_rows(features[_rows_of(chosen)], offset, -1.0)

        X_pos, X_neg = in_parallel(rows_where, (positive,), (~positive,), threads=positive.size >= 2 * LARGE)
        sample = cls(
            X_pos=X_pos,
            X_neg=X_neg,
            share_pos=share_pos,
            share_neg=share_neg,
            prior_pos=prior_pos,
            prior_neg=prior_neg,
            positive=positive,
            weighted=weight is not None,
            offset=offset,
            columns=column_names(X),
        )
        sample.__dict__["peaks"] = peaks  # the cached property, known by now
        return sample

    @property
    def n_pos(self) -> int:
        """Number of positive observations."""
        return int(self.X_pos.shape[0])

    @property
    def n_neg(self) -> int:
        """Number of negative observations."""
        return int(self.X_neg.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X_pos.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the features are CSR matrices."""
        return bool(sp.issparse(self.X_pos))

    @property
    def drawn(self) -> Sample | None:
        """Rows in memory, drawn from a table too large for it; None for a sample in memory."""
        return None

    @property
    def n_entries(self) -> int:
        """Entries of the rows that are in memory or read: all of dense rows, the nonzeros of sparse ones."""
        stored = (X.nnz if self.is_sparse else X.size for X in (self.X_pos, self.X_neg))
        return int(sum(stored))

    @cached_property
    def _large(self) -> bool:
        """Whether a second thread makes a product with the rows faster."""
        return self.n_entries >= 10 * LARGE

    def arrays(self) -> tuple[Array, Array]:
        """`X_pos` and `X_neg` as arrays, those of CSR matrices filled."""
        pos, neg = (dense(X) for X in (self.X_pos, self.X_neg))
        return pos, neg

    def stack(self, parts: Sequence[Any]) -> Any:
        """Rows of this sample stacked vertically, as arrays or CSR matrices."""
        return sp.vstack(parts).tocsr() if self.is_sparse else np.vstack(parts)

    @property
    def weights(self) -> tuple[Array | None, Array | None]:
        """`(share_pos, share_neg)`, or `(None, None)` where all are equal: the compiled loops are faster without."""
        return (self.share_pos, self.share_neg) if self.weighted else (None, None)

    @property
    def point_weights(self) -> tuple[Array, Array]:
        """Weights of positives and negatives as points of one sample; together they sum to 1."""
        return self.prior_pos * self.share_pos, self.prior_neg * self.share_neg

    @property
    def mean_difference(self) -> Array:
        """Δ = mean(x⁺) − mean(x⁻), the mean of all pair differences."""
        return self.combine(self.share_pos, self.share_neg)

    def check_files(self) -> None:
        """Raise `AuclabError` if a file of rows in blocks has changed since it was opened, also after the last pass."""

    @cached_property
    def spread(self) -> Array:
        """A positive scale for every feature, about its standard deviation within the classes.

        Taken from at most 10⁴ observations a class; a feature that is constant among those gets the scale of its
        largest entry.
        """
        parts = [
            (X[strided(share.size)], share[strided(share.size)])
            for X, share in ((self.X_pos, self.share_pos), (self.X_neg, self.share_neg))
        ]

        def peaks(constant: NDArray[np.bool_]) -> Array:
            both = [abs(X[:, constant]).max(axis=0) for X in (self.X_pos, self.X_neg)]
            return np.asarray(np.maximum(*(np.ravel(dense(peak)) for peak in both)))

        return spread_of(parts, peaks)

    @cached_property
    def peaks(self) -> Array:
        """The largest modulus in every column, shape (n_features,)."""
        ends = [end for X in (self.X_pos, self.X_neg) for end in (X.max(axis=0), -X.min(axis=0))]
        return np.max([np.ravel(dense(end)) for end in ends], axis=0)

    def uncentred(self) -> Sample:
        """The sample with its rows as they were given, for methods whose rounding errors matter."""
        if self.offset is None:
            return self
        X_pos, X_neg = (moved_rows(X, self.offset, 1.0) for X in (self.X_pos, self.X_neg))
        return replace(self, X_pos=X_pos, X_neg=X_neg, offset=None)

    def in_units(self, unit: Array) -> Sample:
        """The sample with its columns divided by `unit`, powers of 2, whose scores are those of ``coef · unit``."""
        sides = self.X_pos, self.X_neg
        X_pos, X_neg = (X @ sp.diags_array(1.0 / unit) if self.is_sparse else X / unit for X in sides)
        rounding = None if self.rounding is None else self.rounding.in_units(unit)
        return replace(self, X_pos=X_pos, X_neg=X_neg, offset=None, rounding=rounding)

    def __str__(self) -> str:
        return f"{self.n_pos:,} positives and {self.n_neg:,} negatives"

    def joined_dual(self, signed: Array) -> Array:
        """Multipliers in the order of the data, of factors of the rows as `signed` gives them."""
        return self.join(*np.split(abs(signed), [self.n_pos]))

    @property
    def class_order(self) -> NDArray[np.intp]:
        """Numbers of the observations, positives first."""
        return np.r_[np.flatnonzero(self.positive), np.flatnonzero(~self.positive)]

    @property
    def in_data_order(self) -> Any:
        """The rows in the order of the data."""
        return self.stack([self.X_pos, self.X_neg])[np.argsort(self.class_order)]

    def of_rows(self, rows: Any) -> Sample:
        """The sample with other features, an array in the order `class_order`."""
        X_pos, X_neg = rows[: self.n_pos], rows[self.n_pos :]
        return replace(self, X_pos=X_pos, X_neg=X_neg, offset=None, rounding=None, columns=None)

    def signed(self, values_pos: Array, values_neg: Array) -> Array:
        """The factors of the rows in `combine`, in the order `class_order`."""
        return np.r_[values_pos, -values_neg]

    def scores(self, coef: Array) -> tuple[Array, Array]:
        """``(X_pos @ coef, X_neg @ coef)``."""
        pos, neg = in_parallel(lambda X: np.asarray(X @ coef), (self.X_pos,), (self.X_neg,), threads=self._large)
        return pos, neg

    @property
    def n_pairs(self) -> int:
        """Number of pairs that are compared."""
        return self.n_pos * self.n_neg

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any], Array]:
        """Every pair: the rows of the positives and of the negatives, and the weights; for small samples."""
        rows_pos, rows_neg = np.divmod(np.arange(self.n_pairs), self.n_neg)
        return rows_pos, rows_neg, self.share_pos[rows_pos] * self.share_neg[rows_neg]

    def sides(self, scores: tuple[Array, Array]) -> tuple[Side, Side]:
        """Both classes in ascending order of their scores, minus a common number, which cancels in the pairs."""

        def side(values: Array, share: Array) -> Side:
            order, ordered = ascending(values)
            return Side(order, np.array([0, order.size]), ordered, share[order] if self.weighted else share)

        threads = min(self.n_pos, self.n_neg) >= LARGE
        pos, neg = in_parallel(side, (scores[0], self.share_pos), (scores[1], self.share_neg), threads=threads)
        centre = 0.5 * float(neg.scores[0] + neg.scores[-1])  # subtracted to avoid cancellation in sums
        for each in (pos, neg):
            np.subtract(each.scores, centre, out=each.scores)
        return pos, neg

    def thinned(self, size: int, generator: np.random.Generator) -> Sample | None:
        """At most `size` rows of each class, drawn with replacement; None if they would have no pairs."""
        drawn = [
            generator.integers(0, count, size) if count > size else np.arange(count)
            for count in (self.n_pos, self.n_neg)
        ]
        shares = [share[rows] for share, rows in zip((self.share_pos, self.share_neg), drawn, strict=True)]
        X_pos, X_neg = self.take(drawn[0], drawn[1])
        share_pos, share_neg = (share / share.sum() for share in shares)
        priors = self.prior_pos, self.prior_neg
        return Sample(X_pos, X_neg, share_pos, share_neg, priors[0], self.positive, self.weighted, prior_neg=priors[1])

    def within_groups(self) -> Sample:
        """The sample with a common row subtracted from each group; itself if all rows are compared."""
        return self

    def take(self, rows_pos: NDArray[np.integer], rows_neg: NDArray[np.integer]) -> tuple[Any, Any]:
        """The rows of either class with these numbers, in their order; numbers may repeat."""
        large = (rows_pos.size + rows_neg.size) * self.n_features >= 2 * LARGE
        parts = (self.X_pos, rows_pos), (self.X_neg, rows_neg)
        X_pos, X_neg = in_parallel(lambda X, rows: X[rows], *parts, threads=large)
        return X_pos, X_neg

    def radii(self, lengths: Callable[[Array], Array]) -> tuple[float, float]:
        """The largest distance of a positive, and of a negative, from the mean of all rows, in a norm of rows."""
        centre = np.ravel(self.X_pos.sum(axis=0) + self.X_neg.sum(axis=0)) / (self.n_pos + self.n_neg)
        pos, neg = (farthest_row(X, centre, lengths) for X in (self.X_pos, self.X_neg))
        return pos, neg

    def accurate_sums(self, pos: Array, neg: Array) -> tuple[Sums, Sums]:
        """``Σ_i α_i x_i⁺`` and ``Σ_j β_j x_j⁻`` as ``(high, low, error)``, in twice the working precision."""
        parts = (self.X_pos, pos), (self.X_neg, neg)
        of_pos, of_neg = in_parallel(weighted_column_sums, *parts, threads=self._large)
        return of_pos, of_neg

    def gram(self, weight_pos: Array, weight_neg: Array, check: Check = never) -> Array:
        """``Σ_i u_i x_i⁺x_i⁺ᵀ + Σ_j v_j x_j⁻x_j⁻ᵀ``, shape (n_features, n_features); weights ≥ 0, most may be 0.

        `check`: called between parts of the rows, of less than a tenth of a second each.
        """
        return gram(self.X_pos, weight_pos, check) + gram(self.X_neg, weight_neg, check)

    def combine(self, multipliers_pos: Array, multipliers_neg: Array) -> Array:
        """``Σ_i α_i x_i⁺ − Σ_j β_j x_j⁻``, shape (n_features,)."""
        parts = (self.X_pos, multipliers_pos), (self.X_neg, multipliers_neg)
        pos, neg = in_parallel(combined_rows, *parts, threads=self._large)
        return np.asarray(pos - neg, dtype=float)

    def join(self, values_pos: Array, values_neg: Array) -> Array:
        """Values per class, in the order of the observations; shape (n_samples,)."""
        joined = np.empty(self.positive.size)
        joined[self.positive] = values_pos
        joined[~self.positive] = values_neg
        return joined


def class_shares(positive: NDArray[np.bool_], weight: Array | None) -> tuple[Array, Array, float, float]:
    """Weights within either class, each summing to 1, and the weights of the classes in the whole."""
    if weight is None:
        n_pos = int(np.count_nonzero(positive))
        n_neg = positive.size - n_pos
        return np.full(n_pos, 1.0 / n_pos), np.full(n_neg, 1.0 / n_neg), n_pos / positive.size, n_neg / positive.size
    both_classes_weighted(positive, weight)
    pos, neg = weight[positive], weight[~positive]
    total_pos, total_neg = float(pos.sum()), float(neg.sum())
    total = total_pos + total_neg
    return pos / total_pos, neg / total_neg, total_pos / total, total_neg / total


def farthest_row(rows: Any, centre: Array, lengths: Callable[[Array], Array]) -> float:
    """The largest ``‖x − centre‖`` in a norm of rows, some rows at a time: sparse ones are filled; 0 without rows."""
    # Entries of sparse rows that are filled at a time.
    farthest, step = 0.0, max(1, 10**7 // max(centre.size, 1))
    for start in range(0, rows.shape[0], step):
        block = dense(rows[start : start + step])
        farthest = max(farthest, float(lengths(block - centre).max()))
    return farthest


def strided(size: int) -> slice:
    """About 10⁴ evenly spaced observations of a class of this size, as a slice."""
    # Observations per class from which the spread of the features is estimated.
    return slice(None, None, max(1, size // 10_000))


def spread_of(parts: Sequence[tuple[Any, Array]], peaks: Callable[[NDArray[np.bool_]], Array]) -> Array:
    """A positive scale for every feature: its standard deviation within the classes, or its largest modulus.

    `parts`: rows of shape (k, n_features) of either class, and their weights. `peaks`: from a mask of features, shape
    (n_features,), to their largest moduli; called for constant features only.
    """
    variance = 0.0
    for rows, share in parts:
        weight = share / max(float(share.sum()), 1e-300)
        sparse = sp.issparse(rows)
        if not sparse:
            # Centred, because a common offset would cost digits of the variance.
            rows = rows - rows[0]
        square = rows.multiply(rows) if sparse else rows * rows
        variance = variance + np.maximum(square.T @ weight - (rows.T @ weight) ** 2, 0.0)
    spread = np.sqrt(np.asarray(variance))
    # Rounding leaves a constant feature with about 1e-8 of its size.
    constant = spread <= 1e-7 * spread.max()
    if constant.any():
        largest = peaks(constant)
        spread[constant] = np.where(largest > 0, largest, 1.0)
    return spread


def combined_rows(X: Any, weights: Array) -> Array:
    """``Σ_k weights_k x_k`` of rows in memory.

    Column-major rows are mostly a view of a larger array, which ``@`` reads in place and `numpy.dot` copies.
    """
    return np.asarray(weights @ X if isinstance(X, np.ndarray) else X.T @ weights)


def _rows_of(mask: NDArray[np.bool_]) -> Any:
    """An index of the rows in `mask`: a slice, which makes no copy, where they are consecutive."""
    first, count = int(mask.argmax()), int(np.count_nonzero(mask))
    return slice(first, first + count) if mask[first : first + count].all() else mask
