"""How often bands of the ROC and the buffered ROC curve contain the whole true curve, and intervals the true TPR.

    OMP_NUM_THREADS=1 nice -n 10 python benchmarks/roc_band_coverage.py [--simulations 1000] [--write docs/inference.md]

True curves: ``R(u) = S₊(S₋⁻¹(u))`` at 2,001 points of the probit scale; of scores on a grid, the polygon of their exact
probabilities. The buffered curve has z = 0 and γ* from ``E[ξ | ξ > γ*] = 0``, of normal scores. A band counts if it
contains the curve at all points. Of B resamples the band takes the distance with a share 0.95 of the B + 1 places below
it, so a few are enough for a mean over samples: 200, and 100 for the buffered curve and for single points. The tables
go to the screen, to docs/roc_bands.csv, and with --write between the marks of the page.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import measured
import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

from auclab.inference import roc_band, tpr_at_fpr

LEVEL, RATES = 0.95, (0.05, 0.1, 0.3)
MARKS = ("<!-- bands: written by benchmarks/roc_band_coverage.py -->", "<!-- end of bands -->")
RESULTS = Path(__file__).parents[1] / "docs" / "roc_bands.csv"
GRID = np.concatenate(([0.0], norm.cdf(np.linspace(-6.0, 6.0, 1999)), [1.0]))


@dataclass(frozen=True)
class Population:
    """Scores of the classes, the ROC curve; `shift` of normal scores whose buffered curve is measured too."""

    name: str
    positives: Callable[[np.random.Generator, int], np.ndarray]
    negatives: Callable[[np.random.Generator, int], np.ndarray]
    fpr: np.ndarray
    tpr: np.ndarray
    share_pos: float = 0.5
    shift: float = math.nan

    def sample(self, rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores."""
        n_pos = round(self.share_pos * size)
        y = np.repeat([1, 0], [n_pos, size - n_pos])
        return y, np.concatenate((self.positives(rng, n_pos), self.negatives(rng, size - n_pos)))


def populations() -> list[Population]:
    """Normal, exponential, unbalanced, and scores on a grid."""

    def normal(shift: float, share_pos: float = 0.5, buffered: float = math.nan) -> Population:
        name = f"normal, shift {shift:g}" + ("" if share_pos == 0.5 else f", {share_pos:.0%} positive")
        draw = lambda rng, n: rng.normal(size=n)  # noqa: E731
        curve = norm.cdf(norm.ppf(GRID) + shift)
        return Population(name, lambda rng, n: rng.normal(shift, size=n), draw, GRID, curve, share_pos, buffered)

    exponential = Population(
        *("exponential, means 1 and 4", lambda rng, n: rng.exponential(4.0, n), lambda rng, n: rng.exponential(1.0, n)),
        *(GRID, GRID**0.25),
    )
    edges = np.arange(-8.25, 9.5, 0.5)[::-1]  # scores rounded to halves: above each edge
    halves = Population(
        "normal, shift 1, in halves",
        lambda rng, n: np.round(2.0 * rng.normal(1.0, size=n)) / 2.0,
        lambda rng, n: np.round(2.0 * rng.normal(size=n)) / 2.0,
        np.concatenate(([0.0], norm.sf(edges), [1.0])),
        np.concatenate(([0.0], norm.sf(edges, 1.0), [1.0])),
    )
    return [normal(1.0, buffered=1.0), normal(2.0), exponential, halves, normal(1.0, 0.1)]


