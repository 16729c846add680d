"""Stored models on the rows of a file: their scores, and their evaluation where the rows have labels."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.words import counted, did_you_mean, no_formula
from auclab.datasets.file import read_new_rows
from auclab.datasets.formats import format_of
from auclab.datasets.labels import as_labels, binarise
from auclab.datasets.records import file_sha256
from auclab.datasets.target import METRIC_NAMES, Roles
from auclab.export.scorer import OUTPUTS, Scorer, as_text, listed, shortened
from auclab.inference import (
    CalibrationCheck,
    Comparison,
    Estimate,
    ScoreDrift,
    check_calibration,
    compare_pairs,
    compare_scorers,
    estimate,
    estimate_pairs,
    score_drift,
)

#: Column with the number of a row, used if no identifier is kept.
ROW = "row"


@dataclass(frozen=True)
class Predictions:
    """Scores of new rows.

    `table`: a row per row of the file, in file order: the kept columns or ``row``, counted from 1, then ``score``,
    ``probability`` (missing if the scorer was not calibrated) and ``label``. `notes`: on unused columns, imputed
    values, and categories that were not in the training part.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]

    def write(self, path: Path) -> None:
        """Write a parquet file, or a csv file in full precision."""
        if path.suffix == ".parquet":
            self.table.to_parquet(path, index=False)
        else:
            path.write_text(self.as_csv(), encoding="utf-8")

    def as_csv(self) -> str:
        """The table as csv; labels are untrusted and escaped against spreadsheet formulas."""
        table = self.table
        if "label" in table:
            table = table.assign(label=table["label"].map(no_formula))
        return str(table.to_csv(index=False))


def predict_file(
    scorer: Scorer,
    path: str | Path,
    *,
    keep: Sequence[str] = (),
    output: str = "all",
    written: Mapping[str, Any] | None = None,
) -> Predictions:
    """Scores, probabilities and labels of the rows of a file.

    `path`: a table with a header row that has the columns of the training data, in any order, or an svmlight file.
    `keep`: columns of the file to copy to the result, such as an identifier. `output`: the only column to return.
    `written`: `sep`, `decimal` and `encoding` of a csv file; by default detected, or those of the training file if the
    rows leave it open.
    """
    rows = rows_for(scorer, path, keep=keep, written=written)
    if not isinstance(rows, pd.DataFrame):
        kept = pd.DataFrame({ROW: np.arange(1, rows.shape[0] + 1)})
        notes: tuple[str, ...] = ()
    else:
        rows = rows.rename(columns=str)
        if absent := [name for name in keep if name not in rows]:
            near = did_you_mean(absent[0], rows.columns)
            raise AuclabError(f"--id {absent[0]}: no such column{near}; columns are {shortened(list(rows.columns))}")
        kept = rows[list(keep)] if keep else pd.DataFrame({ROW: np.arange(1, len(rows) + 1)})
        clash = [name for name in OUTPUTS if name in kept]
        kept = kept.rename(columns={name: f"{name} (of the file)" for name in clash})
        notes = ()
    found = scorer.predict(rows, {"output": output})
    if isinstance(rows, pd.DataFrame):
        notes = _notes(scorer, rows, keep)
    table = pd.concat([kept.reset_index(drop=True), found.reset_index(drop=True)], axis=1)
    return Predictions(table, notes)


def rows_for(
    scorer: Scorer, path: str | Path, *, keep: Sequence[str] = (), written: Mapping[str, Any] | None = None
) -> Any:
    """The rows of a file, read like the training file; the columns `keep`, if present, as text."""
    gaps = [str(text) for text in scorer.description.get("missing") or ()]
    kinds = {str(column["name"]): column for column in scorer.description["columns"]}
    text = [
        name for name, column in kinds.items() if column["kind"] in ("category", "date") and not _is_flag(scorer, name)
    ]
    numbers = [name for name, column in kinds.items() if column["kind"] in ("number", "bins") and name not in keep]
    numbers = [name for name in numbers if name not in scorer.forms]
    with _options_of_predict():
        return read_new_rows(
            path,
            text=[*text, *scorer.forms, *keep],
            missing=gaps,
            n_columns=len(scorer.columns),
            numbers=numbers,
            expected=_of_training(scorer),
            **(written or {}),
        )


