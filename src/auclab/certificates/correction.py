"""A small correction of multipliers after which their moments satisfy the dual constraint.

The correction δ is the one with the least ``Σ (δ_k/ρ_k)²`` among those that change the moments by a given amount, over
the observations with the largest ``ρ_k = q_k (1 − q_k/capacity_k)``, the room of a multiplier between 0 and its
capacity. If that changes a multiplier by more than half, or misses a tenth of the amount, it is the one with the least
Σ|δ| (a linear program), which may exceed capacities: who asks scales it down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from auclab._core.base import Array
from auclab._core.forms import dense
from auclab._core.tolerances import ROUNDING, SMALLEST, TOLERANCE
from auclab.formulations.base import Program
from auclab.samples.memory import Sample

#: The part of a gap, or of a step, that does not count.
LITTLE = 0.1
#: Observations in a correction, at least and per feature; with more features than this there is no correction.
_MIN_ROWS, _ROWS_PER_FEATURE, MAX_FEATURES = 500, 5, 1_500
#: Observations of each class that are taken for a column.
_ROWS_PER_COLUMN = 10
#: A relative change of a multiplier above this is not a small correction.
_LARGEST_CHANGE = 0.5


@dataclass(frozen=True)
class Rows:
    """Observations that take part in a correction.

    `pos`, `neg`: their numbers within the classes. `features` (n_rows, n_features + 1): ``y_k (x_k, 1)`` with the
    features in units of their spread: what a unit of each multiplier adds to the moments. `capacity` (n_rows,): the
    weights of the observations, which bound their multipliers. `unit` (n_features + 1,): the spreads, rounded to powers
    of 2 so that the division is exact, and 1. `n_others`: number of last rows that are constraints on w instead of
    observations, with multipliers of their own.
    """

    pos: NDArray[np.intp]
    neg: NDArray[np.intp]
    features: Array
    multipliers: Array
    capacity: Array
    unit: Array
    n_others: int = 0

    @property
    def n_observations(self) -> int:
        """Number of rows that are observations."""
        return self.pos.size + self.neg.size

    @property
    def others(self) -> Array:
        """The multipliers of the constraints, shape (n_others,)."""
        return self.multipliers[self.n_observations :]

    def with_others(self, features: Array, multipliers: Array) -> Rows:
        """The same with constraints: what a unit of their multipliers adds to the moments of the observations."""
        return replace(
            self,
            features=np.vstack([self.features, features / self.unit]),
            multipliers=np.r_[self.multipliers, multipliers],
            capacity=np.r_[self.capacity, np.full(multipliers.size, np.inf)],
            n_others=multipliers.size,
        )

    def updated(self, pos: Array, neg: Array, others: Array | None = None) -> Rows:
        """The same rows with other multipliers."""
        return replace(self, multipliers=np.r_[pos[self.pos], neg[self.neg], self.others if others is None else others])

    def replaced(self, pos: Array, neg: Array, which: NDArray[np.intp], values: Array) -> tuple[Array, Array]:
        """The multipliers with those of some of these observations, by their numbers here, replaced."""
        which, values = which[which < self.n_observations], values[which < self.n_observations]
        pos, neg = pos.copy(), neg.copy()
        of_pos = which < self.pos.size
        pos[self.pos[which[of_pos]]] = values[of_pos]
        neg[self.neg[which[~of_pos] - self.pos.size]] = values[~of_pos]
        return pos, neg


def correcting_rows(
    sample: Sample, pos: Array, neg: Array, capacities: tuple[Array, Array], every_column: bool = False
) -> Rows | None:
    """Observations of each class whose multipliers are farthest from their limits; None if there are too many features.

    `sample`: in memory if `every_column`. `pos`, `neg` (n_pos,) and (n_neg,), ≥ 0. `capacities` (n_pos,) and (n_neg,):
    what they are at most. `every_column`: also those that change each column most: the others may have no entry in a
    rare column.
    """
    n_features = sample.n_features
    if n_features > MAX_FEATURES:
        return None
    count = max(_MIN_ROWS, _ROWS_PER_FEATURE * n_features)
    room = [_room(q, capacity) for q, capacity in zip((pos, neg), capacities, strict=True)]
    chosen = [_largest(*each, count) for each in zip(room, capacities, strict=True)]
    if every_column:
        chosen = [
            np.union1d(rows, _strongest(X, each, sample.spread))
            for rows, X, each in zip(chosen, (sample.X_pos, sample.X_neg), room, strict=True)
        ]
    X_pos, X_neg = (dense(X) for X in sample.take(*chosen))
    unit = np.r_[2.0 ** np.round(np.log2(sample.spread)), 1.0]
    features = np.vstack([np.c_[X_pos, np.ones(len(X_pos))], -np.c_[X_neg, np.ones(len(X_neg))]]) / unit
    (of_pos, of_neg), (capacity_pos, capacity_neg) = chosen, capacities
    multipliers, capacity = np.r_[pos[of_pos], neg[of_neg]], np.r_[capacity_pos[of_pos], capacity_neg[of_neg]]
    return Rows(of_pos, of_neg, features, multipliers, capacity, unit)


def _room(multipliers: Array, capacity: Array) -> Array:
    """The room of multipliers for changes: nearly 0 where they are at 0 or at their capacity."""
    share = np.clip(multipliers / np.where(capacity > 0, capacity, 1.0), 0.0, 1.0)
    return multipliers * np.maximum(1.0 - share, TOLERANCE)  # used only if no other has room


def _largest(values: Array, shares: Array, count: int) -> NDArray[np.intp]:
    """The observations with weight and the largest values, which may be 0 if fewer than `count` are positive."""
    able = np.flatnonzero(shares > 0)
    if able.size <= count:
        return able
    return np.sort(able[np.argpartition(-values[able], count)[:count]])


def _strongest(X: Any, multipliers: Array, spread: Array) -> NDArray[np.intp]:
    """For every column the observations with the largest ``q |x|``, x minus the column's median if rows are dense."""
    used = np.flatnonzero(multipliers > 0)
    rows, q = X[used], multipliers[used]
    if sp.issparse(rows):
        columns = rows.tocsc()  # type: ignore[attr-defined]
        parts = (
            (columns.indices[start:end], columns.data[start:end])
            for start, end in zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
        )
    else:
        parts = ((slice(None), rows[:, k] - np.median(rows[:, k])) for k in range(spread.size))
    found = []
    for where, values in parts:
        size = q[where] * abs(values)
        count = min(_ROWS_PER_COLUMN, size.size)
        strongest = np.argpartition(-size, count - 1)[:count] if count else np.empty(0, np.intp)
        found.append(strongest if isinstance(where, slice) else where[strongest])
    return used[np.unique(np.concatenate(found))]