def buffered_curve(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """The buffered ROC curve, z = 0, of normal scores: ξ has mean −shift and variance 2."""
    spread = math.sqrt(2.0)
    mean_above = lambda level: spread * norm.pdf(level) / norm.sf(level) - shift  # noqa: E731
    gamma = spread * brentq(mean_above, -10.0, 10.0) - shift
    return GRID, norm.cdf(norm.ppf(GRID) + shift + gamma)


def simulate(population: Population, size: int, simulations: int, resamples: int, rng: np.random.Generator) -> Iterator:
    """A record per simulation and method: covered, width."""
    truth = {"ROC": (population.fpr, population.tpr)}
    if not math.isnan(population.shift):
        truth["bROC"] = buffered_curve(population.shift)
    true_rates = np.interp(RATES, *truth["ROC"])
    for seed in range(simulations):
        y, s = population.sample(rng, size)
        options: dict[str, Any] = {"level": LEVEL, "resamples": resamples, "seed": seed}
        for curve, method in (("ROC", "ks"), ("ROC", "bootstrap"), ("bROC", "bootstrap")):
            if curve not in truth:
                continue
            options["resamples"] = resamples // 2 if curve == "bROC" else resamples
            start = process_time()
            try:
                band = roc_band(y, s, threshold=0.0 if curve == "bROC" else None, method=method, **options)
            except ValueError:  # no buffered curve: nothing is claimed
                yield curve, method, math.nan, math.nan, math.nan
                continue
            seconds = process_time() - start
            yield curve, method, float(band.contains(*truth[curve])), 2.0 * band.dy, seconds
        for rate, true in zip(RATES, true_rates, strict=True):
            resampled = ("bootstrap",) if "bROC" in truth and rate == RATES[1] else ()
            for method in ("influence", *resampled, "exact"):
                start = process_time()
                found = tpr_at_fpr(y, s, rate, method=method, **options)
                inside = float(found.lower <= true <= found.upper)
                yield f"TPR at {rate:g}", method, inside, found.upper - found.lower, process_time() - start


def measure_cell(population: int, size: int, simulations: int, resamples: int) -> pd.DataFrame:
    """Coverage of one population at one size."""
    chosen = populations()[population]
    rng = np.random.default_rng([population, size])
    table = pd.DataFrame(
        simulate(chosen, size, simulations, resamples, rng), columns=["of", "method", "covered", "width", "seconds"]
    )
    groups = table.groupby(["of", "method"], sort=False)
    found = groups.mean().assign(samples=groups["covered"].count()).reset_index()
    return found.assign(population=chosen.name, n=size)


def measure(sizes: list[int], simulations: int, resamples: int, jobs: int) -> pd.DataFrame:
    """Coverage of every population and size."""
    cells = [(population, size) for population in range(len(populations())) for size in sizes]
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(measure_cell, *cell, simulations, resamples) for cell in cells]
        tables = []
        for cell in waiting:
            tables.append(cell.result())
            print(tables[-1].round(4).to_string(), flush=True)
    order = ["of", "method", "population", "n", "samples", "covered", "width", "seconds"]
    return pd.concat(tables)[order].sort_values(["of", "method"], kind="stable")


def page(table: pd.DataFrame) -> str:
    """The table in Markdown: the sizes side by side, coverage and mean width."""
    sizes = sorted(int(size) for size in table["n"].unique())
    head = ["of", "method", "population", *(f"n = {size}" for size in sizes)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for names, block in table.groupby(["of", "method", "population"], sort=False):
        cells = []
        for row in block.sort_values("n").to_dict("records"):
            cells.append(f"{100 * row['covered']:.1f} % ({row['width']:.3f})")
        lines.append("| " + " | ".join([*map(str, names), *cells]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--measured", action="store_true", help="read the results instead of measuring them")
    options = parser.parse_args()
    if options.measured:
        table = pd.DataFrame(measured.read(options.results)).astype({"n": int, "covered": float, "width": float})
    else:
        table = measure(options.sizes, options.simulations, options.resamples, options.jobs)
        table = table.round({"covered": 4, "width": 4, "seconds": 5})
        with measured.writer(options.results, "python benchmarks/roc_band_coverage.py", list(table)) as keep:
            for row in table.to_dict("records"):
                keep(row)
    print(page(table))
    if options.write:
        before, rest = options.write.read_text(encoding="utf-8").split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        options.write.write_text(f"{before}{MARKS[0]}\n{page(table)}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