@contextmanager
def _options_of_predict() -> Iterator[None]:
    """Rephrase error messages: settings of a run become options of `auclab predict`."""
    try:
        yield
    except AuclabError as error:
        raise AuclabError(re.sub(r"\bdataset\.(sep|decimal|encoding)\b", r"--\1", str(error))) from error


def _of_training(scorer: Scorer) -> dict[str, Any]:
    """The file format of the training file; other settings are dropped, as the model is untrusted."""
    stored = scorer.description.get("written")
    known = (
        {key: value for key, value in stored.items() if isinstance(value, str)} if isinstance(stored, Mapping) else {}
    )
    found: dict[str, Any] = {"sep": known["sep"]} if len(known.get("sep", "")) == 1 else {}
    found |= {"decimal": known["decimal"]} if known.get("decimal") in (".", ",") else {}
    with suppress(LookupError, ValueError):
        found |= {"encoding": codecs.lookup(known["encoding"]).name} if "encoding" in known else {}
    if isinstance(stored, Mapping) and stored.get("header") is False:
        found["header"] = False
    return found


def _is_flag(scorer: Scorer, name: str) -> bool:
    """Whether a category is True or False, which file readers recognise in any spelling."""
    values = {
        str(part["value"]) for part in scorer.description["terms"] or () if part["column"] == name and "value" in part
    }
    return bool(values) and values <= {"True", "False"}


def _notes(scorer: Scorer, rows: pd.DataFrame, keep: Sequence[str]) -> tuple[str, ...]:
    notes = []
    unused = [name for name in rows.columns if name not in scorer.columns and name not in keep]
    if unused:
        notes.append(f"{listed('column', unused)} not used by the model")
    for name, form in scorer.forms.items():
        sign = str(form["before"] or form["after"])
        if name in rows and not rows[name].astype(str).str.contains(sign, regex=False).any():
            notes.append(f"column {name!r} is written without {sign!r}: its numbers are taken as if it were there")
    if not scorer.is_formula:
        return tuple(notes)
    table = scorer.table(rows)
    own: dict[str, set[str]] = {}
    for term in scorer.description["terms"]:
        if "value" in term and "part" not in term:
            own.setdefault(str(term["column"]), set()).add(str(term["value"]))
    pooled = {str(term["column"]) for term in scorer.description["terms"] if "other_than" in term}
    for column in scorer.description["columns"]:
        name, kind, fill = str(column["name"]), column["kind"], column.get("fill")
        if kind == "unused" or name not in {str(term["column"]) for term in scorer.description["terms"]}:
            continue
        missing = int(table[name].isna().sum())
        # In a scorecard, a missing value belongs to no category.
        in_none = kind == "category" and name not in pooled and fill not in own.get(name, ())
        if missing and fill is not None and not in_none:
            shown = f"{fill:g}" if isinstance(fill, float) else str(fill).removesuffix("T00:00:00")  # a date
            notes.append(f"column {name!r} has {counted(missing, 'gap')}, read as {shown} as in training")
        if kind == "category" and name in own:
            texts = as_text(table[name], str(fill))
            new = texts[~texts.isin(own[name]) & ~(table[name].isna() & in_none)]
            if len(new):
                values = shortened([repr(value) for value in new.unique()])
                means = (
                    "which counts as one of the rare categories" if name in pooled else "which counts as no category"
                )
                if scorer.description["about"].get("formulation") == "scorecard":
                    means = "for which the scorecard has no item"
                notes.append(f"column {name!r} has {values} in {len(new)} rows, {means}")
    return tuple(notes)


#: Default metrics.
METRICS = ("auc", "bauc")
#: Parts of the run whose scores a model stores, with their descriptions.
PARTS = {"test": "held-out part", "train": "training part"}


@dataclass(frozen=True)
class Measured:
    """One model on the new rows.

    `about`: formulation, data set and split. `estimates`: by the name of the metric. `labelled`, `found`: numbers of
    rows predicted positive, and of true positives among them. `calibration`: None if the model has no probabilities.
    `no_probability`: why it has none. `drift`: from the scores of each part of the run, keyed as `PARTS`; empty
    without scores in memory.
    """

    about: str
    estimates: Mapping[str, Estimate]
    labelled: int
    found: int
    calibration: CalibrationCheck | None
    no_probability: str
    drift: Mapping[str, ScoreDrift]
    scores: Array


