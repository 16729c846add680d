"""Does the program for partial AUC pay in partial AUC? Against bAUC and the squared RankSVM, tuned by partial AUC.

Splits, folds and tuning as in `splits`, but by the area under the ROC curve up to a false positive rate of ½ (over ½),
on eight sets and three shares: a solve by cutting planes takes ten times as long as the others. A row per scorer
is the mean over the sets.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.records import Labels
from auclab.metrics import auc_score, partial_auc
from experiments.study import VALUE, Row, main
from experiments.which_formulation.methods import MAX_FPR, METHODS, Effort, partial
from experiments.which_formulation.splits import SHARES, split, tuned

SEEDS = {"smoke": 1, "default": 5, "full": 20}
SETS = (
    *("credit_approval", "heart_statlog", "liver_disorders", "mammography"),
    *("phoneme", "pima", "solar_flare_m", "yeast"),
)
SCORERS = {"partial": partial, "bauc": METHODS["bauc"], "ranksvm2": METHODS["ranksvm2"]}
#: On inner folds, and for the scorer that is kept.
EFFORTS = Effort(3e-3, 30), Effort(1e-4, 100)


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Test partial AUC and AUC of the three, and the share of solves that were certified."""
    sets = SETS[1:3] if scale == "smoke" else SETS
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in SCORERS}
    solved: dict[str, list[bool]] = {name: [] for name in SCORERS}
    for data_set in sets:
        train, test = split(load(data_set), seed)
        for name, method in SCORERS.items():
            scorer, _, certified = tuned(method, *train, SHARES[1::2], seed, _measure, EFFORTS)
            distance = scorer.distance(test[0])
            found[name].append((_measure(test[1], distance), float(auc_score(test[1], distance))))
            solved[name] += certified
            yield Row(f"{VALUE}{data_set}.partial", round(found[name][-1][0], 5), seed, name)
    for name, values in found.items():
        area, auc = np.mean(values, axis=0)
        yield Row(f"partial.area.{name}", float(area), seed)
        yield Row(f"partial.auc.{name}", float(auc), seed)
        yield Row(f"partial.certified.{name}", float(np.mean(solved[name])), seed)
    for name in ("bauc", "ranksvm2"):
        gains = np.array(found["partial"])[:, 0] - np.array(found[name])[:, 0]
        yield Row(f"partial.gain.{name}", float(gains.mean()), seed)


def _measure(y: Labels, scores: Array) -> float:
    return float(partial_auc(y, scores, max_fpr=MAX_FPR, standardized="area"))


if __name__ == "__main__":
    main(run_seed, SEEDS)
