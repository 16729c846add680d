"""What rows are ranked by: classes, grades within groups, censored times; and the columns that say it.

That a named column is in the table is checked where it is read: `auclab.datasets.file`, `auclab.datasets.formats`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError, GroupWeights
from auclab._core.words import counted
from auclab.datasets.labels import binarise, refuse_missing, same_label

if TYPE_CHECKING:
    import pandas as pd

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


class Ranked(NamedTuple):
    """What rows are ranked by, which rows of the table that is, and the labels of both classes."""

    target: Target
    kept: NDArray[np.bool_]
    positive: str
    negative: str


@dataclass(frozen=True)
class Roles:
    """Which column says what.

    `target`: labels, or grades; none where there are times. `group`: rows with one value of it are compared, and no
    others. `time`, `event`: times, and whether they are those of an event. `graded`: whether the target are grades,
    numbers of which a larger one is better. `drop`: columns to leave out. `group_weights`: what counts the same, every
    pair or every group.
    """

    target: str | None = None
    group: str | None = None
    time: str | None = None
    event: str | None = None
    graded: bool = False
    drop: tuple[str, ...] = ()
    group_weights: GroupWeights = "pairs"

    def __post_init__(self) -> None:
        if (self.time is None) != (self.event is None):
            given, missing = ("time", "event") if self.event is None else ("event", "time")
            raise AuclabError(
                f"dataset.{given} is given and dataset.{missing} is not; times that may be censored need both, such as "
                "dataset.time=days dataset.event=died"
            )
        if self.time is not None and (self.target is not None or self.graded):
            other = f"dataset.target={self.target}" if self.target is not None else "dataset.graded=true"
            raise AuclabError(f"dataset.time ranks rows by their times, and {other} by a target; leave out one of them")
        if self.group_weights not in ("pairs", "groups"):
            raise AuclabError(f"dataset.group_weights is {self.group_weights!r}; choose pairs or groups")
        if self.group_weights == "groups" and self.group is None:
            raise AuclabError(
                "dataset.group_weights=groups gives all groups equal weight, but there are none; add dataset.group=…"
            )
        columns = [name for name in self.named.values() if name is not None]
        if twice := [name for name in columns if columns.count(name) > 1]:
            keys = " and ".join(f"dataset.{key}" for key, name in self.named.items() if name == twice[0])
            raise AuclabError(f"column {twice[0]!r} is given as {keys}; a column has one role")

    @property
    def named(self) -> Mapping[str, str | None]:
        """The columns by the setting that names them."""
        return {"target": self.target, "group": self.group, "time": self.time, "event": self.event}

    def role(self, column: str) -> str:
        """What a column is for."""
        return next(key for key, name in self.named.items() if name == column)

    @property
    def ranking(self) -> tuple[str, ...]:
        """The columns that rank rows: the target, or time and event."""
        return tuple(name for name in (self.target, self.time, self.event) if name is not None)

    @property
    def texts(self) -> tuple[str, ...]:
        """Those that are labels, and are read as text: all but times and grades."""
        numbers = (self.time, self.target if self.graded else None)
        return tuple(name for name in self.named.values() if name is not None and name not in numbers)

    @property
    def columns(self) -> tuple[str, ...]:
        """All that are not features."""
        return (*(name for name in self.named.values() if name is not None), *self.drop)

    def ranked(self, frame: pd.DataFrame, positive: Any, negative: Any) -> Ranked:
        """What the rows of a table are ranked by."""
        y: Any
        event = None
        kept, labels = np.ones(len(frame), dtype=np.bool_), ("", "")
        if self.event is not None:
            seen = binarise(frame[self.event], positive, negative, of_events=True)
            y, event = _numbers(frame[self.time], "time"), seen.y == 1
            y, kept, labels = y[seen.kept], seen.kept, (seen.positive, seen.negative)
        elif self.graded:
            if positive is not None or negative is not None:
                raise AuclabError("dataset.graded=true takes all grades as they are; leave out dataset.positive")
            y = _numbers(frame[self.target], "graded")
        else:
            sides = binarise(frame[self.target], positive, negative)
            y, kept, labels = sides.y, sides.kept, (sides.positive, sides.negative)
        groups = None if self.group is None else group_labels(frame[self.group])[kept]
        return Ranked(Target(y, groups, self.graded, event, weights=self.group_weights), kept, *labels)

    def aside(self, frame: pd.DataFrame, kept: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
        """The columns that are not features, as they are."""
        return {name: np.asarray(frame[name])[kept] for name in self.columns if name in frame}


def group_labels(column: pd.Series) -> NDArray[Any]:
    """The labels of groups as text; whole numbers have no decimal point."""
    refuse_missing(column, "group column")
    codes, values = column.factorize()
    return np.array([same_label(value) for value in values])[codes]


def _numbers(column: Any, role: str) -> NDArray[np.float64]:
    import pandas as pd

    refuse_missing(column, {"time": "time column", "graded": "target column"}[role])
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    if not np.isfinite(numbers).all():
        at = int(np.flatnonzero(~np.isfinite(numbers))[0])
        what = "a time is a number, such as days" if role == "time" else "a grade is a number, the better the larger"
        raise AuclabError(f"column {column.name!r} has {column.iloc[at]!r} in row {at + 1}; {what}")
    return numbers
