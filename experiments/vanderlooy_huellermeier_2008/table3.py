"""Setting 2 (Table 3, Fig. 5): one unpruned tree with Laplace-corrected leaves against the same tree without.

Parts and regret as in Setting 1, all features. Plain rows draw one of two that tie; variants ``ties: corrected`` and
``ties: uncorrected`` always take the tree named (every data set by AUC, means over the sets by all metrics); ``ties
one`` counts a tied pair of a positive and a negative 1 in AUC. The tree is Weka's J48 (`experiments.learners`). A
seed is 100 runs of all data sets; the paper does not state how many. A quarter as many runs ask which tree a metric
prefers where there is nothing to find, on a validation part with shuffled labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from experiments.learners import J48, Table
from experiments.study import AGREE, CORRECTED, Row, holds, main
from experiments.vanderlooy_huellermeier_2008.data_sets import SETS
from experiments.vanderlooy_huellermeier_2008.regret import (
    COLUMNS,
    PUBLISHED,
    TIES,
    Outcome,
    Parts,
    mean_regret,
    of_variant,
    read_tables,
    reading_rows,
    regret_rows,
    verify,
    win_rows,
)

SEEDS = {"smoke": 1, "default": 10, "full": 20}
RUNS = {"smoke": 4, "default": 100, "full": 100}
DATA_SETS = {"smoke": ("heart_statlog", "liver", "monks1"), "default": tuple(SETS), "full": tuple(SETS)}
TIES_ONE = next(variant for variant in TIES if variant != AGREE)


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Mean regrets over the runs of a seed, the shares of wins of Fig. 5, and the statements of the text on them."""
    found = {}
    for index, (name, table) in enumerate(read_tables(DATA_SETS[scale]).items()):
        random = np.random.default_rng((seed, index))
        found[name] = [one_run(table, random) for _ in range(RUNS[scale])]
    by_set = of_variant(found, AGREE)
    yield from regret_rows("table3.{}", by_set, seed)
    yield from reading_rows("table3.{}", of_variant(found, TIES_ONE), seed, TIES_ONE)
    yield from _tie_rows(by_set, seed)
    yield from win_rows("figure5", by_set, seed)
    regrets = np.array([[mean_regret(runs, metric) for metric in PUBLISHED] for runs in by_set.values()])
    yield Row("table3.auc_lowest", float((regrets.argmin(axis=1) == PUBLISHED.index("auc")).sum()), seed)
    yield Row("table3.sauc_highest", float((regrets.argmax(axis=1) == PUBLISHED.index("sauc")).sum()), seed)
    yield from _choice_rows("table3.corrected", by_set, seed)
    always = [np.mean([run.loss[0] for run in runs]) for runs in by_set.values()]
    yield Row("table3.mean.always_corrected", float(np.mean(always)), seed)
    gains = [np.mean([run.test[0] - run.test[1] for run in runs]) for runs in by_set.values()]
    yield Row("table3.laplace_gain", float(np.mean(gains)), seed)
    yield holds("table3.laplace_better", bool(min(gains) > 0), seed)
    yield from shuffled_rows(seed, scale)


def shuffled_rows(seed: int, scale: str) -> Iterator[Row]:
    """How often each metric selects the corrected tree where the labels of the validation part are shuffled."""
    by_set = {}
    for index, (name, table) in enumerate(read_tables(DATA_SETS[scale]).items()):
        random = np.random.default_rng((seed, index, 1))
        by_set[name] = [one_run(table, random, shuffle=True)[AGREE] for _ in range(max(1, RUNS[scale] // 4))]
    yield from _choice_rows("table3.shuffled", by_set, seed)


def one_run(table: Table, random: np.random.Generator, shuffle: bool = False) -> dict[str, Outcome]:
    """Candidates: the tree with the correction, the tree without."""
    parts = Parts.draw(table.labels, random)
    rows, everything = parts.held_out, np.ones(table.n_features, dtype=bool)
    tree = J48.grow(table.cells[parts.train], table.labels[parts.train], table.arity, everything)
    scores = [tree.scores(table.cells[rows], table.arity, laplace=laplace) for laplace in (True, False)]
    labels, n_validation = table.labels[rows], len(parts.validation)
    if shuffle:
        labels[:n_validation] = random.permutation(labels[:n_validation])
    return verify(labels, scores, n_validation)


def _choice_rows(stem: str, by_set: Mapping[str, Sequence[Outcome]], seed: int) -> Iterator[Row]:
    """How often each metric selects the corrected tree, a tie being half; mean over the data sets."""
    for (column, variant), metric in COLUMNS.items():
        shares = [np.mean([run.best[metric][0] / run.best[metric].sum() for run in runs]) for runs in by_set.values()]
        yield Row(f"{stem}.{column}", float(np.mean(shares)), seed, variant)


def _tie_rows(by_set: Mapping[str, Sequence[Outcome]], seed: int) -> Iterator[Row]:
    """Mean regrets where ties always go to the same tree: by AUC on every data set, by all metrics over all sets."""
    for (column, variant), metric in COLUMNS.items():
        if variant not in (AGREE, CORRECTED):
            continue
        for choice, which in (("ties: corrected", Outcome.first), ("ties: uncorrected", Outcome.last)):
            means = [float(np.mean([which(run, metric) for run in runs])) for runs in by_set.values()]
            yield Row(f"table3.mean.{column}", float(np.mean(means)), seed, choice)
            if column == "auc":
                for name, value in zip(by_set, means, strict=True):
                    yield Row(f"table3.{name}.{column}", value, seed, choice)


if __name__ == "__main__":
    main(run_seed, SEEDS)
