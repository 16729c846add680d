"""Limits that end an experiment between inner folds if its mean so far is worse than most others of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Limits:
    """Means of a metric over the first fold, the first two, …, below which the next fold is not solved.

    `metric`: its name among the measured metrics. `values`: entry k − 1 is for k folds. `sign`: −1 if smaller values of
    the metric are better.
    """

    metric: str
    values: tuple[float, ...]
    sign: int = 1

    def refuse(self, folds: Sequence[float]) -> bool:
        """Whether the mean over the first fold, the first two, …, is worse than its limit at one of them.

        Examples
        --------
        >>> limits = Limits("auc", (0.7, 0.8))
        >>> limits.refuse([0.75]), limits.refuse([0.75, 0.8]), limits.refuse([0.9, 0.8, 0.1])
        (False, True, False)
        """
        means = np.cumsum(folds) / np.arange(1, len(folds) + 1)
        return any(self.sign * mean < self.sign * limit for mean, limit in zip(means, self.values, strict=False))


class PrunedError(Exception):
    """`Limits` ended an experiment between its inner folds; `values`: its metrics on the folds solved."""

    def __init__(self, values: Mapping[str, Sequence[float]], folds: int, limits: Limits) -> None:
        done = values[limits.metric]
        mean, limit = sum(done) / len(done), limits.values[len(done) - 1]
        super().__init__(
            f"left after {len(done)} of {folds} inner folds: {limits.metric} {mean:.4f}, median {limit:.4f}"
        )
        self.values = {key: list(each) for key, each in values.items()}
