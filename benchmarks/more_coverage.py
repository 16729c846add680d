"""How often 95 % intervals cover: clusters, three and more classes, rare errors, censored times, corrected optimism.

    OMP_NUM_THREADS=1 python benchmarks/more_coverage.py           # measure, docs/more_coverage.csv
    OMP_NUM_THREADS=1 python benchmarks/more_coverage.py --page    # the table of its page, from that file

Clustered scores are ``√ρ N_c + √(1 − ρ) N + y``, one N_c a cluster, y 0 or 1 with equal chance; rows of two clusters
make nearly all pairs, and the truth is Φ(1/√2) for these and Φ(1/√(2 − 2ρ)) for the pairs within a cluster.
Scores of c classes are N, and N + 1 in the column of the class. Rare errors: 5 % of the positives, N(3) otherwise, are
N(−2). Censored times have the hazard e^s, and scores s + N; the truth is the concordance of the events before 0.5 of
400,000 rows without censoring. The optimism is of logistic regression on 8 columns, of which one matters; the truth is
its AUC on 20,000 rows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path

import measured
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from auclab import estimate, validate
from auclab.inference import estimate_concordance, estimate_pairs
from auclab.metrics import auc_score, concordance_index
from auclab.samples.bicliques import censored_pairs

PAGE = measured.ROOT / "docs" / "interval_coverage.md"
RESULTS = PAGE.with_name("more_coverage.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/more_coverage.py", "benchmarks/more_coverage.py --page"
SAMPLES, VALIDATED = 1000, 200
N_CLUSTERS, LIFT = 40, 1.0
Interval = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """Coverage of two intervals for the same samples, in shares, and their mean widths."""

    part: str
    case: str
    n: str
    samples: int
    covered: float
    width: float
    beside_covered: float
    beside_width: float


FIELDS = tuple(field.name for field in fields(Row))


def covered(part: str, case: str, n: str, samples: int, draw: Callable[[], tuple[float, Interval, Interval]]) -> Row:
    """Coverage of both intervals that `draw` gives with the truth."""
    found = np.array([[truth, *first, *second] for truth, first, second in (draw() for _ in range(samples))])
    truth, low, high, low_beside, high_beside = found.T
    hits = (low <= truth) & (truth <= high), (low_beside <= truth) & (truth <= high_beside)
    widths = float(np.mean(high - low)), float(np.mean(high_beside - low_beside))
    return Row(part, case, n, samples, float(hits[0].mean()), widths[0], float(hits[1].mean()), widths[1])


def clustered(size: int, correlation: float) -> Row:
    """Obuchowski's interval, and the one that takes rows for independent."""
    rng = np.random.default_rng([size, int(10 * correlation)])
    clusters = np.repeat(np.arange(N_CLUSTERS), size)
    between = float(norm.cdf(LIFT / math.sqrt(2.0)))
    within = float(norm.cdf(LIFT / math.sqrt(2.0 * (1.0 - correlation))))
    share = (size - 1) / (N_CLUSTERS * size - 1)  # of the pairs of rows, those of one cluster
    truth = (1.0 - share) * between + share * within

    def draw() -> tuple[float, Interval, Interval]:
        y = rng.integers(0, 2, clusters.size)
        common, own = rng.normal(size=N_CLUSTERS)[clusters], rng.normal(size=clusters.size)
        s = math.sqrt(correlation) * common + math.sqrt(1.0 - correlation) * own + LIFT * y
        by_cluster, by_row = estimate(y, s, clusters=clusters), estimate(y, s)
        return truth, (by_cluster.lower, by_cluster.upper), (by_row.lower, by_row.upper)

    return covered("clusters", f"ρ = {correlation}", f"{N_CLUSTERS} × {size}", SAMPLES, draw)


def of_classes(c: int, n: int) -> Row:
    """Hand & Till's M, and one against the rest."""
    rng, y = np.random.default_rng([c, n]), np.arange(n) % c
    truth = float(norm.cdf(1.0 / math.sqrt(2.0)))

    def draw() -> tuple[float, Interval, Interval]:
        scores = rng.normal(size=(n, c))
        scores[np.arange(n), y] += 1.0
        ovo, ovr = (estimate(y, scores, "multiclass_auc", average=average) for average in ("ovo", "ovr"))
        return truth, (ovo.lower, ovo.upper), (ovr.lower, ovr.upper)

    return covered("classes", f"{c} classes", str(n), SAMPLES, draw)


def rare_errors(metric: str, n_pos: int, n_neg: int) -> Row:
    """The adjusted interval, and the usual one."""
    rng, y = np.random.default_rng([n_pos, n_neg]), np.repeat([1, 0], [n_pos, n_neg])
    truth = rare_truths()[metric]

    def draw() -> tuple[float, Interval, Interval]:
        s = rng.normal(size=y.size) + 3.0 * y
        s[(rng.random(y.size) < 0.05) & (y == 1)] -= 5.0
        adjusted, usual = estimate(y, s, metric, method="adjusted"), estimate(y, s, metric)
        return truth, (adjusted.lower, adjusted.upper), (usual.lower, usual.upper)

    return covered("rare errors", metric, f"{n_pos} + {n_neg}", SAMPLES, draw)


