"""Table 1: sizes of the sixteen data sets; columns also with the class among them, as some rows of the print have."""

from __future__ import annotations

from collections.abc import Iterator

from auclab.datasets import load
from experiments.study import Row, main

SETS = {
    "breast_cancer": "breast_cancer_ljubljana", "credit_rating": "credit_approval", "german_credit": "german_credit",
    "heart_statlog": "heart_statlog", "horse_colic": "horse_colic", "house_votes": "house_votes",
    "ionosphere": "ionosphere", "liver": "liver_disorders", "monks1": "monks1", "monks2": "monks2", "monks3": "monks3",
    "pima": "pima", "sonar": "sonar", "spect": "spect", "tic_tac_toe": "tic_tac_toe",
    "breast_wisc": "breast_wisconsin_original",
}  # fmt: skip


def run(scale: str) -> Iterator[Row]:
    """Rows, columns and the share of the majority of our copies; at smoke scale of three sets."""
    for name, ours in list(SETS.items())[: 3 if scale == "smoke" else None]:
        data = load(ours)
        yield Row(f"table1.{name}.size", len(data.y))
        yield Row(f"table1.{name}.features", data.X.shape[1])
        yield Row(f"table1.{name}.features", data.X.shape[1] + 1, variant="with the class")
        yield Row(f"table1.{name}.majority", 100 * max(data.n_pos, data.n_neg) / len(data.y))


if __name__ == "__main__":
    main(run)
