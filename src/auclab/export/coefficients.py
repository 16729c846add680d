"""Coefficients in the units of the user's columns, and what each column adds to the spread of the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auclab._core.words import WEEKDAYS
from auclab.export.scorer import Scorer

#: Row of the constant in ``coefficients.csv``.
INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Effects:
    """A linear scorer in the units of the user's columns.

    The score of a row is `base`, plus the ``effect`` times the value for each number, plus the ``effect`` of the
    category, month or weekday that the row has, and of a value that is missing. Effects of categories, months and
    weekdays are measured from their mean over the training part, so that no category has to be one of reference; a
    category that has none adds minus that mean.

    `table`: a row per prepared feature, in their order: ``column``; ``value``, which category or part of a date (empty
    for a number); ``effect``; ``share`` of the column. `base`: the constant. `shares`: by column, ``σ_j / Σ σ`` with
    the standard deviation σ_j of what the column, all its features together, adds to the scores of the training part;
    the largest first. Of columns that cancel each other, both have a large share.
    """

    table: pd.DataFrame
    base: float
    shares: pd.Series


def effects(scorer: Scorer, X: Any) -> Effects:
    """Coefficients of a scorer in the units of the columns.

    Behind `auclab.datasets.preprocess.unit_ball` they are those of rows inside the ball, which are not projected.

    `X` (n_rows, n_columns): rows of the training part.
    """
    ball = scorer.description.get("ball")
    size = ball["radius"] * ball["margin"] if ball else 1.0
    terms = scorer.description["terms"]
    deviations, means = _of_sparse(scorer, X) if hasattr(X, "tocsr") else _of_table(scorer, X)
    slopes = np.array([term["weight"] / term["scale"] for term in terms]) / size
    shifts = np.array([term["shift"] for term in terms])
    groups = [_group(term) for term in terms]
    centres = {group: 0.0 for group in groups if group is not None}
    for group, slope, mean in zip(groups, slopes, means, strict=True):
        if group is not None:
            centres[group] += slope * mean
    table = pd.DataFrame(
        {
            "column": [str(term["column"]) for term in terms],
            "value": [_value(term) for term in terms],
            "effect": [
                slope - (0.0 if group is None else centres[group]) for group, slope in zip(groups, slopes, strict=True)
            ],
        }
    )
    base = scorer.intercept - float(slopes @ shifts) + sum(centres.values())
    total = deviations.sum()
    shares = (deviations / total if total > 0 else deviations).sort_values(ascending=False, kind="stable")
    return Effects(table.assign(share=table["column"].map(shares).to_numpy(dtype=float)), float(base), shares)


def _of_table(scorer: Scorer, X: Any) -> tuple[pd.Series, np.ndarray]:
    """Standard deviations of what the columns add, and the mean of every feature before scaling."""
    table = scorer.table(X)
    means: dict[int, float] = {}
    deviations = {}
    for column in scorer.parts:
        if not column.terms:
            continue
        added = np.zeros(len(table))
        for term, values, codes in column.features(table):
            feature = values[codes]
            means[id(term)] = float(np.mean(feature))
            added += term["weight"] / term["scale"] * (feature - term["shift"])
        deviations[column.name] = float(np.std(added))
    return pd.Series(deviations, dtype=float), np.array([means[id(term)] for term in scorer.description["terms"]])


def _of_sparse(scorer: Scorer, X: Any) -> tuple[pd.Series, np.ndarray]:
    """The same of a CSR matrix, which is not filled."""
    place = {name: at for at, name in enumerate(scorer.columns)}
    columns = np.array([place[str(term["column"])] for term in scorer.description["terms"]], dtype=int)
    slopes = np.array([term["weight"] / term["scale"] for term in scorer.description["terms"]])
    matrix = X.tocsr()
    mean = np.asarray(matrix.mean(axis=0)).ravel()[columns]
    square = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()[columns]
    deviation = np.abs(slopes) * np.sqrt(np.maximum(square - mean**2, 0.0))
    return pd.Series(deviation, index=[scorer.columns[at] for at in columns], dtype=float), mean


def _group(term: Mapping[str, Any]) -> tuple[str, str] | None:
    """Features of which a row has one; None for numbers and for gaps."""
    if "value" in term or "other_than" in term or "at_least" in term:
        return str(term["column"]), str(term.get("part", ""))
    return None


def _value(term: Mapping[str, Any]) -> str:
    """What a feature stands for, in words; empty for the number of a column."""
    if "missing" in term:
        return "missing"
    if "other_than" in term:
        return "any other"
    if "at_least" in term:
        low, high = term["at_least"], term["below"]
        return f"< {high:.6g}" if low is None else f"≥ {low:.6g}" if high is None else f"{low:.6g} to < {high:.6g}"
    if "part" in term:
        number = term.get("value")
        if term["part"] == "weekday":
            return f"weekday {WEEKDAYS[int(str(number))]}"
        return str(term["part"]) + ("" if number is None else f" {number}")
    return str(term.get("value", ""))
