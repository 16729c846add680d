"""Without a penalty the dual constraint is an equation; multipliers in floating point are moved onto it exactly.

There are a few equations ``Σ q d = 0`` (with a norm: ``‖Σ q d‖_* ≤ −z Σ q``), one a feature, and one for the balance of
the classes. The multipliers of as many observations, those with the largest distance from their bounds, are changed by
the exact solution of a linear system; all others stay. Which observations these are is chosen in floating point, as any
choice that leaves the bounds intact proves the bound.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lcm

import numpy as np
from numpy.typing import NDArray

from auclab.check.constraints import HeldConstraints
from auclab.check.data import Data
from auclab.check.elimination import solve_exactly
from auclab.check.levels import MOST_STEPS
from auclab.check.multipliers import Multipliers, balanced, transportable
from auclab.check.program import Program
from auclab.check.transport import TINY, UNIT, fixed_point, integers

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
