"""A part of a table in blocks whose scores are not in memory: metrics, intervals and figures from summaries.

A part with more than `MOST_HELD` rows is a `SummarisedPart` instead of a `HeldPart`. Scores are computed in one pass
over the rows and stored in a temporary file. If that would be too large, workers compute scores where they read rows,
and send summaries that are added. A metric is the middle of the limits that the summary gives (docs/merged_metrics.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.forms import row_scores
from auclab.datasets.records import Dataset, Split
from auclab.datasets.target import Target
from auclab.estimators.calibration import Cuts
from auclab.formulations.problem import Ranking
from auclab.inference.components import Estimate
from auclab.inference.summaries import estimate_summary
from auclab.metrics import ScoredPart, ScoreSummary, auc_score, summarise
from auclab.metrics.registry import metric_of
from auclab.metrics.summary.blocks import KeptScores, ScoreBlocks, TableScores
from auclab.metrics.summary.bounds import CONVEX, CURVE, ErrorBounds, joined, mean_atoms
from auclab.metrics.summary.score_summary import sampled_edges
from auclab.runs.config.checks import refuse
from auclab.runs.config.compose import Experiment, built
from auclab.runs.config.settings import DecisionConfig
from auclab.runs.split.decision import check_probability
from auclab.runs.split.measured import HeldPart, Part, RankedPart
from auclab.samples.blocks.labels import packed_labels
from auclab.samples.blocks.table import BlockTable
from auclab.samples.tables import in_memory
from auclab.solvers.registry import capable_solvers, check_blocks, check_capable
from auclab.solvers.solution import Fitted

#: Rows up to which the scores of a part are held in memory.
MOST_HELD = 5_000_000
#: Bins of the summary: limits of bAUC and of other means over errors are then about 1e-10 apart, those of AUC 2e-5.
N_BINS = 131_072


@dataclass(frozen=True, eq=False)
class SummarisedPart:
    """Labels of a part, and how to recompute its scores.

    `labels` (n_samples,): 1 for the positive class, 0 for the other. `table` (n_samples, n_features): prepared rows.
    """

    labels: NDArray[Any]
    table: BlockTable
    coef: Array
    intercept: float
    _values: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    ranked_by: ClassVar[None] = None

    @cached_property
    def blocks(self) -> ScoreBlocks:
        """The scores, in a file or recomputed in every pass."""
        if self._kept is not None:
            return self._kept.joined()
        labels = packed_labels(self.table, self.labels == 1)
        return TableScores(self.table, labels, self.coef, self.intercept)

    @cached_property
    def _kept(self) -> KeptScores | None:
        if not KeptScores.fits(len(self.labels)):
            return None
        return KeptScores(self._computed(), list(self.table.split(self.labels == 1)))

    def _computed(self) -> Iterator[Array]:
        for scores in self.table.run(row_scores, repeat(self.coef, len(self.table.blocks))):
            yield scores + self.intercept

    @cached_property
    def summary(self) -> ScoreSummary:
        """Of all scores."""
        by_block = self._kept or self.blocks  # the same edges wherever the scores are stored
        return summarise(self.blocks, edges=sampled_edges(by_block, N_BINS))

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return self.summary.n_pos

    @property
    def n_neg(self) -> int:
        """Number of negatives."""
        return self.summary.n_neg

    @property
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score."""
        bins = self.summary.pos, self.summary.neg
        return float(min(each.low.min() for each in bins)), float(max(each.high.max() for each in bins))

    def value(self, metric: str | Callable[..., float]) -> float:
        """A metric of this part, computed once."""
        check_metric(metric, len(self.labels))
        entry, options = metric_of(metric, {})
        name = "" if entry is None else entry.name
        key = f"{name} {sorted(options.items())}"
        if key not in self._values:
            self._values[key] = self._threshold() if name == "auc_threshold" else self._value(name, options)
        return self._values[key]

    def _value(self, name: str, options: Mapping[str, Any]) -> float:
        """The middle of its limits."""
        low, high = self.summary.bounds(name, **options)
        return 0.5 * (low + high)

    def _threshold(self) -> float:
        """``E[ξ | ξ ≥ 0] = E(ξ)₊ / P(ξ ≥ 0)``, where ``E(ξ)₊ = E ξ + E(−ξ)₊``."""
        share = 1.0 - self.value(partial(auc_score, ties="strict"))
        mean_error = 1.0 - 2.0 * self.value("ferri_auc")
        return max(mean_error + self.value("scored_auc"), 0.0) / share if share > 0.0 else 0.0

    def estimate(self, metric: str | Callable[..., float], level: float) -> Estimate | None:
        """Value, standard error and interval of AUC or bAUC; the interval is for the worst case within the limits."""
        entry, options = metric_of(metric, {})
        if entry is None or entry.name not in ("auc", "bauc"):
            return None
        found = estimate_summary(self.summary, entry.name, level=level, **entry.bind(options))
        method = "delong" if entry.name == "auc" else "influence"
        error = 0.5 * (found.standard_error.low + found.standard_error.high)
        return Estimate(self.value(metric), error, found.lower, found.upper, level, method, found.notes)

    def hinge(self, a: float) -> float:
        """An upper limit of the mean of ``[1 − a (h(x⁺) − h(x⁻))]₊`` over pairs; its error is O(bin width²)."""
        return 1.0 if a == 0.0 else a * self._error_bounds.hinge(-1.0 / a)[1]

    @cached_property
    def _error_bounds(self) -> ErrorBounds:
        return ErrorBounds(self.summary.pos, self.summary.neg)

    @property
    def held(self) -> None:
        """The scores are not in memory."""

    @cached_property
    def for_figures(self) -> ScoredPart:
        """The mean of every bin, weighted by its number of scores: enough detail for figures."""
        lists = joined(mean_atoms(self.summary.pos), mean_atoms(self.summary.neg))
        pos_weight = lists.weight_pos / lists.weight_pos.sum() * self.n_pos
        neg_weight = lists.weight_neg / lists.weight_neg.sum() * self.n_neg
        labels = np.repeat([1, 0], [lists.pos.size, lists.neg.size])
        scores, weight = np.concatenate([lists.pos, lists.neg]), np.concatenate([pos_weight, neg_weight])
        return ScoredPart(labels, scores, weight)

    @cached_property
    def cuts(self) -> Cuts:
        """The thresholds at the edges of the bins, with exact counts above them."""
        low, high = self.score_range
        counts = [bins.count[::-1] for bins in (self.summary.pos, self.summary.neg)]
        tp, fp = (np.concatenate(([0.0], np.cumsum(count))) for count in counts)
        margin = max((high - low) / len(self.labels), math.ulp(max(abs(low), abs(high))))
        below = np.nextafter(self.summary.edges[::-1], -np.inf)  # a score at the edge counts as above
        return Cuts(np.concatenate(([high + 0.5 * margin], below, [low - 0.5 * margin])), tp, fp)

    def by_block(self) -> Iterator[Array]:
        """The scores block by block, in the order of the rows."""
        return self._computed() if self._kept is None else self._kept.by_block()


