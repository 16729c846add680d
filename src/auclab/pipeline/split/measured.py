"""A part of a split to compute metrics on: its scores in memory, or a summary of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from auclab.compiled.hinge import pair_hinge_value
from auclab.datasets.target import Target
from auclab.estimators.threshold import Cuts
from auclab.inference import Estimate, estimate_part
from auclab.inference.catalogue import estimable
from auclab.metrics import ScoredPart
from auclab.types import Array

Metric = str | Callable[..., float]


class Part(Protocol):
    """What rows are ranked by, and the metrics of their scores.

    See Also
    --------
    Measured : Of two classes.
    auclab.pipeline.split.ranked_part.RankedPart : Within groups, by grades, by times.
    """

    @property
    def labels(self) -> NDArray[Any]:
        """1 for the positive class, 0 for the other; grades, or times."""

    @property
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score."""

    @property
    def held(self) -> Any:
        """The scores, where they are in memory."""

    @property
    def ranked_by(self) -> Target | None:
        """Which rows are compared if there are not two classes, else None."""

    def by_block(self) -> Iterator[Array]:
        """The scores in row order, block by block."""

    def value(self, metric: Metric) -> float:
        """A metric, computed once."""

    def estimate(self, metric: Metric, level: float) -> Estimate | None:
        """With standard error and interval; None for a metric that would need a bootstrap."""


class Measured(Part, Protocol):
    """A part of two classes.

    See Also
    --------
    HeldPart : With all scores in memory.
    auclab.pipeline.split.summarised_part.SummarisedPart : From summaries of blocks.
    """

    @property
    def n_pos(self) -> int:
        """Number of positives."""

    @property
    def n_neg(self) -> int:
        """Number of negatives."""

    @property
    def held(self) -> ScoredPart | None:
        """The scores, where they are in memory."""

    @property
    def for_figures(self) -> ScoredPart:
        """Scores that give the same figures."""

    @property
    def cuts(self) -> Cuts:
        """The thresholds, and the counts above each."""

    def hinge(self, a: float) -> float:
        """Mean of ``[1 − a (h(x⁺) − h(x⁻))]₊`` over the pairs, or an upper limit of it."""


@dataclass(frozen=True, eq=False)
class HeldPart(ScoredPart):
    """A part of two classes with all scores in memory."""

    #: Rows of two classes.
    ranked_by: ClassVar[None] = None

    @property
    def held(self) -> HeldPart:
        """The part itself."""
        return self

    @property
    def for_figures(self) -> HeldPart:
        """The part itself."""
        return self

    @property
    def cuts(self) -> Cuts:
        """The thresholds between two scores."""
        return Cuts.of(self.positive, self.scores, None, None)

    @property
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score."""
        return float(self.scores.min()), float(self.scores.max())

    def by_block(self) -> Iterator[Array]:
        """All scores."""
        yield self.scores

    def estimate(self, metric: Metric, level: float) -> Estimate | None:
        """With standard error and interval; None for a metric that would need a bootstrap."""
        return None if estimable(metric, {}).rows is None else estimate_part(self, metric, level=level)

    def hinge(self, a: float) -> float:
        """Mean of ``[1 − a (h(x⁺) − h(x⁻))]₊`` over the pairs."""
        scores = self.finite_classes
        return float(pair_hinge_value(a * scores.pos, a * scores.neg, 1.0))


@dataclass(frozen=True)
class PartResult:
    """The training or the test part of a split and its metrics by name.

    `estimates` has standard errors and confidence intervals of those metrics that have them.
    """

    part: Any
    metrics: Mapping[str, float]
    estimates: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def y_true(self) -> NDArray[Any]:
        """Labels, 1 = positive."""
        return self.part.labels

    @property
    def y_score(self) -> Array | None:
        """Scores; None where they are summarised."""
        return None if self.part.held is None else self.part.held.scores

    @property
    def all_tied(self) -> bool:
        """Whether all scores are equal."""
        low, high = self.part.score_range
        return low == high


def measure(part: Part, metrics: Mapping[str, Metric], level: float | None) -> PartResult:
    """All metrics; with a `level`, for rows not used in fitting, also the intervals that need no bootstrap."""
    values = {key: part.value(metric) for key, metric in metrics.items()}
    found = {} if level is None else {key: part.estimate(metric, level) for key, metric in metrics.items()}
    return PartResult(part, values, {key: estimate for key, estimate in found.items() if estimate is not None})
