"""The optimum of a program, exactly or between two rational numbers: of any kind of `exact`, by its bounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import process_time

import numpy as np
from scipy.optimize import linprog

from .exact import (
    LARGE,
    ONE,
    ZERO,
    Cuts,
    ExactSample,
    Terms,
    dot,
    fractions,
    lower_bound,
    norm_enclosure,
    rounded,
    split,
    terms_of,
    value,
    worst_shares,
)


@dataclass(frozen=True)
class Enclosure:
    """The optimum lies in [low, high]; `point` (w, and b over points) has a value of at most `high`.

    `certain` is whether `low` is a bound for every w; else it is minus infinity in effect (NaN).
    """

    low: Fraction | None
    high: Fraction
    point: list[Fraction]

    @property
    def width(self) -> float:
        """Relative width, in units of max(high, 1e-3)."""
        return math.nan if self.low is None else float((self.high - self.low) / max(self.high, Fraction(1, 1000)))


def optimum(
    program, sample: ExactSample, candidates: Sequence[Sequence[Fraction]] = (), *, seconds: float = 20.0
) -> Enclosure:
    """The optimum over all w, exactly or between two rational numbers.

    Parameters
    ----------
    program
        Any of the package's.
    sample : ExactSample
    candidates : sequence of points
        Points (w, and b over points) whose values are upper bounds; where the program is not convex in l2, or counts
        pairs in more than two dimensions, they are all there is.
    seconds : float
        Processor seconds after which a refinement stops.
    """
    end = process_time() + seconds

    def at(point: Sequence[Fraction]) -> Fraction:
        return value(program, sample, *split(program, point))[1]

    null = [ZERO] * (sample.n_features + (program.comparisons.name == "points"))
    points = [null, *candidates]
    if program.comparisons.name == "points":
        points += [[*null[:-1], ONE], [*null[:-1], -ONE]]
    best = min(points, key=at)
    if program.kind == "mip":
        exact = sample.n_features <= 2
        if exact:
            best = min([best, *_plane_directions(sample)], key=at)
        return Enclosure(at(best) if exact else None, at(best), list(best))
    if program.threshold > 0:
        return _shifted_optimum(program, sample, best, at, end)
    if program.kind == "cvar":
        return _cvar_optimum(program, sample, points, at, end)
    return _refined(terms_of(program, sample), best, at, end)


def _refined(terms: Terms, best: Sequence[Fraction], at: Callable, end: float, width: float = 1e-10) -> Enclosure:
    """Lower bounds of a convex program with more and more cuts, until they meet the best value."""
    linear = not terms.uses_norm or (terms.norm != "l2" and not (terms.squared and terms.penalty > 0))
    if linear:
        bound = lower_bound(terms)
        return Enclosure(bound.value, bound.value, bound.point)
    cuts, low, high, point = Cuts(), None, at(best), list(best)
    tried = [list(best)]
    while True:
        cuts = _with_cuts(cuts, terms, tried)
        bound = lower_bound(terms, cuts)
        low = bound.value if low is None else max(low, bound.value)
        new = [rounded(a) for a in bound.point]
        middle = [rounded((a + b) / 2) for a, b in zip(new, point, strict=True)]
        near = [rounded((a + 7 * b) / 8) for a, b in zip(new, point, strict=True)]
        tried = [new, middle, near]
        for other in tried:
            reached = at(other)
            if reached < high:
                high, point = reached, other
        if high - low <= Fraction(width) * max(high, Fraction(1, 1000)) or process_time() > end:
            return Enclosure(low, high, point)


def _with_cuts(cuts: Cuts, terms: Terms, points: Iterable[Sequence[Fraction]]) -> Cuts:
    """The cuts that are exact at the given points, beside those there are."""
    directions, slopes = list(cuts.directions), list(cuts.slopes)
    for point in points:
        coef = point[: terms.n_features]
        low, high = norm_enclosure(coef, terms.norm)
        if high == 0:
            continue
        if terms.norm == "l2":
            directions.append(tuple(rounded(a / high, 80) for a in coef))
        if terms.squared:
            slopes.append(rounded(2 * terms.penalty * low, 80))
    return Cuts(tuple(dict.fromkeys(directions)), tuple(dict.fromkeys(slopes)))


def _shifted_optimum(program, sample, best, at, end) -> Enclosure:
    """z > 0 with l1 or linf: the smallest of the plain programs whose margins are shifted by z·u, u extreme."""
    n, z = sample.n_features, Fraction(float(program.threshold))
    if program.regulariser.name == "l2":
        return Enclosure(None, at(best), list(best))
    if program.regulariser.name == "linf":
        extreme = [[Fraction(s * (i == j)) for i in range(n)] for j in range(n) for s in (1, -1)]
    else:
        extreme = [list(map(Fraction, signs)) for signs in itertools.product((1, -1), repeat=n)]
    plain = replace(terms_of(program, sample), threshold=ZERO)
    low, point = None, list(best)
    for unit in extreme:
        shift = [z * a for a in unit] + [ZERO] * (len(plain.directions[0]) - n)
        moved = [[a + b for a, b in zip(d, shift, strict=True)] for d in plain.directions]
        bound = lower_bound(replace(plain, directions=moved))
        if low is None or bound.value < low:
            low, point = bound.value, bound.point
        if process_time() > end:
            return Enclosure(None, at(best), list(best))
    return Enclosure(low, low, point)


def _cvar_optimum(program, sample, points, at, end, width: float = 1e-10) -> Enclosure:
    """The largest of the plain programs over the weights r of the negatives, by cutting planes in r.

    Any r gives a lower bound (the exact optimum of the plain program), any w an upper one.
    """
    part = Fraction(float(program.max_fpr))
    capacity = [v / part for v in sample.share_neg]
    best = min(points, key=at)
    high, low = at(best), None
    rows: list[tuple[list[float], float]] = []
    size = len(sample.neg)
    known = [list(p) for p in points]
    made: list[list[Fraction]] = []
    share = worst_shares(_losses(sample, best), sample.share_neg, part)

    def add(point: Sequence[Fraction]) -> None:
        length = norm_enclosure(point, program.regulariser.name)[1]
        extra = Fraction(float(program.regulariser.weight)) * (length**2 if program.regulariser.squared else length)
        row = [float(min(loss, LARGE)) for loss in _losses(sample, point)]
        if extra <= LARGE:
            rows.append((row, float(extra)))
            made.append(list(point))

    for p in known:
        add(p)
    while True:
        terms = terms_of(program, sample, share)

        def plain_at(point: Sequence[Fraction], share=share, terms=terms) -> Fraction:
            length = norm_enclosure(point, terms.norm)[1]
            return dot(_losses(sample, point), share) + terms.penalty * (length**2 if terms.squared else length)

        found = _refined(terms, min([best, *known[-3:]], key=plain_at), plain_at, end)
        low = found.low if low is None else max(low, found.low)
        point = [rounded(a) for a in found.point]
        known.append(point)
        add(point)
        if at(point) < high:
            best, high = point, at(point)
        # A mean of the points with the weights that the next linear program gives is often the optimum itself.
        if high - low <= Fraction(width) * max(high, Fraction(1, 1000)) or process_time() > end:
            return Enclosure(low, high, list(best))
        result = linprog(
            np.r_[np.zeros(size), -1.0],
            A_ub=np.array([[*(-np.array(row)), 1.0] for row, _ in rows]),
            b_ub=[extra for _, extra in rows],
            A_eq=np.r_[np.ones(size), 0.0][None, :],
            b_eq=[1.0],
            bounds=[(0.0, float(c)) for c in capacity] + [(None, None)],
            method="highs",
        )
        if result.x is None:
            return Enclosure(low, high, list(best))
        mixture = -np.asarray(result.ineqlin.marginals)
        if mixture.sum() > 0:
            weights = fractions(mixture / mixture.sum())
            mixed = [
                rounded(sum((t * p[j] for t, p in zip(weights, made, strict=True)), ZERO)) for j in range(len(best))
            ]
            if at(mixed) < high:
                best, high = mixed, at(mixed)
                known.append(mixed)
                add(mixed)
        proposal = _admissible(fractions(np.clip(result.x[:size], 0, None)), capacity)
        if proposal == share:
            return Enclosure(low, high, list(best))
        share = proposal


def _admissible(share: list[Fraction], capacity: list[Fraction]) -> list[Fraction]:
    """`share` cut to the capacities and brought to the sum 1."""
    share = [min(a, c) for a, c in zip(share, capacity, strict=True)]
    missing = 1 - sum(share)
    if missing < 0:
        total = sum(share)
        return [a / total for a in share]
    for j in range(len(share)):
        more = min(missing, capacity[j] - share[j])
        share[j] += more
        missing -= more
    return share


def _losses(sample: ExactSample, coef: Sequence[Fraction]) -> list[Fraction]:
    """The mean hinge of the pairs of every negative."""
    pos = [dot(x, coef) for x in sample.pos]
    return [
        sum((u * max(1 - s + t, ZERO) for s, u in zip(pos, sample.share_pos, strict=True)), ZERO)
        for t in (dot(z, coef) for z in sample.neg)
    ]


def _plane_directions(sample: ExactSample) -> list[list[Fraction]]:
    """In one or two dimensions: a direction of every sign pattern of the pair differences."""
    if sample.n_features == 1:
        return [[ONE], [-ONE]]
    apart = {(x[0] - z[0], x[1] - z[1]) for x in sample.pos for z in sample.neg if (x[0], x[1]) != (z[0], z[1])}
    normals = {(-b, a) for a, b in apart} | {(b, -a) for a, b in apart}

    # By angle, exactly: half plane first, then the cross product through the slope.
    def key(v: tuple[Fraction, Fraction]) -> tuple[int, Fraction]:
        a, b = v
        half = 0 if (b > 0 or (b == 0 and a > 0)) else 1
        if b == 0:
            return half, Fraction(-(10**700))
        return half, -a / b

    ordered = sorted(normals, key=key)
    unit = []
    for a, b in ordered:
        size = max(abs(a), abs(b))
        unit.append((a / size, b / size))
    turns = [u for k, u in enumerate(unit) if k == 0 or u != unit[k - 1]]
    between = [[a[0] + b[0], a[1] + b[1]] for a, b in zip(turns, turns[1:] + turns[:1], strict=True)]
    # Two opposite normals alone: their sum is 0, and the direction between is at a right angle.
    between = [m if any(m) else [-t[1], t[0]] for m, t in zip(between, turns, strict=True)]
    return [*map(list, turns), *between]
