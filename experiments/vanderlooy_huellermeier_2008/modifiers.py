"""Figure 1 and the example of Sect. 3.1: the modifier functions, eq. (5) as printed and as the integral implies.

Errata V1 (support and value of the probAUC modifier), V3 (which AUC the line of f2 has) and V5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from auclab.metrics import auc_score, probabilistic_auc, scored_auc, soft_auc
from experiments.study import AS_PUBLISHED, CORRECTED, Row, holds, main

WIDTH = 0.1
F1 = ([1, 1, 1, 1, 0, 0, 0], [0.7, 0.7, 0.7, 0.7, 0.3, 0.3, 0.3])
F2 = ([1, 1, 1, 1, 0, 0, 0], [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
Modifier = Callable[[np.ndarray], np.ndarray]


def run(scale: str) -> Iterator[Row]:
    """Points, symmetry and jumps of the modifiers, and f1 against f2 (all scales are the same)."""
    probabilistic = {AS_PUBLISHED: printed, CORRECTED: modifier(lambda y, s: probabilistic_auc(y, s, width=WIDTH))}
    grid = np.linspace(-0.5, 0.5, 2001)
    others = [
        modifier(auc_score), modifier(scored_auc), modifier(lambda y, s: soft_auc(y, s, beta=10.0))
    ]  # fmt: skip
    for variant, window in probabilistic.items():
        for t in ("-0.15", "-0.05", "0.05", "0.15"):
            yield Row(f"eq5.t={t}", float(window(np.array([float(t)]))[0]), variant=variant)
        all_symmetric = all((w(-grid) <= 1 - w(grid) + 1e-12).all() for w in (*others, window))
        yield holds("figure1.symmetric", all_symmetric, variant=variant)
        ends = np.array([-2 * WIDTH, -WIDTH, 0.0, WIDTH, 2 * WIDTH])
        steps = np.abs(window(ends + 1e-12) - window(ends - 1e-12))
        yield Row("figure1.continuous", float(steps.max()), variant=variant)
    yield Row("s3.1.f1.auc", auc_score(*F1))
    yield Row("s3.1.f1.sauc", scored_auc(*F1))
    yield Row("s3.1.f2.sauc", scored_auc(*F2))
    yield Row("s3.1.f2.auc", auc_score(*F2), variant=AS_PUBLISHED)  # the conventional one, ties ½
    yield Row("s3.1.f2.auc", auc_score(*F2, ties="strict"), variant=CORRECTED)


def modifier(metric: Callable[[list[int], list[float]], float]) -> Modifier:
    """w(t) of a metric: its value for one pair whose scores differ by t."""
    return lambda t: np.array([metric([1, 0], [value, 0.0]) for value in t])


def printed(t: np.ndarray) -> np.ndarray:
    """Eq. (5) as printed."""
    middle = np.maximum(0, t / (2 * WIDTH)) + 0.5 * (1 - np.abs(t) / (2 * WIDTH)) ** 2
    return np.where(t >= WIDTH, 1.0, np.where(t <= -WIDTH, 0.0, middle))


if __name__ == "__main__":
    main(run)
