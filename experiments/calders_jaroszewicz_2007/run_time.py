"""Figure 3: seconds of the polynomial against sorting (AUC) and against all pairs (softAUC).

Median seconds of alternating calls after a warm call of each; degree 30, β = 10. The competitors are what a user
would call: `auc_score` (sort and count), and all pairs in NumPy. Seeds are repetitions of the whole measurement.
Seconds belong to one machine; only ratios, exponents and the break-even are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from time import process_time

import numpy as np
from scipy.special import expit

from auclab.metrics import auc_score, polynomial_auc, polynomial_soft_auc
from experiments.study import VALUE, Row, holds, main

DEGREE, BETA = 30, 10.0
SEEDS = {"smoke": 1, "default": 3, "full": 5}
SOFT_SIZES = (100, 200, 300, 500, 700, 1000, 2000, 4000)
SIZES = {"smoke": (1000, 100_000), "default": (1000, 10_000, 100_000), "full": (1000, 10_000, 100_000, 1_000_000)}
CALLS = 7


def run(scale: str) -> Iterator[Row]:
    """Ratios at two sizes, exponent, break-even; a row per repetition."""
    for seed in range(SEEDS[scale]):
        random = np.random.default_rng(seed)
        sizes = SIZES[scale]
        seconds = np.array([_auc_seconds(*_sample(random, n)) for n in sizes])
        ratio = dict(zip(sizes, seconds[:, 1] / seconds[:, 0], strict=True))
        for n in sizes:
            yield Row(f"{VALUE}figure3.auc.ratio", ratio[n], seed, f"n={n}")
        for n in (1000, 100_000):
            yield Row(f"figure3.auc.ratio.n={n}", ratio[n], seed)
        yield holds("figure3.auc.faster", ratio[sizes[-1]] > 1, seed)
        large = slice(-2, None)  # below, the time of a call does not depend on n
        slope = np.polyfit(np.log(sizes[large]), np.log(seconds[large, 0]), 1)[0]
        yield Row("figure3.linear", float(slope), seed)
        soft = [_soft_seconds(*_sample(random, n)) for n in SOFT_SIZES]
        faster = [polynomial < pairs for polynomial, pairs in soft]
        for n, (polynomial, pairs) in zip(SOFT_SIZES, soft, strict=True):
            yield Row(f"{VALUE}figure3.soft.ratio", pairs / polynomial, seed, f"n={n}")
        yield Row("figure3.soft.breakeven", _break_even(faster), seed)
        yield holds("figure3.soft.faster", faster[-1], seed)


def _sample(random: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    labels = np.arange(n) % 2
    return labels, random.standard_normal(n) + labels


def _auc_seconds(y: np.ndarray, scores: np.ndarray) -> list[float]:
    return _medians(lambda: polynomial_auc(y, scores, degree=DEGREE), lambda: auc_score(y, scores))


def _soft_seconds(y: np.ndarray, scores: np.ndarray) -> list[float]:
    pos, neg = scores[y == 1], scores[y == 0]
    return _medians(
        lambda: polynomial_soft_auc(y, scores, beta=BETA, degree=DEGREE),
        lambda: expit(BETA * np.subtract.outer(pos, neg)).mean(),
    )


def _medians(*calls: Callable[[], object]) -> list[float]:
    """Median seconds of calls that take turns."""
    seconds: list[list[float]] = [[] for _ in calls]
    for turn in range(CALLS + 1):
        for call, times in zip(calls, seconds, strict=True):
            start = process_time()
            call()
            if turn:  # the first is warm-up
                times.append(process_time() - start)
    return [median(times) for times in seconds]


def _break_even(faster: list[bool]) -> float:
    """The smallest size from which on the polynomial is always faster; infinite if it never is."""
    last_slower = max((i for i, won in enumerate(faster) if not won), default=-1)
    return float(SOFT_SIZES[last_slower + 1]) if last_slower + 1 < len(SOFT_SIZES) else float("inf")


if __name__ == "__main__":
    main(run)
