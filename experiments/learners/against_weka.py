"""How far the learners are from Weka: ``python -m experiments.learners.against_weka`` writes against_weka.csv here.

For each of the sixteen data sets of Vanderlooy & Hüllermeier and each seed, a random half trains and the other is
scored: whether the trees are the same line by line, and the largest differences of probabilities by trees with and
without Laplace's correction, naive Bayes and logistic regression. It needs Java and Weka (`experiments.learners.weka`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.learners import J48, Integers, NaiveBayes, Table, fill, logistic_scores, read_table
from experiments.learners.weka import Weka, describe
from experiments.study import Row, holds, write
from experiments.vanderlooy_huellermeier_2008.data_sets import SETS

SEEDS = 10
RESULTS = Path(__file__).with_suffix(".csv")


def differences(name: str, table: Table, train: Integers, rows: Integers, seed: int) -> Iterator[Row]:
    """Rows of one half."""
    everything = np.ones(table.n_features, dtype=bool)
    tree = J48.grow(table.cells[train], table.labels[train], table.arity, everything)
    for options, laplace in (("-U -A", True), ("-U", False)):
        theirs = Weka("weka.classifiers.trees.J48", options, table, train)
        if laplace:
            yield holds(f"{name}.trees_equal", describe(tree, table.arity) == theirs.tree(), seed)
        gap = np.abs(tree.scores(table.cells[rows], table.arity, laplace=laplace) - theirs.scores(rows)).max()
        yield Row(f"{name}.{'laplace' if laplace else 'shares'}", float(gap), seed)
    bayes = Weka("weka.classifiers.bayes.NaiveBayes", "-K", table, train).scores(rows)
    gap = np.abs(NaiveBayes(table, train, rows).scores(everything) - bayes).max()
    yield Row(f"{name}.naive_bayes", float(gap), seed)
    logistic = Weka("weka.classifiers.functions.Logistic", "-R 1.0E-8", table, train).scores(rows)
    gaps = np.abs(logistic_scores(table, fill(table, train), train, rows, everything) - logistic)
    yield Row(f"{name}.logistic", float(gaps.max()), seed)
    yield Row(f"{name}.logistic_median", float(np.median(gaps)), seed)


def main() -> None:
    """All sets and seeds."""
    found: list[Row] = []
    for name, ours in SETS.items():
        table = read_table(ours)
        for seed in range(SEEDS):
            order = np.random.default_rng(seed).permutation(len(table.labels))
            found += differences(name, table, order[::2], order[1::2], seed)
    write(RESULTS, found, command="python -m experiments.learners.against_weka")


if __name__ == "__main__":
    main()
