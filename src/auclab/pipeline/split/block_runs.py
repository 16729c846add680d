"""Refuses what a run on rows in blocks does not support, before any pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from auclab.datasets.records import Dataset, Split
from auclab.formulations.ranked import Ranking
from auclab.pipeline.config.checks import refuse
from auclab.pipeline.config.compose import Experiment, built
from auclab.pipeline.config.settings import DecisionConfig
from auclab.pipeline.split import summarised_part
from auclab.pipeline.split.decision import check_probability
from auclab.pipeline.split.summarised_part import check_metric
from auclab.samples.tables import in_memory
from auclab.solvers.registry import capable_solvers, check_blocks, check_capable


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
    many = summarised_part.MOST_HELD
    if max(len(split.train) for split in splits) > many:
        check_probability(decision)
    largest = max(max(len(split.train), len(split.test)) for split in splits)
    if largest > many:
        for metric in metrics.values():
            check_metric(metric, largest)
