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

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

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


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), ZERO)


def value(program, sample: ExactSample, coef: Vector, intercept: Fraction = ZERO) -> tuple[Fraction, Fraction]:
    """The objective at a point, from below and above; the ends differ by the root of an l2 norm alone."""
    scores_pos, scores_neg = ([dot(x, coef) for x in rows] for rows in (sample.pos, sample.neg))
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
        return dot(losses, worst_shares(losses, sample.share_neg, Fraction(float(program.max_fpr))))
    return dot(losses, sample.share_neg)


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


def split(program, point: Sequence[Fraction]) -> tuple[list[Fraction], Fraction]:
    """`(w, b)` of a point."""
    return (list(point[:-1]), point[-1]) if program.comparisons.name == "points" else (list(point), ZERO)
