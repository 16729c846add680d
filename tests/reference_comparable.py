"""Brute-force twins of metrics over comparable pairs: every pair is visited, in exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from reference import Errors, Numbers

#: Pairs (i, j): i should have the larger score.
PairList = list[tuple[int, int]]


def pairs_of_times(time: Numbers, event: Sequence[bool], tied_times: str = "excluded") -> PairList:
    """An event of i before the time of j; with "censored_later" also at the same time, if j is censored."""
    return [
        (i, j)
        for i in range(len(time))
        for j in range(len(time))
        if event[i] and (time[i] < time[j] or (tied_times == "censored_later" and time[i] == time[j] and not event[j]))
    ]


def pairs_of_grades(y: Numbers, groups: Sequence[object] | None = None) -> PairList:
    """A larger grade of i in the same group."""
    g = [0] * len(y) if groups is None else groups
    return [(i, j) for i in range(len(y)) for j in range(len(y)) if g[i] == g[j] and y[i] > y[j]]


def errors(
    pairs: PairList, scores: Numbers, weight: Numbers | None = None, groups: Sequence[object] | None = None
) -> Errors:
    """``ξ = s_j − s_i`` and the product of the weights; with groups, each group's weights sum to 1."""
    w = [Fraction(1)] * len(scores) if weight is None else [Fraction(x) for x in weight]
    total: dict[object, Fraction] = {}
    if groups is not None:
        for i, j in pairs:
            total[groups[i]] = total.get(groups[i], Fraction(0)) + w[i] * w[j]
    return [
        (Fraction(scores[j]) - Fraction(scores[i]), w[i] * w[j] / (1 if groups is None else total[groups[i]]))
        for i, j in pairs
        if w[i] * w[j]
    ]