def correct(
    rows: Rows, pos: Array, neg: Array, change: Array, seconds: float = math.inf
) -> tuple[Array, Array, Array] | None:
    """Multipliers whose moments differ from those of `pos` and `neg` by about `change`; None if neither is found.

    `pos`, `neg` (n_pos,) and (n_neg,), ≥ 0. `change` (n_features + 1,): required change of ``Σ α x⁺ − Σ β x⁻`` and ``Σα
    − Σβ``. `seconds`: for a linear program, if the steps of least squares are too large. Returns: those of the
    positives, of the negatives, and of the constraints among the rows.
    """
    return _changed(rows, pos, neg, rows.features, change / rows.unit, seconds)


def correct_threshold(
    rows: Rows,
    pos: Array,
    neg: Array,
    program: Program,
    coef: Array,
    value: Array,
    total: float,
    spare: float,
    seconds: float = math.inf,
) -> tuple[Array, Array, Array] | None:
    """Multipliers nearer to ``‖Σ q d‖_* + z Σq ≤ λ − spare``; None if neither is found.

    Linearised in the tangents of the dual norm (`VectorNorm.dual_tangents`), or in that of the solution if the norm
    does not say which it has.

    `rows`, `pos`, `neg`: as for `correct`. `program`: with z < 0. `coef` (n_features,): the solution. `value`
    (n_features + 1,): ``Σ q d`` and ``Σα − Σβ``. `total`: Σ q. `spare` ≥ 0. `seconds`: as for `correct`.
    """
    gradient, z, unit = value[:-1], program.threshold, rows.unit
    norm = program.regulariser.norm
    tangents, length = norm.dual_tangents(gradient), norm(coef)
    if tangents is None and length > 0:  # w/‖w‖ is one of any norm at the optimum, where g·w = ‖g‖_*‖w‖
        tangents = (coef / length)[None, :], np.zeros(coef.size, dtype=bool)
    if tangents is None:
        return None
    along, vanishing = tangents
    left = np.eye(gradient.size)[vanishing]
    features = rows.features[:, :-1] * unit[:-1]
    # Σ q per unit of one multiplier: 1/2 over pairs, where both classes have it, and 1 over points.
    per_margin = np.full(len(features), 0.5 * program.comparisons.total(1.0, 1.0))
    per_margin[rows.n_observations :] = 0.0
    matrix = np.c_[
        features @ along.T + z * per_margin[:, None], features @ left.T / np.maximum(left @ unit[:-1], 1e-300)
    ]
    excess = along @ gradient + z * total - program.regulariser.weight
    wanted = np.r_[-np.maximum(1.5 * excess, 0.0) - spare, -(left @ gradient) / np.maximum(left @ unit[:-1], 1e-300)]
    return _changed(rows, pos, neg, np.c_[matrix, rows.features[:, -1]], np.r_[wanted, -value[-1]], seconds)


def _changed(
    rows: Rows, pos: Array, neg: Array, features: Array, wanted: Array, seconds: float
) -> tuple[Array, Array, Array] | None:
    """Multipliers changed by δ with ``featuresᵀ δ = wanted``, by least squares, or by a linear program if need be."""
    q = np.r_[pos[rows.pos], neg[rows.neg], rows.others]
    room = _room(q, rows.capacity)
    matrix = (features * room[:, None]).T
    relative = np.linalg.lstsq(matrix, wanted, rcond=ROUNDING)[0]
    size = float(abs(wanted).max(initial=0.0))
    small = np.isfinite(relative).all() and abs(relative).max(initial=0.0) <= _LARGEST_CHANGE
    if small and abs(matrix @ relative - wanted).max(initial=0.0) <= LITTLE * size:
        change = room * relative
    else:
        found = _least_change(features.T, wanted / size, q / size, seconds) if size > SMALLEST else None
        if found is None:
            return None
        change = found * size
    changed = np.maximum(q + change, 0.0)
    pos, neg = pos.copy(), neg.copy()
    pos[rows.pos], neg[rows.neg] = changed[: rows.pos.size], changed[rows.pos.size : rows.n_observations]
    return pos, neg, changed[rows.n_observations :]


def _least_change(matrix: Array, wanted: Array, q: Array, seconds: float) -> Array | None:
    """Argmin Σ|δ| with ``matrix δ = wanted`` and ``δ ≥ −q``; None if there is none."""
    if seconds <= 0:
        return None
    cost = np.ones(2 * q.size)
    bounds = [*((0.0, None) for _ in q), *((0.0, value) for value in q)]
    result = linprog(
        cost, A_eq=np.c_[matrix, -matrix], b_eq=wanted, bounds=bounds, options={"time_limit": min(10.0, seconds)}
    )
    return None if result.x is None or result.status != 0 else result.x[: q.size] - result.x[q.size :]
