"""A labelled sample, checked once and split by class: what every value, bound and solver works on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from auclab.types import Array, AuclabError
from auclab.validation import positive_mask, same_length, weight_vector

_ENOUGH_ROWS = 10_000


@dataclass(frozen=True)
class Sample:
    """The two classes apart.

    `X_pos` (n_pos, n_features) and `X_neg` (n_neg, n_features) are float64 arrays or CSR matrices.
    `share_pos` and `share_neg` are the weights of the observations within their class and sum to 1 each, so a
    pair weighs ``share_pos[i] · share_neg[j]``; `prior_pos` is the weight of the positive class in the whole, so
    a point weighs ``prior_pos · share_pos[i]`` or ``(1 − prior_pos) · share_neg[j]``.
    """

    X_pos: Any
    X_neg: Any
    share_pos: Array
    share_neg: Array
    prior_pos: float
    positive: NDArray[np.bool_]
    weighted: bool

    @classmethod
    def from_labels(
        cls, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, pos_label: Any = None
    ) -> Sample:
        """Check `X` (n_samples, n_features), `y` and the weights, and split them by class.

        Raises
        ------
        AuclabError
            `X` not two-dimensional, not numeric, or with NaN or ±∞ (the place is named); lengths that differ;
            one class only; a class without weight.
        """
        features = _features(X)
        positive = positive_mask(y, pos_label)
        if features.shape[0] != positive.size:
            raise AuclabError(f"X has {features.shape[0]} rows, but there are {positive.size} labels")
        weight = weight_vector(sample_weight, positive.size)
        same_length(y=positive, sample_weight=weight)
        raw = np.ones(positive.size) if weight is None else weight
        total_pos, total_neg = float(raw[positive].sum()), float(raw[~positive].sum())
        if total_pos <= 0 or total_neg <= 0:
            raise AuclabError(
                f"the sample weights of the {'positive' if total_pos <= 0 else 'negative'} class are all zero; "
                "both classes need weight"
            )
        return cls(
            X_pos=features[_rows_of(positive)],
            X_neg=features[_rows_of(~positive)],
            share_pos=raw[positive] / total_pos,
            share_neg=raw[~positive] / total_neg,
            prior_pos=total_pos / (total_pos + total_neg),
            positive=positive,
            weighted=weight is not None,
        )

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
    def weights(self) -> tuple[Array | None, Array | None]:
        """`(share_pos, share_neg)`, or `(None, None)` where all are equal: the kernels are faster without."""
        return (self.share_pos, self.share_neg) if self.weighted else (None, None)

    @property
    def point_weights(self) -> tuple[Array, Array]:
        """Weights of positives and negatives as points of one sample; together they sum to 1."""
        return self.prior_pos * self.share_pos, (1.0 - self.prior_pos) * self.share_neg

    @property
    def mean_difference(self) -> Array:
        """Δ = mean(x⁺) − mean(x⁻), the mean of all pair differences."""
        return np.asarray(self.X_pos.T @ self.share_pos - self.X_neg.T @ self.share_neg, dtype=float)

    @cached_property
    def spread(self) -> Array:
        """A positive scale for every feature, about its standard deviation within the classes.

        Taken from at most 10⁴ observations a class; a feature that is constant among those gets the scale of its
        largest entry.
        """
        variance = np.zeros(self.n_features)
        for X, share in ((self.X_pos, self.share_pos), (self.X_neg, self.share_neg)):
            rows = slice(None, None, max(1, share.size // _ENOUGH_ROWS))
            some, weight = X[rows], share[rows] / max(float(share[rows].sum()), 1e-300)
            if not self.is_sparse:
                # A common offset would take the digits of the variance.
                some = some - some[0]
            square = some.multiply(some) if self.is_sparse else some * some
            variance += np.maximum(square.T @ weight - (some.T @ weight) ** 2, 0.0)
        spread = np.sqrt(variance)
        # Rounding leaves a constant feature with about 1e-8 of its size.
        constant = spread <= 1e-7 * spread.max()
        if constant.any():
            peaks = [abs(X[:, constant]).max(axis=0) for X in (self.X_pos, self.X_neg)]
            largest = np.maximum(*(np.ravel(peak.toarray() if self.is_sparse else peak) for peak in peaks))
            spread[constant] = np.where(largest > 0, largest, 1.0)
        return spread

    def combine(self, multipliers_pos: Array, multipliers_neg: Array) -> Array:
        """``Σ_i α_i x_i⁺ − Σ_j β_j x_j⁻``, shape (n_features,)."""
        return np.asarray(self.X_pos.T @ multipliers_pos - self.X_neg.T @ multipliers_neg, dtype=float)

    def join(self, values_pos: Array, values_neg: Array) -> Array:
        """Values per class put back into the order of the observations."""
        joined = np.empty(self.positive.size)
        joined[self.positive] = values_pos
        joined[~self.positive] = values_neg
        return joined


def _rows_of(mask: NDArray[np.bool_]) -> Any:
    """An index of the rows in `mask`: a slice, which copies nothing, where they follow one another."""
    first, count = int(mask.argmax()), int(np.count_nonzero(mask))
    return slice(first, first + count) if mask[first : first + count].all() else mask


def _features(X: Any) -> Any:
    """`X` as a finite float64 array or CSR matrix."""
    if sp.issparse(X):
        features = X.tocsr().astype(np.float64)
        values = features.data
    else:
        try:
            features = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise AuclabError(f"X must be numeric: {error}; encode categories first (preprocess=standard)") from error
        values = features
    if features.ndim != 2 or 0 in features.shape:
        raise AuclabError(f"X must have shape (n_samples, n_features) with both at least 1, got {features.shape}")
    if not np.isfinite(values).all():
        where = np.argwhere(~np.isfinite(features.toarray() if sp.issparse(X) else features))[0]
        bad = "NaN" if np.isnan(values).any() else "an infinite value"
        raise AuclabError(
            f"X contains {bad}, first at row {where[0]}, column {where[1]}; "
            "impute or drop it (every preprocess choice imputes missing values)"
        )
    return features
