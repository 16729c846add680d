"""Scores of new rows in a file, with notes."""

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

from auclab.datasets.new_rows import read_new_rows
from auclab.export.scorer import OUTPUTS, Scorer, as_text, listed, shortened
from auclab.pipeline.stored.visible import no_formula
from auclab.types import AuclabError
from auclab.wording import counted, did_you_mean

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
    with _options_of_predict():
        return read_new_rows(
            path,
            text=[*text, *keep],
            missing=gaps,
            n_columns=len(scorer.columns),
            numbers=numbers,
            decimal_comma=decimal_commas(scorer),
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


def _of_training(scorer: Scorer) -> dict[str, str]:
    """The file format of the training file; other settings are dropped, as the model is untrusted."""
    stored = scorer.description.get("written")
    known = (
        {key: value for key, value in stored.items() if isinstance(value, str)} if isinstance(stored, Mapping) else {}
    )
    found = {"sep": known["sep"]} if len(known.get("sep", "")) == 1 else {}
    found |= {"decimal": known["decimal"]} if known.get("decimal") in (".", ",") else {}
    with suppress(LookupError, ValueError):
        found |= {"encoding": codecs.lookup(known["encoding"]).name} if "encoding" in known else {}
    return found


def decimal_commas(scorer: Scorer) -> tuple[str, ...]:
    """The columns that had decimal commas in the training file."""
    stored = scorer.description.get("written")
    names = stored.get("decimal_comma") if isinstance(stored, Mapping) else None
    return tuple(map(str, names)) if isinstance(names, list) else ()


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
