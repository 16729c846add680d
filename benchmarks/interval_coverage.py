"""How often 95 % intervals cover the truth, for every metric with components and for VOROS by half-samples.

    OMP_NUM_THREADS=1 python benchmarks/interval_coverage.py           # measure, docs/interval_coverage.csv
    OMP_NUM_THREADS=1 python benchmarks/interval_coverage.py --page    # the table of docs/interval_coverage.md, from it

Populations have a known truth: AUC and means of a kernel by quadrature over the density of ``t = p − n``, bAUC from the
root of ``E[(ξ − z) 1{ξ > γ}]``, partial AUC by quadrature of the ROC curve, VOROS from 20,001 points of the curve (all
curves here are concave), bAUC of scores on a grid from their exact probabilities. Every sample is used for all metrics.
Beside the table there are three comparisons that the text quotes: scores on a grid, VOROS by the bootstrap, and limits
of bAUC on the scale of the logit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import measured
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from auclab.inference import Estimate, compare_scorers, estimate
from auclab.inference.intervals import transformed_limits
from auclab.metrics import bauc_score, voros_from_points

PAGE = measured.ROOT / "docs" / "interval_coverage.md"
RESULTS = PAGE.with_name("interval_coverage.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/interval_coverage.py", "benchmarks/interval_coverage.py --page"
LEVEL = 0.95
SIZES = (50, 200, 1000)
#: Parts of the file that the table of the page is made from.
SHOWN = ("metrics", "two scorers", "voros")
#: Samples of each part; of VOROS by the bootstrap, by size.
SAMPLES = {"metrics": 2000, "two scorers": 2000, "voros": 500, "grid": 1500, "scales": 1000}
BOOTSTRAPPED = {50: 300, 200: 300, 1000: 150}
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
    """Coverage of one metric on one population at one size, in shares of the samples."""

    part: str
    metric: str
    population: str
    n: int
    truth: float
    samples: int
    covered: float
    truth_above: float
    truth_below: float
    bias: float
    standard_error: float
    ratio: float

    @classmethod
    def of(cls, part: str, metric: str, population: str, n: int, truth: float, found: np.ndarray) -> Row:
        """From value, standard error, lower and upper limit of every sample."""
        value, error, lower, upper = found.T
        above, below = float(np.mean(upper < truth)), float(np.mean(lower > truth))
        mean_error = float(np.nanmean(error))
        shares = 1 - above - below, above, below
        bias = float(np.mean(value) - truth)
        return cls(
            part, metric, population, n, truth, len(found), *shares, bias, mean_error, mean_error / float(np.std(value))
        )


FIELDS = tuple(field.name for field in fields(Row))


def numbers(found: Estimate) -> tuple[float, float, float, float]:
    """Value, standard error and limits."""
    return found.value, found.standard_error, found.lower, found.upper


def measure_metrics(samples: int) -> Iterator[Row]:
    """All metrics with components on all populations."""
    for population in POPULATIONS:
        truths = [truth(population) for _, _, truth in METRICS]
        for size in SIZES:
            rng = np.random.default_rng([size, 2026])
            found = np.empty((len(METRICS), samples, 4))
            for k in range(samples):
                y, scores = population.sample(rng, size)
                for m, (name, options, _) in enumerate(METRICS):
                    found[m, k] = numbers(estimate(y, scores, name, level=LEVEL, **options))
            for m, (name, _, _) in enumerate(METRICS):
                yield Row.of("metrics", name, population.name, size, truths[m], found[m])


def measure_voros(samples: int) -> Iterator[Row]:
    """VOROS by half-samples, on fewer samples."""
    for population in POPULATIONS[:3]:
        truth = voros(population)
        for size in SIZES:
            rng = np.random.default_rng([size, 2027])
            found = [
                numbers(estimate(*population.sample(rng, size), "voros", level=LEVEL, seed=k)) for k in range(samples)
            ]
            yield Row.of("voros", "voros", population.name, size, truth, np.array(found))


def measure_bootstrapped(samples: dict[int, int]) -> Iterator[Row]:
    """VOROS by the bootstrap, which does not see all of its optimism."""
    population = POPULATIONS[0]
    truth = voros(population)
    options: dict[str, Any] = {"level": LEVEL, "method": "bootstrap"}
    for size, count in samples.items():
        rng = np.random.default_rng([size, 2029])
        found = [numbers(estimate(*population.sample(rng, size), "voros", seed=k, **options)) for k in range(count)]
        yield Row.of("voros by the bootstrap", "voros", population.name, size, truth, np.array(found))


def measure_difference(samples: int) -> Iterator[Row]:
    """Difference of two equally good scorers with correlation ½ in either class; the truth is 0."""
    for name in ("auc", "bauc"):
        for size in SIZES:
            rng = np.random.default_rng([size, 2028])
            found = np.empty((samples, 4))
            for k in range(samples):
                y = np.repeat([1, 0], size // 2)
                common = rng.normal(0.0, math.sqrt(0.5), size) + y
                a, b = (common + rng.normal(0.0, math.sqrt(0.5), size) for _ in range(2))
                c = compare_scorers(y, a, b, name, level=LEVEL)
                found[k] = c.difference, c.standard_error, *c.interval
            yield Row.of("two scorers", f"{name}, two scorers", "normal, shift 1", size, 0.0, found)


def measure_grid(samples: int) -> Iterator[Row]:
    """Buffered AUC of normal scores that are rounded, so that errors may leave gaps."""
    for step, name in ((1.0, "integers"), (0.5, "halves")):
        edges = np.arange(-10.0, 12.0, step)
        shares = [norm.cdf(edges + step / 2, shift) - norm.cdf(edges - step / 2, shift) for shift in (1.0, 0.0)]
        y, weight = np.repeat([1, 0], edges.size), np.concatenate(shares)
        truth = bauc_score(y, np.tile(edges, 2), sample_weight=weight)
        for size in SIZES[1:]:
            rng = np.random.default_rng([size, 2030])
            found = np.empty((samples, 4))
            for k in range(samples):
                y, scores = POPULATIONS[0].sample(rng, size)
                found[k] = numbers(estimate(y, np.round(scores / step) * step, "bauc", level=LEVEL))
            yield Row.of("grid", "bauc", f"normal, shift 1, in {name}", size, truth, found)


def measure_scales(samples: int) -> Iterator[Row]:
    """Buffered AUC near 0 with limits on the scale of the logit, and on that of ``log(1 − v)``, of the same samples."""
    population = POPULATIONS[3]
    truth = bauc(population)
    for size in SIZES:
        rng = np.random.default_rng([size, 2031])
        found = np.empty((2, samples, 4))
        for k in range(samples):
            found[:, k] = numbers(estimate(*population.sample(rng, size), "bauc", level=LEVEL))
            value, error, _, upper = found[0, k]
            if 0.0 < value < 1.0 and error > 0.0:
                half_width = (1.0 - value) * math.log((1.0 - value) / (1.0 - upper))  # c · SE, from the upper limit
                found[1, k, 2:] = transformed_limits(value, half_width, (0.0, 1.0))
        for scale, limits in zip(("log(1 − v)", "logit"), found, strict=True):
            yield Row.of("scales", f"bauc, {scale}", population.name, size, truth, limits)


#: What is measured, by the name of the part that is asked for.
PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "metrics": lambda: measure_metrics(SAMPLES["metrics"]),
    "two scorers": lambda: measure_difference(SAMPLES["two scorers"]),
    "voros": lambda: measure_voros(SAMPLES["voros"]),
    "grid": lambda: measure_grid(SAMPLES["grid"]),
    "scales": lambda: measure_scales(SAMPLES["scales"]),
    "voros by the bootstrap": lambda: measure_bootstrapped(BOOTSTRAPPED),
}


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """The table of the page, a part of the file: four metrics and two scorers, sizes side by side."""
    few = "normal, shift 1, 10% positive"
    shown = [
        *((metric, population) for metric in ("auc", "bauc") for population in ("normal, shift 1", few)),
        *((metric, "normal, shift 1") for metric in ("partial_auc", "voros", "auc, two scorers", "bauc, two scorers")),
    ]
    covered = {(row["metric"], row["population"], row["n"]): row["covered"] for row in rows if row["part"] in SHOWN}
    lines = [
        [metric, population, *(f"{percent(covered[metric, population, str(n)])} %" for n in SIZES)]
        for metric, population in shown
    ]
    return {"coverage": measured.table(["metric", "population", *(f"n = {n}" for n in SIZES)], lines)}


def percent(share: str | float) -> str:
    """A share in per cent with one decimal."""
    return f"{100 * float(share):.1f}"


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""

    def covered(part: str, metric: str, n: str = "", population: str = "") -> list[float]:
        return [
            float(row["covered"])
            for row in rows
            if (row["part"], row["metric"]) == (part, metric)
            and n in ("", row["n"])
            and population in ("", row["population"])
        ]

    few = "normal, shift 1, 10% positive"
    large = [each for name in ("auc", "bauc") for n in ("200", "1000") for each in covered("metrics", name, n)]
    of_voros = {str(n): covered("voros", "voros", str(n)) for n in SIZES}
    ranges = [f"{100 * min(each):.0f} to {100 * max(each):.0f} % at {n}" for n, each in of_voros.items()]
    resampled = [f"{100 * covered('voros by the bootstrap', 'voros', str(n))[0]:.0f}" for n in SIZES]
    return [
        f"For AUC and bAUC with 200 and 1000 observations the coverage is between {percent(min(large))} and "
        f"{percent(max(large))} % in every row",
        f"bAUC with 5 positives: {percent(covered('metrics', 'bauc', '50', few)[0])} %",
        f"VOROS: {ranges[0]}, {ranges[1]}, {ranges[2]}",
        f"The bias-corrected limits of the bootstrap covered {resampled[0]}, {resampled[1]} and {resampled[2]} % at "
        "50, 200 and 1000",
    ]


def main() -> None:
    """Simulate, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/interval_coverage.md")
    parser.add_argument("--parts", nargs="+", choices=PARTS, help="measure these anew, and keep the others")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if not arguments.page:
        parts = arguments.parts or list(PARTS)
        kept = [row for row in measured.read(arguments.results) if row["part"] not in parts] if arguments.parts else []
        with measured.writer(arguments.results, COMMAND, FIELDS, kept) as keep:
            for row in (row for part in parts for row in PARTS[part]()):
                keep(asdict(row))
                print(f"{row.part}, {row.metric}, {row.population}, {row.n}: {percent(row.covered)} %", flush=True)
        return
    measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(arguments.results)))


if __name__ == "__main__":
    main()
