# ruff: noqa: F401  what is imported is used by the expressions
"""What the table of the metrics may use: summaries of blocks, and estimators that lack a method."""

from types import SimpleNamespace

from sklearn.linear_model import LinearRegression, LogisticRegression

from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.registry import metric_of
from messages.situations import m, np
from messages.situations.conditions import under

UNLIKE = [([0, 1], [0.0, 1.0]), ([0, 1], [2.0, 0.5])]


def summary(blocks: object = UNLIKE, **options: object) -> object:
    """The summary of some blocks."""
    return m.summarise(m.score_blocks(blocks), **options)


class Collection:
    """Stands in for a Dask collection of so many partitions."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions

    def to_delayed(self) -> list[object]:
        """The partitions."""
        return [None] * self.partitions
