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


def little_memory(rounds: int) -> object:
    """The bAUC of 1,500 scores with memory for 150 of them, after at most this number of rounds of passes."""
    rng = np.random.default_rng(0)
    labels = (rng.random(1500) < 0.4).astype(int)
    blocks = [(labels, np.round(rng.normal(size=1500) + labels, 3))]
    with_bins = summary(blocks, n_bins=50)
    return under(
        {"auclab.metrics.summary.buffered_groups.ROUNDS": rounds},
        lambda: with_bins.refine(m.score_blocks(blocks), "bauc", memory_gb=150 * 96e-9),
    )
