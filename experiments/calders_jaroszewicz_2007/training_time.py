"""Seconds of training in Fig. 4: the polynomial's over those of linear discriminant analysis, RankSVM's over it.

It reads ``results/linear.csv``, ten folds of one core, and computes nothing itself, so all scales are the same. The
polynomial is Algorithm 2 as printed. The paper's programs are not here: its discriminant is not named, SVM_perf is
RankSVM by ``newton`` here, of three λ the slowest in each fold.
"""

from __future__ import annotations

from collections.abc import Iterator

from experiments.calders_jaroszewicz_2007.linear import DATA, LDA, RANKSVM
from experiments.study import AS_PUBLISHED, FOLDER, Row, main, read

RESULTS = FOLDER / "calders_jaroszewicz_2007" / "results" / "linear.csv"


def run(scale: str) -> Iterator[Row]:
    """Ratios by set and fold."""
    seconds = {(row.claim_id, row.variant, row.seed): row.value for row in read(RESULTS)[2]}
    folds = sorted({seed for _, _, seed in seconds})
    for name in DATA:
        for fold in folds:
            taken = {
                method: seconds[f"figure4.seconds.{name}", method, fold] for method in (AS_PUBLISHED, LDA, *RANKSVM)
            }
            polynomial = taken[AS_PUBLISHED]
            yield Row(f"time.over_lda.{name}", polynomial / taken[LDA], fold)
            yield Row(f"time.svm_over.{name}", max(taken[machine] for machine in RANKSVM) / polynomial, fold)


if __name__ == "__main__":
    main(run)
