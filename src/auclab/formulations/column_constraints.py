"""What the coefficients of a sample's columns have to satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from auclab.types import Array, AuclabError


@dataclass(frozen=True, eq=False)
class ColumnConstraints:
    """The set ``{w : lower ≤ w ≤ upper, (A w)_r ≤ c_r or (A w)_r = c_r, at most k groups of columns with w ≠ 0}``.

    `lower`, `upper` (n_features,): −∞ and ∞ where there is none. `matrix` (n_rows, n_features): a. `limit` (n_rows,):
    c. `equal`: whether a row is an equation. `max_features`: k ≥ 1, which makes the set nonconvex; None for no limit.
    `groups`: columns that count as one feature, such as those of a nominal one; by default each column is a feature.
    `forced`: groups that count whether their coefficients are 0 or not.
    """

    lower: Array
    upper: Array
    matrix: Array
    limit: Array
    equal: NDArray[np.bool_]
    max_features: int | None = None
    groups: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    forced: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        n_features: int,
        *,
        lower: Sequence[float] | Array | None = None,
        upper: Sequence[float] | Array | None = None,
        matrix: Sequence[Sequence[float]] | Array | None = None,
        limit: Sequence[float] | Array | None = None,
        equal: Sequence[bool] | NDArray[np.bool_] | None = None,
        max_features: int | None = None,
        groups: Sequence[int] | NDArray[np.intp] | None = None,
        forced: Sequence[int] = (),
    ) -> Self:
        """Checked constraints; those that are left out do not limit anything."""
        rows = np.zeros((0, n_features)) if matrix is None else np.array(matrix, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != n_features:
            raise AuclabError(f"constraints have a matrix of shape {rows.shape}; the data have {n_features} columns")
        parts = {
            "lower": np.full(n_features, -np.inf) if lower is None else np.array(lower, dtype=np.float64),
            "upper": np.full(n_features, np.inf) if upper is None else np.array(upper, dtype=np.float64),
            "limit": np.zeros(len(rows)) if limit is None else np.array(limit, dtype=np.float64),
        }
        for name, values in parts.items():
            length = len(rows) if name == "limit" else n_features
            if values.shape != (length,):
                raise AuclabError(f"{name} has shape {values.shape}, but {length} numbers are needed")
            if np.isnan(values).any() or (name == "limit" and np.isinf(values).any()):
                raise AuclabError(f"{name} has entries that are not numbers; leave out what is not limited")
        if (parts["lower"] == np.inf).any() or (parts["upper"] == -np.inf).any():
            raise AuclabError(
                "a lower bound of ∞ or an upper one of −∞ excludes every coefficient; leave out columns without limits"
            )
        if not np.isfinite(rows).all():
            raise AuclabError("the matrix of the constraints has entries that are not finite; replace them")
        if (parts["lower"] > parts["upper"]).any():
            column = int((parts["lower"] > parts["upper"]).argmax())
            raise AuclabError(
                f"column {column} has the lower bound {parts['lower'][column]:g} above the upper one "
                f"{parts['upper'][column]:g}: no coefficient satisfies both"
            )
        number = isinstance(max_features, int | float | np.number) and not isinstance(max_features, bool)
        if max_features is not None and not (number and max_features >= 1 and max_features % 1 == 0):
            raise AuclabError(f"max_features must be a whole number ≥ 1, got {max_features!r}")
        return cls(
            parts["lower"],
            parts["upper"],
            rows,
            parts["limit"],
            np.zeros(len(rows), bool) if equal is None else np.array(equal, dtype=bool),
            max_features,
            np.arange(n_features) if groups is None else np.array(groups, dtype=np.intp),
            tuple(forced),
        )

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.lower.size

    @property
    def is_convex(self) -> bool:
        """Whether the set is a polyhedron: the number of features is not limited."""
        return self.max_features is None

    @property
    def allows_null(self) -> bool:
        """Whether w = 0 is in the set."""
        return self.violation(np.zeros(self.n_features)) == 0.0

    @property
    def is_cone(self) -> bool:
        """Whether with w every t·w with t ≥ 0 is in the set: all bounds and limits are 0."""
        bounds = np.r_[self.lower[np.isfinite(self.lower)], self.upper[np.isfinite(self.upper)], self.limit]
        return not bounds.any()

    def n_used(self, coef: Array) -> int:
        """Number of features that a scorer uses, including the forced ones."""
        return len(set(self.groups[coef != 0].tolist()) | set(self.forced))

    def on_columns(self, names: Sequence[str]) -> Self:
        """Return the constraints: they are on columns already."""
        if self.n_features != len(names):
            raise AuclabError(f"constraints are on {self.n_features} columns, but X has {len(names)}")
        return self

    def violation(self, coef: Array) -> float:
        """The largest violation of a bound or row; ∞ if the point uses too many features."""
        if self.max_features is not None and self.n_used(coef) > self.max_features:
            return float("inf")
        of_rows = self.matrix @ coef - self.limit
        of_rows = np.where(self.equal, abs(of_rows), of_rows)
        of_bounds = np.maximum(self.lower - coef, coef - self.upper)
        return float(max(of_rows.max(initial=0.0), of_bounds.max(initial=0.0)))

    def in_units(self, unit: Array) -> Self:
        """The constraints on x where ``w = x / unit``.

        `unit` (n_features,), > 0.

        Examples
        --------
        >>> wider = ColumnConstraints.of(1, upper=[3.0], matrix=[[8.0]], limit=[1.0]).in_units(np.array([2.0]))
        >>> wider.upper.tolist(), wider.matrix.tolist()
        ([6.0], [[4.0]])
        """
        return replace(self, lower=self.lower * unit, upper=self.upper * unit, matrix=self.matrix / unit)

    def all_rows(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Bounds and rows as one system: matrix, limits, and which of them are equations.

        Fixed columns (equal bounds) are one equation.
        """
        one = np.eye(self.n_features)
        fixed = self.lower == self.upper
        above, below = np.isfinite(self.upper) & ~fixed, np.isfinite(self.lower) & ~fixed
        matrix = np.vstack([self.matrix, one[fixed], one[above], -one[below]])
        limit = np.r_[self.limit, self.upper[fixed], self.upper[above], -self.lower[below]]
        equal = np.r_[self.equal, np.ones(fixed.sum(), bool), np.zeros(above.sum() + below.sum(), bool)]
        return matrix, limit, equal

    def scaled_rows(self, unit: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """`all_rows` on x where ``w = x·unit``, each divided by its largest entry.

        `unit` (n_features,), > 0.

        Examples
        --------
        >>> matrix, limit, _ = ColumnConstraints.of(2, upper=[4.0, np.inf]).scaled_rows(np.array([2.0, 1.0]))
        >>> matrix.tolist(), limit.tolist()
        ([[1.0, 0.0]], [2.0])
        """
        matrix, limit, equal = self.all_rows()
        matrix = matrix * unit
        largest = abs(matrix).max(axis=1, initial=0.0)
        largest = np.where(largest > 0, largest, 1.0)
        return matrix / largest[:, None], limit / largest, equal
