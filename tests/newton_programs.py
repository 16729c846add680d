"""Programs on which the steps of newton are counted.

    python tests/newton_programs.py          steps, gap and seconds of each, and the totals
    python tests/newton_programs.py l1       of those whose name contains "l1"

A step is one damped Newton step, on all observations or on a subsample (`Solution.iterations`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from auclab import (
    CSVM,
    ECSVM,
    BufferedAUC,
    Constraints,
    GeneralizedBufferedAUC,
    PartialAUC,
    RankSVM,
    Solution,
    solve,
)
from auclab.datasets import load

#: X, y and further arguments of `solve`.
Data = tuple[Any, Any, dict[str, Any]]


def dense(m: int = 3_000, n: int = 10, seed: int = 0) -> Data:
    """Two normal distributions whose means differ in half of the columns."""
    rng = np.random.default_rng(seed)
    y = (rng.random(m) < 0.4).astype(int)
    return rng.normal(size=(m, n)) + 0.4 * y[:, None] * (np.arange(n) < n / 2), y, {}


def subsampled() -> Data:
    """Enough rows for two subsamples."""
    return dense(60_000, 12, 1)


def separable() -> Data:
    """More columns than the rows need to be separated."""
    return dense(120, 100, 2)


def apart() -> Data:
    """Few columns, in which the classes lie apart."""
    X, y, _ = dense(300, 6, 11)
    return X + 3.0 * y[:, None], y, {}


def sparse(m: int = 2_000, n: int = 300, noise: float = 1.0) -> Data:
    """Rows of words: few entries each, rare columns."""
    rng = np.random.default_rng(3)
    X = sp.random(m, n, 9.0 / n, format="csr", random_state=3, data_rvs=lambda size: rng.integers(1, 4, size))
    score = X @ rng.normal(size=n)
    return X, (score + noise * rng.normal(size=m) > 0.5).astype(int), {}


def wide() -> Data:
    """More columns than rows."""
    return dense(150, 300, 4)


def text() -> Data:
    """Sparse rows with more columns than a matrix is formed for."""
    return sparse(4_000, 2_500, 4.0)


def categories() -> Data:
    """Binary columns, whose scores are tied heavily."""
    rng = np.random.default_rng(5)
    y = (rng.random(4_000) < 0.3).astype(int)
    return (rng.random((4_000, 12)) < 0.4 + 0.15 * y[:, None]).astype(float), y, {}


def scales() -> Data:
    """Columns whose sizes differ by 10⁸."""
    X, y, _ = dense(1_500, 9, 6)
    return X * 10.0 ** np.linspace(-4, 4, 9), y, {}


def rare_columns() -> Data:
    """Sparse rows in which most columns are so rare that a subsample knows little about them."""
    rng, n = np.random.default_rng(12), 120
    share = np.where(np.arange(n) < n // 3, 0.05, 1e-3)
    X = sp.csr_matrix((rng.random((16_000, n)) < share) / np.sqrt(share))
    return X, (X @ (rng.normal(size=n) * np.sqrt(share)) + 0.5 * rng.normal(size=16_000) > 0.9).astype(int), {}


def rare() -> Data:
    """Thirty positives among many rows."""
    rng = np.random.default_rng(7)
    X = np.vstack([rng.normal(0.7, 1, (30, 5)), rng.normal(0, 1, (20_000, 5))])
    return X, np.r_[np.ones(30), np.zeros(20_000)], {}


def grades() -> Data:
    """Grades within groups."""
    X, y, _ = dense(1_200, 6, 8)
    rng = np.random.default_rng(8)
    return X, y + (X[:, 0] + rng.normal(size=y.size) > 1), {"groups": np.arange(y.size) % 60}


def weighted() -> Data:
    """With sample weights."""
    X, y, _ = dense(2_000, 8, 9)
    return X, y, {"sample_weight": np.random.default_rng(9).exponential(size=y.size)}


def signs() -> Data:
    """With bounds on w."""
    X, y, _ = dense(2_000, 8, 10)
    return X, y, {"constraints": Constraints(nonnegative=list(range(8)))}


def bundled(name: str) -> Callable[[], Data]:
    """A data set of the package."""

    def read() -> Data:
        data = load(name)
        X = np.asarray(data.X, dtype=float)
        return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), data.y, {}

    return read


CANCER, IONOSPHERE = bundled("breast_cancer"), bundled("ionosphere")

PROGRAMS: dict[str, tuple[Any, Callable[[], Data]]] = {
    "dense pairs bauc": (BufferedAUC(), dense),
    "dense pairs l2": (RankSVM(0.01), dense),
    "dense pairs l2²": (RankSVM(0.001, squared=True), dense),
    "dense pairs l1": (RankSVM(0.01, "l1"), dense),
    "dense pairs linf": (RankSVM(0.01, "linf"), dense),
    "dense pairs z<0": (GeneralizedBufferedAUC(-0.1), dense),
    "dense pairs z<0 l1": (GeneralizedBufferedAUC(-0.1, "l1"), dense),
    "dense pairs squared hinge": (RankSVM(0.01, loss="squared_hinge"), dense),
    "dense pairs squared hinge l1": (RankSVM(0.01, "l1", loss="squared_hinge"), dense),
    "dense points l2": (CSVM(0.01), dense),
    "dense points l2²": (CSVM(0.001, squared=True), dense),
    "dense points l1": (CSVM(0.01, "l1"), dense),
    "dense points z<0": (ECSVM(-0.1), dense),
    "dense points squared hinge": (CSVM(0.01, loss="squared_hinge"), dense),
    "dense hardest l2": (PartialAUC(0.2, 0.01), dense),
    "dense hardest l1": (PartialAUC(0.2, 0.01, "l1"), dense),
    "subsampled pairs bauc": (BufferedAUC(), subsampled),
    "subsampled pairs l1": (RankSVM(0.003, "l1"), subsampled),
    "subsampled points l2": (CSVM(0.003), subsampled),
    "subsampled hardest l2": (PartialAUC(0.1, 0.003), subsampled),
    "subsampled pairs squared hinge": (RankSVM(0.003, loss="squared_hinge"), subsampled),
    "separable pairs l2²": (RankSVM(1e-4, squared=True), separable),
    "separable pairs l1": (RankSVM(1e-3, "l1"), separable),
    "apart pairs l2": (RankSVM(1e-6), apart),
    "apart points l2²": (CSVM(1e-6, squared=True), apart),
    "apart hardest l2": (PartialAUC(0.2, 1e-5), apart),
    "sparse pairs l2": (RankSVM(0.01), sparse),
    "sparse pairs l1": (RankSVM(0.001, "l1"), sparse),
    "sparse points l2²": (CSVM(1e-3, squared=True), sparse),
    "sparse hardest l2": (PartialAUC(0.3, 0.01), sparse),
    "wide pairs l2": (RankSVM(1.0), wide),
    "wide pairs l1": (RankSVM(0.3, "l1"), wide),
    "wide points l2²": (CSVM(1.0, squared=True), wide),
    "text pairs l2": (RankSVM(0.05), text),
    "text points l2²": (CSVM(0.01, squared=True), text),
    "categories pairs l2": (RankSVM(0.001), categories),
    "categories hardest l2": (PartialAUC(0.2, 0.01), categories),
    "scales pairs l2": (RankSVM(0.01), scales),
    "scales points l1": (CSVM(0.001, "l1"), scales),
    "rare pairs bauc": (BufferedAUC(), rare),
    "rare hardest l2": (PartialAUC(0.05, 0.01), rare),
    "grades ranked l2": (RankSVM(0.01), grades),
    "grades ranked l1": (RankSVM(0.01, "l1"), grades),
    "weighted pairs l2": (RankSVM(0.01), weighted),
    "signs pairs bauc": (BufferedAUC(), signs),
    "signs pairs linf": (RankSVM(0.01, "linf"), signs),
    "breast_cancer pairs l2": (RankSVM(0.001), CANCER),
    "breast_cancer pairs l1": (RankSVM(0.001, "l1"), CANCER),
    "breast_cancer hardest l2": (PartialAUC(0.1, 0.001), CANCER),
    "ionosphere pairs bauc": (BufferedAUC(), IONOSPHERE),
    "ionosphere points l2": (CSVM(0.001), IONOSPHERE),
}


def solved(name: str, **options: Any) -> Solution:
    """The solution by newton."""
    program, data = PROGRAMS[name]
    X, y, others = data()
    return solve(program, X, y, solver="newton", **others, **options)


if __name__ == "__main__":
    total, proved, begin = 0, 0, perf_counter()
    names = [name for name in PROGRAMS if "".join(sys.argv[1:]) in name]
    for name in names:
        start = perf_counter()
        found = solved(name, time_limit=30.0)
        total, proved = total + found.iterations, proved + (found.gap <= 1e-6)
        print(
            f"{name:34} {found.iterations:5d} steps  gap {found.gap:7.1e}  {perf_counter() - start:6.2f} s", flush=True
        )
    print(f"{len(names)} programs: {total} steps, {proved} proved, {perf_counter() - begin:.1f} s")
