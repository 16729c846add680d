"""A scorer as an ONNX graph in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab.export.scorer import Column, Scorer
from auclab.types import AuclabError

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
    return graph.serialised()


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

    def serialised(self) -> bytes:
        """The model, checked."""
        helper = self.helper
        score = helper.make_tensor_value_info("score", self.onnx.TensorProto.DOUBLE, [None, 1])
        graph = helper.make_graph(self.nodes, "auclab_scorer", self.inputs, [score], self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", OPSET_ML)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="auclab")
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
