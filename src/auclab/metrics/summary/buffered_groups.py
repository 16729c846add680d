"""bAUC where the undecided scores do not fit into memory: sums over pairs at a few levels, some bins at a time.

With ``a = 1/(z − γ)``, ``F(a) = E[a(ξ − z) + 1]₊ = E(ξ − γ)₊/(z − γ)`` is convex with slope ``D(γ) = E(ξ − z) 1{ξ >
γ}``, and bPOE is its minimum. A round of passes sums F and D exactly at some levels of the bracket of γ*. The sign of D
says between which two of them the minimum lies, and their tangents meet below it: bPOE lies between the height where
they meet and the smaller value of F. Both differ by second order in the distance of the levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from auclab.compiled.ranking import rank_counts_above
from auclab.metrics.class_scores import ClassScores
from auclab.metrics.summary.binned_scores import BinnedScores
from auclab.metrics.summary.brackets import Bracket, Mask, Masks
from auclab.types import Array

#: Levels of a round, and rounds: the second one is near the root that the first one interpolates.
LEVELS, ROUNDS = 16, 12

#: From masks of the scores to gather, and of the negatives that take part, to lists of both classes.
Lists = Callable[[Masks, Mask], ClassScores]


@dataclass(frozen=True)
class Point:
    """F and D at a level, over the pairs of all scores."""

    level: float
    slope: float
    value: float


def smallest_mean(
    lists: Lists, groups: list[tuple[Masks, Mask]], pairs: float, bracket: Bracket, threshold: float, bottom: float
) -> tuple[float, float]:
    """Limits of bPOE from rounds of passes, each over all groups."""
    low, high = max(bracket.low, math.nextafter(bottom, -math.inf)), bracket.high
    trials = np.unique(np.linspace(low, high, LEVELS))
    ends = 0.0, 1.0
    points: list[Point] = []
    for _ in range(ROUNDS):
        points += _round(lists, groups, pairs, trials, threshold)
        points.sort(key=lambda point: point.level)
        right = next(k for k, point in enumerate(points) if point.slope >= 0.0)
        if right == 0:
            return points[0].value, points[0].value
        left, other = points[right - 1], points[right]
        ends = _limits(left, other, threshold)
        # Distance of the limits at which they count as one value.
        if ends[1] - ends[0] <= 2e-13 * max(ends[1], 1e-3) or math.nextafter(left.level, math.inf) >= other.level:
            break
        trials = _between(left, other, threshold)
    return ends


def _round(
    lists: Lists, groups: list[tuple[Masks, Mask]], pairs: float, trials: Array, threshold: float
) -> list[Point]:
    """F and D at the trial levels, in a pass for each group."""
    counts: list[list[float]] = [[] for _ in trials]
    excesses: list[list[float]] = [[] for _ in trials]
    for masks, members in groups:
        errors = lists(masks, members).pair_errors
        for k, level in enumerate(trials.tolist()):
            count, excess = errors.tail(errors.units.working(level), errors.units.working(threshold))
            counts[k] += count
            excesses[k] += [errors.units.original(part) for part in excess]
    points = []
    for level, weights, terms in zip(trials.tolist(), counts, excesses, strict=True):
        slope, above = math.fsum(terms) / pairs, math.fsum(weights) / pairs
        points.append(Point(level, slope, slope / (threshold - level) + above))
    return points


def _limits(left: Point, right: Point, threshold: float) -> tuple[float, float]:
    """Height where the tangents of two points meet, and the smaller of their values."""
    a, b = 1.0 / (threshold - left.level), 1.0 / (threshold - right.level)
    least = min(left.value, right.value)
    # from the point that is nearer to the minimum, so that little is subtracted
    meet = (left.value - right.value + right.slope * (b - a)) / (right.slope - left.slope)
    return min(max(left.value + left.slope * max(meet, 0.0), 0.0), least), least


def _between(left: Point, right: Point, threshold: float) -> Array:
    """Levels between two: evenly spaced, and dense about the root of the slope and about where the tangents meet."""
    width = right.level - left.level
    root = left.level - width * left.slope / (right.slope - left.slope)
    a, b = 1.0 / (threshold - left.level), 1.0 / (threshold - right.level)
    meet = threshold - (right.slope - left.slope) / (
        left.value - right.value + right.slope * b - left.slope * a
    )  # of the tangents: the minimum itself where F is linear on either side of it
    steps = width * 2.0 ** -np.array([6.0, 12.0, 18.0])
    near = [np.concatenate((centre - steps, [centre], centre + steps)) for centre in (root, meet)]
    trials = np.unique(np.concatenate((np.linspace(left.level, right.level, LEVELS // 2), *near)))
    return trials[(trials > left.level) & (trials < right.level)]


def groups_of(summary: BinnedScores, masks: Masks, bracket: Bracket, most: int) -> Iterator[tuple[Masks, Mask]]:
    """Bins to gather with the negative bins whose pairs they serve, so that at most `most` scores are gathered.

    Every negative bin is in one group. Pairs of bins that the bracket decides need no scores.
    """
    pos, neg = summary.pos, summary.neg
    in_pos, in_neg = np.flatnonzero(pos.count > 0), np.flatnonzero(neg.count > 0)
    may = rank_counts_above(pos.low[in_pos], neg.high[in_neg], bracket.low)
    must = rank_counts_above(pos.high[in_pos], neg.low[in_neg], bracket.high)
    rows_pos = np.concatenate(([0], np.cumsum(np.where(masks[0], pos.count, 0)[in_pos])))
    rows_neg = np.concatenate(([0], np.cumsum(np.where(masks[1], neg.count, 0)[in_neg])))
    start = 0
    while start < in_neg.size:
        end, first, last = start, in_pos.size, 0
        while end < in_neg.size:
            a, b = (min(first, must[end]), max(last, may[end])) if may[end] > must[end] else (first, last)
            size = rows_neg[end + 1] - rows_neg[start] + (rows_pos[b] - rows_pos[a] if b > a else 0)
            if size > most and end > start:
                break
            first, last, end = a, b, end + 1
        members, chosen = np.zeros(neg.count.size, bool), np.zeros(pos.count.size, bool)
        members[in_neg[start:end]] = True
        chosen[in_pos[first:last]] = True
        yield (masks[0] & chosen, masks[1] & members), members
        start = end
