"""Table 1: seconds to maximise bAUC (21) and to calculate it (23), artificial data and enlarged ionosphere.

A seed draws all seven samples. (21) is solved by newton to a certified relative gap of 1e-6 and (23) is
`auclab.metrics.bauc_score` of the optimum; the paper does not name its tolerance, its software is Portfolio Safeguard
and the one machine it names a 3.14 GHz PC. Columns of ionosphere as they are. All runs are warmed up on a small
sample, so that no compile time is in them. Plain rows are seconds of the processor, over all threads, which neighbours
on a shared machine do not lengthen; ``clock`` are those of the clock.

Beside it, in the same run: a few lines with SciPy's L-BFGS-B (`_by_hand`), without a certificate, and HiGHS where the
pairs allow it: with a column per pair (``dual``, 28,350 pairs), or a window of undecided pairs (``aggregated``, 2.8
million pairs, 30 seconds of the clock at most). Their rows are ratios to newton.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from auclab import BufferedAUC, solve
from auclab._core.base import Array
from auclab.datasets import load
from auclab.datasets.records import Labels
from auclab.metrics import bauc_score
from experiments.study import Row, main

SEEDS = {"smoke": 1, "default": 3, "full": 10}
CLOCK = "clock"
#: Rows of the print by the name of their claims: how a sample is drawn.
SAMPLES: dict[str, dict[str, Any]] = {
    **{f"artificial_{size}": {"name": "artificial", "n_pos": size, "n_neg": size} for size in (10**4, 10**5, 10**6)},
    **{
        f"perturbed_ionosphere_{126 * factor}": {"name": "perturbed", "base": "ionosphere", "factor": factor}
        for factor in (1, 10, 100, 1000)
    },
}
SMOKE = ("artificial_10000", "perturbed_ionosphere_126")
#: Statement of the pairs by sample.
HIGHS = {"perturbed_ionosphere_126": "dual", "perturbed_ionosphere_1260": "aggregated"}
TIME_LIMIT = 30.0


class Timed(NamedTuple):
    """What a call gave, and its seconds."""

    result: Any
    processor: float
    clock: float


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """Seconds of ours and ratios of the others."""
    _everything(_sample("perturbed_ionosphere_126", seed), "dual")
    for name in SMOKE if scale == "smoke" else SAMPLES:
        found = _everything(_sample(name, seed), None if scale == "smoke" else HIGHS.get(name))
        ours, value = found["newton"], found["evaluate"]
        for key, timed in (("solve", ours), ("evaluate", value)):
            yield Row(f"table1.{name}.{key}", timed.processor, seed)
            yield Row(f"table1.{name}.{key}", timed.clock, seed, CLOCK)
        yield Row(f"table1.{name}.gap", ours.result.gap, seed)
        yield Row(f"table1.{name}.bauc", value.result, seed)
        yield Row(f"table1.{name}.lbfgsb", found["lbfgsb"].processor / ours.processor, seed)
        excess = found["lbfgsb"].result.fun - ours.result.objective
        yield Row(f"table1.{name}.lbfgsb_excess", excess / ours.result.objective, seed)
        if "highs" in found:
            yield Row(f"table1.{name}.highs", found["highs"].processor / ours.processor, seed)
            yield Row(f"table1.{name}.highs_gap", found["highs"].result.gap, seed)


def _sample(name: str, seed: int) -> tuple[Array, Labels]:
    data = load(**SAMPLES[name], seed=seed)
    return data.frame.to_numpy(dtype=float), data.y


def _by_hand(pos: Array, neg: Array) -> OptimizeResult:
    """The mean hinge (21) by sorted scores, its subgradient and L-BFGS-B, as a user would write it."""

    def hinge(w: Array) -> tuple[float, Array]:
        p, n = pos @ w, neg @ w + 1.0
        above = n.size - np.searchsorted(np.sort(n), p, side="right")
        below = np.searchsorted(np.sort(p), n, side="left")
        return float(below @ n - above @ p) / (p.size * n.size), (neg.T @ below - pos.T @ above) / (p.size * n.size)

    begin: Any = np.zeros(pos.shape[1])
    return minimize(hinge, begin, jac=True, method="L-BFGS-B")


def _everything(sample: tuple[Array, Labels], encoding: str | None) -> dict[str, Timed]:
    """Every competitor once."""
    X, y = sample
    program = BufferedAUC()
    found = {"newton": _timed(lambda: solve(program, X, y, solver="newton", tolerance=1e-6))}
    scores = X @ found["newton"].result.coef
    found["evaluate"] = _timed(lambda: bauc_score(y, scores))
    found["lbfgsb"] = _timed(lambda: _by_hand(X[y == 1], X[y == 0]))
    if encoding:
        found["highs"] = _timed(lambda: solve(program, X, y, solver="highs", encoding=encoding, time_limit=TIME_LIMIT))
    return found


def _timed(call: Callable[[], Any]) -> Timed:
    clock, processor = time.perf_counter(), time.process_time()
    result = call()
    return Timed(result, time.process_time() - processor, time.perf_counter() - clock)


if __name__ == "__main__":
    main(run_seed, SEEDS)
