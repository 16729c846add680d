"""docs/errata.md, and a page for each paper, from experiments/errata.csv: ``python -m experiments.errata.page``."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from experiments.errata import (
    calders_jaroszewicz,
    maurer_pontil,
    norton_uryasev,
    ratigan_cowen,
    vanderlooy_huellermeier,
)
from experiments.errata.counterexample import Counterexample
from experiments.study import FOLDER

CSV = FOLDER / "errata.csv"
DOCS = FOLDER.parent / "docs"
MODULES = (norton_uryasev, vanderlooy_huellermeier, ratigan_cowen, maurer_pontil, calders_jaroszewicz)
TITLES = {
    "norton_uryasev_2018": "Norton & Uryasev 2018",
    "vanderlooy_huellermeier_2008": "Vanderlooy & Hüllermeier 2008",
    "ratigan_cowen": "Ratigan & Cowen 2025",
    "maurer_pontil_2020": "Maurer & Pontil 2020",
    "calders_jaroszewicz_2007": "Calders & Jaroszewicz 2007",
}
#: The section of each derivation.
SECTIONS = {
    "ties": "derivations.md#1-auc-and-ties",
    "bpoe": "derivations.md#2-buffered-probability-of-exceedance",
    "area": "derivations.md#3-buffered-auc",
    "pair metrics": "derivations.md#4-metrics-of-score-differences",
    "voros": "derivations_programs.md#6-voros",
    "programs": "derivations_programs.md#7-programs",
    "equivalence": "derivations_programs.md#7-programs",
    "stability": "derivations_bounds.md#8-bounds-for-buffered-auc",
    "weighted": "derivations_bounds.md#9-bounds-for-weighted-auc",
    "polynomial": "derivations_bounds.md#10-polynomial-auc",
}


@dataclass(frozen=True)
class Erratum:
    """A row of errata.csv; `claims` are identifiers of the paper's expected.csv, separated by blanks."""

    id: str
    paper: str
    place: str
    printed: str
    corrected: str
    counterexample: str
    printed_value: float
    corrected_value: float
    severity: str
    claims: str
    switch: str
    derivation: str


def errata() -> list[Erratum]:
    """All rows; a value is NaN where the print is not defined."""
    with CSV.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = ("printed_value", "corrected_value")
    return [Erratum(**{**row, **{key: float(row[key] or "nan") for key in numbers}}) for row in rows]  # type: ignore[arg-type]


def counterexamples() -> dict[str, Callable[[], Counterexample]]:
    """The functions that compute the counterexamples, by the identifier of the erratum."""
    return {
        name.upper(): function
        for module in MODULES
        for name, function in vars(module).items()
        if re.fullmatch(r"[nvrmc]\d+", name)
    }


def pages() -> dict[str, str]:
    """Text of each page of docs by its name."""
    found = errata()
    of_papers = {paper: [each for each in found if each.paper == paper] for paper in TITLES}
    links = "\n".join(
        f"* [{title}](errata_{paper}.md): {len(of_papers[paper])} ({_counts(of_papers[paper])})"
        for paper, title in TITLES.items()
    )
    names = "\n".join(f"errata_{paper}" for paper in TITLES)
    head = _HEAD.format(count=len(found), counts=_counts(found), links=links, names=names)
    return {"errata.md": head} | {
        f"errata_{paper}.md": _page(title, of_papers[paper]) for paper, title in TITLES.items()
    }


def _page(title: str, rows: list[Erratum]) -> str:
    table = [_line(_COLUMNS), _line("---" for _ in _COLUMNS), *(_line(_row(erratum)) for erratum in rows)]
    return "\n".join([f"# Errata: {title}\n", _NOTE, *table, ""])


def _counts(found: list[Erratum]) -> str:
    tally = {severity: sum(erratum.severity == severity for erratum in found) for severity in "ABC"}
    return ", ".join(f"{severity} {count}" for severity, count in tally.items())


def _row(erratum: Erratum) -> list[str]:
    values = [_number(value) for value in (erratum.printed_value, erratum.corrected_value)]
    example = f"{erratum.counterexample}: **{values[0]}** as printed, **{values[1]}** corrected"
    anchor = f'<a id="{erratum.id.lower()}"></a>{erratum.id}'
    return [anchor, erratum.place, erratum.printed, erratum.corrected, example, erratum.severity, _links(erratum)]


def _number(value: float) -> str:
    return "not defined" if math.isnan(value) else f"{value:.6g}"


def _links(erratum: Erratum) -> str:
    module = next(module for module in MODULES if hasattr(module, erratum.id.lower()))
    name = module.__name__.rsplit(".", 1)[1]
    links = [f"[code](../experiments/errata/{name}.py)"]
    if erratum.derivation:
        links.append(f"[derivation]({SECTIONS[erratum.derivation]})")
    if erratum.switch:
        links.append(erratum.switch)
    if erratum.claims:
        claims = ", ".join(f"`{claim}`" for claim in erratum.claims.split())
        links.append(f"[{erratum.paper}](../experiments/{erratum.paper}/scoreboard.md): {claims}")
    return "; ".join(links)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main(folder: Path = DOCS) -> None:
    """Write the pages."""
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


_COLUMNS = ("", "where", "as printed", "corrected", "counterexample", "severity", "code, derivation, switch, claims")
_HEAD = """# Errata

Generated by `python -m experiments.errata.page` from `experiments/errata.csv`. These pages list
{count} formulas, statements and numbers in five papers that are wrong as printed, or unusable in the available text.
Severity **A**: a program that copies the formula gets wrong numbers. **B**: a statement is false or incomplete in cases
that matter. **C**: a misprint or a damaged text ({counts}).

Each erratum has the smallest counterexample that we know, with the printed and the corrected value. A function of the
same name (`n1`, `v1`, …) computes both, and the value by definition: a sum over all pairs, an integral, or a count.
`tests/experiments/test_errata.py` fails if the printed formula takes the place of the corrected one. *Switch* names
the function or option of auclab that computes the printed or the corrected formula. Claims are rows of the
[scoreboard](../experiments/README.md).

{links}

```{{toctree}}
:hidden:

{names}
```
"""
_NOTE = "What the columns are: [errata](errata.md), generated from `experiments/errata.csv`.\n"


if __name__ == "__main__":
    main()
