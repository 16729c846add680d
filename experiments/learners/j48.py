"""Weka's J48 (C4.5, release 8) for two classes, unpruned: Quinlan 1993 and the source of Weka 3.6.

A split on a nominal feature has a branch for each value, one on a numeric feature two, at the threshold with the
largest information gain. The gain of a numeric split is less log2(thresholds)/rows, the cost of naming one (Quinlan
1996, Improved use of continuous attributes in C4.5). Among the features whose gain is at least the mean gain, the one
with the largest gain ratio is taken. A row without the value goes down every branch with the fraction of the other rows
there. At last a subtree that makes no fewer training errors than one leaf becomes a leaf, which Weka does unpruned too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from experiments.learners.table import Floats, Integers, Mask

#: Weka's comparisons: two numbers closer than this are equal.
SMALL = 1e-6
#: Least rows of a branch.
LEAST = 2.0


@dataclass(frozen=True)
class J48:
    """A tree in arrays, a place for every node; the children of a node follow each other.

    `feature` is −1 in a leaf; `counts`, shape (nodes, 2), are the weights of both classes in a node; `bags` those that
    its parent's split counts for it, rows without the value included.
    """

    feature: Integers
    threshold: Floats
    first: Integers
    branches: Integers
    counts: Floats
    bags: Floats

    @classmethod
    def grow(cls, cells: Floats, labels: Mask, arity: Integers, kept: Mask) -> J48:
        """From rows of `Table.cells`, by the features that are `kept`.

        Examples
        --------
        The first feature splits the classes, with two rows in each branch; the second does not:

        >>> cells, labels = np.array([[1.0, 0], [2.0, 1], [3.0, 0], [4.0, 1]]), np.array([False, False, True, True])
        >>> tree = J48.grow(cells, labels, np.array([0, 2]), np.ones(2, bool))
        >>> tree.feature.tolist(), float(tree.threshold[0]), tree.scores(cells, np.array([0, 2])).tolist()
        ([0, -1, -1], 2.0, [0.25, 0.25, 0.75, 0.75])
        """
        features = np.flatnonzero(kept)
        return cls(*_grow(np.ascontiguousarray(cells), labels.astype(np.intp), arity.astype(np.intp), features))

    def scores(self, cells: Floats, arity: Integers, laplace: bool = True) -> Floats:
        """Share of the positives in the leaf of each row, with one more of either class if `laplace`."""
        tree = (self.feature, self.threshold, self.first, self.branches, self.counts, self.bags)
        return _scores(np.ascontiguousarray(cells), arity.astype(np.intp), float(laplace), *tree)


@njit(cache=True)
def _log(x):  # type: ignore[no-untyped-def]
    return 0.0 if x < SMALL else x * math.log(x) / math.log(2.0)


@njit(cache=True)
def _old_entropy(bags):  # type: ignore[no-untyped-def]
    negative, positive = bags[:, 0].sum(), bags[:, 1].sum()
    return _log(negative + positive) - (_log(negative) + _log(positive))


@njit(cache=True)
def _gain(bags, old, total):  # type: ignore[no-untyped-def]
    """Information gain of a split with the weights `bags`; rows without the value count as no gain."""
    new, known = 0.0, 0.0
    for branch in range(len(bags)):
        here = bags[branch, 0] + bags[branch, 1]
        new += _log(bags[branch, 0]) + _log(bags[branch, 1]) - _log(here)
        known += here
    gain = (1.0 - (total - known) / total) * (old + new)
    return 0.0 if abs(gain) < SMALL else gain / known


@njit(cache=True)
def _ratio(bags, gain, total):  # type: ignore[no-untyped-def]
    known, split = 0.0, 0.0
    for branch in range(len(bags)):
        here = bags[branch, 0] + bags[branch, 1]
        split -= _log(here)
        known += here
    split += _log(total) - _log(total - known)
    return 0.0 if abs(split) < SMALL else gain / (split / total)


@njit(cache=True)
def _nominal(values, y, weights, arity, total):  # type: ignore[no-untyped-def]
    """Gain, ratio and bags; a gain of 0 where fewer than two branches have enough rows."""
    bags = np.zeros((arity, 2))
    for row in range(len(values)):
        if not math.isnan(values[row]):
            bags[int(values[row]), y[row]] += weights[row]
    enough = 0
    for branch in range(arity):
        enough += bags[branch, 0] + bags[branch, 1] - LEAST > -SMALL
    if enough < 2:
        return False, 0.0, 0.0, bags
    gain = _gain(bags, _old_entropy(bags), total)
    return True, gain, _ratio(bags, gain, total), bags


@njit(cache=True)
def _numeric(values, y, weights, total):  # type: ignore[no-untyped-def]
    """Whether a split is useful, its gain, ratio, bags, and threshold."""
    bags, moving = np.zeros((2, 2)), np.zeros((2, 2))
    order = np.argsort(values)  # NaN last
    known = 0
    for row in order:
        if math.isnan(values[row]):
            break
        moving[1, y[row]] += weights[row]
        known += 1
    least = 0.1 * (moving[1, 0] + moving[1, 1]) / 2.0
    if least - LEAST < SMALL:
        least = LEAST
    elif least - 25.0 > SMALL:
        least = 25.0
    if 2 * least - known > SMALL:
        return False, 0.0, 0.0, bags, 0.0
    old = _old_entropy(moving)
    best, place, tried, last = 0.0, -1, 0, 0
    for following in range(1, known):
        if values[order[following - 1]] + 1e-5 < values[order[following]]:
            for k in range(last, following):
                moving[1, y[order[k]]] -= weights[order[k]]
                moving[0, y[order[k]]] += weights[order[k]]
            last = following
            if moving[0].sum() - least > -SMALL and moving[1].sum() - least > -SMALL:
                gain = _gain(moving, old, total)
                if gain - best > SMALL:
                    best, place = gain, following - 1
                tried += 1
    if tried == 0:
        return False, 0.0, 0.0, bags, 0.0
    best -= math.log(tried) / math.log(2.0) / total
    if best < SMALL:
        return False, 0.0, 0.0, bags, 0.0
    low, high = values[order[place]], values[order[place + 1]]
    threshold = (low + high) / 2.0
    if threshold == high:
        threshold = low
    for k in range(known):
        bags[int(k > place), y[order[k]]] += weights[order[k]]
    return True, best, _ratio(bags, best, total), bags, threshold


@njit(cache=True)
def _best(cells, y, arity, features, rows, weights, by_many):  # type: ignore[no-untyped-def]
    """Feature with the best split of a node, −1 if none is useful; its bags and threshold."""
    total = weights.sum()
    own = y[rows]
    gains, ratios = np.zeros(len(features)), np.zeros(len(features))
    useful = np.zeros(len(features), dtype=np.bool_)
    thresholds, found = np.zeros(len(features)), [np.zeros((2, 2)) for _ in range(len(features))]
    mean, count = 0.0, 0
    for k in range(len(features)):
        feature = features[k]
        values = cells[rows, feature]
        if arity[feature] > 0:
            useful[k], gains[k], ratios[k], found[k] = _nominal(values, own, weights, arity[feature], total)
        else:
            useful[k], gains[k], ratios[k], found[k], thresholds[k] = _numeric(values, own, weights, total)
        # features with very many values do not count in the mean, unless all are such
        if useful[k] and (by_many or arity[feature] == 0 or arity[feature] < 0.3 * len(cells) - SMALL):
            mean += gains[k]
            count += 1
    chosen, largest = -1, 0.0
    if count > 0:
        mean /= count
        for k in range(len(features)):
            if useful[k] and gains[k] >= mean - 1e-3 and ratios[k] - largest > SMALL:
                chosen, largest = k, ratios[k]
    if chosen < 0:
        return -1, np.zeros((2, 2)), 0.0
    return features[chosen], found[chosen], thresholds[chosen]


def _grow(cells: Floats, y: Integers, arity: Integers, features: Integers) -> list[Any]:
    """The arrays of a tree. Its loop over nodes is not compiled, which would take ten seconds."""
    by_many = not any(arity[feature] == 0 or arity[feature] < 0.3 * len(cells) - SMALL for feature in features)
    feature_of, threshold_of, first, branches = [-1], [0.0], [-1], [0]
    counts, bags_of = [np.zeros(2)], [np.zeros(2)]
    waiting = [(0, np.arange(len(cells)), np.ones(len(cells)))]
    while waiting:
        node, rows, weights = waiting.pop()
        own = y[rows]
        counts[node] = _class_weights(own, weights)
        total = counts[node].sum()
        if 2 * LEAST - total > SMALL or abs(total - counts[node].max()) < SMALL:
            continue
        feature, bags, threshold = _best(cells, y, arity, features, rows, weights, by_many)
        if feature < 0:
            continue
        if arity[feature] == 0:
            threshold = _value_below(cells[:, feature], threshold)
        shares = _shares(cells[rows, feature], own, weights, bags, threshold, arity[feature] > 0)
        used, more = len(feature_of), len(bags)
        feature_of[node], threshold_of[node], first[node], branches[node] = feature, threshold, used, more
        feature_of += [-1] * more
        threshold_of += [0.0] * more
        first += [-1] * more
        branches += [0] * more
        counts += [np.zeros(2)] * more
        bags_of += list(bags)
        for branch, share in enumerate(shares):
            taken = np.flatnonzero(share > 0.0)
            waiting.append((used + branch, rows[taken], share[taken]))
    for node, start in enumerate(first):  # the counts that a split reports have the fractions as the split saw them
        if feature_of[node] >= 0:
            counts[node] = np.array(bags_of[start : start + branches[node]]).sum(axis=0)
    tree = [np.array(part) for part in (feature_of, threshold_of, first, branches, counts, bags_of)]
    _collapse(tree[0], tree[2], tree[3], tree[4])
    return tree


@njit(cache=True)
def _class_weights(y, weights):  # type: ignore[no-untyped-def]
    sums = np.zeros(2)
    for row in range(len(y)):
        sums[y[row]] += weights[row]
    return sums


@njit(cache=True)
def _value_below(values, threshold):  # type: ignore[no-untyped-def]
    """The largest value of all rows that is not above the threshold."""
    lower = -np.inf
    for value in values:
        if value - lower > SMALL and value - threshold < SMALL:
            lower = value
    return lower


@njit(cache=True)
def _shares(values, y, weights, bags, threshold, nominal):  # type: ignore[no-untyped-def]
    """The weight of every row in every branch; rows without the value count in all `bags`."""
    known = bags.sum()
    parts, shares = np.zeros(len(bags)), np.zeros((len(bags), len(values)))
    for branch in range(len(bags)):
        parts[branch] = bags[branch].sum() / known
    for row in range(len(values)):
        for branch in range(len(bags)):
            if math.isnan(values[row]):
                bags[branch, y[row]] += parts[branch] * weights[row]
                shares[branch, row] = parts[branch] * weights[row] if parts[branch] > SMALL else 0.0
            elif nominal:
                shares[branch, row] = weights[row] if int(values[row]) == branch else 0.0
            elif (values[row] - threshold < SMALL) == (branch == 0):
                shares[branch, row] = weights[row]
    return shares


@njit(cache=True)
def _collapse(feature_of, first, branches, counts):  # type: ignore[no-untyped-def]
    """Make leaves of subtrees with as many training errors, from the root down; children come after parents."""
    errors = np.zeros(len(counts))
    for node in range(len(counts) - 1, -1, -1):
        if feature_of[node] < 0:
            errors[node] = counts[node].min()
        else:
            for child in range(first[node], first[node] + branches[node]):
                errors[node] += errors[child]
    for node in range(len(counts)):
        if feature_of[node] >= 0 and errors[node] >= counts[node].min() - 1e-3:
            feature_of[node] = -1


@njit(cache=True)
def _share(counts, laplace):  # type: ignore[no-untyped-def]
    total = counts[0] + counts[1]
    if laplace == 0.0 and total < SMALL:
        return 0.0
    return (counts[1] + laplace) / (total + 2.0 * laplace)


@njit(cache=True)
def _scores(cells, arity, laplace, feature_of, threshold_of, first, branches, counts, bags):  # type: ignore[no-untyped-def]
    found = np.zeros(len(cells))
    for row in range(len(cells)):
        waiting = [(0, 1.0)]
        while len(waiting) > 0:
            node, weight = waiting.pop()
            feature = feature_of[node]
            if feature < 0:
                found[row] += weight * _share(counts[node], laplace)
                continue
            value, start = cells[row, feature], first[node]
            if math.isnan(value):
                total = counts[node].sum()
                for child in range(start, start + branches[node]):
                    if counts[child].sum() > SMALL:
                        waiting.append((child, weight * (bags[child].sum() / total)))
                continue
            branch = int(value) if arity[feature] > 0 else int(value - threshold_of[node] >= SMALL)
            child = start + branch
            if counts[child].sum() < SMALL:  # no rows there: as the node itself
                found[row] += weight * _share(counts[node], laplace)
            else:
                waiting.append((child, weight))
    return found
