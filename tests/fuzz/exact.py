"""Exact verdicts on programs, in rational arithmetic and with no code of the package.

A float is a rational number, so a small program on floats has an exact value at every point and, where it is linear, an
exact optimum. Everything here is `fractions.Fraction` or integers but the starting basis, which may come from anywhere.

With terms ``c_k [1 − d_k·w − z‖w‖]₊`` and ``λ‖w‖`` the dual of the convex programs (z ≤ 0) is

    max Σ q_k   s.t.   0 ≤ q_k ≤ c_k,   ‖Σ q_k d_k‖_* ≤ λ − z Σ q_k,

which has few rows; `simplex.boxed_optimum` solves it exactly. The l2 norm is replaced by the largest of finitely many
``u·w`` with ``‖u‖ ≤ 1``, a square by tangents, both from below: the optimum is a lower bound, and the value at any
point an upper one. A superquantile over the negatives is the largest of the plain programs over the weights of the
negatives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import process_time

import numpy as np
from scipy.optimize import linprog

from .simplex import boxed_optimum

Vector = Sequence[Fraction]
ZERO, ONE = Fraction(0), Fraction(1)
#: Losses beyond this are cut for a linear program in floats.
LARGE = Fraction(10**9)
#: Bits to which points and directions are rounded between steps, so that the integers stay short.
BITS = 96


def fractions(values: Iterable[float]) -> list[Fraction]:
    """Floats as the rational numbers they are."""
    return [Fraction(float(value)) for value in values]


def rounded(value: Fraction, bits: int = BITS) -> Fraction:
    """`value` to a number of significant bits, towards 0."""
    if value == 0:
        return ZERO
    shift = bits - (abs(value.numerator).bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** shift
    return Fraction(math.trunc(scaled)) / Fraction(2) ** shift


def root(value: Fraction, bits: int = 160) -> tuple[Fraction, Fraction]:
    """Rational numbers below and above the square root, equal where it is rational and short."""
    if value == 0:
        return ZERO, ZERO
    product = value.numerator * value.denominator
    shift = max(0, bits - product.bit_length() // 2)
    low = math.isqrt(product << (2 * shift))
    exact = low * low == product << (2 * shift)
    scale = value.denominator << shift
    return Fraction(low, scale), Fraction(low + (not exact), scale)


@dataclass(frozen=True)
class ExactSample:
    """Rows of either class and their weights, as rational numbers; rows without weight are left out."""

    pos: list[list[Fraction]]
    neg: list[list[Fraction]]
    share_pos: list[Fraction]
    share_neg: list[Fraction]
    prior_pos: Fraction

    @classmethod
    def of(cls, X, y, weight=None) -> ExactSample:
        """From the arrays that the package gets."""
        X, y = np.asarray(X, float), np.asarray(y) > 0
        weight = np.ones(y.size) if weight is None else np.asarray(weight, float)
        parts = []
        for positive in (True, False):
            rows = [k for k in range(y.size) if bool(y[k]) == positive and weight[k] > 0]
            parts.append(([fractions(X[k]) for k in rows], fractions(weight[rows])))
        (pos, u), (neg, v) = parts
        total_pos, total_neg = sum(u), sum(v)
        return cls(
            pos, neg, [a / total_pos for a in u], [b / total_neg for b in v], total_pos / (total_pos + total_neg)
        )

    @property
    def n_features(self) -> int:
        return len(self.pos[0])


@dataclass(frozen=True)
class Terms:
    """The hinge terms of a program: ``Σ c_k [1 − d_k·v − z‖w‖]₊ + λΩ(w)`` with v = w, or (w, b) over points."""

    directions: list[list[Fraction]]
    weights: list[Fraction]
    n_features: int
    threshold: Fraction
    penalty: Fraction
    norm: str
    squared: bool

    @property
    def uses_norm(self) -> bool:
        return self.threshold != 0 or self.penalty > 0


def terms_of(program, sample: ExactSample, share_neg: Sequence[Fraction] | None = None) -> Terms:
    """The terms of a program on a sample, with other weights of the negatives if given."""
    if program.comparisons.name == "pairs":
        share_neg = sample.share_neg if share_neg is None else share_neg
        pairs = [
            ([a - b for a, b in zip(x, z, strict=True)], u * v)
            for x, u in zip(sample.pos, sample.share_pos, strict=True)
            for z, v in zip(sample.neg, share_neg, strict=True)
            if v > 0
        ]
    else:
        pairs = [([*x, ONE], sample.prior_pos * u) for x, u in zip(sample.pos, sample.share_pos, strict=True)]
        pairs += [
            ([-a for a in [*x, ONE]], (1 - sample.prior_pos) * v)
            for x, v in zip(sample.neg, sample.share_neg, strict=True)
        ]
    return Terms(
        [d for d, _ in pairs],
        [c for _, c in pairs],
        sample.n_features,
        Fraction(float(program.threshold)),
        Fraction(float(program.regulariser.weight)),
        program.regulariser.name,
        program.regulariser.squared,
    )


def norm_enclosure(coef: Vector, norm: str) -> tuple[Fraction, Fraction]:
    """‖coef‖ from below and above; equal for l1 and linf."""
    if norm == "l2":
        return root(sum((a * a for a in coef), ZERO))
    size = sum(map(abs, coef), ZERO) if norm == "l1" else max(map(abs, coef), default=ZERO)
    return size, size


def _dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), ZERO)


def value(program, sample: ExactSample, coef: Vector, intercept: Fraction = ZERO) -> tuple[Fraction, Fraction]:
    """The objective at a point, from below and above; the ends differ by the root of an l2 norm alone."""
    scores_pos, scores_neg = ([_dot(x, coef) for x in rows] for rows in (sample.pos, sample.neg))
    if program.kind == "mip":
        right = sum(
            (
                u * v
                for s, u in zip(scores_pos, sample.share_pos, strict=True)
                for t, v in zip(scores_neg, sample.share_neg, strict=True)
                if s > t
            ),
            ZERO,
        )
        return 1 - right, 1 - right
    z, penalty = Fraction(float(program.threshold)), Fraction(float(program.regulariser.weight))
    size = norm_enclosure(coef, program.regulariser.name)
    # With a loss that does not see the length, one evaluation serves both ends.
    lengths = dict.fromkeys(size) if z else size[:1]
    losses = [_loss(program, sample, scores_pos, scores_neg, intercept, 1 - z * length) for length in lengths]
    low, high = min(losses), max(losses)
    extra = [penalty * (length * length if program.regulariser.squared else length) for length in size]
    if program.regulariser.squared and program.regulariser.name == "l2":
        extra = [penalty * sum((a * a for a in coef), ZERO)] * 2
    return low + extra[0], high + extra[1]


def _loss(program, sample, scores_pos, scores_neg, intercept, shift) -> Fraction:
    """The mean hinge, or its superquantile over the negatives."""
    if program.comparisons.name == "points":
        pos = sum(
            (u * max(shift - s - intercept, ZERO) for s, u in zip(scores_pos, sample.share_pos, strict=True)), ZERO
        )
        neg = sum(
            (v * max(shift + s + intercept, ZERO) for s, v in zip(scores_neg, sample.share_neg, strict=True)), ZERO
        )
        return sample.prior_pos * pos + (1 - sample.prior_pos) * neg
    losses = [
        sum((u * max(shift - s + t, ZERO) for s, u in zip(scores_pos, sample.share_pos, strict=True)), ZERO)
        for t in scores_neg
    ]
    if program.kind == "cvar":
        return _dot(losses, worst_shares(losses, sample.share_neg, Fraction(float(program.max_fpr))))
    return _dot(losses, sample.share_neg)


def worst_shares(losses: Vector, share: Vector, part: Fraction) -> list[Fraction]:
    """The weights ``0 ≤ r_j ≤ share_j/part`` with sum 1 that give the largest mean of the losses."""
    left, worst = ONE, [ZERO] * len(losses)
    for j in sorted(range(len(losses)), key=lambda j: -losses[j]):
        worst[j] = min(left, share[j] / part)
        left -= worst[j]
    return worst


@dataclass(frozen=True)
class Cuts:
    """Where norm and square are bounded from below: directions u of length at most 1, and slopes κ of the square."""

    directions: tuple[tuple[Fraction, ...], ...] = ()
    slopes: tuple[Fraction, ...] = (ZERO,)


@dataclass(frozen=True)
class Bound:
    """A lower bound of a convex program, and the point at which the program behind the bound has its minimum."""

    value: Fraction
    point: list[Fraction]


#: A price for the violation of a constraint above its multiplier.
PRICE = Fraction(10) ** 9


def lower_bound(
    terms: Terms,
    cuts: Cuts | None = None,
    start: object = None,
    constraints: Sequence[tuple[Sequence[Fraction], Fraction]] = (),
) -> Bound:
    """The exact optimum of the linear program below the program: of the program itself for no norm, l1 and linf.

    Constraints are rows and limits, ``a·w ≤ c``, whose violation has a `PRICE`.

    Columns of the dual: q (terms), then for a norm its parts, for a square the weights μ of the slopes κ with
    ``λN² ≥ κN − κ²/(4λ)``.
    """
    if terms.threshold > 0:
        raise ValueError("z > 0 is not convex")
    cuts = cuts or Cuts()
    n, width, K = terms.n_features, len(terms.directions[0]), len(terms.directions)
    buffer, squared = -terms.threshold, terms.squared and terms.penalty > 0
    level = ZERO if squared else terms.penalty
    most = (max(cuts.slopes) if squared else level) + buffer
    columns: list[dict[int, Fraction]] = [{j: a for j, a in enumerate(d) if a} for d in terms.directions]
    cost, upper = [ONE] * K, list(terms.weights)
    right = [ZERO] * width

    def add(column: dict[int, Fraction], price: Fraction, most: Fraction) -> None:
        columns.append(column)
        cost.append(price)
        upper.append(most)

    if terms.uses_norm and most > 0:
        budget_rows: list[tuple[int, int]] = []  # (row, how many times the budget λ + a Σ q + Σ κμ stands in it)
        if terms.norm == "l1":
            for j in range(n):
                # |g_j| ≤ budget:  g_j + t_j = budget,  t_j + s_j = 2 budget.
                right.append(ZERO)
                add({j: ONE, len(right) - 1: ONE}, ZERO, 2 * most)
                add({len(right) - 1: ONE}, ZERO, 2 * most)
                budget_rows += [(j, 1), (len(right) - 1, 2)]
        else:
            units = [tuple(Fraction(s * (i == j)) for i in range(n)) for j in range(n) for s in (1, -1)]
            row = len(right)
            right.append(ZERO)
            for unit in [*units, *(cuts.directions if terms.norm == "l2" else ())]:
                add({**{j: -a for j, a in enumerate(unit) if a}, row: ONE}, ZERO, most)
            add({row: ONE}, ZERO, most)
            budget_rows = [(row, 1)]
        for row, times in budget_rows:
            right[row] += times * level
            if buffer:
                for k in range(K):
                    columns[k][row] = columns[k].get(row, ZERO) - times * buffer
        if squared:
            right.append(ONE)
            for slope in cuts.slopes:
                column = {row: -times * slope for row, times in budget_rows if slope}
                add({**column, len(right) - 1: ONE}, -slope * slope / (4 * terms.penalty), ONE)
    for row, limit in constraints:
        add({j: -a for j, a in enumerate(row) if a}, -limit, PRICE)
    best, point = boxed_optimum(columns, right, cost, upper)
    return Bound(best, point[:width])


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


def split(program, point: Sequence[Fraction]) -> tuple[list[Fraction], Fraction]:
    """`(w, b)` of a point."""
    return (list(point[:-1]), point[-1]) if program.comparisons.name == "points" else (list(point), ZERO)


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
            return _dot(_losses(sample, point), share) + terms.penalty * (length**2 if terms.squared else length)

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
    pos = [_dot(x, coef) for x in sample.pos]
    return [
        sum((u * max(1 - s + t, ZERO) for s, u in zip(pos, sample.share_pos, strict=True)), ZERO)
        for t in (_dot(z, coef) for z in sample.neg)
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
