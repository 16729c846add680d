"""What the rows of a data set are ranked by: two classes, grades, or times that may be censored."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from auclab.types import AuclabError, GroupWeights
from auclab.wording import counted

if TYPE_CHECKING:
    from auclab.samples.bicliques import LevelPairs

#: What is compared: a positive with every negative, or what `auclab.samples.bicliques.LevelPairs` has a name for.
Kind = Literal["classes", "groups", "grades", "times"]
#: AUC and buffered AUC of every kind, by their names in a run.
METRIC_NAMES: dict[Kind, dict[str, str]] = {
    "classes": {"auc": "auc", "bauc": "bauc"},
    "groups": {"auc": "grouped_auc", "bauc": "grouped_bauc"},
    "grades": {"auc": "graded_auc", "bauc": "graded_bauc"},
    "times": {"auc": "concordance", "bauc": "buffered_concordance"},
}
#: How they are written in a sentence.
WORDS = {
    "auc": "AUC",
    "bauc": "bAUC",
    "grouped_auc": "AUC within groups",
    "grouped_bauc": "bAUC within groups",
    "graded_auc": "AUC of grades",
    "graded_bauc": "bAUC of grades",
    "concordance": "concordance",
    "buffered_concordance": "buffered concordance",
}


def names_of(metric: str) -> tuple[str, ...]:
    """A metric and what it is called where other rows are compared.

    Examples
    --------
    >>> names_of("auc"), names_of("test/bauc")[-1], names_of("gap")
    (('auc', 'grouped_auc', 'graded_auc', 'concordance'), 'test/buffered_concordance', ('gap',))
    """
    part, slash, name = metric.rpartition("/")
    if name not in METRIC_NAMES["classes"]:
        return (metric,)
    return tuple(f"{part}{slash}{names[name]}" for names in METRIC_NAMES.values())


def name_among(metric: str, known: Container[str]) -> str:
    """What a metric is called among those that were measured; its own name where it is not among them.

    Examples
    --------
    >>> name_among("inner/auc", {"inner/concordance": 0.7}), name_among("auc", ["bauc"])
    ('inner/concordance', 'auc')
    """
    return next((each for each in names_of(metric) if each in known), metric)


@dataclass(frozen=True, eq=False)
class Target:
    """The target of every row, and which rows are compared.

    `y` (n_samples,): 1 and 0 of two classes; grades; times. `groups` (n_samples,): rows of one group are compared, and
    no others. `graded`: whether y are grades: all pairs with ``y_i > y_j``. `event` (n_samples,): y are times, of an
    event where this is true and of censoring elsewhere. `together` (n_samples,): rows with one value are in one part of
    every split; `groups` unless given. `order` (n_samples,): ascending with time: rows are trained on before they are
    tested on, on inner folds too. `weights`: whether every pair counts the same, or every group that has a pair.
    """

    y: NDArray[Any]
    groups: NDArray[Any] | None = None
    graded: bool = False
    event: NDArray[np.bool_] | None = None
    together: NDArray[Any] | None = None
    order: NDArray[np.intp] | None = None
    weights: GroupWeights = "pairs"

    @property
    def kind(self) -> Kind:
        """What is compared."""
        if self.event is not None:
            return "times"
        return "groups" if self.groups is not None else "grades" if self.graded else "classes"

    @property
    def is_of_classes(self) -> bool:
        """Whether every positive is compared with every negative."""
        return self.kind == "classes"

    @property
    def is_plain(self) -> bool:
        """Whether it is of two classes whose rows are apart: nothing but `y` is to be known."""
        return self.is_of_classes and self.together is None and self.order is None

    @property
    def wholes(self) -> NDArray[Any] | None:
        """Rows with one value of it are in one part of every split; None where all rows are apart."""
        return self.groups if self.together is None else self.together

    @property
    def strata(self) -> NDArray[np.int64]:
        """Numbers of the values of which every part has its share: classes, grades, whether there was an event."""
        values = self.y if self.event is None else self.event
        return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)

    @property
    def for_solve(self) -> dict[str, Any]:
        """The arguments of `auclab.solve` other than y."""
        given: dict[str, Any] = {} if self.groups is None else {"groups": self.groups, "group_weights": self.weights}
        if self.event is not None:
            return given | {"event": self.event}
        return given or ({"ordered": True} if self.graded else {})

    @cached_property
    def pairs(self) -> LevelPairs:
        """The rows that are compared."""
        from auclab.samples.bicliques import censored_pairs, ordered_pairs  # with compiled loops, late

        if self.event is not None:
            return censored_pairs(self.y, self.event, self.groups, group_weights=self.weights)
        return ordered_pairs(self.y, self.groups, group_weights=self.weights)

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Columns of a file of scores besides the score: ``y_true``, and ``event`` and ``group`` if there are any.

        ``groups_alike`` is there where every group counts the same.
        """
        found: dict[str, NDArray[Any]] = {"y_true": self.y.astype("int8") if self.is_of_classes else self.y}
        for name, values in (("event", self.event), ("group", self.groups)):
            if values is not None:
                found[name] = values
        if self.weights == "groups":
            found["groups_alike"] = np.ones(self.y.size, dtype=np.bool_)
        return found

    @property
    def census(self) -> str:
        """How many rows there are of what, and how many pairs."""
        of_groups = "" if self.groups is None else f" within {np.unique(self.groups).size} groups"
        alike = ", every group counts the same" if self.weights == "groups" else ""
        pairs = f"{self.pairs.n_pairs} pairs{of_groups} are compared{alike}"
        if self.event is not None:
            seen = int(self.event.sum())
            return f"{seen} events, {self.y.size - seen} censored; {pairs}"
        values, counts = np.unique(self.y, return_counts=True)
        if self.graded:
            return f"{values.size} grades from {values[0]:g} to {values[-1]:g}; {pairs}"
        return f"{int(counts[-1])} positive, {int(counts[0])} negative; {pairs}"

    def take(self, rows: Any) -> Target:
        """The target of some rows."""

        def some(values: Any) -> Any:
            return None if values is None else values[rows]

        columns = some(self.groups), self.graded, some(self.event), some(self.together), some(self.order)
        return Target(self.y[rows], *columns, self.weights)

    def split_by(self, *, together: NDArray[Any] | None = None, order: NDArray[np.intp] | None = None) -> Target:
        """The target whose rows stay together, or follow each other, in every split."""
        if together is not None and self.groups is not None:
            _refuse_cut_groups(self.groups, together)
        return replace(self, together=together, order=order)

    def check_part(self, part: str, setting: str) -> None:
        """Refuse rows of which none can be compared.

        `part`: what the rows are. `setting`: what has made them.
        """
        if self.is_of_classes:
            if np.ptp(self.y) == 0:
                raise AuclabError(
                    f"the {part} of {counted(self.y.size, 'row')} has one class only; {_OTHER_PARTS[setting]}"
                )
            return
        try:
            _ = self.pairs
        except AuclabError as error:
            raise AuclabError(
                f"the {part} of {counted(self.y.size, 'row')} cannot be used: {error}; {_OTHER_PARTS[setting]}"
            ) from None


#: What to change where a part cannot be used.
_OTHER_PARTS = {
    "split": "change split.test_size or split.n_folds, or use split=none",
    **{f"{group}.folds": f"use fewer {group}.folds, or more rows" for group in ("tune", "inner", "decision")},
}


def as_target(y: Any) -> Target:
    """A target, or the labels of two classes as one."""
    return y if isinstance(y, Target) else Target(np.asarray(y))


def _refuse_cut_groups(groups: NDArray[Any], together: NDArray[Any]) -> None:
    """Rows that are compared have to be in one part."""
    _, of_row = np.unique(groups, return_inverse=True)
    _, wholes = np.unique(together, return_inverse=True)
    first = np.zeros(of_row.max() + 1, dtype=np.intp)
    first[of_row] = wholes
    if (first[of_row] != wholes).any():
        raise AuclabError(
            "split.column cuts groups of dataset.group, whose rows are compared with each other; leave split.column out"
        )