def rare_truths() -> dict[str, float]:
    """AUC and bAUC of ``t = p − n``, which is N(3, 2) or, in 5 % of the pairs, N(−2, 2)."""

    def density(t: float) -> float:
        return 0.95 * float(norm.pdf(t, 3.0, math.sqrt(2.0))) + 0.05 * float(norm.pdf(t, -2.0, math.sqrt(2.0)))

    def mean_below(cut: float) -> float:
        return sum(quad(lambda t: t * density(t), a, b)[0] for a, b in ((-15.0, 0.0), (0.0, cut)))

    auc = 0.95 * float(norm.cdf(3.0 / math.sqrt(2.0))) + 0.05 * float(norm.cdf(-2.0 / math.sqrt(2.0)))
    return {"auc": auc, "bauc": quad(density, brentq(mean_below, 0.0, 15.0, xtol=1e-12), 20.0)[0]}


def censored(share: float, n: int) -> Row:
    """Uno's concordance of the events before 0.5, and Harrell's of all, whose limit depends on the censoring."""
    rng = np.random.default_rng([int(10 * share), n])

    def rows(size: int) -> tuple[np.ndarray, np.ndarray]:
        risk = rng.normal(size=size)
        return rng.exponential(np.exp(-risk)), risk + rng.normal(size=size)

    life, scores = rows(400_000)
    truth = concordance_index(life, np.ones(life.size), scores, tau=0.5)

    def draw() -> tuple[float, Interval, Interval]:
        life, scores = rows(n)
        until = rng.exponential((1.0 - share) / share, n)
        time, event = np.minimum(life, until), life <= until
        uno = estimate_concordance(time, event, scores, tau=0.5)
        harrell = estimate_pairs(censored_pairs(time, event), scores)
        return truth, (uno.lower, uno.upper), (harrell.lower, harrell.upper)

    return covered("times", f"about {share:.0%} censored", str(n), SAMPLES, draw)


def optimism(n: int) -> Row:
    """The corrected interval, and that of the apparent value."""
    rng = np.random.default_rng(n)

    def rows(size: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.normal(size=(size, 8))
        return X, (X[:, 0] + 1.5 * rng.normal(size=size) > 0).astype(int)

    new = rows(20_000)

    def draw() -> tuple[float, Interval, Interval]:
        X, y = rows(n)
        model = LogisticRegression().fit(X, y)
        found = validate(LogisticRegression(), X, y, repeats=50)
        truth = auc_score(new[1], model.decision_function(new[0]))
        return truth, (found.lower, found.upper), (found.lower + found.optimism, found.upper + found.optimism)

    return covered("optimism", "logistic regression", str(n), VALIDATED, draw)


def rows() -> Iterator[partial[Row]]:
    """All parts."""
    for size in (2, 5, 10):
        for correlation in (0.0, 0.5, 0.9):
            yield partial(clustered, size, correlation)
    for c in (3, 5):
        for n in (30, 300):
            yield partial(of_classes, c, n)
    for metric in ("auc", "bauc"):
        for sizes in ((20, 180), (8, 392), (30, 300), (100, 1000)):
            yield partial(rare_errors, metric, *sizes)
    for share in (0.3, 0.7):
        for n in (100, 300):
            yield partial(censored, share, n)
    for n in (60, 200):
        yield partial(optimism, n)


#: What the two intervals of a part are.
NAMES = {
    "clusters": ("clusters", "rows as independent"),
    "classes": ("one against one", "one against the rest"),
    "rare errors": ("adjusted", "usual"),
    "times": ("Uno, before 0.5", "Harrell"),
    "optimism": ("corrected", "apparent"),
}


def tables(found: Sequence[measured.Row]) -> dict[str, str]:
    """The table of the page, a part of the file."""
    shown = (("ρ = 0.9", "40 × 10"), ("auc", "20 + 180"), ("about 70% censored", "100"), ("logistic regression", "60"))
    lines = [
        [
            *(row["part"], row["case"], row["n"], NAMES[row["part"]][0], in_short(row["covered"], row["width"])),
            *(NAMES[row["part"]][1], in_short(row["beside_covered"], row["beside_width"])),
        ]
        for row in found
        if (row["case"], row["n"]) in shown
    ]
    return {
        "coverage": measured.table(["part", "case", "n", "interval", "covered (width)", "other interval", ""], lines)
    }


def in_short(share: str, width: str) -> str:
    """Coverage in per cent, and the width."""
    return f"{100 * float(share):.1f} % ({float(width):.2f})"


def main() -> None:
    """Simulate, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/interval_coverage.md")
    parser.add_argument("--only", help="add the rows of this function, and keep the others")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(arguments.results)))
        return
    kept = measured.read(arguments.results) if arguments.only else []
    with measured.writer(arguments.results, COMMAND, FIELDS, kept) as keep:
        for row in (make() for make in rows() if arguments.only in (None, make.func.__name__)):
            keep(asdict(row))
            print(f"{row.part}, {row.case}, {row.n}: {row.covered:.3f} ({row.beside_covered:.3f})", flush=True)


if __name__ == "__main__":
    main()
