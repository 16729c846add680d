"""bAUC_z, RankSVM and RankSVM² are one path of scorers, C-SVM² and EC-SVM another; how far apart they are once tuned.

A minimiser of loss + λ‖w‖, of loss + λ‖w‖² or of the loss shifted by z‖w‖ (z ≤ 0; derivations 7.4) is, up to its
length, one of the loss on some ball, and each of the three runs through all balls. So what differs is which members of
the path a list of values has, and the draw of the inner folds among them. Splits, folds and tuning as in `splits`, on
twelve of its sets. A row per scorer is the mean over the sets; a gap is best minus worst test AUC within a path, mean
over the sets.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from auclab.datasets import load
from auclab.metrics import auc_score
from experiments.study import VALUE, Row, main
from experiments.which_formulation.methods import METHODS
from experiments.which_formulation.splits import SHARES, SMALL, split, tuned

SEEDS = {"smoke": 1, "default": 3, "full": 20}
SETS = (
    *("abalone", "breast_cancer_ljubljana", "german_credit", "heart_statlog", "liver_disorders", "mammography"),
    *("page_blocks", "phoneme", "pima", "solar_flare_m", "wine_quality_red", "yeast"),
)
PATHS = {"pairs": ("bauc_z", "ranksvm", "ranksvm2"), "points": ("csvm2", "ecsvm")}


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Test AUC, seconds and certificates of the members, and the gaps within a path."""
    sets = SMALL if scale == "smoke" else SETS
    names = [name for members in PATHS.values() for name in members]
    auc, seconds = np.empty((len(sets), len(names))), np.empty((len(sets), len(names)))
    solved: list[list[bool]] = [[] for _ in names]
    for row, data_set in enumerate(sets):
        train, test = split(load(data_set), seed)
        for column, name in enumerate(names):
            begin = time.process_time()
            scorer, _, certified = tuned(METHODS[name], *train, SHARES, seed)
            seconds[row, column] = time.process_time() - begin
            auc[row, column] = auc_score(test[1], scorer.distance(test[0]))
            solved[column] += certified
            yield Row(f"{VALUE}{data_set}.auc", round(auc[row, column], 5), seed, name)
    for column, name in enumerate(names):
        yield Row(f"family.auc.{name}", float(auc[:, column].mean()), seed)
        yield Row(f"family.seconds.{name}", float(np.median(seconds[:, column])), seed)
        yield Row(f"family.certified.{name}", float(np.mean(solved[column])), seed)
    for path, members in PATHS.items():
        inside = auc[:, [names.index(name) for name in members]]
        yield Row(f"family.gap.{path}", float(np.ptp(inside, axis=1).mean()), seed)
        yield Row(f"family.largest.{path}", float(np.ptp(inside, axis=1).max()), seed)


if __name__ == "__main__":
    main(run_seed, SEEDS)
