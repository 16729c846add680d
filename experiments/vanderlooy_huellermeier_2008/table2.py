"""Setting 1 (Table 2, Fig. 4): the best of ten classifiers of one learner, each trained without three features.

Half of a data set trains, a tenth validates, four tenths test, all stratified. A metric selects on the validation
part; its regret is the test AUC of the best of the ten less that of the selected, the mean over those that tie. The
ten triples of removed features are different and drawn at random. A seed is 100 runs of all data sets and learners;
printed 2,000 runs. Columns bAUC and VOROS, a random choice (`chance`) and the worst (`worst`) are ours.

The learners are those of Weka (`experiments.learners`). Readings other than eq. (2) and ten different triples:
``ties one`` counts a tied pair 1; ``independent triples`` draws each of the ten by itself, so that some repeat, on the
sets of at most nine features (of six there are twenty triples, of thirteen 286); ``independent triples, ties one`` does
both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from experiments.learners import J48, Floats, Mask, NaiveBayes, Table, fill, logistic_scores
from experiments.study import AGREE, AS_PUBLISHED, Row, holds, main
from experiments.vanderlooy_huellermeier_2008.data_sets import SETS
from experiments.vanderlooy_huellermeier_2008.regret import (
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
    wins,
)

SEEDS = {"smoke": 1, "default": 10, "full": 20}
RUNS = {"smoke": 1, "default": 100, "full": 100}
DATA_SETS = {"smoke": ("heart_statlog", "liver"), "default": tuple(SETS), "full": tuple(SETS)}
LEARNERS = ("j48", "nb", "logistic")
CANDIDATES, REMOVED = 10, 3
#: Of nine features there are 84 triples, of which ten drawn independently are all different in three runs of five.
INDEPENDENT, FEW_FEATURES = "independent triples", 9
TIES_ONE = next(variant for variant in TIES if variant != AGREE)
#: By learner and data set, the runs; of each an outcome by reading of ties.
Found = dict[str, dict[str, list[dict[str, Outcome]]]]


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Mean regrets over the runs of a seed, the shares of wins of Fig. 4, and the statements of the text on them."""
    found: Found = {learner: {} for learner in LEARNERS}
    for index, (name, table) in enumerate(read_tables(DATA_SETS[scale]).items()):
        random = np.random.default_rng((seed, index))
        runs = [one_run(table, random) for _ in range(RUNS[scale])]
        for learner in LEARNERS:
            found[learner][name] = [run[learner] for run in runs]
    plain = {learner: of_variant(by_set, AGREE) for learner, by_set in found.items()}
    for learner, by_set in found.items():
        yield from regret_rows(f"table2.{{}}.{learner}", plain[learner], seed)
        yield from reading_rows(f"table2.{{}}.{learner}", of_variant(by_set, TIES_ONE), seed, TIES_ONE)
    yield from win_rows("figure4", plain["logistic"], seed)
    lowest = [
        {min(PUBLISHED, key=lambda metric: mean_regret(runs, metric)) for runs in by_name.values()}
        for by_name in plain.values()
    ]
    yield holds("table2.no_winner", all(len(names) > 1 for names in lowest), seed)
    yield _diverse("figure4", plain["logistic"], seed)
    for learner in ("j48", "nb"):
        for ties in TIES:
            yield from _similar_rows(f"figure4.{learner}", of_variant(found[learner], ties), seed, ties)
    yield from independent_rows(seed, scale)


def _diverse(figure: str, by_set: Mapping[str, Sequence[Outcome]], seed: int, variant: str = AGREE) -> Row:
    """Whether sAUC wins more often than AUC on some sets and less often on others."""
    balance = [np.subtract(*wins(runs, "auc", "sauc")) for runs in by_set.values()]
    return holds(f"{figure}.sauc_diverse", bool(min(balance) < 0 < max(balance)), seed, variant)


def _similar_rows(figure: str, by_set: Mapping[str, Sequence[Outcome]], seed: int, variant: str) -> Iterator[Row]:
    """The statements on Fig. 4 for a learner that it does not show; "similar results were obtained"."""
    yield _diverse(figure, by_set, seed, variant)
    shares = {f"{figure}.equal.{metric}" for metric in PUBLISHED}
    for row in win_rows(figure, by_set, seed):
        if row.claim_id == f"{figure}.often_equal" or (row.claim_id in shares and row.variant != AS_PUBLISHED):
            yield replace(row, variant=variant)


def independent_rows(seed: int, scale: str) -> Iterator[Row]:
    """Mean regrets where triples may repeat, of the data sets with few features."""
    found: Found = {learner: {} for learner in LEARNERS}
    for index, (name, table) in enumerate(read_tables(DATA_SETS[scale]).items()):
        if table.n_features <= FEW_FEATURES:
            random = np.random.default_rng((seed, index, 1))
            runs = [one_run(table, random, distinct=False) for _ in range(RUNS[scale])]
            for learner in LEARNERS:
                found[learner][name] = [run[learner] for run in runs]
    for learner, by_set in found.items():
        for ties, variant in ((AGREE, INDEPENDENT), (TIES_ONE, f"{INDEPENDENT}, {TIES_ONE}")):
            rows = reading_rows(f"table2.{{}}.{learner}", of_variant(by_set, ties), seed, variant, with_mean=False)
            yield from rows


def one_run(
    table: Table, random: np.random.Generator, distinct: bool = True, masks: Sequence[Mask] | None = None
) -> dict[str, dict[str, Outcome]]:
    """One split and ten triples, or the `masks` of features to keep, the same for the three learners."""
    parts = Parts.draw(table.labels, random)
    rows, columns = parts.held_out, fill(table, parts.train)
    bayes = NaiveBayes(table, parts.train, rows)
    scores: dict[str, list[Floats]] = {learner: [] for learner in LEARNERS}
    for kept in masks or _kept_features(table.n_features, random, distinct):
        tree = J48.grow(table.cells[parts.train], table.labels[parts.train], table.arity, kept)
        scores["j48"].append(tree.scores(table.cells[rows], table.arity))
        scores["nb"].append(bayes.scores(kept))
        scores["logistic"].append(logistic_scores(table, columns, parts.train, rows, kept))
    labels = table.labels[rows]
    return {learner: verify(labels, scores[learner], len(parts.validation)) for learner in LEARNERS}


def _kept_features(count: int, random: np.random.Generator, distinct: bool) -> list[Mask]:
    """Ten masks that leave out three features each, all different if `distinct`."""
    triples: list[frozenset[int]] = []
    while len(triples) < CANDIDATES:
        removed = frozenset(random.choice(count, REMOVED, replace=False).tolist())
        if not distinct or removed not in triples:
            triples.append(removed)
    return [~np.isin(np.arange(count), list(removed)) for removed in triples]


if __name__ == "__main__":
    main(run_seed, SEEDS)
