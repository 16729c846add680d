"""Constraints on w, by the names of the columns or by their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab.samples.memory import Sample


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


#: A feature by its name, or by the number of its column.
Name = str | int


@dataclass(frozen=True)
class Constraints:
    """Constraints on the coefficients of a linear scorer.

    A name refers to a column, or to a feature that was encoded as several columns, such as a nominal one, and then to
    all of them. Coefficients refer to the data before any scaling: they are the change of the score when the feature
    rises by 1 in its own unit.

    Parameters
    ----------
    nonnegative, nonpositive : names
        Features that must not lower, or not raise, the score.
    lower, upper : mapping from names to numbers
        Bounds on single coefficients.
    rows : sequence of mappings
        Each ``{"coefficients": {name: number}, "at_most": c}``, or ``at_least``, or ``equals``: ``Σ a_k w_k ≤ c``.
    sum_to : float, optional
        Required sum of the coefficients.
    excluded : names
        Features that must not be used.
    forced : names
        Features that count among the `max_features` whether they are used or not.
    max_features : int, optional
        Largest number of features used; a feature of several columns counts as one.

    Examples
    --------
    >>> rules = Constraints(nonnegative=["debt"], upper={"age": 0.5})
    >>> columns = rules.on_columns(["age", "debt"])
    >>> columns.lower.tolist(), columns.upper.tolist()
    ([-inf, 0.0], [0.5, inf])

    On columns that were divided by 10 and 2 the coefficients are 10 and 2 times as large:

    >>> rules.on_columns(["age", "debt"], scale=np.array([10.0, 2.0])).upper.tolist()
    [5.0, inf]

    See Also
    --------
    auclab.solve : Solves a formulation subject to them.
    """

    nonnegative: Sequence[Name] = ()
    nonpositive: Sequence[Name] = ()
    lower: Mapping[Name, float] = field(default_factory=dict)
    upper: Mapping[Name, float] = field(default_factory=dict)
    rows: Sequence[Mapping[str, Any]] = ()
    sum_to: float | None = None
    excluded: Sequence[Name] = ()
    forced: Sequence[Name] = ()
    max_features: int | None = None

    def on_columns(
        self,
        names: Sequence[str],
        *,
        features: Sequence[str] | None = None,
        scale: Array | None = None,
    ) -> ColumnConstraints:
        """The same for the columns of a sample.

        Parameters
        ----------
        names : sequence of str, length n_features
            Names of the columns.
        features : sequence of str, length n_features, optional
            Feature that each column belongs to; by default each column is its own feature.
        scale : array of shape (n_features,), optional
            Divisor of each column; 1 by default.

        Raises
        ------
        AuclabError
            A column that does not exist; bounds that no coefficient satisfies.
        """
        for setting, (kind, example) in _KINDS.items():
            given = getattr(self, setting)
            if isinstance(given, str) or not isinstance(given, kind):
                raise AuclabError(f"{setting} is {given!r}; give {example}")
        columns = _Columns(names, features or names)
        n = len(names)
        lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
        for bound, values in ((lower, self.lower), (upper, self.upper)):
            for name, value in values.items():
                bound[columns.of(name)] = _number(name, value)
        for name in self.nonnegative:
            lower[columns.of(name)] = np.maximum(lower[columns.of(name)], 0.0)
        for name in self.nonpositive:
            upper[columns.of(name)] = np.minimum(upper[columns.of(name)], 0.0)
        for name in self.excluded:
            lower[columns.of(name)] = np.maximum(lower[columns.of(name)], 0.0)
            upper[columns.of(name)] = np.minimum(upper[columns.of(name)], 0.0)
        if (crossed := np.flatnonzero(lower > upper)).size:
            name, low, high = names[crossed[0]], lower[crossed[0]], upper[crossed[0]]
            raise AuclabError(f"constraints leave no coefficient for {name!r}: at least {low:g} and at most {high:g}")
        stated = [_row(row, columns, n) for row in self.rows]
        if self.sum_to is not None:
            stated.append((np.ones(n), _number("sum_to", self.sum_to), True))
        groups = np.unique(np.array(columns.features), return_inverse=True)[1]
        constraints = ColumnConstraints.of(
            n,
            lower=lower,
            upper=upper,
            matrix=np.array([row for row, _, _ in stated]).reshape(-1, n),
            limit=[limit for _, limit, _ in stated],
            equal=[equal for _, _, equal in stated],
            max_features=self.max_features,
            groups=groups,
            forced=sorted({int(group) for name in self.forced for group in groups[columns.of(name)]}),
        )
        return constraints if scale is None else constraints.in_units(scale)


#: What a setting must be, and an example of it.
_KINDS: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("nonnegative", "nonpositive", "excluded", "forced"), (Iterable, "a list of names: [age, debt]")),
    **dict.fromkeys(("lower", "upper"), (Mapping, "a bound for each name: {age: 0.5}")),
    "rows": (Iterable, "a list of rows: [{coefficients: {age: 1, debt: -2}, at_most: 0}]"),
}


class _Columns:
    """Columns by their own names, those of their features, or their numbers."""

    def __init__(self, names: Sequence[str], features: Sequence[str]):
        self.names, self.features = [str(name) for name in names], [str(name) for name in features]
        self._found: dict[str, list[int]] = {}
        for each in (self.features, self.names):  # the name of a column comes before that of a feature
            places: dict[str, list[int]] = {}
            for place, name in enumerate(each):
                places.setdefault(name, []).append(place)
            self._found.update(places)

    def of(self, name: Name) -> list[int]:
        """The columns that a name means."""
        if isinstance(name, int | np.integer) and not isinstance(name, bool):
            if not 0 <= name < len(self.names):
                raise AuclabError(f"constraints name column {name}; the columns are 0 to {len(self.names) - 1}")
            return [int(name)]
        if name not in self._found:
            what = f"constraints name the feature {name!r}, which the data do not have"
            raise AuclabError(f"{what}; {self._advice(name)}")
        return self._found[name]

    def _advice(self, name: Name) -> str:
        """Names that are nearly this one, or how an array gets names."""
        if self.names in ([f"{letter}{k}" for k in range(len(self.names))] for letter in ("x", "")):
            return (
                "the columns of an array have no names: give a DataFrame, or the number of the column; in a pipeline, "
                "set_output(transform='pandas') before fit makes its steps pass the names on"
            )
        from difflib import get_close_matches

        near = get_close_matches(str(name), self._found, n=3)
        return f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(list(self._found)[:10])}"


def _number(name: Name, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise AuclabError(f"constraints have {value!r} for {name}; give a number") from error


def _row(row: Mapping[str, Any], columns: _Columns, n: int) -> tuple[Array, float, bool]:
    """The coefficients of a row, its limit, and whether it is an equation."""
    kinds = [kind for kind in ("at_most", "at_least", "equals") if kind in row]
    if len(kinds) != 1 or set(row) != {"coefficients", kinds[0]} or not row["coefficients"]:
        raise AuclabError(
            f"a row of constraints needs coefficients and one of at_most, at_least, equals, got {dict(row)}; "
            "for example {coefficients: {age: 1, debt: -2}, at_most: 0}"
        )
    coefficients = np.zeros(n)
    for name, value in row["coefficients"].items():
        coefficients[columns.of(name)] += _number(name, value)
    sign = -1.0 if kinds[0] == "at_least" else 1.0
    return sign * coefficients, sign * _number(kinds[0], row[kinds[0]]), kinds[0] == "equals"


def constraints_on_columns(
    constraints: Constraints | ColumnConstraints | None, sample: Sample
) -> ColumnConstraints | None:
    """The constraints on the columns of a sample, by their names where it has some, else by their numbers."""
    if constraints is None:
        return None
    if not hasattr(constraints, "on_columns"):
        raise AuclabError(
            f"constraints are a {type(constraints).__name__}; use auclab.Constraints(nonnegative=[...], "
            "upper={...}), or ColumnConstraints.of(n_features, lower=..., matrix=..., limit=...)"
        )
    return constraints.on_columns(sample.columns or [str(k) for k in range(sample.n_features)])
