"""A scorer as one SQL expression over the user's columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from auclab.export.scorer import DAYS_A_YEAR, Column, Scorer
from auclab.types import AuclabError

#: Forms of dates in text that SQLite reads.
_ISO_DATES = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", None)


def to_sql(scorer: Scorer) -> str:
    """The score as an expression in parentheses, after lines of comments.

    Missing values are NULL, and categories are compared as text. Besides arithmetic it has COALESCE, CAST and CASE,
    after `auclab.datasets.preprocess.unit_ball` also SQRT; parts of dates are taken with functions of SQLite.
    """
    sums = [each for column in scorer.parts for each in _sums(column)]
    ball = scorer.description.get("ball")
    about = scorer.description.get("about", {})
    head = [f"-- score of {_comment(about.get('formulation', ''))} on {_comment(about.get('dataset', ''))}"]
    if scorer.description.get("threshold"):
        positive, value = _comment(scorer.labels[1]), _number(scorer.threshold)
        head.append(f"-- {positive} where it is above {value}; missing values are NULL")
    intercept = _number(scorer.intercept)
    if ball is None:
        lines = ["(", f"  {intercept}", *(f"  + {weighted}" for weighted, _ in sums), ")"]
    else:
        length = f"SQRT(0.0{''.join(f' + {square}' for _, square in sums)})"
        radius, margin = _number(ball["radius"]), _number(ball["margin"])
        lines = [
            *("(", f"  {intercept} + (", "    0.0", *(f"    + {weighted}" for weighted, _ in sums)),
            f"  ) / ((CASE WHEN {length} > {radius} THEN {length} ELSE {radius} END) * {margin})",
            ")",
        ]
    return "\n".join([*head, *lines]) + "\n"


def _sums(column: Column) -> list[tuple[str, str]]:
    """Of each term, or of all categories of a column, ``Σ weight_k u_k`` and ``Σ u_k²``."""
    name, found = _name(column.name), []
    categories = [term for term in column.terms if column.kind == "category" and "missing" not in term]
    if categories:
        found.append(_of_categories(column, name))
    for term in column.terms:
        if term in categories:
            continue
        scaled = f"(({_value(column, term, name)} - {_number(term['shift'])}) / {_number(term['scale'])})"
        found.append((f"{_number(term['weight'])} * {scaled}", f"{scaled} * {scaled}"))
    return found


def _of_categories(column: Column, name: str) -> tuple[str, str]:
    """A CASE with what each category adds; the sums are those that the scorer computes."""
    terms = [term for term in column.terms if "missing" not in term]
    values = [str(term["value"]) for term in terms if "value" in term]
    values += [text for term in terms for text in term.get("other_than", ()) if text not in values]
    rows: list[tuple[str | None, float, float]] = []
    for value in [*values, None]:
        total = square = 0.0
        for term in terms:
            has = value == term["value"] if "value" in term else value not in term["other_than"]
            scaled = (float(has) - term["shift"]) / term["scale"]
            total += term["weight"] * scaled
            square += scaled**2
        rows.append((value, total, square))
    text = f"COALESCE(CAST({name} AS TEXT), {_text(str(column.fill))})"

    def case(which: int) -> str:
        cases = "".join(f" WHEN {_text(row[0])} THEN {_number(row[which])}" for row in rows if row[0] is not None)
        return f"CASE {text}{cases} ELSE {_number(rows[-1][which])} END"

    return case(1), case(2)


def _value(column: Column, term: Mapping[str, Any], name: str) -> str:
    if "missing" in term:
        return f"(CASE WHEN {name} IS NULL THEN 1.0 ELSE 0.0 END)"
    if "at_least" in term:
        number = _part_of_date(column, term, name) if "part" in term else name
        low, high = term["at_least"], term["below"]
        ends = [f"{number} >= {_number(low)}"] if low is not None else []
        ends += [f"{number} < {_number(high)}"] if high is not None else []
        return f"(CASE WHEN {' AND '.join(ends or [f'{name} IS NOT NULL'])} THEN 1.0 ELSE 0.0 END)"
    if column.kind == "number":
        return name if column.fill is None else f"COALESCE({name}, {_number(column.fill)})"
    return _part_of_date(column, term, name)


def _part_of_date(column: Column, term: Mapping[str, Any], name: str) -> str:
    """A number, or whether a date is in a month or on a weekday; SQLite's functions give NULL for a gap."""
    if column.format not in _ISO_DATES:
        name = _iso_date(column, name)
    date = name if column.fill is None else f"COALESCE({name}, {_text(str(column.fill))})"
    if term["part"] == "age":
        return f"((julianday({_text(term['latest'])}) - julianday({date})) / {_number(DAYS_A_YEAR)})"
    if term["part"] == "year":
        return f"CAST(strftime('%Y', {date}) AS REAL)"
    if term["part"] == "month":
        return f"(CASE WHEN CAST(strftime('%m', {date}) AS INTEGER) = {int(term['value'])} THEN 1.0 ELSE 0.0 END)"
    sunday_first = (int(term["value"]) + 1) % 7
    return f"(CASE WHEN CAST(strftime('%w', {date}) AS INTEGER) = {sunday_first} THEN 1.0 ELSE 0.0 END)"


def _iso_date(column: Column, name: str) -> str:
    """A date of three numbers, such as 1.5.2024 or 05/01/2024, as 2024-05-01."""
    found = re.fullmatch(r"%([dmY])([^%])%([dmY])\2%([dmY])", str(column.format))
    if found is None or {found[1], found[3], found[4]} != set("dmY"):
        raise AuclabError(
            f"column {column.name!r} has dates of the format {column.format}, which SQL functions do not read; write "
            "them as 2024-05-01 in the training file"
        )
    sign = _text(found[2])
    rest = f"substr({name}, instr({name}, {sign}) + 1)"
    parts = {
        found[1]: f"substr({name}, 1, instr({name}, {sign}) - 1)",
        found[3]: f"substr({rest}, 1, instr({rest}, {sign}) - 1)",
        found[4]: f"substr({rest}, instr({rest}, {sign}) + 1)",
    }
    numbers = ", ".join(f"CAST({parts[part]} AS INTEGER)" for part in "Ymd")
    return f"(CASE WHEN {name} IS NOT NULL THEN printf('%04d-%02d-%02d', {numbers}) END)"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _number(value: Any) -> str:
    """All digits; a negative one in parentheses, as two minus signs begin a comment."""
    number = float(value)
    if not np.isfinite(number):
        raise AuclabError(f"the scorer has the number {number}, which SQL cannot write")
    return repr(number) if number >= 0 and not str(number).startswith("-") else f"({number!r})"


def _comment(text: str) -> str:
    """On one line."""
    return "".join(sign if sign.isprintable() else " " for sign in str(text))
