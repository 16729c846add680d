"""The scorer of a split as a formula over the columns of its data, where it has one."""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab import __version__
from auclab.datasets.records import Dataset, Split
from auclab.export.coefficients import Effects, effects
from auclab.export.formula import describe
from auclab.export.scorer import Scorer
from auclab.pipeline.decision import Decision
from auclab.types import AuclabError

#: Rows of the training part from which the spread of the scores and the frequencies of categories are computed.
MOST_ROWS = 20_000


def describe_scorer(
    dataset: Dataset, split: Split, preprocessing: Any, classifier: Any, decision: Decision
) -> dict[str, Any] | None:
    """The contents of ``scorer.json`` (docs/models.md); None for a scorer that is not linear in the columns.

    Parameters
    ----------
    dataset : Dataset
    split : Split
    preprocessing : fitted Pipeline
    classifier : fitted estimator
        With a `solution_`, or linear with `coef_` and `intercept_`.
    decision : Decision
    """
    solution = getattr(classifier, "solution_", None)
    if solution is None and not hasattr(classifier, "coef_"):
        return None
    about: dict[str, Any] = {"auclab": __version__, "dataset": dataset.name, "dataset_sha256": dataset.sha256}
    about |= {"split": split.name, "training_rows": len(split.train)}
    if solution is not None:
        coef, intercept = solution.coef, solution.intercept
        about |= {"formulation": solution.formulation.name, "program": solution.formulation.equation()}
        about |= {"status": str(solution.status)}
    else:
        coef, intercept = np.ravel(classifier.coef_), float(np.ravel(classifier.intercept_)[0])
        about |= {"formulation": type(classifier).__name__}
    if decision.note:
        about |= {"no_probability": decision.note}
    try:
        return describe(
            preprocessing,
            coef=coef,
            intercept=intercept,
            columns=column_names(dataset.X),
            threshold=decision.described,
            labels=labels_of(dataset),
            probability=decision.probability,
            about=about,
        )
    except AuclabError:  # a preprocessing of one's own
        return None


def explain(description: dict[str, Any] | None, rows: Any) -> Effects | None:
    """Coefficients in the units of the columns, from rows of the training part; None without a formula."""
    if description is None:
        return None
    count = rows.shape[0]
    if count > MOST_ROWS:
        chosen = np.unique(np.linspace(0, count - 1, MOST_ROWS).astype(np.intp))
        rows = rows.iloc[chosen] if hasattr(rows, "iloc") else rows[chosen]
    return effects(Scorer(description), rows.to_frame() if hasattr(rows, "to_frame") else rows)


def column_names(X: Any) -> list[str]:
    """Names of the columns; those of a matrix are x0, x1, …."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{k}" for k in range(X.shape[1])]


def labels_of(dataset: Dataset) -> tuple[str, str]:
    """The label of the negative class and that of the positive one, as they are in the data."""
    negative = f"not {dataset.positive}" if dataset.negative == "all others" else dataset.negative
    return negative, dataset.positive
