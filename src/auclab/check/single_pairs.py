"""Multipliers of single pairs of ranked rows: exact sums of stored ones, and changes onto the dual constraint.

A model of every pair has a multiplier for each, and most are 0. They are cut to what the loss allows a pair of their
weight, which is all that a dual point needs. Without a penalty ``Σ q d`` has to be 0 exactly (with a norm:
``‖Σ q d‖_* ≤ −z Σ q``): the multipliers of as many pairs as there are features, those with the largest distance from
their bounds, are changed by the exact solution of a linear system, as those of rows are in `auclab.check.correction`.
A dual point of scorers has such pairs near the jump of the slopes of its first scorer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auclab.check.constraints import HeldConstraints
from auclab.check.correction import CANDIDATES, MAX_FEATURES, independent, wanted_changes
from auclab.check.data import Data
from auclab.check.elimination import solve_exactly
from auclab.check.multipliers import PairMultipliers, start_of
from auclab.check.program import Program
from auclab.check.ranked import DualScorer, RankedData, as_ranked
from auclab.check.transport import UNIT, Integers, aligned, fixed_point, in_units, integers

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
