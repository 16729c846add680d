"""A scorer in another language: SQL, an ONNX graph in double precision."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from auclab._core.base import AuclabError
from auclab.export.scorer import DAYS_A_YEAR, Column, Scorer

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
    head += [f"-- {_comment(line)}" for line in _without_signs(scorer)]
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


def _without_signs(scorer: Scorer) -> list[str]:
    """Which columns have to be numbers here, though the training file has signs and units in them."""
    used = [column.name for column in scorer.parts if column.terms and column.name in scorer.forms]
    return [f"column {name!r} is a number, without the signs and units of the training file" for name in used]


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
    text = f"COALESCE(TRIM(CAST({name} AS TEXT)), {_text(str(column.fill))})"

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


#: Versions of the operators that the graph uses.
OPSET, OPSET_ML, IR_VERSION = 17, 2, 8


def to_onnx(scorer: Scorer) -> bytes:
    """The score as a graph with an input of shape (n_rows, 1) for each column, and the output ``score``.

    Numbers are doubles, NaN where they are missing; categories are text, empty where they are missing.
    """
    try:
        import onnx
    except ImportError as error:
        raise AuclabError(
            f"ONNX needs a package that is not installed ({error}): pip install 'auclab[onnx]'"
        ) from error
    graph = _Graph(onnx)
    sums = [graph.of_column(column, number) for number, column in enumerate(scorer.parts) if column.terms]
    total = graph.sum([weighted for weighted, _ in sums])
    if (ball := scorer.description.get("ball")) is not None:
        length = graph.node("Sqrt", graph.sum([square for _, square in sums]))
        longest = graph.node("Max", length, graph.constant([[ball["radius"]]]))
        total = graph.node("Div", total, graph.node("Mul", longest, graph.constant([[ball["margin"]]])))
    graph.node("Add", total, graph.constant([[scorer.intercept]]), output="score")
    return graph.serialised("; ".join(_without_signs(scorer)))


class _Graph:
    """Nodes, constants and inputs while they are put together; a value is the name of what a node returns."""

    def __init__(self, onnx: Any) -> None:
        self.onnx, self.helper = onnx, onnx.helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def node(self, kind: str, *inputs: str, output: str = "", domain: str = "", **attributes: Any) -> str:
        """Add an operator."""
        output = output or f"value_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [output], domain=domain, **attributes))
        return output

    def constant(self, values: Any) -> str:
        """Add an array of doubles."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values, dtype=np.float64), name))
        return name

    def sum(self, values: list[str]) -> str:
        """Add them up, in their order."""
        total = values[0] if values else self.constant([[0.0]])
        for value in values[1:]:
            total = self.node("Add", total, value)
        return total

    def of_column(self, column: Column, number: int) -> tuple[str, str]:
        """``Σ weight_k u_k`` and ``Σ u_k²`` over the terms of a column."""
        if column.kind == "date":
            raise AuclabError(
                f"column {column.name!r} holds dates, which the ONNX export does not support: export to json or sql, "
                "or train without it (dataset.drop)"
            )
        if column.kind == "bins":
            raise AuclabError(
                f"column {column.name!r} is cut into the bins of a scorecard, which the ONNX export does not support: "
                "export to json or sql"
            )
        kinds = self.onnx.TensorProto
        kind = kinds.DOUBLE if column.kind == "number" else kinds.STRING
        self.inputs.append(self.helper.make_tensor_value_info(column.name, kind, [None, 1]))
        return self._of_number(column) if column.kind == "number" else self._of_category(column)

    def _of_number(self, column: Column) -> tuple[str, str]:
        missing = self.node("IsNaN", column.name)
        fill = 0.0 if column.fill is None else float(column.fill)
        number = self.node("Where", missing, self.constant([[fill]]), column.name)
        weighted, squares = [], []
        for term in column.terms:
            value = self.node("Cast", missing, to=self.onnx.TensorProto.DOUBLE) if "missing" in term else number
            moved = self.node("Sub", value, self.constant([[term["shift"]]]))
            scaled = self.node("Div", moved, self.constant([[term["scale"]]]))
            weighted.append(self.node("Mul", scaled, self.constant([[term["weight"]]])))
            squares.append(self.node("Mul", scaled, scaled))
        return self.sum(weighted), self.sum(squares)

    def _of_category(self, column: Column) -> tuple[str, str]:
        """By a table over the categories, one for text that is missing, and one for all others."""
        texts = sorted(
            {str(term["value"]) for term in column.terms if "value" in term}
            | {str(text) for term in column.terms for text in term.get("other_than", ())} - {""}
        )
        rows: list[str | None] = [*texts, "", None]
        table = np.zeros((2, len(rows)))
        for at, text in enumerate(rows):
            read = str(column.fill) if text == "" else text
            for term in column.terms:
                if "missing" in term:
                    has = text == ""
                else:
                    has = read == term["value"] if "value" in term else read not in term["other_than"]
                scaled = (float(has) - term["shift"]) / term["scale"]
                table[:, at] += term["weight"] * scaled, scaled**2
        codes = self.node(
            *("LabelEncoder", column.name),
            domain="ai.onnx.ml", keys_strings=[*texts, ""], values_int64s=list(range(len(rows) - 1)),
            default_int64=len(rows) - 1,
        )  # fmt: skip
        weighted, squares = (self.node("Gather", self.constant(each), codes, axis=0) for each in table)
        return weighted, squares

    def serialised(self, description: str) -> bytes:
        """The model, checked."""
        helper = self.helper
        score = helper.make_tensor_value_info("score", self.onnx.TensorProto.DOUBLE, [None, 1])
        graph = helper.make_graph(self.nodes, "auclab_scorer", self.inputs, [score], self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", OPSET_ML)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="auclab", doc_string=description
        )
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())


LANGUAGES = ("json", "sql", "onnx")


def export_scorer(scorer: Scorer, language: str) -> str | bytes:
    """The scorer as text, or as bytes of an ONNX model.

    `language`: ``json`` is what ``scorer.json`` says (docs/models.md).
    """
    if not scorer.is_formula:
        raise AuclabError(
            f"{scorer.what} is not a formula over the columns, so that it cannot be exported; auclab predict scores "
            "new rows with it"
        )
    if language == "json":
        return json.dumps(scorer.description, indent=2, ensure_ascii=False) + "\n"
    if language == "sql":
        return to_sql(scorer)
    if language == "onnx":
        return to_onnx(scorer)
    raise AuclabError(f"a scorer is exported to {', '.join(LANGUAGES)}, not to {language!r}")
