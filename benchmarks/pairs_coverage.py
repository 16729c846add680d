"""How often 95 % intervals cover the truth over pairs within groups and over censored times.

    OMP_NUM_THREADS=1 python benchmarks/pairs_coverage.py           # measure, docs/pairs_coverage.csv
    OMP_NUM_THREADS=1 python benchmarks/pairs_coverage.py --page    # the table of its page, from that file

Groups have 2 to 15 rows, a third of them positive, and scores ``δ_g y + N(0, 1) + N(0, 2²)_g`` with δ_g ½ or 2 by
chance, so that groups differ in level and in difficulty; the truth is that of the mixture of both, by quadrature. Times
are exponential with rate ``e^x``, x standard normal, censored by exponential times of a rate that gives the share;
scores are ``x + N(0, 1)``. Their truth depends on the censoring and is that of 10⁷ rows. Two scorers with correlated
errors are equally good, the truth of their difference is 0. How often McDiarmid's bound covers is next to the
interval of AUC.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import measured
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from auclab.bounds import fixed_scorer_pairs_bound
from auclab.inference import compare_pairs, estimate_pairs
from auclab.metrics import buffered_concordance, censored_pairs, concordance_index, ordered_pairs
from auclab.samples.bicliques import LevelPairs

PAGE = measured.ROOT / "docs" / "groups_and_times_intervals.md"
RESULTS = PAGE.with_name("pairs_coverage.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/pairs_coverage.py", "benchmarks/pairs_coverage.py --page"
LEVEL, SAMPLES = 0.95, 1000
GROUPS, PATIENTS, CENSORED = (5, 10, 30, 200), (50, 200, 1000), (0.3, 0.7)
DELTAS = (0.5, 2.0)
#: Rows of the populations of times: so many samples of so many rows.
POPULATION = (100, 100_000)
#: Draws pairs and the scores of two scorers.
Draw = Callable[[np.random.Generator], tuple[LevelPairs, np.ndarray, np.ndarray]]


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
    ratio: float
    bound_covered: float
    width: float
    bound_width: float


FIELDS = tuple(field.name for field in fields(Row))


def grouped(n_groups: int, weights: str) -> Draw:
    """Groups that differ in size, level and difficulty."""

    def draw(rng: np.random.Generator) -> tuple[LevelPairs, np.ndarray, np.ndarray]:
        groups = np.repeat(np.arange(n_groups), rng.integers(2, 16, n_groups))
        y = rng.random(groups.size) < 1 / 3
        y[np.flatnonzero(np.diff(groups, prepend=-1))] = True  # the first row of a group is positive, the second not
        y[np.flatnonzero(np.diff(groups, prepend=-1)) + 1] = False
        common = rng.normal(0.0, 2.0, n_groups)[groups] + rng.normal(0.0, math.sqrt(0.5), groups.size)
        scores = [
            common + rng.choice(DELTAS, n_groups)[groups] * y + rng.normal(0.0, math.sqrt(0.5), groups.size)
            for _ in range(2)
        ]
        return ordered_pairs(y, groups, group_weights=weights), *scores  # type: ignore[arg-type]

    return draw


def grouped_truths() -> dict[str, float]:
    """AUC and bAUC of ``t = δ + N(0, 2)``, δ one of two."""

    def density(t: float) -> float:
        return sum(float(norm.pdf(t, delta, math.sqrt(2.0))) for delta in DELTAS) / len(DELTAS)

    def tail(cut: float) -> float:
        return sum(quad(lambda t: t * density(t), a, b)[0] for a, b in ((-20.0, 0.0), (0.0, cut)))

    auc = sum(float(norm.cdf(delta / math.sqrt(2.0))) for delta in DELTAS) / len(DELTAS)
    return {"auc": auc, "bauc": quad(density, brentq(tail, 0.0, 20.0, xtol=1e-12), 25.0)[0]}


def patients(n_rows: int, rate: float) -> Callable[[np.random.Generator], tuple[np.ndarray, ...]]:
    """Times, events and two scorers' risks."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        x = rng.normal(size=n_rows)
        event, censoring = rng.exponential(np.exp(-x)), rng.exponential(1.0 / rate, n_rows)
        common = x + rng.normal(0.0, math.sqrt(0.5), n_rows)
        scores = [common + rng.normal(0.0, math.sqrt(0.5), n_rows) for _ in range(2)]
        return np.minimum(event, censoring), event <= censoring, *scores

    return draw


def censored(n_rows: int, rate: float) -> Draw:
    """Patients as pairs."""
    rows = patients(n_rows, rate)

    def draw(rng: np.random.Generator) -> tuple[LevelPairs, np.ndarray, np.ndarray]:
        time, event, a, b = rows(rng)
        return censored_pairs(time, event), a, b

    return draw


def censoring_rate(share: float) -> float:
    """The rate at which a share of the times is censored, by quadrature over x."""

    def censored_share(rate: float) -> float:
        return quad(lambda x: norm.pdf(x) * rate / (rate + math.exp(x)), -12.0, 12.0)[0]

    return brentq(lambda rate: censored_share(rate) - share, 1e-6, 1e6)


def censored_truths(rate: float) -> dict[str, float]:
    """Means over samples of the population."""
    rng, draw = np.random.default_rng(2026), patients(POPULATION[1], rate)
    found = []
    for _ in range(POPULATION[0]):
        time, event, scores, _ = draw(rng)
        found.append((concordance_index(time, event, scores), buffered_concordance(time, event, scores)))
    return dict(zip(("auc", "bauc"), np.mean(found, axis=0).tolist(), strict=True))