def check_metric(metric: str | Callable[..., float], n_rows: int) -> None:
    """Raise `AuclabError` for a metric that cannot be computed from summaries.

    `n_rows`: of the part.
    """
    entry, _ = metric_of(metric, {})
    name = None if entry is None else entry.name
    if name not in (*CURVE, *CONVEX, "auc_threshold"):
        raise AuclabError(
            f"{name or metric} needs all scores in memory, and a part of {n_rows} rows in blocks is summarised; "
            f"metrics of summaries are {', '.join((*CURVE, *CONVEX, 'auc_threshold'))}"
        )


def is_summarised(X: Any) -> bool:
    """Whether the scores of these rows are summarised, not held in memory."""
    return not in_memory(X) and len(X) > MOST_HELD


def part_of(target: Target, X: Any, solution: Fitted) -> Part:
    """A part with its scores in memory, or summarised."""
    if is_summarised(X) and target.is_of_classes and solution.coef is not None:
        return SummarisedPart(target.y, X, np.asarray(solution.coef), float(solution.intercept))
    scores = solution.decision_function(X)
    if target.is_of_classes:
        return HeldPart(target.y, scores, clusters=target.together)
    return RankedPart(target, scores)


def check_block_run(experiment: Experiment, dataset: Dataset, splits: Sequence[Split], formulation: Any) -> None:
    """Refuse settings that need all rows in memory, or all scores of a summarised part."""
    if in_memory(dataset.X):
        return
    solver = experiment.solver.name
    refuse(formulation.kind, formulation.name, blocks=True)
    refuse("kernel", formulation.name, blocks=experiment.kernel is not None)
    formulation = Ranking(**dataset.target.for_solve).program(formulation)
    if solver != "auto":
        check_capable(solver, formulation)
        check_blocks(solver, formulation)
    elif not formulation.is_convex or (formulation.kind == "piecewise" and dataset.target.is_of_classes):
        check_blocks(next(capable_solvers(formulation)), formulation)
    if dataset.target.is_of_classes:  # else all scores are in memory
        _check_sizes(splits, built(experiment, "metrics"), experiment.decision)


def _check_sizes(
    splits: Sequence[Split], metrics: Mapping[str, Callable[..., float]], decision: DecisionConfig
) -> None:
    """Refuse what is not worked out for a part that is summarised because it has many rows."""
    many = MOST_HELD
    if max(len(split.train) for split in splits) > many:
        check_probability(decision)
    largest = max(max(len(split.train), len(split.test)) for split in splits)
    if largest > many:
        for metric in metrics.values():
            check_metric(metric, largest)
