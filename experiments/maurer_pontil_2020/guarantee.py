"""Corollary 4: its lower bound for the scorer that maximises partial AUC, and the truth.

The scorer is the optimum of the hinge over the harder half of the negatives (`PartialAUC`, max_fpr = ½) on a sample of
`discs`, scaled to length 1. Promised is the area under its ROC curve up to FPR ½, W = 1 on [½, 1], from below: the
plug-in with a ramp of slope 4 within W and ℓ a ramp of slope 1 below the step, minus the bound of Theorem 3 for that
ramp. The truth is an integral. Beside it, ``heldout``: the bound for a fixed scorer (`step_weight_bound`) on a second
sample of the same size.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auclab import PartialAUC, solve
from auclab._core.base import Array
from auclab.bounds import step_weight_bound
from auclab.datasets.records import Labels
from experiments.maurer_pontil_2020 import discs
from experiments.maurer_pontil_2020.uniform import DELTA, KAPPA, LIPSCHITZ, METHODS, half_width
from experiments.study import VALUE, Row, main

SEEDS = {"smoke": 1, "default": 10, "full": 20}
SIZES = (1000, 10_000, 100_000, 1_000_000)
MAX_FPR = 0.5
LOW, HIGH = 1.0 - MAX_FPR, 1.0 - MAX_FPR + 1.0 / LIPSCHITZ


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Truth less guarantee for every size, and the share of guarantees that are false."""
    false: dict[str, list[bool]] = {}
    for n in SIZES[:1] if scale == "smoke" else SIZES:
        random = np.random.default_rng([seed, n])
        X, y = discs.draw(random, n)
        coef = solve(PartialAUC(max_fpr=MAX_FPR), X, y, solver="cutting_plane", tolerance=1e-3).coef
        coef = coef / np.linalg.norm(coef)
        angle = float(np.arctan2(coef[1], coef[0]))
        true = discs.truth(lambda s: (s >= LOW).astype(float), (LOW,), 1.0, angle, 0.0)
        bounds = _lower_bounds(X @ coef, y)
        X_new, y_new = discs.draw(random, n)
        bounds["heldout"] = step_weight_bound(y_new, X_new @ coef, max_fpr=MAX_FPR, delta=DELTA).lower
        yield Row(f"{VALUE}cor4.truth", true, seed, f"n={n}")
        for method, value in bounds.items():
            false.setdefault(method, []).append(value > true)
            yield Row(f"{VALUE}cor4.promised.{method}", value, seed, f"n={n}")
    for method, values in false.items():
        yield Row(f"cor4.false.{method}", float(np.mean(values)), seed)


def _lower_bounds(scores: Array, y: Labels) -> dict[str, float]:
    """The lower bounds, on the functional that each is about."""
    pos, neg = np.sort(scores[y == 1]), np.sort(scores[y == 0])
    shares = discs.rank_weights(discs.ramp(LOW, HIGH), discs.ramp_integral(LOW, HIGH), neg.size)
    return {
        method: discs.plug_in(shares[convention], pos, neg, KAPPA) - half_width(method, pos.size, neg.size)
        for method, convention in METHODS.items()
    }


if __name__ == "__main__":
    main(run_seed, SEEDS)
