"""Refuses what a run on rows in blocks does not support, before any pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from auclab.datasets.records import Split
from auclab.datasets.target import Target
from auclab.formulations.ranked import Ranking
from auclab.pipeline.config.checks import refuse
from auclab.pipeline.config.settings import DecisionConfig, KernelConfig
from auclab.pipeline.split import summarised_part
from auclab.pipeline.split.decision import check_probability
from auclab.pipeline.split.summarised_part import check_metric
from auclab.solvers.registry import capable_solvers, check_blocks, check_capable


def check_block_run(
    splits: Sequence[Split],
    formulation: Any,
    metrics: Mapping[str, Callable[..., float]],
    target: Target,
    *,
    solver: str,
    decision: DecisionConfig,
    kernel: KernelConfig | None = None,
) -> None:
    """Refuse settings that need all rows in memory, or all scores of a summarised part."""
    refuse(formulation.kind, formulation.name, blocks=True)
    refuse("kernel", formulation.name, blocks=kernel is not None)
    formulation = Ranking(**target.for_solve).program(formulation)
    if solver != "auto":
        check_capable(solver, formulation)
        check_blocks(solver, formulation)
    elif not formulation.is_convex or (formulation.kind == "piecewise" and target.is_of_classes):
        check_blocks(next(capable_solvers(formulation)), formulation)
    if target.is_of_classes:  # else all scores are in memory
        _check_sizes(splits, metrics, decision)


def _check_sizes(
    splits: Sequence[Split], metrics: Mapping[str, Callable[..., float]], decision: DecisionConfig
) -> None:
    """Refuse what is not worked out for a part that is summarised because it has many rows."""
    many = summarised_part.MOST_HELD
    if max(len(split.train) for split in splits) > many:
        check_probability(decision)
    largest = max(max(len(split.train), len(split.test)) for split in splits)
    if largest > many:
        for metric in metrics.values():
            check_metric(metric, largest)
