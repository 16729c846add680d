"""Multipliers that satisfy the dual constraint, by single pairs and by elimination.

There are a few equations ``Σ q d = 0`` (with a norm: ``‖Σ q d‖_* ≤ −z Σ q``), one a feature, and one for the balance of
the classes. The multipliers of as many observations, those with the largest distance from their bounds, are changed by
the exact solution of a linear system; all others stay. Which observations these are is chosen in floating point, as any
choice that leaves the bounds intact proves the bound.

A model of every pair has a multiplier for each, and most are 0. They are cut to what the loss allows a pair of their
weight, which is all that a dual point needs. Without a penalty ``Σ q d`` has to be 0 exactly (with a norm:
``‖Σ q d‖_* ≤ −z Σ q``): the multipliers of as many pairs as there are features, those with the largest distance from
their bounds, are changed by the exact solution of a linear system, as those of rows are.
A dual point of scorers has such pairs near the jump of the slopes of its first scorer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auclab.certificates.checker.constraints import (
    MOST_STEPS,
    TINY,
    UNIT,
    HeldConstraints,
    Integers,
    aligned,
    fixed_point,
    in_units,
    integers,
)
from auclab.certificates.checker.data import Data
from auclab.certificates.checker.margins import DualScorer, RankedData, as_ranked
from auclab.certificates.checker.multipliers import Multipliers, PairMultipliers, balanced, start_of, transportable
from auclab.certificates.checker.program import Program


def solve_exactly(matrix: Integers, right: Integers) -> list[Fraction] | None:
    """A rational solution of ``matrix x = right``, None if there is none; free unknowns are 0.

    Fraction-free elimination (Bareiss 1968): every entry is a minor of the matrix, so that divisions leave no rest.
    """
    rows, columns = matrix.shape
    work = np.concatenate([matrix, right[:, None]], axis=1)
    previous, done = 1, 0
    pivots: list[int] = []
    for column in range(columns):
        candidates = np.flatnonzero(work[done:, column] != 0)
        if not candidates.size:
            continue
        row = done + int(min(candidates, key=lambda k: abs(work[done + k, column])))
        work[[done, row]] = work[[row, done]]
        pivot = work[done, column]
        below = work[done + 1 :, column:]
        # Bareiss 1968: a_kj ← (p a_kj − a_k a_j)/p′, with the pivots p of this step and p′ of the one before.
        work[done + 1 :, column:] = (below * pivot - np.outer(below[:, 0], work[done, column:])) // previous
        previous, done = pivot, done + 1
        pivots.append(column)
        if done == rows:
            break
    if (work[done:, -1] != 0).any():
        return None
    # Back substitution.
    solution = [Fraction(0)] * columns
    for row in range(done - 1, -1, -1):
        known = sum((int(work[row, k]) * solution[k] for k in pivots[row + 1 :]), Fraction(0))
        solution[pivots[row]] = (int(work[row, -1]) - known) / int(work[row, pivots[row]])
    return solution


#: More features than this are not corrected: exact elimination takes minutes.
MAX_FEATURES = 150
#: Observations that may be changed are selected among this many times the number of equations.
CANDIDATES = 40
#: Features up to which least squares are solved with all of them at once.
_MOST_SQUARES = 1_000


def corrected(
    program: Program, data: Data, start: Multipliers, held: HeldConstraints | None = None
) -> Multipliers | None:
    """Multipliers that satisfy the dual constraint exactly, or None if none were found.

    With a penalty λ‖w‖ scaling does it, too, but costs as much as the constraint is violated by, in units of λ.

    They may still have to be scaled (`transportable`), which keeps the constraint satisfied. With constraints
    on w, without a norm, what their multipliers and bounds do not take up is to vanish.
    """
    if not data.has_columns or data.n_features > MAX_FEATURES or not start.values.any():
        return None
    changes = wanted_changes(program, data, start, held)
    if not changes:
        return None if changes is None else start
    rows = _basis(data, _room(program, data, start))
    if not rows.size:
        return None
    features, signs = data.take(rows), np.where(data.positive[rows], 1, -1).astype(object)
    matrix, right = [signs], [Fraction(0)]
    for column, change in enumerate(changes):
        if change is None:
            continue
        entries, exponent = integers(features[:, column])
        matrix.append(entries * signs)
        right.append(change * (Fraction(2) ** exponent))
    scale = lcm(*(entry.denominator for entry in right))
    solution = solve_exactly(np.array(matrix, dtype=object), np.array([int(r * scale) for r in right], dtype=object))
    if solution is None:
        return None
    unit = lcm(start.unit, *(part.denominator * scale for part in solution))
    values = start.values * (unit // start.unit)
    for row, part in zip(rows, solution, strict=True):
        values[row] += int(part / scale * unit)
    return Multipliers(values, unit, start.share_neg) if (values[rows] >= 0).all() else None


def wanted_changes(
    program: Program, data: Data, start: Multipliers, held: HeldConstraints | None
) -> list[Fraction | None] | None:
    """By how much every entry of ``Σ q d`` has to change, None where any change will do.

    Empty if the dual constraint is satisfied, None if no changes are known that satisfy it.
    """
    gradient = data.combine(start.values, start.unit)
    if held is not None:
        return None if program.uses_norm else list(held.wanted(gradient))
    if not program.uses_norm:
        return [-entry for entry in gradient]
    reach, size = program.regulariser.reach, program.norm.dual(gradient)[1]
    if reach is None:
        return None
    # The dual constraint ‖g‖_* ≤ λ − zS (derivations 7.1): a longer g is shortened.
    reach -= program.threshold * start.total(program, data)
    if size <= reach:
        return []
    keep = Fraction(float(max(Fraction(0), reach / size * (1 - TINY))))
    return [(keep - 1) * entry for entry in gradient]


def mixed(program: Program, data: Data, start: Multipliers) -> Multipliers | None:
    """For z < 0: a mean with a point inside the constraint, at the smallest weight that satisfies the constraint.

    The violation is convex in q, so the weight is ``e/(e − e₀)`` with the violations e > 0 and e₀ < 0 of the two.
    """
    inner = inner_point(program, data, start, 1.0, keep=0.0)
    if inner is None:
        return None
    points = [transportable(program, data, start), transportable(program, data, inner)]
    violations = [program.excess(q.total(program, data), data.combine(q.values, q.unit)) for q in points]
    if violations[0] <= 0 or violations[1] >= 0:
        return None
    # The violation of the mean is at most (1 − ω)e + ωe₀, which is 0 at ω = e/(e − e₀).
    weight = violations[0] / (violations[0] - violations[1])
    weight = Fraction(ceil(weight * UNIT), UNIT)
    unit = lcm(points[0].unit, points[1].unit) * weight.denominator
    first, second = (q.values * (unit // weight.denominator // q.unit) for q in points)
    values = first * (weight.denominator - weight.numerator) + second * weight.numerator
    return Multipliers(values, unit, start.share_neg)


def inner_point(
    program: Program, data: Data, start: Multipliers, step: float, keep: float | None = None
) -> Multipliers | None:
    """A step towards the middle of the bounds, and back near the equations by weighted least squares.

    In floating point: what it returns is only a better place to begin from. `keep` is the part of ``Σ q d`` that is to
    be left; for z < 0 as much as the constraint allows, if it is not given.
    """
    if data.n_features > _MOST_SQUARES:
        return None
    limits = program.comparison.upper_bounds(data, start.share_neg, start.unit)
    top = (limits / start.unit).astype(np.float64)
    q = (1 - step) * (start.values / start.unit).astype(np.float64) + step * top / 2
    target = np.array([float(g) for g in data.combine(start.values, start.unit)])
    total = float(start.total(program, data))
    if keep is None and program.threshold < 0:
        size = float(program.norm.dual([Fraction(g) for g in target])[1])
        keep = min(1.0, -float(program.threshold) * total / size * (1 - 1e-12)) if size else 1.0
    keep = keep or 0.0
    centre, scale = _location(data)
    for _ in range(MOST_STEPS):
        room = np.minimum(q, top - q)
        gram = np.zeros((centre.size + 1, centre.size + 1))
        residual = np.zeros(centre.size + 1)
        for rows, block in data.blocks():
            design = _design(block, centre, scale) * np.where(data.positive[rows], 1.0, -1.0)[:, None]
            residual += q[rows] @ design
            # Least Σ (δ_k/ρ_k)² with Dᵀδ = −r: the normal equations (Dᵀ diag(ρ²) D) y = −r, and δ = ρ² D y.
            gram += (design * room[rows, None] ** 2).T @ design
        residual[1:] -= keep * target / scale
        if not np.isfinite(residual).all() or abs(residual).max() == 0:
            break
        weights = np.linalg.lstsq(gram, -residual, rcond=None)[0]
        move = np.zeros(q.size)
        for rows, block in data.blocks():
            design = _design(block, centre, scale) * np.where(data.positive[rows], 1.0, -1.0)[:, None]
            move[rows] = room[rows] ** 2 * (design @ weights)
        used = room > 0
        # A step leaves a tenth of its room to every multiplier.
        fraction = float((0.9 * room[used] / np.maximum(abs(move[used]), 1e-300)).min(initial=1.0))
        q = q + min(1.0, fraction) * move
        if fraction >= 1.0 and abs(move).max(initial=0.0) <= 1e-15 * q.max(initial=0.0):
            break
    values = np.minimum(np.maximum(fixed_point(q), 0), limits)
    return Multipliers(balanced(values, data.positive), start.unit, start.share_neg)


def _room(program: Program, data: Data, point: Multipliers) -> NDArray[np.float64]:
    """Distance of each multiplier from the nearer of its bounds."""
    limits = program.comparison.upper_bounds(data, point.share_neg, point.unit)
    room = np.minimum(point.values, limits - point.values)
    return np.maximum((room / point.unit).astype(np.float64), 0.0)


def _basis(data: Data, room: NDArray[np.float64]) -> NDArray[np.intp]:
    """Observations whose equations are independent and whose multipliers may change most, in ascending order."""
    count = data.n_features + 1
    rows = np.flatnonzero(room > 0)
    if rows.size > CANDIDATES * count:
        # Half of them those with the most room, the others spread evenly over the rest.
        rows = rows[np.argsort(-room[rows], kind="stable")]
        half = CANDIDATES * count // 2
        rows = np.sort(np.concatenate([rows[:half], rows[half :: max(1, (rows.size - half) // half)]]))
    centre, scale = _location(data)
    chosen = independent(_design(data.take(rows), centre, scale) * room[rows, None])
    return np.asarray(np.sort(rows[chosen]), dtype=np.intp)


def independent(rows: NDArray[np.float64]) -> list[int]:
    """Numbers of linearly independent rows, the longest first, each less its projection on those before it."""
    remaining, chosen = rows, list[int]()
    for _ in range(min(rows.shape)):
        lengths = np.einsum("ij,ij->i", remaining, remaining)
        lengths[chosen] = -1.0
        best = int(lengths.argmax())
        if lengths[best] <= 0:
            break
        chosen.append(best)
        direction = remaining[best] / np.sqrt(lengths[best])
        # Modified Gram–Schmidt, with the longest row that remains as the pivot.
        remaining = remaining - np.outer(remaining @ direction, direction)
    return chosen


def _location(data: Data) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A centre and a scale of every feature, from the first block."""
    block = next(data.blocks())[1]
    centre, scale = block.mean(axis=0), block.std(axis=0)
    return centre, np.where(scale > 0, scale, 1.0)


