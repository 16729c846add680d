"""γ × λ on inner folds: with matrices and landmarks that are shared, and with every solve by itself.

    python benchmarks/kernel_tuning.py                # docs/kernel_tuning.csv
    python benchmarks/kernel_tuning.py --page         # the table of docs/kernels.md, from that file

RankSVM, squared, RBF, the γ and λ of ``tune=kernel``, 3 folds, 1,500 rows of each data set (drawn with seed 0), columns
prepared once for both. Processor seconds of one thread, in one process; the loop computes its kernel values for each
solve, to the same gap of 1e-2. The last column is the largest difference of a mean over the folds.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

from time import process_time
from typing import Any

import measured
import numpy as np
from rich.console import Console
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab import RankSVM
from auclab.datasets.catalogue import load
from auclab.datasets.splits import kfold
from auclab.estimators import AUCClassifier
from auclab.kernels import RBF
from auclab.metrics import auc_score
from auclab.runs.config.compose import compose_experiment
from auclab.runs.config.settings import TuneConfig
from auclab.runs.split.kernel_tuning import tune_kernel

PAGE = measured.ROOT / "docs" / "kernels.md"
RESULTS = PAGE.with_name("kernel_tuning.csv")
COMMAND, PAGE_COMMAND = "python benchmarks/kernel_tuning.py", "benchmarks/kernel_tuning.py --page"
DATA, ROWS, FOLDS, TOLERANCE = ("phoneme", "spambase"), 1_500, 3, 1e-2
FIELDS = (
    "data",
    "rows",
    "columns",
    "gammas",
    "values",
    "shared_seconds",
    "loop_seconds",
    "chosen",
    "same",
    "difference",
)


def settings() -> TuneConfig:
    """Those of the command line, with fewer folds."""
    given = compose_experiment(["formulation=ranksvm", "kernel=rbf", "tune=kernel", f"tune.folds={FOLDS}"]).tune
    assert given.tolerance == TOLERANCE
    return given


def compare(name: str) -> dict[str, Any]:
    """Both ways on one data set."""
    dataset, config = load(name), settings()
    chosen = np.random.default_rng(0).permutation(len(dataset.y))[:ROWS]
    X, y = np.asarray(dataset.X, dtype=float)[chosen], np.asarray(dataset.y)[chosen]
    program = RankSVM(1.0, squared=True)
    AUCClassifier(program, kernel=RBF(0.1)).fit(X[:200], y[:200])  # loads what is to be loaded
    begin = process_time()
    _, _, tuning = tune_kernel(
        make_pipeline(StandardScaler()), AUCClassifier(program, kernel=RBF("scale")), X, y, config
    )
    shared = process_time() - begin

    begin, means = process_time(), []
    Z = StandardScaler().fit_transform(X)
    own = RBF("scale").resolved(Z).width
    tried = [(own * multiple, value) for multiple in sorted(config.gammas) for value in sorted(config.values)]
    for gamma, value in tried:
        scores = []
        for fold in kfold(y, n_folds=FOLDS, seed=config.seed):
            model = AUCClassifier(program, kernel=RBF(gamma), tolerance=TOLERANCE)
            (model,) = model.fit_path(Z[fold.train], y[fold.train], [value])
            scores.append(auc_score(y[fold.test], model.decision_function(Z[fold.test])))
        means.append(float(np.mean(scores)))
    loop = process_time() - begin
    gamma, value = tried[int(np.argmax(means))]
    same = bool(np.isclose(gamma, tuning.gamma)) and value == tuning.selected
    difference = float(abs(np.array(means) - tuning.path["mean"].to_numpy()).max())
    sizes = (len(config.gammas), len(config.values))
    values = (name, ROWS, X.shape[1], *sizes, shared, loop, tuning.choice, same, difference)
    return dict(zip(FIELDS, values, strict=True))


def tables(rows: list[dict[str, str]]) -> dict[str, str]:
    """The table of the page by name."""
    head = ["data", "γ × λ × folds", "shared", "loop", "ratio", "choice", "means differ by"]
    lines = []
    for row in rows:
        shared, loop = float(row["shared_seconds"]), float(row["loop_seconds"])
        same = "the same" if row["same"] == "True" else "another"
        lines.append(
            (
                f"{row['data']}, {int(row['rows']):,} × {row['columns']}",
                f"{row['gammas']} × {row['values']} × {FOLDS}",
                f"{shared:.0f} s",
                f"{loop:.0f} s",
                f"{loop / shared:.1f}",
                same,
                f"{float(row['difference']):.4f}",
            )
        )
    return {"tuning": measured.table(head, lines)}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table of docs/kernels.md")
    if parser.parse_args().page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    console = Console(width=160)
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for name in DATA:
            row = compare(name)
            keep(row)
            console.print(row)


if __name__ == "__main__":
    main()
