"""The scorer of a split as a formula over the columns of its data, and integer scorecards: their items and cards."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from auclab import __version__
from auclab._core.base import AuclabError
from auclab.datasets.records import Dataset, Split
from auclab.estimators.scorecard_classifier import card_of, sign_constraints
from auclab.export.formula import Effects, describe, effects
from auclab.export.scorer import Scorer
from auclab.formulations.constraints import ColumnConstraints
from auclab.runs.config.checks import NEEDS_ITEMS
from auclab.runs.split.decision import Decision
from auclab.runs.stored.stored_files import CARD_FILE
from auclab.scorecards import Card, ItemEncoder
from auclab.scorecards.render import as_html, as_latex, as_markdown, as_text
from auclab.solvers.solution import Fitted

#: Rows on which the formula is compared with the scorer.
_COMPARED = 10_000


def describe_scorer(
    dataset: Dataset, split: Split, preprocessing: Any, solution: Fitted, decision: Decision, name: str
) -> dict[str, Any]:
    """The contents of ``scorer.json`` (docs/models.md), without a formula if the scorer has none.

    `name`: of the formulation.
    """
    about: dict[str, Any] = {"auclab": __version__, "dataset": dataset.name, "dataset_sha256": dataset.sha256}
    about |= {"split": split.name, "training_rows": len(split.train), "formulation": name}
    about |= {"program": solution.equation, "status": str(solution.status)}
    if (scorer := solution.on_landmarks) is not None:
        about |= {"kernel": f"kernel {scorer.kernel} on {scorer.n_landmarks} landmarks"}
    of_classes = dataset.target.is_of_classes
    if not of_classes:
        about |= {"target": dataset.target.kind}
    elif decision.note:
        about |= {"no_probability": decision.note}
    facts: dict[str, Any] = {
        "columns": column_names(dataset.X),
        "threshold": decision.described if of_classes else None,
        "labels": labels_of(dataset) if of_classes else None,
        "probability": decision.probability,
        "about": about,
    }
    try:
        return describe(preprocessing, coef=solution.coef, intercept=solution.intercept, **facts)
    except AuclabError:  # a custom preprocessing
        return describe(preprocessing, coef=None, intercept=None, **facts)


def explain(description: dict[str, Any] | None, rows: Any) -> Effects | None:
    """Coefficients in the units of the columns, from rows of the training part; None without a formula."""
    if description is None or description["terms"] is None:
        return None
    count = rows.shape[0]
    if count > _COMPARED:
        chosen = np.unique(np.linspace(0, count - 1, _COMPARED).astype(np.intp))
        rows = rows.iloc[chosen] if hasattr(rows, "iloc") else rows[chosen]
    return effects(Scorer(description), rows.to_frame() if hasattr(rows, "to_frame") else rows)


def kept_model(model: Pipeline, dataset: Dataset, decision: Decision) -> Pipeline:
    """The fitted pipeline as it is stored: scores as in all files of the run, labels as in the data.

    `decision_function` is the score, without an intercept if the program is over pairs; `predict` returns labels, cut
    at the threshold of `decision`. In `model` both are scikit-learn's, whose threshold is 0. For grades, groups and
    times there are no labels, and `predict` returns scores.
    """
    if not dataset.target.is_of_classes:
        return model
    classifier = copy(model[-1])
    classifier.classes_ = np.array(labels_of(dataset))
    if (solution := getattr(classifier, "solution_", None)) is not None:
        classifier.intercept_ = np.array([solution.intercept])
    cut = FixedThresholdClassifier(
        FrozenEstimator(classifier),
        threshold=float(np.nextafter(decision.threshold, math.inf)),  # it would include the threshold
        pos_label=dataset.positive,
        response_method="decision_function",
    )
    cut.estimator_ = cut.estimator
    steps = [(name, getattr(step, "in_memory", step)) for name, step in model.steps[:-1]]
    return Pipeline([*steps, (model.steps[-1][0], cut)])


def column_names(X: Any) -> list[str]:
    """Names of the columns; those of a matrix are x0, x1, …."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{k}" for k in range(X.shape[1])]


def labels_of(dataset: Dataset) -> tuple[str, str]:
    """The label of the negative class and that of the positive one, as they are in the data."""
    negative = f"not {dataset.positive}" if dataset.negative == "all others" else dataset.negative
    return negative, dataset.positive


def item_encoder(preprocessing: Any) -> ItemEncoder:
    """The fitted encoder of ``preprocess=items``."""
    encoder = preprocessing[-1]
    if not hasattr(encoder, "items_"):
        raise AuclabError(NEEDS_ITEMS)
    found: ItemEncoder = encoder
    return found


def on_items(
    program: Any, preprocessing: Any, dataset: Dataset, constraints: ColumnConstraints | None
) -> tuple[Any, ColumnConstraints | None]:
    """The `Scorecard` program on the items of a training part, and its signs as constraints on them."""
    encoder = item_encoder(preprocessing)
    if program.signs:
        if constraints is not None:
            raise AuclabError("signs of a scorecard and constraints cannot be combined; state the signs in one of them")
        constraints = stated_signs(program, preprocessing, dataset)
    # Groups are used only with a number of features; other training parts may have other items.
    groups = None if program.max_features is None else tuple(int(group) for group in encoder.groups_)
    return replace(program, features=groups, signs=None), constraints


def stated_signs(program: Any, preprocessing: Any, dataset: Dataset) -> ColumnConstraints | None:
    """``formulation.signs`` as constraints on the points of items; None without signs."""
    return sign_constraints(item_encoder(preprocessing).items_, dict(program.signs or ()), column_names(dataset.X))


def card_of_split(solution: Any, preprocessing: Any, matrix: Any, y: NDArray[np.int64], dataset: Dataset) -> Card:
    """The card of a solved split."""
    items = item_encoder(preprocessing).items_
    about = {"dataset": dataset.name, "dataset_sha256": dataset.sha256, "training_rows": len(y)}
    return card_of(items, solution, matrix, y == 1, labels=labels_of(dataset), about=about)


def write_card(card: Card, folder: Path) -> None:
    """Write ``card.json``, and the card as text, Markdown, LaTeX and HTML."""
    card.write_json(folder / CARD_FILE)
    page = f'<!DOCTYPE html><meta charset="utf-8"><title>Scorecard</title>{as_html(card)}\n'
    forms = {"card.txt": as_text(card) + "\n", "card.md": as_markdown(card), "card.tex": as_latex(card)}
    for name, text in (forms | {"card.html": page}).items():
        (folder / name).write_text(text, encoding="utf-8")
