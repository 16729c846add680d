"""A fit whose λ is chosen by cross-validation, beside scikit-learn's logistic regression with as many values and folds.

    python benchmarks/tuned_fit.py           # measure, docs/solvers/tuned_fit.csv
    python benchmarks/tuned_fit.py --page    # the table of docs/scikit_learn.md, from that file

Standardised rows of ten data sets, nine values, five folds; processor time of one thread, the median of three fits in
turn. The λ is compared with the one that inner solves to a gap of 1e-6 choose, on three quarters of the rows, drawn
five times; where it is another one, the AUC on the other quarter is that of both.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import process_time
from typing import Any

import measured
import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold, train_test_split

from auclab import RankSVM
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.estimators import AUCClassifier, AUCClassifierCV
from auclab.metrics import auc_score
from auclab.solvers.path import solve_path

PAGE, RESULTS = measured.ROOT / "docs" / "scikit_learn.md", measured.ROOT / "docs" / "solvers" / "tuned_fit.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/tuned_fit.py", "benchmarks/tuned_fit.py --page"
FIELDS = ("data", "rows", "columns", "program", "logistic", "seconds", "same", "cases", "largest_difference")
DATA = (
    "heart_statlog", "sonar", "ionosphere", "wdbc", "pima", "german_credit_numeric", "credit_approval", "phoneme",
    "spambase", "mammography",
)  # fmt: skip
PROGRAMS = {"RankSVM": RankSVM(1.0), "RankSVM²": RankSVM(1.0, squared=True)}
REPETITIONS, CASES, FOLDS = 3, 5, 5


def tight_choice(program: RankSVM, X: np.ndarray, y: np.ndarray, penalties: Sequence[float]) -> float:
    """The λ of a plain loop over the folds of `AUCClassifierCV`; of several the largest."""
    scores = []
    for train, test in StratifiedKFold(FOLDS).split(X, y):
        path = solve_path(program, X[train], y[train], penalties, tolerance=1e-6)
        scores.append([auc_score(y[test], X[test] @ solution.coef) for solution in path])
    means = np.mean(scores, axis=0)
    return float(max(np.array(penalties)[means >= means.max() - 1e-12]))


def compare(program: RankSVM, X: np.ndarray, y: np.ndarray, seed: int) -> tuple[bool, float]:
    """Whether the λ is the same, and by how much the AUC on new rows differs where it is not."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    model = AUCClassifierCV(program, cv=FOLDS).fit(X, y)
    other = tight_choice(program, X, y, model.penalties_.tolist())
    if model.penalty_ == other:
        return True, 0.0
    tight = AUCClassifier(program.with_params(penalty=other)).fit(X, y)
    found = [auc_score(y_test, X_test @ each.coef_[0]) for each in (model, tight)]
    return False, found[0] - found[1]


def seconds_of(fits: Sequence[Callable[[], Any]]) -> list[float]:
    """Medians of the processor seconds of fits in turn."""
    spent: list[list[float]] = [[] for _ in fits]
    for fit in fits:
        fit()
    for _ in range(REPETITIONS):
        for k, fit in enumerate(fits):
            begin = process_time()
            fit()
            spent[k].append(process_time() - begin)
    return [median(each) for each in spent]


def measure() -> Iterator[dict[str, Any]]:
    """A row per data set and program."""
    for name in DATA:
        dataset = load(name)
        prepared, y = standard(dataset).fit_transform(dataset.X, dataset.y), dataset.y
        X = np.asarray(prepared.toarray() if hasattr(prepared, "toarray") else prepared, dtype=float)

        def logistic(X: np.ndarray = X, y: np.ndarray = y) -> Any:
            options = {"scoring": "roc_auc", "max_iter": 1_000, "use_legacy_attributes": False}
            return LogisticRegressionCV(Cs=9, cv=FOLDS, **options).fit(X, y)

        for label, program in PROGRAMS.items():

            def ours(program: RankSVM = program, X: np.ndarray = X, y: np.ndarray = y) -> Any:
                return AUCClassifierCV(program, cv=FOLDS).fit(X, y)

            theirs, own = seconds_of([logistic, ours])
            found = [compare(program, X, y, seed) for seed in range(CASES)]
            yield {
                "data": name, "rows": X.shape[0], "columns": X.shape[1], "program": label, "logistic": theirs,
                "seconds": own, "same": sum(same for same, _ in found), "cases": CASES,
                "largest_difference": max((difference for _, difference in found), key=abs),
            }  # fmt: skip


def tables(rows: Sequence[measured.Row]) -> dict[str, str]:
    """Ratios and agreement by data set and program, and their medians and sums."""
    lines = []
    for name in DATA:
        of_data = {row["program"]: row for row in rows if row["data"] == name}
        first = of_data["RankSVM"]
        cells = [f"{name}, {first['rows']} × {first['columns']}"]
        for label in PROGRAMS:
            row = of_data[label]
            cells += [f"{float(row['seconds']) / float(row['logistic']):.2f}", f"{row['same']} of {row['cases']}"]
        lines.append(cells)
    last = ["median; sum"]
    for label in PROGRAMS:
        of_program = [row for row in rows if row["program"] == label]
        ratio = median(float(row["seconds"]) / float(row["logistic"]) for row in of_program)
        same, cases = (sum(int(row[key]) for row in of_program) for key in ("same", "cases"))
        last += [f"{ratio:.2f}", f"{same} of {cases}"]
    heads = [head for label in PROGRAMS for head in (label, "same λ")]
    return {"tuned": measured.table(["data", *heads], [*lines, last])}


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true")
    if parser.parse_args().page:
        measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))
        return
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for row in measure():
            keep(row)
            print(row, flush=True)


if __name__ == "__main__":
    main()
