"""Prop. 8 on real data: its lower bounds for RankSVM, those that are proved, and the bAUC of the other half.

Ionosphere, pima, spambase: a seed is a split into halves. Columns are standardised, divided by the largest norm and
projected onto the unit ball (`datasets.preprocess.unit_ball`), so that R⁺ = R⁻ = 1 hold for every observation that may
ever come. RankSVM, L2 norm squared, for each λ of `PENALTIES`; a = 1 where the bound asks for an a fixed in advance;
ρ = 0.05.

Bounds on the training half: ``published``, the first inequality of Prop. 8; ``published_best_a``, the second, at the ā
that is best for the sample; ``pairwise``, proved for means over pairs (derivations 8.2); ``peeled``, proved for an a
chosen afterwards; ``margin``, proved for any way to train. ``held_out`` is the bound from the other half for the same
scorer. Of each the best lower end over the penalties is a row, though to choose λ afterwards costs more than any of
them says. ``times``: by which power of two both classes would have to be multiplied, losses and all else equal,
before a lower end is above 0 for the best λ of ours and the best a of a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.pipeline import Pipeline

from auclab import RankSVM, solve
from auclab._core.base import Array
from auclab.bounds import pairwise_stability_bound, published_stability_bound
from auclab.datasets import load
from auclab.datasets.preprocess import UnitBall, unit_ball
from auclab.datasets.records import Dataset, Labels
from auclab.datasets.splits import holdout
from auclab.metrics import buffered_auc
from auclab.runs.config.settings import BoundsConfig, FixedScorerConfig, MarginConfig, StabilityConfig
from auclab.runs.split.guarantees import find_guarantees
from auclab.runs.split.measured import HeldPart
from auclab.solvers.solution import Solution
from experiments.study import AS_PUBLISHED, CORRECTED, VALUE, Row, holds, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}
SETS = ("ionosphere", "pima", "spambase")
PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)
RHO = 0.05
#: Our names by those of `auclab.runs.split.guarantees`.
BOUNDS = {
    "published_stability": "published", "pairwise_stability": "pairwise", "peeled_stability": "peeled",
    "peeled_margin": "margin", "fixed_scorer_bauc": "held_out",
}  # fmt: skip
BEST_A = "published_best_a"
SCALES = 2.0 ** np.arange(-8, 4)
MULTIPLES = 2 ** np.arange(40)
CONFIG = BoundsConfig(RHO, StabilityConfig(), MarginConfig(), FixedScorerConfig())


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Lower ends over λ, and whether any lies above the bAUC of the other half."""
    for name in SETS[:2] if scale == "smoke" else SETS:
        preprocessing, train, test = _halves(load(name), seed)
        ends: dict[str, list[float]] = {key: [] for key in (*BOUNDS.values(), BEST_A)}
        values, times = [], []
        for penalty in PENALTIES:
            solution = solve(RankSVM(penalty=penalty, squared=True), *train, solver="newton", tolerance=1e-8)
            parts = [HeldPart(y, X @ solution.coef) for X, y in (train, test)]
            lower_ends = _bounds(solution, *parts, features=train[0], preprocessing=preprocessing)
            value = parts[1].value("bauc")
            values.append(value)
            times.append([_times(bound, parts[0], penalty) for bound in (_published, _pairwise)])
            yield Row(f"{VALUE}prop8.{name}.bauc", value, seed, f"lambda={penalty:g}")
            for key, end in lower_ends.items():
                ends[key].append(end)
                yield Row(f"{VALUE}prop8.{name}.{key}", end, seed, f"lambda={penalty:g}")
        for key, lowest in ends.items():
            yield holds(f"prop8.holds.{name}.{key}", bool((np.array(lowest) <= values).all()), seed)
            yield Row(f"prop8.best.{name}.{key}", max(lowest), seed)
        yield Row(f"prop8.best.{name}.bauc", max(values), seed)
        for key, multiple in zip(("published", "pairwise"), np.min(times, axis=0), strict=True):
            yield Row(f"prop8.times.{name}.{key}", multiple, seed)
        if seed == 0:
            size = (train[1] == 1).sum() * (train[1] == 0).sum()
            yield Row(f"prop8.mean.{name}", size / len(train[1]), variant=AS_PUBLISHED)
            yield Row(f"prop8.mean.{name}", size / size, variant=CORRECTED)


def _halves(data: Dataset, seed: int) -> tuple[Pipeline, tuple[Array, Labels], tuple[Array, Labels]]:
    """The preprocessing, and rows in the unit ball with labels of the training half and of the other."""
    (split,) = holdout(data.y, test_size=0.5, seed=seed)
    preprocessing = unit_ball(data).fit(data.frame.iloc[split.train])
    train, test = ((preprocessing.transform(data.frame.iloc[rows]), data.y[rows]) for rows in (split.train, split.test))
    return preprocessing, train, test


def _bounds(
    solution: Solution, train: HeldPart, test: HeldPart, *, features: Array, preprocessing: Pipeline
) -> dict[str, float]:
    """Lower end of every bound at one λ."""
    guarantees, _ = find_guarantees(
        solution, train, test, features=features, config=CONFIG, preprocessing=preprocessing
    )
    lower_ends = {BOUNDS[each.name]: each.lower_end for each in guarantees if each.name in BOUNDS}
    best = -1.0 / buffered_auc(train.labels, train.scores).gamma_left
    return lower_ends | {BEST_A: _published(train, best, solution.penalty, 1)}


def _published(train: HeldPart, a: float, penalty: float, multiple: int) -> float:
    return published_stability_bound(
        train.hinge(a), a, radius_pos=UnitBall.longest, radius_neg=UnitBall.longest, penalty=penalty,
        n_pos=multiple * train.n_pos, n_neg=multiple * train.n_neg, rho=RHO,
    ).lower  # fmt: skip


def _pairwise(train: HeldPart, a: float, penalty: float, multiple: int) -> float:
    return pairwise_stability_bound(
        train.hinge(a), a, diameter=2 * UnitBall.longest, penalty=penalty,
        n_pos=multiple * train.n_pos, n_neg=multiple * train.n_neg, rho=RHO,
    ).lower  # fmt: skip


def _times(bound: Callable[[HeldPart, float, float, int], float], train: HeldPart, penalty: float) -> float:
    """The least power of two with a lower end above 0."""
    return float(next(m for m in MULTIPLES if any(bound(train, a, penalty, int(m)) > 0 for a in SCALES)))


if __name__ == "__main__":
    main(run_seed, SEEDS)