def _design(block: NDArray[np.float64], centre: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """A column of ones, and the features centred and scaled."""
    return np.concatenate([np.ones((block.shape[0], 1)), (block - centre) / scale], axis=1)


#: Pairs near a jump whose room is computed.
_EXAMINED = 20_000
#: Pairs that are looked up one by one; models of every pair have fewer.
MOST_PAIRS = 5_000_000


@dataclass(frozen=True)
class StoredPairs:
    """Upper and lower rows, counted within the training part, and a multiplier for each pair."""

    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    multiplier: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SinglePairs(PairMultipliers):
    """A dual point with a multiplier for every pair that has one: `each`, at most `limits`, in units of 1/`unit`."""

    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    each: Integers
    limits: Integers


def at_pairs(program: Program, data: RankedData, stored: StoredPairs) -> SinglePairs | None:
    """The dual point of stored multipliers, where the data compare their pairs.

    None is returned if a pair appears twice, a number is not finite, or the data have too many pairs.

    Examples
    --------
    >>> data = RankedData.comparing(np.zeros((3, 1)), np.array([0.0, 2.0, 1.0]), None, None)
    >>> program = Program.from_stored({"name": "bauc", "comparisons": {"class": "auclab.margins.RankedPairs"}})
    >>> stored = StoredPairs(np.array([1, 0]), np.array([0, 2]), np.array([1.0, 0.25]))
    >>> point = at_pairs(program, data, stored)   # three pairs of weight 1/3, of which (1, 0) is one and (0, 2) is none
    >>> round(3 * point.total(program, data), 12)
    Fraction(1, 1)
    """
    if data.n_pairs > MOST_PAIRS or not np.isfinite(stored.multiplier).all():
        return None
    keys, weights = data.every_pair()
    asked = stored.upper * data.positive.size + stored.lower
    if np.unique(asked).size < asked.size:
        return None
    places = np.minimum(np.searchsorted(keys, asked), keys.size - 1)
    used = np.flatnonzero(keys[places] == asked)
    limits = weights[places[used]] * UNIT // data.whole
    each = program.loss.within(np.maximum(fixed_point(stored.multiplier[used]), 0), limits)
    values = np.zeros(data.positive.size, dtype=np.int64).astype(object)
    np.add.at(values, stored.upper[used], each)
    np.subtract.at(values, stored.lower[used], each)
    return SinglePairs(
        values,
        UNIT,
        values[:0],
        Fraction(int(program.loss.dual_costs(each, limits).sum()), UNIT),
        Fraction(int(each.sum()), UNIT),
        upper=stored.upper[used],
        lower=stored.lower[used],
        each=each,
        limits=limits,
    )


class FreePairs(NamedTuple):
    """Pairs whose multipliers may change: by how much they may fall and rise, in units of 1/`UNIT`."""

    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    fall: Integers
    rise: Integers

    def most(self, count: int) -> tuple[FreePairs, NDArray[np.float64]]:
        """Those with the most room, at most `count` with some, and the room of each."""
        room = (np.minimum(self.fall, self.rise) / UNIT).astype(np.float64)
        most = np.argsort(-room, kind="stable")[:count]
        most = most[room[most] > 0]
        return FreePairs(*(part[most] for part in self)), room[most]


def free_pairs(program: Program, data: Data, start: PairMultipliers) -> FreePairs | None:
    """Pairs with room: of stored multipliers, or those near the jump of the slopes of some scorer."""
    if isinstance(start, SinglePairs):
        return FreePairs(start.upper, start.lower, start.each, start.limits - start.each)
    ranked = as_ranked(data)
    if not start.scorers or ranked is None:
        return None
    placed = [_placed(program, data, scorer) for scorer in start.scorers]
    scores, level, width = placed[0].in_floats
    apart = max(float(abs((other := part.in_floats)[0] - scores).max()) + other[2] for part in placed)
    upper, lower, weights = ranked.near(scores, level, width + 2.0 * apart)
    nearest = np.argsort(abs(level - scores[upper] + scores[lower]), kind="stable")[:_EXAMINED]
    upper, lower, weights = upper[nearest], lower[nearest], weights[nearest]
    rooms = [part.room(upper, lower, weights, ranked.whole) for part in placed]
    fall, rise = (sum((room[k] for room in rooms), np.zeros(upper.size, dtype=object)) for k in (0, 1))
    return FreePairs(upper, lower, fall, rise)


class _Placed(NamedTuple):
    """Scores, ``1 − z‖w‖`` and half-width of a scorer as integers in one unit, and its weight."""

    scores: Integers
    level: int
    half_width: int
    unit: Fraction
    weight: Fraction

    @property
    def in_floats(self) -> tuple[NDArray[np.float64], float, float]:
        """Scores, level and half-width, rounded."""
        scores = np.array([float(score * self.unit) for score in self.scores])
        return scores, float(self.level * self.unit), float(self.half_width * self.unit)

    def room(self, upper: NDArray[np.int64], lower: NDArray[np.int64], weights: Integers, whole: int) -> list[Integers]:
        """By how much this part of some multipliers may fall and rise, in units of 1/`UNIT`, rounded down."""
        h = self.half_width
        errors = self.level - self.scores[upper] + self.scores[lower]
        slopes = np.minimum(np.maximum(errors + h, 0), 2 * h) if h else (errors > 0).astype(np.int64).astype(object)
        top = 2 * h or 1
        above, below = UNIT * self.weight.numerator, self.weight.denominator * top * whole
        return [part * weights * above // below for part in (slopes, top - slopes)]


def _placed(program: Program, data: Data, scorer: DualScorer) -> _Placed:
    scores = data.scores(scorer.coef)
    return _Placed(*in_units(*scores, start_of(program, scorer), scorer.half_width), scorer.weight)


def balanced_pairs(
    program: Program, data: Data, start: PairMultipliers, held: HeldConstraints | None
) -> Iterator[PairMultipliers]:
    """Dual points of the hinge that satisfy the dual constraint, where some were found.

    Without a norm it is an equation, and solved exactly. With one there is room, and changes in floating point do.
    """
    if not data.has_columns or data.n_features > MAX_FEATURES or not program.loss.by_marginals:
        return
    changes, most = wanted_changes(program, data, start, held), CANDIDATES * (data.n_features + 1)
    free = free_pairs(program, data, start) if changes else None
    if not changes or free is None:
        return
    free, room = free.most(most)
    upper, lower = data.take(free.upper), data.take(free.lower)
    if not room.size:
        return
    if program.uses_norm:
        wanted = 2.0 * np.array([float(change or 0) for change in changes])
        size = abs(wanted) / max(float(abs(wanted).max()), 1e-300)
        for weight in (np.ones_like(size), size**4 + 1e-3):  # of the largest entries, where the norm is one
            columns = weight[:, None] * (upper - lower).T * room
            found = room * np.linalg.lstsq(columns, weight * wanted, rcond=1e-9)[0]
            moved = np.sign(found).astype(np.int64).astype(object) * fixed_point(abs(found))
            yield from _moved(start, free, UNIT, moved)
        return
    equations, right = [], []
    for column, change in enumerate(changes):
        if change is None:
            continue
        (first, second), exponent = aligned([integers(upper[:, column]), integers(lower[:, column])])
        equations.append(first - second)
        right.append(change * Fraction(2) ** exponent)
    design = upper - lower
    chosen = independent(design / np.maximum(abs(design).max(axis=0), 1e-300) * room[:, None])
    scale = lcm(*(entry.denominator for entry in right))
    solution = solve_exactly(
        np.array(equations, dtype=object)[:, chosen], np.array([int(entry * scale) for entry in right], dtype=object)
    )
    if solution is not None:
        unit = lcm(UNIT, *(part.denominator * scale for part in solution))
        moved = np.array([int(part / scale * unit) for part in solution], dtype=object)
        yield from _moved(start, FreePairs(*(part[chosen] for part in free)), unit, moved)


def _moved(start: PairMultipliers, free: FreePairs, unit: int, moved: Integers) -> Iterator[PairMultipliers]:
    """The dual point with changes of some pairs in units of 1/`unit`; nothing where one is more than its room."""
    times = unit // UNIT
    if (-moved > free.fall * times).any() or (moved > free.rise * times).any():
        return
    common = lcm(start.unit, unit)
    values, moved = start.values * (common // start.unit), moved * (common // unit)
    np.add.at(values, free.upper, moved)
    np.subtract.at(values, free.lower, moved)
    total = start.sum_of_pairs + Fraction(int(moved.sum()), common)
    yield PairMultipliers(values, common, values[:0], start.conjugate, total)