@dataclass(frozen=True)
class Evaluation:
    """Models on the labelled rows of a file.

    `positive`: the positive label. `comparisons`: the first model minus the second, by the name of the metric; empty
    for one model. `notes`: on dropped rows, and on rows of the training. `census`: counts of what is compared, if not
    two classes: metrics are then over pairs, and `n_pos` is 0.
    """

    n_pos: int
    n_neg: int
    positive: str
    models: tuple[Measured, ...]
    comparisons: Mapping[str, Comparison]
    notes: tuple[str, ...] = ()
    census: str = ""


def evaluate_file(
    scorers: Sequence[Scorer],
    path: str | Path,
    *,
    target: str | None = None,
    positive: str | Sequence[str] | None = None,
    metrics: Sequence[str] = METRICS,
    level: float = 0.95,
    written: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Evaluate one model, or compare two on the same rows.

    `path`: a csv, tsv or parquet file with the columns of the training data, and labels. `target`: the column with the
    labels, by default that of the training file. `positive`: labels of the positive class, by default those of the
    training file. `metrics`: names in `auclab.metrics.METRICS`. `level`: confidence level. `written`: as in
    `auclab.runs.stored.new_rows.predict_file`.
    """
    if format_of(path) == "svmlight":
        raise AuclabError(f"{path} is an svmlight file; evaluate measures rows of csv, tsv and parquet files")
    ranks = {scorer.has_labels for scorer in scorers}
    if len(ranks) > 1:
        raise AuclabError(
            "one model is for two classes, and the other ranks groups, grades or times: no metric fits both"
        )
    if ranks == {False}:
        return _evaluate_ranked(scorers, path, metrics, level, written)
    labels = _Labels.of(scorers[0], path, target, positive)
    tables = [_rows(scorer, path, labels.column, written) for scorer in scorers]
    y, kept, notes = labels.read(tables[0], path)
    models = tuple(
        _measured(scorer, rows.loc[kept], y, metrics, level) for scorer, rows in zip(scorers, tables, strict=True)
    )
    pairs = {}
    if len(models) > 1:
        for metric in metrics:
            pairs[metric] = compare_scorers(y, models[0].scores, models[1].scores, metric, level=level)
    n_pos = int(y.sum())
    notes = (*_same_file(scorers, path), *notes)
    return Evaluation(n_pos, y.size - n_pos, ", ".join(labels.positive), models, pairs, notes)


def _same_file(scorers: Sequence[Scorer], path: str | Path) -> tuple[str, ...]:
    """A note where the rows are those that a model was fitted to, in part or all of them."""
    checksum, about = file_sha256(Path(path)), [dict(scorer.description["about"]) for scorer in scorers]
    rows = [each["training_rows"] for each in about if each.get("dataset_sha256") == checksum]
    return tuple(
        f"this is the file of the run: the model was fitted to {count:,} of its rows, and its values are too good here"
        for count in sorted(set(rows))
    )


def _evaluate_ranked(
    scorers: Sequence[Scorer], path: str | Path, metrics: Sequence[str], level: float, written: Mapping[str, Any] | None
) -> Evaluation:
    """Evaluate models of groups, grades or times on the comparable pairs of the rows."""
    stored = scorers[0].description.get("target")
    known = dict(stored) if isinstance(stored, Mapping) else {}
    columns: dict[str, Any] = {key: str(known[key]) for key in Roles().named if key in known}
    weights: Any = known.get("group_weights", "pairs")
    roles = Roles(**columns, graded=bool(known.get("graded")), group_weights=weights)
    if not roles.ranking:
        raise AuclabError(
            "the model has no record of the columns its rows are ranked by, because its data set has a name; run it "
            "with dataset=file"
        )
    tables = [rows_for(each, path, keep=roles.columns, written=written).rename(columns=str) for each in scorers]
    if absent := [name for name in roles.columns if name not in tables[0]]:
        near = did_you_mean(absent[0], tables[0].columns)
        raise AuclabError(f"{path} has no column {absent[0]!r}{near}, by which its rows are compared")
    labelled = tables[0][list(roles.ranking)].notna().all(axis=1).to_numpy()
    unlabelled = int((~labelled).sum())
    notes = (f"{unlabelled} rows without a label are left out",) if unlabelled else ()
    tables = [table[labelled] for table in tables]
    found = roles.ranked(tables[0], known.get("positive"), known.get("negative"))
    target, pairs = found.target, found.target.pairs
    of_kind = METRIC_NAMES[target.kind]
    if others := [name for name in metrics if name not in of_kind]:
        raise AuclabError(
            f"the metric {others[0]} needs two classes; metrics over {target.kind} are {', '.join(of_kind)}"
        )
    names: dict[str, Any] = {of_kind[name]: name for name in metrics}
    models = []
    for scorer, rows in zip(scorers, tables, strict=True):
        scores = scorer.score(rows.loc[found.kept])
        estimates = {key: estimate_pairs(pairs, scores, name, level=level) for key, name in names.items()}
        models.append(Measured(_about(scorer), estimates, 0, 0, None, "", _drift(scorer, scores), scores))
    compared = {}
    if len(models) > 1:
        first, second = (model.scores for model in models)
        compared = {key: compare_pairs(pairs, first, second, name, level=level) for key, name in names.items()}
    notes = (*_same_file(scorers, path), *notes)
    return Evaluation(0, target.y.size, "", tuple(models), compared, notes, target.census)


@dataclass(frozen=True)
class _Labels:
    """The column of labels, and how to read it."""

    column: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]

    @classmethod
    def of(cls, scorer: Scorer, path: str | Path, target: str | None, positive: Any) -> _Labels:
        stored = scorer.description.get("target")
        known = stored if isinstance(stored, Mapping) else {}
        column = target if target is not None else known.get("target")
        if column is None:
            raise AuclabError(
                f"which column of {path} has the labels? The model has no record of it: add --target COLUMN"
            )
        if positive is not None:
            return cls(str(column), as_labels(positive), ())
        # Models of built-in data sets store only the labels.
        return cls(
            str(column), as_labels(known.get("positive")) or (scorer.labels[1],), as_labels(known.get("negative"))
        )

    def read(
        self, rows: pd.DataFrame, path: str | Path
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], tuple[str, ...]]:
        """Labels 0 and 1, the indices of their rows, and notes on dropped rows."""
        given = rows[self.column]
        known = given.notna().to_numpy()
        if not known.any():
            raise AuclabError(
                f"column {self.column!r} of {path} is empty: evaluate measures rows with labels; auclab predict scores "
                "rows without"
            )
        sides = binarise(given[known].rename(self.column), list(self.positive), list(self.negative) or None)
        kept = known.copy()
        kept[known] = sides.kept
        notes = []
        if missing := int((~known).sum()):
            notes.append(f"{missing} rows without a label are left out")
        if others := int(known.sum() - sides.kept.sum()):
            notes.append(f"{others} rows with a label of neither class are left out")
        return sides.y, kept, tuple(notes)


def _rows(scorer: Scorer, path: str | Path, target: str, written: Mapping[str, Any] | None) -> pd.DataFrame:
    rows = rows_for(scorer, path, keep=[target], written=written).rename(columns=str)
    if target not in rows:
        near = did_you_mean(target, rows.columns)
        raise AuclabError(
            f"{path} has no column {target!r} with labels{near}: evaluate measures rows with labels, auclab predict "
            "scores rows without; --target COLUMN names another column"
        )
    return rows


def _measured(
    scorer: Scorer, rows: pd.DataFrame, y: NDArray[np.int64], metrics: Sequence[str], level: float
) -> Measured:
    scores = scorer.score(rows)
    probability = scorer.probability(scores)
    called = scores > scorer.threshold
    about = scorer.description["about"]
    return Measured(
        _about(scorer),
        {metric: estimate(y, scores, metric, level=level) for metric in metrics},
        *(int(called.sum()), int((called & (y == 1)).sum())),
        calibration=None if probability is None else check_calibration(y, probability, level=level),
        no_probability=str(about.get("no_probability", "the scorer was not calibrated")),
        drift=_drift(scorer, scores),
        scores=scores,
    )


def _about(scorer: Scorer) -> str:
    """Formulation, data set and split."""
    about = scorer.description["about"]
    return " · ".join(str(about[key]) for key in ("formulation", "dataset", "split") if about.get(key)) or "model"


def _drift(scorer: Scorer, scores: Array) -> dict[str, ScoreDrift]:
    stored = scorer.description.get("scores")
    found = {}
    for name in PARTS:
        part = stored.get(name) if isinstance(stored, Mapping) else None
        if isinstance(part, Mapping):
            found[name] = score_drift(part["quantiles"], scores, n_reference=part["rows"])
    return found
