"""Other readings of single rows of Tables 2 and 3: kinds of columns, and which features are removed.

``numeric``: all thirteen columns of heart statlog as numbers, as in its file (ours has six nominal and three
binary among them); ``numeric, ties one`` counts a tied pair 1. These are readings of the claims.

What else was tried and is not taken for the paper's is kept as raw values ``value.tried.…`` (ties one in Table
2): on liver three numbers drawn with repeats (``repeats``), the class among the seven that are drawn (``class drawn``),
two or four features removed; on house votes a missing vote as a third value, or filled by the mode; ``ties:
corrected``, where both trees of Table 3 have the same value of a metric, the one with correction (`table3` has it for
AUC). It is not a reading of the claims here: on the sets without such ties it would be another draw of fewer runs.
A seed is 100 runs, 20 of what was tried on liver and house votes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from auclab.datasets import load
from experiments.learners import Mask, Table
from experiments.study import AGREE, VALUE, Row, main
from experiments.vanderlooy_huellermeier_2008 import table2, table3
from experiments.vanderlooy_huellermeier_2008.regret import PUBLISHED, Outcome, mean_regret, read_tables

SEEDS = {"smoke": 1, "default": 10, "full": 20}
RUNS = {"smoke": 2, "default": 100, "full": 100}
NUMERIC, TRIED = "numeric", f"{VALUE}tried."
Draw = Callable[[int, np.random.Generator], Mask]


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Mean regrets of the four metrics in every reading."""
    runs = RUNS[scale]
    heart, random = numeric("heart_statlog"), np.random.default_rng((seed, 0))
    found = [table2.one_run(heart, random) for _ in range(runs)]
    second = [table3.one_run(heart, random) for _ in range(runs)]
    for ties, variant in ((AGREE, NUMERIC), (table2.TIES_ONE, f"{NUMERIC}, {table2.TIES_ONE}")):
        for learner in table2.LEARNERS:
            yield from _rows(f"table2.heart_statlog.{learner}", [run[learner][ties] for run in found], seed, variant)
        yield from _rows("table3.heart_statlog", [run[ties] for run in second], seed, variant)
    yield from _tie_rows(seed, scale)
    runs = max(1, runs // 5)
    liver = read_tables(("liver",))["liver"]
    for variant, draw in draws().items():
        random = np.random.default_rng((seed, 1))
        found = [table2.one_run(liver, random, masks=[draw(6, random) for _ in range(10)]) for _ in range(runs)]
        for learner in table2.LEARNERS:
            ones = [run[learner][table2.TIES_ONE] for run in found]
            yield from _rows(f"{TRIED}table2.liver.{learner}", ones, seed, variant)
    for variant, table in votes(read_tables(("house_votes",))["house_votes"]).items():
        random = np.random.default_rng((seed, 2))
        second = [table3.one_run(table, random) for _ in range(runs)]
        yield from _rows(f"{TRIED}table3.house_votes", [run[AGREE] for run in second], seed, variant)


def _rows(stem: str, runs: list[Outcome], seed: int, variant: str) -> Iterator[Row]:
    for metric in PUBLISHED:
        yield Row(f"{stem}.{metric}", mean_regret(runs, metric), seed, variant)


def _tie_rows(seed: int, scale: str) -> Iterator[Row]:
    """Table 3 by the metrics other than AUC, ties to the tree with correction, which is the first candidate."""
    for index, (name, table) in enumerate(read_tables(table3.DATA_SETS[scale]).items()):
        random = np.random.default_rng((seed, index, 3))
        runs = [table3.one_run(table, random)[AGREE] for _ in range(RUNS[scale])]
        for metric in PUBLISHED[1:]:
            regret = float(np.mean([run.first(metric) for run in runs]))
            yield Row(f"{TRIED}table3.{name}.{metric}", regret, seed, "ties: corrected")


def draws() -> Mapping[str, Draw]:
    """Masks of the features that are kept, by how three are drawn."""

    def kept(count: int, removed: np.ndarray) -> Mask:
        return ~np.isin(np.arange(count), removed)

    return {
        "repeats": lambda count, random: kept(count, random.choice(count, 3)),
        "class drawn": lambda count, random: kept(count, random.choice(count + 1, 3, replace=False)),
        "two removed": lambda count, random: kept(count, random.choice(count, 2, replace=False)),
        "four removed": lambda count, random: kept(count, random.choice(count, 4, replace=False)),
    }


def numeric(name: str) -> Table:
    """A data set with all its columns as the numbers in its file."""
    data = load(name)
    cells = data.frame.astype(float).to_numpy()
    return Table.of(np.asarray(data.y) > 0, cells, np.zeros(cells.shape[1], dtype=int))


def votes(table: Table) -> Mapping[str, Table]:
    """What is missing as a third value, or as the more common vote."""
    missing = np.isnan(table.cells)
    common = (np.nanmean(table.cells, axis=0) > 0.5).astype(float)
    return {
        "third value": Table.of(table.labels, np.where(missing, 2.0, table.cells), table.arity + 1),
        "mode": Table.of(table.labels, np.where(missing, common, table.cells), table.arity),
    }


if __name__ == "__main__":
    main(run_seed, SEEDS)
