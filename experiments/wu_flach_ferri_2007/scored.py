"""sAUC is the area under the sROC curve, and how it selects models on validation parts of four sizes.

The sROC curve at τ is the AUC after the positive scores, in [0, 1], are decreased by τ, a tie counting 0. It is listed
here from every pair, and its area compared with `auclab.metrics.scored_auc`.

Selection: as Vanderlooy & Hüllermeier describe the paper's experiment (their setting 1). Half of a data set trains, ten
models of one learner without three features each, and a metric selects on a validation part. Here a quarter tests, and
the validation part is 5, 10, 20 or 50 % of the other half, stratified, each in the next. A seed is some runs on their
sixteen data sets. The gain of sAUC is the mean test AUC of the models that it selects less that of those that AUC
selects.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auclab.metrics import auc_score, margin_curve, scored_auc
from experiments.learners import J48, Floats, Integers, Mask, NaiveBayes, Table, fill, logistic_scores
from experiments.study import VALUE, Row, holds, main
from experiments.vanderlooy_huellermeier_2008.data_sets import SETS
from experiments.vanderlooy_huellermeier_2008.regret import read_tables

SEEDS = {"smoke": 1, "default": 10, "full": 10}
RUNS = {"smoke": 2, "default": 4, "full": 8}
DATA = {"smoke": ("heart_statlog", "liver"), "default": tuple(SETS), "full": tuple(SETS)}
LEARNERS = ("j48", "nb", "logistic")
SHARES = (0.05, 0.1, 0.2, 0.5)
CANDIDATES, REMOVED = 10, 3


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Differences of the areas on random scores, and the gains of one seed."""
    yield from _areas(seed)
    gains: dict[tuple[str, float], list[float]] = {}
    for index, (name, table) in enumerate(read_tables(DATA[scale]).items()):
        random = np.random.default_rng((seed, index))
        runs = [_run(table, random) for _ in range(RUNS[scale])]
        for key in runs[0]:
            gains.setdefault(key, []).append(float(np.mean([run[key] for run in runs])))
            yield Row(f"{VALUE}gain.{key[0]}.v={key[1]:g}.{name}", gains[key][-1], seed)
    for learner in LEARNERS:
        for share in SHARES:
            yield Row(f"gain.{learner}.v={share:g}", float(np.mean(gains[learner, share])), seed)
        yield holds(f"limited.{learner}", float(np.mean(gains[learner, SHARES[0]])) > 0, seed)


def _areas(seed: int) -> Iterator[Row]:
    random = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [12, 17])
    scores = np.clip(random.random(29).round(2) + 0.2 * labels, 0, 1)
    yield Row("area", area_under_sroc(labels, scores) - scored_auc(labels, scores), seed)
    margins = np.unique(np.maximum(np.subtract.outer(scores[labels == 1], scores[labels == 0]), 0))
    middles = (margins[1:] + margins[:-1]) / 2
    decreased = [auc_score(labels, scores - tau * labels, ties="strict") for tau in middles]
    yield Row("area.decreased", float(np.diff(margins) @ decreased) - scored_auc(labels, scores), seed)


def area_under_sroc(labels: Integers, scores: Floats) -> float:
    """Area of the step function τ ↦ share of the pairs whose margin is above τ, over [0, 1].

    Examples
    --------
    One pair with the margin .4: the curve is 1 up to .4 and 0 after it.

    >>> round(area_under_sroc(np.array([1, 0]), np.array([0.9, 0.5])), 12)
    0.4
    """
    margins = np.subtract.outer(scores[labels == 1], scores[labels == 0]).ravel()
    steps = np.unique(np.concatenate([[0.0, 1.0], margins[margins > 0]]))
    return float(np.diff(steps) @ margin_curve(labels, scores, steps[:-1])[1])


def _run(table: Table, random: np.random.Generator) -> dict[tuple[str, float], float]:
    """Test AUC of the model that sAUC selects less that of AUC's, by learner and share of the validation part."""
    train, rest = halves(np.arange(len(table.labels)), table.labels, random)
    validation, test = halves(rest, table.labels[rest], random)
    rows, columns = np.concatenate([validation, test]), fill(table, train)
    bayes, labels = NaiveBayes(table, train, rows), table.labels[rows]
    scores: dict[str, list[Floats]] = {learner: [] for learner in LEARNERS}
    for _ in range(CANDIDATES):
        kept = ~np.isin(np.arange(table.n_features), random.choice(table.n_features, REMOVED, replace=False))
        tree = J48.grow(table.cells[train], table.labels[train], table.arity, kept)
        scores["j48"].append(tree.scores(table.cells[rows], table.arity))
        scores["nb"].append(bayes.scores(kept))
        scores["logistic"].append(logistic_scores(table, columns, train, rows, kept))
    n = len(validation)
    parts = {share: first_rows(labels[:n], share) for share in SHARES}
    found = {}
    for learner, own in scores.items():
        areas = np.array([auc_score(labels[n:], each[n:]) for each in own])
        for share, part in parts.items():
            chosen = [
                _of_largest(areas, [metric(labels[part], each[part]) for each in own])
                for metric in (scored_auc, auc_score)
            ]
            found[learner, share] = chosen[0] - chosen[1]
    return found


def halves(rows: Integers, labels: Mask, random: np.random.Generator) -> tuple[Integers, Integers]:
    """Two halves of every class, in random order."""
    shuffled = [random.permutation(rows[labels == side]) for side in (True, False)]
    first = np.concatenate([part[: len(part) // 2] for part in shuffled])
    second = np.concatenate([part[len(part) // 2 :] for part in shuffled])
    return random.permutation(first), random.permutation(second)


def first_rows(labels: Mask, share: float) -> Integers:
    """The first rows of either class, as many as make `share` of the held-out half; at least one."""
    counts = [max(1, round(2 * share * (labels == side).sum())) for side in (True, False)]
    found = [np.flatnonzero(labels == side)[:count] for side, count in zip((True, False), counts, strict=True)]
    return np.concatenate(found)


def _of_largest(areas: Floats, values: list[float]) -> float:
    """Mean test AUC of the models that tie at the largest value."""
    return float(areas[np.array(values) >= max(values) - 1e-12].mean())


if __name__ == "__main__":
    main(run_seed, SEEDS)
