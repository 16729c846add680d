"""How often 95 % intervals cover the truth, for every metric with components and for VOROS by half-samples.

    OMP_NUM_THREADS=1 python benchmarks/interval_coverage.py [--simulations 2000] [--write docs/inference.md]

Populations have a known truth: AUC and means of a kernel by quadrature over the density of ``t = p − n``, bAUC from the
root of ``E[(ξ − z) 1{ξ > γ}]``, partial AUC by quadrature of the ROC curve, VOROS from 20,001 points of the curve (all
curves here are concave). Every sample is used for all metrics. The table goes to the screen, and with --write between
the two marks of the page.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from auclab.inference import compare_scorers, estimate
from auclab.metrics import voros_from_points

LEVEL = 0.95
MARKS = ("<!-- coverage: written by benchmarks/interval_coverage.py -->", "<!-- end of coverage -->")
Sample = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Population:
    """Scores of the classes, the density of ``t = p − n`` and the ROC curve."""

    name: str
    positives: Callable[[np.random.Generator, int], np.ndarray]
    negatives: Callable[[np.random.Generator, int], np.ndarray]
    density: Callable[[float], float]
    roc: Callable[[np.ndarray], np.ndarray]
    span: tuple[float, float]
    share_pos: float = 0.5

    def sample(self, rng: np.random.Generator, size: int) -> Sample:
        """Labels and scores."""
        n_pos = round(self.share_pos * size)
        y = np.repeat([1, 0], [n_pos, size - n_pos])
        return y, np.concatenate((self.positives(rng, n_pos), self.negatives(rng, size - n_pos)))

    def mean(self, modifier: Callable[[float], float], breaks: tuple[float, ...] = (0.0,)) -> float:
        """``E w(t)``."""
        ends = [self.span[0], *sorted(breaks), self.span[1]]
        return sum(quad(lambda t: modifier(t) * self.density(t), a, b, limit=200)[0] for a, b in pairwise(ends))


def binormal(shift: float, share_pos: float = 0.5) -> Population:
    """Standard normal negatives, positives shifted."""
    spread = math.sqrt(2.0)
    return Population(
        f"normal, shift {shift:g}" + ("" if share_pos == 0.5 else f", {share_pos:.0%} positive"),
        lambda rng, n: rng.normal(shift, 1.0, n),
        lambda rng, n: rng.normal(0.0, 1.0, n),
        lambda t: float(norm.pdf(t, shift, spread)),
        lambda u: norm.sf(norm.isf(u), shift),
        (shift - 12.0 * spread, shift + 12.0 * spread),
        share_pos,
    )


def exponential(ratio: float) -> Population:
    """Exponential negatives with mean 1, positives with mean `ratio`: skewed, heavy on the right."""
    return Population(
        f"exponential, means 1 and {ratio:g}",
        lambda rng, n: rng.exponential(ratio, n),
        lambda rng, n: rng.exponential(1.0, n),
        lambda t: math.exp(-t / ratio if t > 0 else t) / (1.0 + ratio),
        lambda u: u ** (1.0 / ratio),
        (-45.0, 45.0 * ratio),
    )


POPULATIONS = (binormal(1.0), binormal(2.0), exponential(4.0), binormal(0.3), binormal(1.0, share_pos=0.1))


def bauc(population: Population) -> float:
    """``P(t > −γ)`` with ``E[t 1{t < −γ}] = 0``: the tail of the errors ``ξ = −t`` with mean 0."""
    low, high = population.span

    def tail(cut: float) -> float:
        return sum(quad(lambda t: t * population.density(t), a, b)[0] for a, b in ((low, 0.0), (0.0, cut)))

    cut = brentq(tail, 0.0, high, xtol=1e-12)
    return quad(population.density, cut, high)[0]


def probabilistic(t: float, width: float) -> float:
    """Distribution function of a triangular variable on ±2h."""
    s = min(max(t / (2.0 * width), -1.0), 1.0)
    return 0.5 * (1.0 + s) ** 2 if s < 0 else 1.0 - 0.5 * (1.0 - s) ** 2


def voros(population: Population) -> float:
    """From points of the curve, spaced evenly on the scale of the normal quantile."""
    u = norm.cdf(np.linspace(-9.0, 9.0, 20_001))
    return voros_from_points(u, population.roc(u))


#: Metric, its options, its truth.
METRICS: tuple[tuple[str, dict[str, Any], Callable[[Population], float]], ...] = (
    ("auc", {}, lambda p: p.mean(lambda t: float(t > 0))),
    ("bauc", {}, bauc),
    ("scored_auc", {}, lambda p: p.mean(lambda t: max(t, 0.0))),
    ("ferri_auc", {}, lambda p: p.mean(lambda t: 0.5 * (1.0 + t))),
    ("soft_auc", {"beta": 2.0}, lambda p: p.mean(lambda t: 1.0 / (1.0 + math.exp(-2.0 * t)))),
    ("probabilistic_auc", {"width": 0.5}, lambda p: p.mean(lambda t: probabilistic(t, 0.5), (-1.0, 0.0, 1.0))),
    (
        "partial_auc",
        {"max_fpr": 0.2, "standardized": "area"},
        lambda p: quad(lambda u: float(p.roc(np.array(u))), 0.0, 0.2, epsabs=1e-10)[0] / 0.2,
    ),
)


@dataclass(frozen=True)
class Row:
    """Coverage of one metric on one population at one size, in shares of the simulations."""

    metric: str
    population: str
    size: int
    truth: float
    simulations: int
    covered: float
    below: float
    above: float
    bias: float
    ratio: float

    @classmethod
    def of(cls, metric: str, population: str, size: int, truth: float, found: np.ndarray) -> Row:
        """From value, standard error, lower and upper limit of every simulation."""
        value, error, lower, upper = found.T
        too_low, too_high = float(np.mean(upper < truth)), float(np.mean(lower > truth))
        ratio = float(np.nanmean(error) / np.std(value))
        bias = float(np.mean(value) - truth)
        return cls(metric, population, size, truth, len(found), 1 - too_low - too_high, too_low, too_high, bias, ratio)


def measure(simulations: int, sizes: list[int]) -> Iterator[Row]:
    """All metrics with components on all populations."""
    for population in POPULATIONS:
        truths = [truth(population) for _, _, truth in METRICS]
        for size in sizes:
            rng = np.random.default_rng([size, 2026])
            found = np.empty((len(METRICS), simulations, 4))
            for k in range(simulations):
                y, scores = population.sample(rng, size)
                for m, (name, options, _) in enumerate(METRICS):
                    e = estimate(y, scores, name, level=LEVEL, **options)
                    found[m, k] = e.value, e.standard_error, e.lower, e.upper
            for m, (name, _, _) in enumerate(METRICS):
                yield Row.of(name, population.name, size, truths[m], found[m])


def measure_voros(simulations: int, sizes: list[int]) -> Iterator[Row]:
    """VOROS by half-samples, on fewer simulations."""
    for population in POPULATIONS[:3]:
        truth = voros(population)
        for size in sizes:
            rng = np.random.default_rng([size, 2027])
            found = np.empty((simulations, 4))
            for k in range(simulations):
                e = estimate(*population.sample(rng, size), "voros", level=LEVEL, seed=k)
                found[k] = e.value, e.standard_error, e.lower, e.upper
            yield Row.of("voros", population.name, size, truth, found)


def measure_difference(simulations: int, sizes: list[int]) -> Iterator[Row]:
    """Difference of two equally good scorers with correlation ½ in either class; the truth is 0."""
    for name in ("auc", "bauc"):
        for size in sizes:
            rng = np.random.default_rng([size, 2028])
            found = np.empty((simulations, 4))
            for k in range(simulations):
                y = np.repeat([1, 0], size // 2)
                common = rng.normal(0.0, math.sqrt(0.5), size) + y
                a, b = (common + rng.normal(0.0, math.sqrt(0.5), size) for _ in range(2))
                c = compare_scorers(y, a, b, name, level=LEVEL)
                found[k] = c.difference, c.standard_error, *c.interval
            yield Row.of(f"{name}, two scorers", "normal, shift 1", size, 0.0, found)


def table(rows: list[Row]) -> str:
    """Markdown."""
    head = (
        "| metric | population | truth | n | covered | truth above | truth below | bias | SE / sd |",
        "|---|---|---|---|---|---|---|---|---|",
    )
    lines = [
        f"| {r.metric} | {r.population} | {r.truth:.4f} | {r.size} | {100 * r.covered:.1f} % | {100 * r.below:.1f} % "
        f"| {100 * r.above:.1f} % | {r.bias:+.4f} | {r.ratio:.2f} |"
        for r in rows
    ]
    return "\n".join((*head, *lines))


def main() -> None:
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--voros-simulations", type=int, default=500)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    start = perf_counter()
    rows: list[Row] = []
    for found in (
        measure(arguments.simulations, arguments.sizes),
        measure_difference(arguments.simulations, arguments.sizes),
        measure_voros(arguments.voros_simulations, arguments.sizes),
    ):
        for row in found:
            rows.append(row)
            print(table([row]).splitlines()[-1], flush=True)
    order = [name for name, _, _ in METRICS]
    rows.sort(key=lambda row: order.index(row.metric) if row.metric in order else len(order))
    print(f"{perf_counter() - start:.0f} s")
    if arguments.write:
        page = arguments.write.read_text(encoding="utf-8")
        before, rest = page.split(MARKS[0])
        _, after = rest.split(MARKS[1])
        arguments.write.write_text(f"{before}{MARKS[0]}\n{table(rows)}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
