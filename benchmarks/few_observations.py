"""How often 95 % intervals cover the truth where a class has few observations, of continuous and of coarse scores.

    OMP_NUM_THREADS=1 python benchmarks/few_observations.py           # measure, docs/few_observations.csv
    OMP_NUM_THREADS=1 python benchmarks/few_observations.py --page    # the tables of docs/interval_coverage.md, from it

Normal scores, as they are or rounded to a grid; the positives are shifted so that the unrounded scores have a given
AUC. Every sample has an interval by the standard error alone (Student's quantile at Welch–Satterthwaite degrees of
freedom) and the interval of `estimate`, which differ where one class contributes the same. The truth is the metric of
the probabilities of the grid; for continuous scores of a grid with step 0.005.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import measured
import numpy as np
from scipy.stats import norm

from auclab.inference import estimate, tpr_at_fpr
from auclab.inference.catalogue import estimable
from auclab.inference.components import Observations
from auclab.inference.intervals import confidence_limits, enclose, limits_on_scale
from auclab.inference.roc_bands import height_at
from auclab.metrics.roc import class_scores, roc_from_sorted

LEVEL, SAMPLES, VOROS_SAMPLES = 0.95, 2000, 300
PAGE = measured.ROOT / "docs" / "interval_coverage.md"
RESULTS = PAGE.with_name("few_observations.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/few_observations.py", "benchmarks/few_observations.py --page"
FINE = 0.005
STEPS = {0.0: "continuous", 1.0: "in integers", 2.0: "in twos"}
AREAS, FEW, MANY = (0.6, 0.75, 0.9, 0.97, 0.99), (2, 3, 5, 10, 20), 200
#: Of partial AUC and TPR at a FPR.
RATE = 0.1
#: Positives and negatives.
SIZES = [(few, MANY) for few in FEW]
OF_BAND = [(5, MANY), (50, 20), (50, 50), (50, MANY)]


@dataclass(frozen=True)
class Row:
    """Coverage and mean length of both intervals in all samples, and in those where one class contributes the same."""

    metric: str
    scores: str
    auc: float
    truth: float
    n_pos: int
    n_neg: int
    samples: int
    covered_by_error: float
    length_by_error: float
    covered: float
    length: float
    flat: int
    flat_covered_by_error: int
    flat_covered: int


FIELDS = tuple(field.name for field in fields(Row))


def grid(shift: float, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and probabilities of rounded normal scores."""
    width = step or FINE
    at = width * np.arange(np.floor(-9.0 / width), np.ceil((9.0 + shift) / width) + 1.0)
    shares = [np.diff(norm.cdf(np.append(at - width / 2, at[-1] + width / 2), mean)) for mean in (shift, 0.0)]
    kept = [share > 0.0 for share in shares]
    labels = np.repeat([1, 0], [int(each.sum()) for each in kept])
    return (
        labels,
        np.concatenate([at[each] for each in kept]),
        np.concatenate([s[k] for s, k in zip(shares, kept, strict=True)]),
    )


