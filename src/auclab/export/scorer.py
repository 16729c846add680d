"""Scores, probabilities and labels of new rows from ``scorer.json``, with NumPy and pandas alone.

MLflow models carry a copy of this file, so that they work where auclab is not installed: nothing here may import it
without need. The score of a row is

    h(x) = intercept + Σ_k weight_k (v_k(x) − shift_k)/scale_k,

where v_k is the value of a column (a missing one is replaced by the column's `fill`), a part of a date, or 1 if the
row has a category and 0 otherwise. With a `ball` of radius R the sum is divided by max(R, ‖u‖₂), u_k = (v_k −
shift_k)/scale_k. docs/models.md documents the file.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

try:
    from auclab._core.base import AuclabError
except ImportError:  # the copy in a model, where auclab is not installed
    AuclabError = ValueError  # type: ignore[misc, assignment]

SCORER_FILE = "scorer.json"
FORMAT, VERSION = "auclab scorer", 1
#: What `predict` may return.
OUTPUTS = ("all", "score", "probability", "label")
#: Names of columns that a message lists.
MAX_LISTED = 8
#: Days of a year of `age`.
DAYS_A_YEAR = 365.25
#: Rows that are scored at a time.
_AT_ONCE = 200_000


class Scorer:
    """A scorer over named columns.

    `description`: the contents of ``scorer.json``. `pipeline`: what gives the scores where the description has no
    formula (``"terms": null``), as of trees.
    """

    def __init__(self, description: Mapping[str, Any], pipeline: Any = None) -> None:
        if description.get("format") != FORMAT or description.get("version") != VERSION:
            found = f"{description.get('format')!r}, version {description.get('version')!r}"
            raise AuclabError(f"this is not a scorer that can be read here: {found}, not {FORMAT!r}, version {VERSION}")
        self.description = description
        self.columns: tuple[str, ...] = tuple(str(column["name"]) for column in description["columns"])
        self.pipeline = pipeline
        self.is_formula = description["terms"] is not None
        self.intercept = float(description["intercept"] or 0.0)
        terms: dict[str, list[Mapping[str, Any]]] = {name: [] for name in self.columns}
        for term in description["terms"] or ():
            terms[str(term["column"])].append(term)
        self.parts = tuple(Column(column, terms[str(column["name"])]) for column in description["columns"])
        self._ball = description.get("ball")
        #: Of columns of numbers with signs and units, how they are written.
        self.forms: dict[str, Mapping[str, str]] = dict(description.get("forms") or {})

    @classmethod
    def read(cls, path: str | Path) -> Scorer:
        """The scorer in a file, or in the file ``scorer.json`` of a folder."""
        place = Path(path)
        place = place / SCORER_FILE if place.is_dir() else place
        return cls(json.loads(place.read_text(encoding="utf-8")))

    @property
    def has_labels(self) -> bool:
        """Whether rows are of two classes; a scorer of grades, groups or times ranks, and has no labels."""
        return self.description.get("labels") is not None

    @property
    def labels(self) -> tuple[str, str]:
        """The negative and the positive label, as they are in the data."""
        negative, positive = self.description["labels"]
        return str(negative), str(positive)

    @property
    def threshold(self) -> float:
        """A row is positive where its score is above this."""
        return float(self.description["threshold"]["value"])  # JSON has text for infinity

    def score(self, X: Any) -> np.ndarray:
        """Scores of shape (n_rows,).

        `X` (n_rows, n_columns): columns of a DataFrame are found by name, in any order; others are ignored. An array
        has those of `columns`, in their order.
        """
        parts = [self._score(chunk) for chunk in _chunks(X)]
        return np.concatenate(parts) if parts else np.empty(0)

    def table(self, X: Any) -> pd.DataFrame:
        """Rows as a DataFrame with the columns of the scorer."""
        table = _as_table(X, self.columns)
        texts = [name for name in self.columns if table[name].dtype.kind not in "biufM"]
        made = {name: _tidy(table[name], self.description) for name in texts}
        made |= {name: _read(made[name], self.forms[name]) for name in texts if name in self.forms}
        return table.assign(**made)

    def contributions(self, X: Any) -> pd.DataFrame:
        """What each column adds to the score; without a `ball`, the sum of them and of the intercept is the score."""
        table = self.table(X)
        found = {column.name: column.parts(table)[0] for column in self.parts}
        return pd.DataFrame(found, index=table.index)

    def probability(self, score: np.ndarray) -> np.ndarray | None:
        """Estimated probabilities of the positive class; None where the scorer was not calibrated."""
        kind = self.description.get("probability")
        if kind is None:
            return None
        if kind["method"] == "sigmoid":
            return _sigmoid(kind["slope"] * (score - kind["centre"]) + kind["offset"])
        return np.interp(score, kind["knots"], kind["probabilities"])

    def label(self, score: np.ndarray) -> np.ndarray:
        """The user's labels: the positive one where the score is above the threshold."""
        return np.where(score > self.threshold, self.labels[1], self.labels[0]).astype(object)

    def predict(self, X: Any, params: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Scores, probabilities and labels.

        `X`: as `score` takes it. `params`: ``{"output": "all" | "score" | "probability" | "label"}``: one of the
        columns alone. Returns: ``score``, ``probability`` (None where the scorer was not calibrated) and ``label``,
        with the index of `X`; ``score`` alone where there are no classes.
        """
        output = (params or {}).get("output", "all")
        if output not in OUTPUTS:
            raise AuclabError(f"output={output!r} is unknown; choose one of {', '.join(OUTPUTS)}")
        index = X.index if isinstance(X, pd.DataFrame) else None
        if not self.has_labels:
            if output in ("probability", "label"):
                raise AuclabError(f"this scorer ranks rows and has no classes: there is no {output}; use output=score")
            return pd.DataFrame({"score": self.score(X)}, index=index)
        score = self.score(X)
        probability = self.probability(score)
        unknown = np.full(score.size, None, dtype=object)
        columns = {
            "score": score,
            "probability": unknown if probability is None else probability,
            "label": self.label(score),
        }
        frame = pd.DataFrame(columns, index=index)
        return frame if output == "all" else frame[[output]]

    @property
    def what(self) -> str:
        """The formulation, and its kernel where there is one."""
        about = self.description.get("about", {})
        name = str(about.get("formulation", "its preprocessing"))
        return f"{name} with {about['kernel']}" if "kernel" in about else name

    def _score(self, X: Any) -> np.ndarray:
        if not self.is_formula:
            if self.pipeline is None:
                raise AuclabError(
                    "this scorer is not a formula over the columns: load its model too (auclab.runs.load_scorer)"
                )
            rows = X if hasattr(X, "tocsr") else self.table(X)[list(self.columns)]
            scores = self.pipeline.decision_function if self.has_labels else self.pipeline.predict
            return np.asarray(scores(rows), dtype=float)
        if hasattr(X, "tocsr") and self._ball is None:
            return self._score_of_sparse(X.tocsr())
        table = self.table(X)
        total, squares = np.zeros(len(table)), np.zeros(len(table))
        for column in self.parts:
            part, length = column.parts(table)
            total += part
            squares += length
        if self._ball is not None:
            radius, margin = self._ball["radius"], self._ball["margin"]
            total /= np.maximum(np.sqrt(squares), radius) * margin
        return total + self.intercept

    def _score_of_sparse(self, X: Any) -> np.ndarray:
        """The same without filling a matrix of many columns."""
        if X.shape[1] != len(self.columns):
            raise AuclabError(f"the matrix has {X.shape[1]} columns; {len(self.columns)} are needed")
        per_unit, constant = np.zeros(X.shape[1]), [self.intercept]
        place = {name: at for at, name in enumerate(self.columns)}
        for term in self.description["terms"]:
            weight = term["weight"] / term["scale"]
            per_unit[place[term["column"]]] = weight
            constant.append(-weight * term["shift"])
        return np.asarray(X @ per_unit) + math.fsum(constant)


class Column:
    """One column, and the terms made of it."""

    def __init__(self, column: Mapping[str, Any], terms: Sequence[Mapping[str, Any]]) -> None:
        self.name, self.kind = str(column["name"]), str(column["kind"])
        self.fill, self.format, self.terms = column.get("fill"), column.get("format"), terms

    def parts(self, table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """``Σ_k weight_k u_k`` and ``Σ_k u_k²`` over the terms of this column, shape (n_rows,)."""
        total, squares = np.zeros(len(table)), np.zeros(len(table))
        for term, values, codes in self.features(table):
            scaled = ((values - term["shift"]) / term["scale"])[codes]
            total += term["weight"] * scaled
            squares += scaled**2
        return total, squares

    def features(self, table: pd.DataFrame) -> Iterator[tuple[Mapping[str, Any], np.ndarray, Any]]:
        """Each term with ``values[codes]``, its v_k for the rows of a table."""
        if not self.terms:
            return
        column = table[self.name]
        values, codes = self._values(column)
        for term in self.terms:
            if "missing" in term:
                yield term, column.isna().to_numpy(dtype=float), slice(None)
            else:
                yield term, _value(term, values), codes

    def _values(self, column: pd.Series) -> tuple[Any, Any]:
        """Distinct values, or all of them, and which of them each row has."""
        if self.kind == "number":
            return _numbers(column, self.fill), slice(None)
        if self.kind == "bins":  # a missing number is in none of them
            return _numbers(column, math.nan), slice(None)
        if self.kind == "date":
            dates = _dates(column, self.format)  # of a scorecard, a gap stays one
            return dates if self.fill is None else dates.fillna(pd.Timestamp(str(self.fill))), slice(None)
        codes, texts = pd.factorize(as_text(column, str(self.fill)))
        return np.asarray(texts, dtype=object), codes


def _value(term: Mapping[str, Any], values: Any) -> np.ndarray:
    """v_k for each of the values of a column."""
    if "part" in term:
        values = _part_of_date(term, values)
        return _in_bin(term, values) if "at_least" in term else values
    if "at_least" in term:
        return _in_bin(term, values)
    if "value" in term:
        return (values == term["value"]).astype(float)
    if "other_than" in term:
        return (~np.isin(values, np.asarray(term["other_than"], dtype=object))).astype(float)
    return values


def _in_bin(term: Mapping[str, Any], numbers: np.ndarray) -> np.ndarray:
    """Whether numbers are at least the lower end of a bin and below the upper one, of which either may be missing."""
    low, high = term["at_least"], term["below"]
    above = np.ones(numbers.shape, dtype=bool) if low is None else numbers >= low
    return (above & (~np.isnan(numbers) if high is None else numbers < high)).astype(float)


def _part_of_date(term: Mapping[str, Any], dates: pd.Series) -> np.ndarray:
    """A number made of a date: its year, its age in years before `latest`, or whether it is in a month or weekday."""
    if term["part"] == "year":
        return dates.dt.year.to_numpy(dtype=float)
    if term["part"] == "age":
        since = (pd.Timestamp(term["latest"]) - dates).dt.total_seconds()
        return (since / (86_400 * DAYS_A_YEAR)).to_numpy(dtype=float)
    number = dates.dt.month if term["part"] == "month" else dates.dt.day_of_week
    return (number == term["value"]).to_numpy(dtype=float)


def as_text(values: pd.Series, fill: str) -> pd.Series:
    """Categories as text, whole numbers without decimal point; missing ones are replaced by `fill`.

    Examples
    --------
    >>> as_text(pd.Series([1.0, None]), "2").tolist()
    ['1', '2']
    """
    names = {value: _text(value) for value in values.dropna().unique()}
    return values.astype(object).map(names).astype(object).where(values.notna().to_numpy(), fill)


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _tidy(column: pd.Series, description: Mapping[str, Any]) -> pd.Series:
    """Texts that mark missing values as gaps, and others without blanks around them, as training files are read."""
    gaps, usual = description.get("missing") or (), description.get("usual_missing")
    bare = {text: text if usual is None else text.strip() for text in column.dropna().unique() if isinstance(text, str)}
    new = {text: math.nan if short in gaps or short.lower() in (usual or ()) else short for text, short in bare.items()}
    if all(text == short for text, short in new.items()):
        return column
    return column.astype(object).map(lambda value: new.get(value, value))


def _read(column: pd.Series, form: Mapping[str, str]) -> pd.Series:
    """Texts as numbers that are written in some form, such as $1,250.50; a text of another form is refused."""
    before, after, thousands, point = (str(form[key]) for key in ("before", "after", "thousands", "decimal"))
    whole = rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d*" if thousands else r"\d*"
    number = re.compile(rf"(?:{whole})(?:{re.escape(point)}\d*)?(?:[eE][-+]?\d+)?")

    def value(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        bare = cell.replace("−", "-").replace(before, "", 1).strip()
        sign, size = ("-", bare[1:]) if bare.startswith("-") else ("", bare.removeprefix("+"))
        size = size.strip().removesuffix(after).strip() if after else size.strip()
        if not number.fullmatch(size):
            return cell  # named where numbers are needed
        return float(sign + (size.replace(thousands, "") if thousands else size).replace(point, "."))

    return column.astype(object).map(value, na_action="ignore").infer_objects()


def _numbers(values: pd.Series, fill: float | None) -> np.ndarray:
    """Numbers in place of missing values, and an error in place of text and infinity."""
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    missing = np.isnan(numbers)
    bad = missing & values.notna().to_numpy() | np.isinf(numbers)
    if bad.any():
        at = int(bad.argmax())
        raise AuclabError(
            f"column {values.name!r} needs numbers, and has {values.iloc[at]!r} in row {at + 1} "
            f"(such cells: {int(bad.sum())}): correct them, or leave them empty"
        )
    if missing.any():
        if fill is None:
            at = int(missing.argmax())
            raise AuclabError(
                f"column {values.name!r} has no value in row {at + 1}, but was trained without missing values: "
                "fill it in"
            )
        numbers = np.where(missing, fill, numbers)
    return numbers


def _dates(column: pd.Series, format_: str | None) -> pd.Series:
    """Days and times without a zone (that of UTC); missing values stay missing."""
    text = column.astype(object).map(lambda value: value.strip() if isinstance(value, str) else value)
    dates = pd.to_datetime(text, format=format_, errors="coerce", utc=True)
    bad = (dates.isna() & column.notna()).to_numpy()
    if bad.any():
        at = int(bad.argmax())
        form = f" of the format {format_}" if format_ else ""
        raise AuclabError(f"column {column.name!r} has {column.iloc[at]!r} in row {at + 1}, which is not a date{form}")
    return dates.dt.tz_localize(None)


def _as_table(X: Any, columns: Sequence[str]) -> pd.DataFrame:
    """A DataFrame with these columns."""
    if not isinstance(X, pd.DataFrame):
        matrix = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        if matrix.ndim != 2 or matrix.shape[1] != len(columns):
            raise AuclabError(f"the matrix has the shape {matrix.shape}; {len(columns)} columns are needed")
        return pd.DataFrame(matrix, columns=list(columns))
    names = [str(name) for name in X.columns]
    if absent := [name for name in columns if name not in names]:
        raise AuclabError(f"{listed('column', absent)} missing; the columns are {shortened(names)}")
    if twice := [name for name in columns if names.count(name) > 1]:
        raise AuclabError(f"{listed('column', twice)} present more than once: keep one of each name")
    return X.set_axis(names, axis=1)


def listed(noun: str, names: Sequence[str]) -> str:
    """``column 'a' is`` or ``columns 'a', 'b' are``."""
    several = len(names) > 1
    return f"{noun}{'s' if several else ''} {shortened([repr(name) for name in names])} {'are' if several else 'is'}"


def shortened(names: Sequence[str]) -> str:
    """The first few names."""
    more = f", … ({len(names)} in all)" if len(names) > MAX_LISTED else ""
    return ", ".join(map(str, names[:MAX_LISTED])) + more


def _chunks(X: Any) -> Iterator[Any]:
    """Some rows at a time."""
    for first in range(0, X.shape[0], _AT_ONCE):
        rows = slice(first, first + _AT_ONCE)
        yield X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0 / (1.0 + small), small / (1.0 + small))
