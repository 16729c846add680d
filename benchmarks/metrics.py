"""Seconds of every metric beside scikit-learn's roc_auc_score, torchmetrics and the bare sort.

    python benchmarks/metrics.py [--sizes 4 5 6 7]    # measure, docs/metrics.csv
    python benchmarks/metrics.py --page               # the table of docs/metrics.md, from that file

Half of the scores are positives, N(1, 1), the others N(0, 1). Competitors alternate within one process after one call
each that is not counted (it compiles). Medians of processor seconds, of all threads; ratios of medians. Where two of
them compute the same number, on these scores and on rounded ones full of ties, it is asserted that they do.
Torchmetrics is compared if it is installed. The sort is np.sort of both classes, one after the other; auclab sorts
large classes in two threads.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import process_time

import measured
import numpy as np
from rich.console import Console
from sklearn.metrics import roc_auc_score

from auclab import metrics

PAGE = measured.ROOT / "docs" / "metrics.md"
RESULTS = PAGE.with_suffix(".csv")
COMMAND, PAGE_COMMAND = "python benchmarks/metrics.py", "benchmarks/metrics.py --page"
FIELDS = ("call", "scores", "seconds", "repetitions")
SORT, SKLEARN = "np.sort of both classes", "sklearn roc_auc_score"
Call = Callable[[np.ndarray, np.ndarray], float]


CALLS: dict[str, Call] = {
    SKLEARN: roc_auc_score,
    "sklearn roc_auc_score(max_fpr=0.1)": partial(roc_auc_score, max_fpr=0.1),
    "auc_score": metrics.auc_score,
    "bauc_score": metrics.bauc_score,
    "buffered_auc": lambda y, s: metrics.buffered_auc(y, s).value,
    "auc_threshold": metrics.auc_threshold,
    "ranking_superquantile(level=0.9)": partial(metrics.ranking_superquantile, level=0.9),
    "scored_auc": metrics.scored_auc,
    "ferri_auc": metrics.ferri_auc,
    "soft_auc(beta=10)": partial(metrics.soft_auc, beta=10.0),
    "probabilistic_auc(width=0.1)": partial(metrics.probabilistic_auc, width=0.1),
    "weighted_auc(weight=np.square)": partial(metrics.weighted_auc, weight=np.square),
    "partial_auc(max_fpr=0.1)": partial(metrics.partial_auc, max_fpr=0.1, standardized="mcclish"),
    "two_way_partial_auc": partial(metrics.two_way_partial_auc, min_tpr=0.5, max_fpr=0.5),
    "voros_score": metrics.voros_score,
    "polynomial_auc": metrics.polynomial_auc,
    "polynomial_soft_auc(beta=10)": partial(metrics.polynomial_soft_auc, beta=10.0),
}

#: Calls that mean the same number.
SAME = [
    ("auc_score", SKLEARN),
    ("partial_auc(max_fpr=0.1)", "sklearn roc_auc_score(max_fpr=0.1)"),
    ("bauc_score", "buffered_auc"),
]

if find_spec("torchmetrics"):
    import torch
    from torchmetrics.functional.classification import binary_auroc

    def torch_auroc(y: np.ndarray, s: np.ndarray) -> float:
        """Scores in [0, 1] beforehand, else torchmetrics applies a sigmoid."""
        low, high = s.min(), s.max()
        return float(binary_auroc(torch.from_numpy((s - low) / (high - low)), torch.from_numpy(y)))

    CALLS["torchmetrics binary_auroc"] = torch_auroc
    SAME.append(("auc_score", "torchmetrics binary_auroc"))


def sample(size: int, digits: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores; rounded to some digits, they tie."""
    rng = np.random.default_rng(size)
    y = np.zeros(size, dtype=np.int64)
    y[rng.permutation(size)[: size // 2]] = 1
    s = rng.normal(size=size) + y
    return y, s if digits is None else s.round(digits)


def timed(name: str, y: np.ndarray, s: np.ndarray) -> float:
    """Processor seconds of one call."""
    if name == SORT:  # what no ranking metric can do without; the classes are taken apart before
        pos, neg = s[y == 1], s[y == 0]
        start = process_time()
        pos.sort()
        neg.sort()
        return process_time() - start
    start = process_time()
    CALLS[name](y, s)
    return process_time() - start


def check_values(size: int) -> None:
    """Assert that equal meanings give equal numbers, without ties and with many."""
    for digits in (None, 1):
        y, s = sample(size, digits)
        for one, other in SAME:
            values = CALLS[one](y, s), CALLS[other](y, s)
            assert abs(values[0] - values[1]) < 1e-11, (one, other, size, digits, values)


def measure(size: int, repeat: int) -> dict[str, float]:
    """Median seconds of every call."""
    y, s = sample(size)
    seconds: dict[str, list[float]] = {name: [] for name in (SORT, *CALLS)}
    for round_number in range(repeat + 1):
        for name in seconds:
            elapsed = timed(name, y, s)
            if round_number > 0:
                seconds[name].append(elapsed)
    return {name: median(times) for name, times in seconds.items()}


def markdown(results: dict[int, dict[str, float]]) -> str:
    """One row a call: seconds relative to roc_auc_score, and at a million scores relative to the sort."""
    sizes = list(results)
    middle = 10**6 if 10**6 in sizes else sizes[-1]
    heads = [f"10^{len(str(size)) - 1}" for size in sizes]
    lines = [
        f"| seconds ÷ those of {SKLEARN} at | {' | '.join(heads)} | ÷ sort at 10^{len(str(middle)) - 1} |",
        f"|---|{'---|' * (len(sizes) + 1)}",
    ]
    for name in results[middle]:
        ratios = [results[size][name] / results[size][SKLEARN] for size in sizes]
        cells = [f"{ratio:.3f}" if ratio < 0.995 else f"{ratio:.2f}" for ratio in ratios]
        if name == SKLEARN:
            cells = [f"1 ({results[size][name]:.2g} s)" for size in sizes]
        lines.append(f"| `{name}` | {' | '.join(cells)} | {results[middle][name] / results[middle][SORT]:.1f} |")
    return "\n".join(lines)


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The table of the page."""
    results: dict[int, dict[str, float]] = {}
    for row in rows:
        results.setdefault(int(row["scores"]), {})[row["call"]] = float(row["seconds"])
    return {"speed": markdown(results)}


def fill_pages() -> None:
    """Write the table into the page."""
    measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))


def main() -> None:
    """Check and measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 5, 6, 7], help="powers of ten")
    parser.add_argument("--repeat", type=int, default=5, help="2 where there are more than 10⁶ scores")
    parser.add_argument("--page", action="store_true", help="write the table of docs/metrics.md")
    arguments = parser.parse_args()
    if arguments.page:
        fill_pages()
        return
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for power in arguments.sizes:
            check_values(min(10**power, 10**6))
            repeat = min(arguments.repeat, 2) if power > 6 else arguments.repeat
            for name, seconds in measure(10**power, repeat).items():
                keep({"call": name, "scores": 10**power, "seconds": seconds, "repetitions": repeat})
    Console(width=200, highlight=False).print(tables(measured.read(RESULTS))["speed"], markup=False)


if __name__ == "__main__":
    main()