def samples(shift: float, step: float, sizes: tuple[int, int], count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Labels and scores, `count` times."""
    rng = np.random.default_rng([round(1000 * shift), round(step), *sizes])
    y = np.repeat([1, 0], sizes)
    for _ in range(count):
        scores = rng.normal(shift * y)
        yield y, np.round(scores / step) * step if step else scores


def measure(name: str, options: dict[str, Any], area: float, step: float, sizes: tuple[int, int], count: int) -> Row:
    """Both intervals of a metric."""
    shift, metric = float(np.sqrt(2.0) * norm.ppf(area)), estimable(name, options)
    labels, scores, weight = grid(shift, step)
    truth = metric.function(labels, scores, sample_weight=weight, **options)
    limits, flat = np.empty((2, count, 2)), np.zeros(count, bool)
    for k, (y, s) in enumerate(samples(shift, step, sizes, count)):
        observations = Observations.of(y, s, None, None)
        components = metric.components(observations)
        by_error, _ = confidence_limits(metric, components, observations, LEVEL)
        limits[0, k] = enclose(components.value, by_error, metric.range)
        found = estimate(y, s, name, level=LEVEL, **options)
        limits[1, k] = found.lower, found.upper
        flat[k] = any("the limits allow for" in note for note in found.notes)
    return row_of(name, area, step, truth, sizes, limits, flat)


def measure_voros(area: float, step: float, sizes: tuple[int, int], count: int) -> Row:
    """VOROS by half-samples, with normal limits and with those of `estimate`."""
    shift, metric = float(np.sqrt(2.0) * norm.ppf(area)), estimable("voros", {})
    labels, scores, weight = grid(shift, step)
    truth = metric.function(labels, scores, sample_weight=weight)
    limits, flat = np.empty((2, count, 2)), np.zeros(count, bool)
    for k, (y, s) in enumerate(samples(shift, step, sizes, count)):
        found = estimate(y, s, "voros", level=LEVEL, seed=k)
        limits[:, k] = found.lower, found.upper
        if found.standard_error > 0.0:
            half_width = float(norm.isf(0.5 * (1.0 - LEVEL))) * found.standard_error
            on_scale = limits_on_scale(metric, found.value - found.bias, half_width)
            limits[0, k] = enclose(found.value, on_scale, metric.range)
    return row_of("voros", area, step, truth, sizes, limits, flat)


def measure_rate(area: float, step: float, sizes: tuple[int, int], count: int) -> Row:
    """The one interval of TPR at a FPR."""
    shift = float(np.sqrt(2.0) * norm.ppf(area))
    labels, scores, weight = grid(shift, step)
    curve = roc_from_sorted(class_scores(labels, scores, weight, None))
    truth = float(height_at(curve, np.array([RATE]))[0])
    found = [tpr_at_fpr(y, s, RATE, level=LEVEL) for y, s in samples(shift, step, sizes, count)]
    limits = np.array([[each.lower, each.upper] for each in found])
    return row_of("tpr_at_fpr", area, step, truth, sizes, np.array([limits, limits]), np.zeros(count, bool))


def row_of(
    name: str, area: float, step: float, truth: float, sizes: tuple[int, int], limits: np.ndarray, flat: np.ndarray
) -> Row:
    """Shares and counts, from the limits by both methods."""
    covered = (limits[..., 0] <= truth) & (truth <= limits[..., 1])
    length = (limits[..., 1] - limits[..., 0]).mean(axis=1)
    by_error, by_both = ((float(c.mean()), float(mean)) for c, mean in zip(covered, length, strict=True))
    in_flat = (int(each[flat].sum()) for each in covered)
    return Row(name, STEPS[step], area, truth, *sizes, flat.size, *by_error, *by_both, int(flat.sum()), *in_flat)


def rows(count: int) -> Iterator[Row]:
    """AUC at all sizes; bAUC, partial AUC and TPR at a FPR for the sizes at which they are weak."""
    for step in STEPS:
        for area in AREAS:
            for sizes in SIZES:
                yield measure("auc", {}, area, step, sizes, count)
    for step in STEPS:
        for area in (0.75, 0.9):
            for sizes in SIZES:
                yield measure("bauc", {}, area, step, sizes, count)
            for sizes in OF_BAND:
                yield measure("partial_auc", {"max_fpr": RATE, "standardized": "area"}, area, step, sizes, count)
                yield measure_rate(area, step, sizes, count)


def rows_of_voros(count: int) -> Iterator[Row]:
    """VOROS where AUC is 0.75 and 0.9."""
    for step in STEPS:
        for area in (0.75, 0.9):
            for sizes in SIZES[1:]:
                yield measure_voros(area, step, sizes, count)


def tables(found: Sequence[measured.Row]) -> dict[str, str]:
    """The table of the page, a part of the file: AUC and bAUC, a column for every number of positives."""
    shown = (("auc", "continuous", "0.75"), ("auc", "continuous", "0.97"), ("auc", "in twos", "0.9"))
    lines = []
    for metric, scores, auc in (*shown, ("bauc", "continuous", "0.9")):
        rows = [row for row in found if (row["metric"], row["scores"], row["auc"]) == (metric, scores, auc)]
        lines.append([metric, scores, f"{float(rows[0]['truth']):.3f}", *map(_cell, rows)])
    return {"few": measured.table(["metric", "scores", "truth", *(f"{few} + {MANY}" for few in FEW)], lines)}


def _cell(row: measured.Row) -> str:
    """Coverage with the mean length; of both intervals where they differ."""
    after = f"{percent(row['covered'])} ({float(row['length']):.2f})"
    if row["flat"] == "0" and row["length_by_error"] == row["length"]:
        return after
    return f"{percent(row['covered_by_error'])} ({float(row['length_by_error']):.2f}) → {after}"


def percent(share: str | float) -> str:
    """A share in per cent."""
    return f"{100 * float(share):.1f}"


def sentences(found: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""

    def flat(metric: str, column: str) -> int:
        """Number of samples in which one class contributes the same."""
        return sum(int(row[column]) for row in found if row["metric"] == metric)

    lines = []
    for metric, shown in (("auc", "AUC"), ("bauc", "bAUC"), ("partial_auc", "partial AUC")):
        before, after, count = (flat(metric, name) for name in ("flat_covered_by_error", "flat_covered", "flat"))
        lines.append(
            f"{shown}: {count:,} samples, {percent(before / count)} % by the standard error alone, "
            f"{percent(after / count)} % with these limits"
        )

    def lowest(metric: str, n_pos: int, n_neg: int) -> str:
        """The lowest coverage at a size, in per cent."""
        rows = (row for row in found if (row["metric"], row["n_pos"], row["n_neg"]) == (metric, str(n_pos), str(n_neg)))
        return percent(min(float(row["covered"]) for row in rows))

    listed = ", ".join(f"{lowest('auc', few, MANY)} % with {few}" for few in FEW)
    voros = {few: [r for r in found if (r["metric"], r["n_pos"]) == ("voros", str(few))] for few in (3, 5)}
    ranges = [
        f"{percent(min(float(r[c]) for r in voros[n]))} to {percent(max(float(r[c]) for r in voros[n]))} %"
        for n in voros
        for c in ("covered_by_error", "covered")
    ]
    return [
        *lines,
        f"With 3 positives normal limits covered {ranges[0]} and these {ranges[1]}, with 5 {ranges[2]} and {ranges[3]}",
        f"The lowest coverage of AUC is {listed} positives",
    ]


def main() -> None:
    """Simulate, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the tables of docs/interval_coverage.md")
    parser.add_argument("--voros", action="store_true", help="measure VOROS anew, and keep the rest")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of each row; of VOROS no more than 300")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(arguments.results)))
        return
    kept = [row for row in measured.read(arguments.results) if row["metric"] != "voros"] if arguments.voros else []
    with measured.writer(arguments.results, COMMAND, FIELDS, kept) as keep:
        of_voros = rows_of_voros(min(arguments.samples, VOROS_SAMPLES))
        for row in of_voros if arguments.voros else chain(rows(arguments.samples), of_voros):
            keep(asdict(row))
            print(row.metric, row.scores, row.auc, row.n_pos, row.n_neg, percent(row.covered), flush=True)


if __name__ == "__main__":
    main()
