"""Table 2 read otherwise; the protocol is that of `table2`.

``2017`` and ``2017, full trees`` are its `POOLS` on every set. Where our reading is far from the print:

Yeast: which of its ten classes is positive is not named; ``NUC`` and ``CYT``, the two largest, in place of ME2. Wpbc:
``without time``, as the months until a recurrence, or without one so far, are among the published columns and give the
class away. sAUC: it counts tied pairs ½, so hard scores of 0 and 1 get what they would get as AUC and any soft ones get
less; a pool with a classifier of hard scores has it selected. ``one neighbour`` is the AUC of such a one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sklearn.neighbors import KNeighborsClassifier

from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.datasets.records import Dataset
from auclab.datasets.splits import holdout
from auclab.metrics import auc_score
from experiments.norton_uryasev_2018.table2 import POOLS, SETS, SMALL, one_set, pool_rows
from experiments.study import AGREE, Row, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}
YEAST = ("NUC", "CYT")
WITHOUT_TIME, ONE_NEIGHBOUR = "without time", "one neighbour"


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Test AUC of the selected, or of the hard scores, in every other reading."""
    smoke = scale == "smoke"
    of_2017 = {variant: pool for variant, pool in POOLS.items() if variant != AGREE}
    for name in SMALL if smoke else SETS:
        rated, tested = one_set(load(SETS[name]), seed, _together(of_2017))
        for variant, pool in of_2017.items():
            yield from pool_rows(name, pool, rated, tested["auc"], seed, variant)
    for name, reading, data in () if smoke else _other_data():
        rated, tested = one_set(data, seed, _together(POOLS))
        for variant, pool in POOLS.items():
            named = reading if variant == AGREE else f"{reading}, {variant}"
            yield from pool_rows(name, pool, rated, tested["auc"], seed, named)
    for name in SMALL if smoke else SETS:
        yield Row(f"table2.{name}.sauc", _one_neighbour(load(SETS[name]), seed), seed, ONE_NEIGHBOUR)


def _together(pools: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The classifiers of all of them, each once."""
    return tuple(dict.fromkeys(name for pool in pools.values() for name in pool))


def _other_data() -> Iterator[tuple[str, str, Dataset]]:
    for positive in YEAST:
        yield "yeast", positive, load("yeast", positive=positive)
    wpbc = load("wpbc")
    yield "wpbc", WITHOUT_TIME, replace(wpbc, X=wpbc.frame.drop(columns="time"))


def _one_neighbour(data: Dataset, seed: int) -> float:
    (split,) = holdout(data.y, test_size=0.1, seed=seed)
    prepare = standard(data)
    model = KNeighborsClassifier(1).fit(prepare.fit_transform(data.frame.iloc[split.train]), data.y[split.train])
    return auc_score(data.y[split.test], model.predict(prepare.transform(data.frame.iloc[split.test])))


if __name__ == "__main__":
    main(run_seed, SEEDS)
