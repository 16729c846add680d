"""Mean and variance of the AUC over all classifications with k errors: the closed forms against every ordering.

A classification is an order of the m positives and n negatives and a threshold; all those with k errors are equally
likely. If x of the errors are positives below the threshold, m − x positives and k − x negatives lie above it and the
others below, each part in random order, which gives the sum that `moments` takes. `enumerated` lists every one.

The closed forms were read in public code and not in the paper, see the README.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, lgamma

import numpy as np
from sklearn.linear_model import LogisticRegression

from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.splits import holdout
from auclab.metrics import auc_score
from experiments.study import Row, holds, main

#: Largest class of the orders that are listed, and of the sums that are compared with the closed forms.
LISTED = {"smoke": 3, "default": 5, "full": 6}
SUMMED = {"smoke": 10, "default": 25, "full": 40}
#: Examples: all rows, positives, and errors.
EXAMPLES = ((100, 50, 10), (100, 10, 10), (100, 50, 30), (100, 10, 30))
DATA_SETS = {
    "smoke": ("heart_statlog",),
    "default": ("heart_statlog", "pima", "ionosphere", "german_credit", "sonar", "wdbc"),
    "full": ("heart_statlog", "pima", "ionosphere", "german_credit", "sonar", "wdbc", "mammography", "page_blocks"),
}
Moments = tuple[Fraction, Fraction]


def run(scale: str) -> Iterator[Row]:
    """Differences of the closed forms, the statements of the abstract, and classifiers of real data."""
    sizes = [(m, n, k) for m, n in _classes(LISTED[scale]) for k in range(m + n + 1)]
    listed = {size: enumerated(*size) for size in sizes}
    yield Row("sum.mean", _largest(listed[size][0] - moments(*size)[0] for size in sizes))
    yield Row("sum.variance", _largest(listed[size][1] - moments(*size)[1] for size in sizes))
    found = {(m, n, k): moments(m, n, k) for m, n in _classes(SUMMED[scale]) for k in range(m + n + 1)}
    for name, chosen in (("within", True), ("beyond", False)):
        part = [size for size in found if (size[2] <= min(size[:2])) == chosen]
        yield Row(f"mean.{name}", _largest(published_mean(*size) - found[size][0] for size in part))
        yield Row(f"variance.{name}", _largest(published_variance(*size) - found[size][1] for size in part))
    steps = [found[size][0] - found[size[0], size[1], size[2] - 1][0] for size in found if size[2] > 0]
    yield holds("monotone", max(steps) < 0)
    yield from _spread(found)
    for size, positives, errors in EXAMPLES:
        mean, variance = moments(positives, size - positives, errors)
        yield Row(f"example.mean.m={positives}.k={errors}", float(mean))
        yield Row(f"example.sd.m={positives}.k={errors}", float(variance) ** 0.5)
    yield from _classifiers(DATA_SETS[scale])


def _spread(found: dict[tuple[int, int, int], Moments]) -> Iterator[Row]:
    """For errors up to the smaller class: the variance grows with the errors, and as classes get less even."""
    part = [size for size in found if 0 < size[2] <= min(size[:2])]
    pairs = [((m, n, k), (m + 1, n - 1, k)) for m, n, k in part if m < n - 1 and (m + 1, n - 1, k) in found]
    yield holds("spread.uneven", all(found[uneven][1] > found[even][1] for uneven, even in pairs))
    yield holds("spread.growing", all(found[m, n, k][1] > found[m, n, k - 1][1] for m, n, k in part))


def _classes(largest: int) -> list[tuple[int, int]]:
    return [(m, n) for m in range(1, largest + 1) for n in range(1, largest + 1)]


def _largest(differences: Iterator[Fraction]) -> float:
    return float(max(map(abs, differences), default=Fraction(0)))


def enumerated(m: int, n: int, k: int) -> Moments:
    """Mean and variance over every order and threshold with k errors, by listing them.

    Examples
    --------
    One of each class and one error: the threshold lies above or below both, in either order.

    >>> enumerated(1, 1, 1)
    (Fraction(1, 2), Fraction(1, 4))
    """
    values = []
    for places in combinations(range(m + n), m):
        is_positive = np.isin(np.arange(m + n), places)
        area = Fraction(int(np.cumsum(~is_positive)[is_positive].sum()), m * n)
        missed = np.concatenate([[0], np.cumsum(is_positive)])
        wrong = missed + (n - np.concatenate([[0], np.cumsum(~is_positive)]))
        values += [area] * int((wrong == k).sum())
    mean = sum(values, Fraction(0)) / len(values)
    return mean, sum((value * value for value in values), Fraction(0)) / len(values) - mean**2


def moments(m: int, n: int, k: int) -> Moments:
    """The same by the sum over x, the number of positives among the errors."""
    total, first, second = 0, Fraction(0), Fraction(0)
    for x in range(max(0, k - n), min(m, k) + 1):
        count = comb(m + k - 2 * x, k - x) * comb(n - k + 2 * x, x)
        mean, variance = _given(m, n, k, x)
        total, first, second = total + count, first + count * mean, second + count * (variance + mean**2)
    mean = first / total
    return mean / (m * n), (second / total - mean**2) / (m * n) ** 2


def _given(m: int, n: int, k: int, x: int) -> Moments:
    """Mean and variance of the number of pairs in order, x of the k errors being positives."""
    above, below = (m - x, k - x), (x, n - k + x)  # positives and negatives on either side
    mean = Fraction(above[0] * above[1] + below[0] * below[1], 2) + above[0] * below[1]
    return mean, sum((Fraction(a * b * (a + b + 1), 12) for a, b in (above, below)), Fraction(0))


def moments_in_doubles(m: int, n: int, k: int) -> tuple[float, float]:
    """`moments` for large samples, with weights from logarithms of factorials.

    Examples
    --------
    >>> exact = moments(7, 12, 5)
    >>> [round(own - float(value), 12) + 0.0 for own, value in zip(moments_in_doubles(7, 12, 5), exact)]
    [0.0, 0.0]
    """
    x = range(max(0, k - n), min(m, k) + 1)
    logs = np.array([_log_comb(m + k - 2 * i, k - i) + _log_comb(n - k + 2 * i, i) for i in x])
    weights = np.exp(logs - logs.max())
    given = np.array([[float(value) for value in _given(m, n, k, i)] for i in x]) / [m * n, (m * n) ** 2]
    mean = np.average(given[:, 0], weights=weights)
    return float(mean), float(np.average(given[:, 1] + (given[:, 0] - mean) ** 2, weights=weights))


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def published_mean(m: int, n: int, k: int) -> Fraction:
    """The closed form of the mean: 1 − k/N − (n − m)²(N + 1)/(4mn) · (k/N − Σ_{x<k} C(N, x)/Σ_{x≤k} C(N + 1, x)).

    Examples
    --------
    >>> published_mean(50, 50, 10)
    Fraction(9, 10)
    """
    size = m + n
    share = Fraction(_sum_of_combs(size, k - 1), _sum_of_combs(size + 1, k))
    return 1 - Fraction(k, size) - Fraction((n - m) ** 2 * (size + 1), 4 * m * n) * (Fraction(k, size) - share)


def published_variance(m: int, n: int, k: int) -> Fraction:
    """The closed form of the variance, of the authors' later paper on confidence intervals (Corollary 1)."""
    size, mn = m + n, m * n
    t = 3 * ((m - n) ** 2 + size) + 2
    z1, z2, z3, z4 = (Fraction(_sum_of_combs(size + 1 - i, k - i), _sum_of_combs(size + 1, k)) for i in range(1, 5))
    q0 = (
        (size + 1) * t * k**2
        + ((-3 * n**2 + 3 * mn + 3 * m + 1) * t - 12 * (3 * mn + size) - 8) * k
        + (-3 * m**2 + 7 * m + 10 * n + 3 * mn + 10) * t
        - 4 * (3 * mn + size + 1)
    )
    q1 = (
        t * k**3
        + 3 * (m - 1) * t * k**2
        + ((-3 * n**2 + 3 * mn - 3 * m + 8) * t - 6 * (6 * mn + size)) * k
        + (-3 * m**2 + 7 * size + 3 * mn) * t
        - 2 * (6 * mn + size)
    )
    inner = m**2 - mn + 3 * k * m - 5 * m + 2 * k**2 - n * k - 9 * k + 12
    return (
        Fraction((size + 1) * size * (size - 1) * t, 72 * mn**2) * ((size - 2) * z4 - (2 * m - n + 3 * k - 10) * z3)
        + Fraction((size + 1) * size * t, 48 * mn**2) * inner * z2
        - Fraction((size + 1) ** 2 * (m - n) ** 4, 16 * mn**2) * z1**2
        - Fraction((size + 1) * q1, 72 * mn**2) * z1
        + Fraction(k * q0, 144 * mn**2)
    )


def _sum_of_combs(n: int, k: int) -> int:
    return sum(comb(n, x) for x in range(k + 1))


def _classifiers(names: tuple[str, ...]) -> Iterator[Row]:
    """Test AUC of a logistic regression in standard deviations from the mean AUC of its error rate."""
    for name in names:
        data = load(name)
        (parts,) = holdout(data.y, test_size=0.5, seed=0)
        prepare = standard(data)
        train, test = data.frame.iloc[parts.train], data.frame.iloc[parts.test]
        model = LogisticRegression(max_iter=2000).fit(prepare.fit_transform(train), data.y[parts.train])
        scores, labels = model.decision_function(prepare.transform(test)), data.y[parts.test] == 1
        errors = int(((scores > 0) != labels).sum())
        mean, variance = moments_in_doubles(int(labels.sum()), int((~labels).sum()), errors)
        yield Row(f"real.{name}", (auc_score(labels, scores) - mean) / variance**0.5)


if __name__ == "__main__":
    main(run)
