"""Integer scorecards in an experiment: their items, their constraints, the card of a split and its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.records import Dataset
from auclab.estimators.scorecard_classifier import card_of, sign_constraints
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.pipeline.split.formula import column_names, labels_of
from auclab.scorecards import Card, ItemEncoder
from auclab.scorecards.render import as_html, as_latex, as_markdown, as_text
from auclab.types import AuclabError

#: The files of a card.
CARD_FILE = "card.json"


def item_encoder(preprocessing: Any) -> ItemEncoder:
    """The fitted encoder of ``preprocess=items``."""
    encoder = preprocessing[-1]
    if not hasattr(encoder, "items_"):
        raise AuclabError(
            "formulation=scorecard gives points to items, bins and categories of the columns; add preprocess=items"
        )
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


def stored_card(content: Any) -> Card:
    """The card from the contents of an untrusted ``card.json``."""
    try:
        return Card.from_dict(content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise AuclabError(f"{CARD_FILE} is damaged ({type(error).__name__}: {error})") from error
