"""How often bands of the ROC and the buffered ROC curve contain the whole true curve, and intervals the true TPR.

    OMP_NUM_THREADS=1 python benchmarks/roc_band_coverage.py           # measure, docs/roc_bands.csv
    OMP_NUM_THREADS=1 python benchmarks/roc_band_coverage.py --page    # the table of docs/roc_bands.md, from that file

True curves: ``R(u) = S₊(S₋⁻¹(u))`` at 2,001 points of the probit scale; of scores on a grid, the polygon of their exact
probabilities. The buffered curve has z = 0 and γ* from ``E[ξ | ξ > γ*] = 0``, of normal scores. A band counts if it
contains the curve at all points. Of B resamples the band takes the distance with a share 0.95 of the B + 1 places below
it, so a few are enough for a mean over samples: 200, and 100 for the buffered curve and for single points. Two large
sizes, bootstrap bands alone, are for the text.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
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
PAGE = measured.ROOT / "docs" / "roc_bands.md"
RESULTS = PAGE.with_name("roc_bands.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/roc_band_coverage.py", "benchmarks/roc_band_coverage.py --page"
FIELDS = ("of", "method", "population", "n", "samples", "covered", "width", "seconds")
SIZES, SAMPLES, RESAMPLES = (50, 200, 1000), 1000, 200
#: Sizes at which the bootstrap bands of one population are measured too, with the number of samples.
LARGE = {4000: 400, 20_000: 300}
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


def simulate(population: Population, size: int, samples: int, rng: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """A record per sample and method: covered, width, processor seconds."""
    truth = {"ROC": (population.fpr, population.tpr)}
    if not math.isnan(population.shift):
        truth["bROC"] = buffered_curve(population.shift)
    true_rates = np.interp(RATES, *truth["ROC"])
    for seed in range(samples):
        y, s = population.sample(rng, size)
        options: dict[str, Any] = {"level": LEVEL, "seed": seed}
        for curve, method in (("ROC", "ks"), ("ROC", "bootstrap"), ("bROC", "bootstrap")):
            if curve not in truth or (size in LARGE and (curve, method) != ("ROC", "bootstrap")):
                continue
            options["resamples"] = RESAMPLES // 2 if curve == "bROC" else RESAMPLES
            start = process_time()
            try:
                band = roc_band(y, s, threshold=0.0 if curve == "bROC" else None, method=method, **options)
            except ValueError:  # no buffered curve: nothing is claimed
                yield curve, method, math.nan, math.nan, math.nan
                continue
            seconds = process_time() - start
            yield curve, method, float(band.contains(*truth[curve])), 2.0 * band.dy, seconds
        for rate, true in zip(RATES, true_rates, strict=True) if size not in LARGE else ():
            resampled = ("bootstrap",) if "bROC" in truth and rate == RATES[1] else ()
            for method in ("influence", *resampled, "exact"):
                start = process_time()
                found = tpr_at_fpr(y, s, rate, method=method, **options)
                inside = float(found.lower <= true <= found.upper)
                yield f"TPR at {rate:g}", method, inside, found.upper - found.lower, process_time() - start


def measure_cell(population: int, size: int, samples: int) -> pd.DataFrame:
    """Coverage of one population at one size."""
    chosen = populations()[population]
    rng = np.random.default_rng([population, size])
    table = pd.DataFrame(simulate(chosen, size, samples, rng), columns=["of", "method", "covered", "width", "seconds"])
    groups = table.groupby(["of", "method"], sort=False)
    found = groups.mean().assign(samples=groups["covered"].count()).reset_index()
    return found.assign(population=chosen.name, n=size)


def measure() -> pd.DataFrame:
    """Coverage of every population and size."""
    cells = [(number, size, SAMPLES) for number in range(len(populations())) for size in SIZES]
    found = []
    for cell in [*cells, *((0, size, samples) for size, samples in LARGE.items())]:
        found.append(measure_cell(*cell))
        print(found[-1].round(4).to_string(), flush=True)
    table = pd.concat(found)[list(FIELDS)].sort_values(["of", "method"], kind="stable")
    return table.round({"covered": 4, "width": 4, "seconds": 5})


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """The table of the page, a part of the file: the sizes side by side, coverage and mean width."""
    few = "normal, shift 1, 10% positive"
    shown = [
        *(("ROC", "bootstrap", population) for population in ("normal, shift 1", few)),
        ("ROC", "ks", "normal, shift 1"),
        ("TPR at 0.1", "influence", "normal, shift 1"),
    ]
    lines: dict[tuple[str, ...], list[str]] = {names: [] for names in shown}
    for row in rows:
        names = (row["of"], row["method"], row["population"])
        if names in lines and int(row["n"]) not in LARGE:
            lines[names].append(f"{100 * float(row['covered']):.1f} % ({float(row['width']):.3f})")
    head = ["of", "method", "population", *(f"n = {size}" for size in SIZES)]
    return {"bands": measured.table(head, [[*names, *cells] for names, cells in lines.items()])}


def sentences(rows: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""

    def covered(of: str, method: str, n: Sequence[int] = SIZES, *, grid: bool | None = None) -> list[float]:
        return [
            100 * float(row["covered"])
            for row in rows
            if row["of"].startswith(of) and row["method"] == method and int(row["n"]) in n
            if grid is None or grid == row["population"].endswith("in halves")
        ]

    def wider(of: str, first: str, second: str) -> str:
        widths = {(row["of"], row["method"], row["population"], row["n"]): float(row["width"]) for row in rows}
        ratios = [
            width / widths[of_row, second, population, n]
            for (of_row, method, population, n), width in widths.items()
            if of_row.startswith(of) and method == first
        ]
        return f"{min(ratios):.1f} to {max(ratios):.1f}"

    few = "normal, shift 1, 10% positive"
    (five,) = (
        100 * float(row["covered"])
        for row in rows
        if (row["of"], row["method"], row["population"], row["n"]) == ("ROC", "bootstrap", few, "50")
    )
    bands = covered("ROC", "bootstrap", SIZES[1:], grid=False)
    large = [f"{covered('ROC', 'bootstrap', [n])[0]:.1f} % of {count} samples of {n:,}" for n, count in LARGE.items()]
    one_step = [
        100 * float(row["covered"])
        for row in rows
        if (row["of"], row["method"], row["n"]) == ("TPR at 0.05", "influence", "50") and row["population"] != few
    ]
    points = sorted([*covered("TPR", "influence"), *covered("TPR", "bootstrap")])
    for each in one_step:
        points.remove(each)
    return [
        f"Bootstrap bands of continuous scores are slightly too wide at 200 and 1000 observations ({min(bands):.1f} to "
        f"{max(bands):.1f} %; {large[0]}, {large[1].replace(' samples of', ' of')})",
        f"With 5 positives the bands cover {five:.1f} %",
        f"cover {min(covered('ROC', 'ks')):.1f} % or more and are {wider('ROC', 'ks', 'bootstrap')} times as wide",
        f"Intervals at a point lie between {points[0]:.1f} and {points[-1]:.1f} %, except at FPR 0.05 with 25 "
        f"negatives, where u is a single step of the curve ({min(one_step):.1f} to {max(one_step):.1f} %)",
    ]


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/roc_bands.md")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(options.results)))
        return
    table = measure()
    with measured.writer(options.results, COMMAND, FIELDS) as keep:
        for row in table.to_dict("records"):
            keep(row)


if __name__ == "__main__":
    main()