def covered(part: str, metric: str, population: str, n: int, truth: float, draw: Draw) -> Row:
    """One scorer, or the difference of two, on many samples."""
    rng = np.random.default_rng([n, 2032])
    found = np.empty((SAMPLES, 4))
    bounds = np.full((SAMPLES, 2), math.nan)
    for k in range(SAMPLES):
        pairs, a, b = draw(rng)
        if part == "two scorers":
            c = compare_pairs(pairs, a, b, metric, level=LEVEL)  # type: ignore[arg-type]
            found[k] = c.difference, c.standard_error, *c.interval
            continue
        e = estimate_pairs(pairs, a, metric, level=LEVEL)  # type: ignore[arg-type]
        found[k] = e.value, e.standard_error, e.lower, e.upper
        if metric == "auc":
            half_width = fixed_scorer_pairs_bound(pairs, e.value, rho=1 - LEVEL).half_width
            bounds[k] = abs(e.value - truth) <= half_width, 2 * half_width
    value, error, lower, upper = found.T
    above, below = float(np.mean(upper < truth)), float(np.mean(lower > truth))
    ratio = float(np.nanmean(error) / np.std(value))
    bias, width = float(np.mean(value) - truth), float(np.mean(upper - lower))
    shares = 1 - above - below, above, below
    return Row(part, metric, population, n, truth, SAMPLES, *shares, bias, ratio, *_of_bounds(bounds, width))


def _of_bounds(bounds: np.ndarray, width: float) -> tuple[float, float, float]:
    """How often bounds cover, and the widths; NaN where there is no bound."""
    if np.isnan(bounds).any():
        return math.nan, width, math.nan
    return float(bounds[:, 0].mean()), width, float(bounds[:, 1].mean())


def rows() -> Iterator[Row]:
    """All parts."""
    truths = grouped_truths()
    for metric in ("auc", "bauc"):
        for name, weights in (("pairs alike", "pairs"), ("groups alike", "groups")):
            for n in GROUPS:
                yield covered("groups", metric, name, n, truths[metric], grouped(n, weights))
        for n in GROUPS:
            yield covered("two scorers", metric, "groups, pairs alike", n, 0.0, grouped(n, "pairs"))
    for share in CENSORED:
        rate = censoring_rate(share)
        truths = censored_truths(rate)
        for metric in ("auc", "bauc"):
            for n in PATIENTS:
                yield covered("times", metric, f"{share:.0%} censored", n, truths[metric], censored(n, rate))
                yield covered("two scorers", metric, f"times, {share:.0%} censored", n, 0.0, censored(n, rate))


def tables(found: Sequence[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    order = ("groups", "times", "two scorers")
    lines = [
        [
            *(row["metric"], row["population"] + ", two scorers" * (row["part"] == "two scorers"), row["n"]),
            f"{percent(row['covered'])} ({percent(row['truth_above'])}, {percent(row['truth_below'])})",
            *(f"{float(row['bias']):+.4f}", f"{float(row['ratio']):.2f}", f"{float(row['width']):.3f}"),
            of_bound(row),
        ]
        for row in sorted(found, key=lambda row: order.index(row["part"]))
    ]
    head = ["metric", "population", "n", "% covered (truth above, below)", "bias", "SE / sd", "width", "bound"]
    return {"coverage": measured.table(head, lines)}


def of_bound(row: measured.Row) -> str:
    """Coverage and width of McDiarmid's bound."""
    if row["bound_covered"] == "nan":
        return ""
    return f"{percent(row['bound_covered'])}, {float(row['bound_width']):.2f}"


def percent(share: str | float) -> str:
    """A share in per cent with one decimal."""
    return f"{100 * float(share):.1f}"


def sentences(found: Sequence[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""

    def covered(part: str, metric: str, least: int, most: int = 10**9) -> str:
        shares = [
            float(row["covered"])
            for row in found
            if (row["part"], row["metric"]) == (part, metric) and least <= int(row["n"]) <= most
        ]
        return f"{percent(min(shares))} to {percent(max(shares))} %"

    bounds = [float(row["bound_covered"]) for row in found if row["bound_covered"] != "nan"]
    return [
        f"From 10 groups on, intervals of AUC covered {covered('groups', 'auc', 10)}, of bAUC "
        f"{covered('groups', 'bauc', 10)}; with 5 groups {covered('groups', 'auc', 5, 5)} and "
        f"{covered('groups', 'bauc', 5, 5)}",
        f"Of the concordance they covered {covered('times', 'auc', 50)}, of the buffered concordance "
        f"{covered('times', 'bauc', 200)} from 200 patients on and {covered('times', 'bauc', 50, 50)} with 50",
        f"Differences of two scorers: {covered('two scorers', 'auc', 5)} and {covered('two scorers', 'bauc', 5)}",
        f"McDiarmid's bound covered in {percent(min(bounds))} % of the samples",
    ]


def main() -> None:
    """Simulate, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/groups_and_times_intervals.md")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(arguments.results)))
        return
    with measured.writer(arguments.results, COMMAND, FIELDS) as keep:
        for row in rows():
            keep(asdict(row))
            print(f"{row.part}, {row.metric}, {row.population}, {row.n}: {percent(row.covered)} %", flush=True)


if __name__ == "__main__":
    main()
