"""Bounds as lines of text: the best one, or all of them with their assumptions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.padding import Padding
from rich.text import Text

from auclab.datasets.target import WORDS
from auclab.pipeline.split.guarantees import Guarantee

#: Order of preference if several quantities are bounded.
_FIRST = tuple(WORDS.values())


@dataclass(frozen=True)
class BoundLine:
    """A bound to print: of an experiment that has just ended, or from the file ``bounds.json`` of a run."""

    name: str
    quantity: str
    sample: str
    statement: str
    lower_end: float
    vacuous: bool
    assumptions: tuple[str, ...]
    test_value: float = math.nan

    @classmethod
    def of(cls, item: Guarantee) -> BoundLine:
        """From a bound in memory."""
        return cls.of_stored(asdict(item) | {"statement": item.statement})

    @classmethod
    def of_stored(cls, item: Mapping[str, Any]) -> BoundLine:
        """From an entry of ``bounds.json``, where infinity is a string and NaN is null."""
        bound = item.get("bound") or {}
        estimate, half_width = _number(item.get("estimate")), _number(bound.get("half_width"))
        lower = _number(bound.get("lower"))
        end, statement = (lower if math.isnan(half_width) else estimate - half_width), str(item["statement"])
        if bound.get("vacuous") and math.isnan(half_width) and lower < 0:
            statement = f"{item['quantity']} ≥ 0 (computed as {lower:.4g})"
        return cls(
            *(str(item["name"]), str(item["quantity"]), str(item.get("sample", "")), statement),
            *(end, bool(bound.get("vacuous")), tuple(map(str, bound.get("assumptions") or ()))),
            _number(item.get("test_value")),
        )


def weakest(lines: Sequence[BoundLine]) -> list[BoundLine]:
    """The weakest bound of each name over several splits."""
    names = dict.fromkeys(line.name for line in lines)
    return [min((line for line in lines if line.name == name), key=lambda line: line.lower_end) for name in names]


def best_of(lines: Sequence[BoundLine]) -> BoundLine | None:
    """The best bound of the AUC, else of the bAUC, else of anything; None where all are vacuous."""
    telling = [line for line in lines if not line.vacuous]
    for quantity in (*_FIRST, *(line.quantity for line in telling)):
        if found := [line for line in telling if line.quantity == quantity]:
            return max(found, key=lambda line: line.lower_end)
    return None


def all_lines(lines: Sequence[BoundLine], remarks: Sequence[str]) -> Iterator[Any]:
    """Each bound with the test value; assumptions are numbered and listed once."""
    shown = weakest(lines)
    assumptions = list(dict.fromkeys(text for line in shown for text in line.assumptions))
    best = {quantity: best_of([line for line in shown if line.quantity == quantity]) for quantity in _quantities(shown)}
    for line in shown:
        marks = "".join(f"[{assumptions.index(text) + 1}]" for text in line.assumptions)
        beside = "" if math.isnan(line.test_value) else f" (test {line.test_value:.4f})"
        verdict = ("  vacuous: it excludes nothing", "yellow") if line.vacuous else ""
        mark = (f"  best for {line.quantity}", "green") if line is best[line.quantity] else ""
        text = Text.assemble(
            (line.statement, "bold"), beside, f"  {line.name}, {line.sample} part ", (marks, "dim"), verdict, mark
        )
        yield Padding.indent(text, 2)
    for number, assumed in enumerate(assumptions, start=1):
        yield Padding.indent(Text(f"[{number}] assumed: {assumed}", style="dim"), 2)
    for remark in remarks:
        yield Padding.indent(Text(remark, style="dim"), 2)


def _quantities(lines: Sequence[BoundLine]) -> list[str]:
    return list(dict.fromkeys(line.quantity for line in lines))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | str) else math.nan
