"""The pages of the scoreboard: ``python -m experiments.scoreboard`` writes them.

experiments/README.md sums up, experiments/<folder>/scoreboard.md has a row per claim. A folder is found by its
expected.csv. Its optional misses.csv explains what differs: a claim (or a pattern such as ``table2.liver.*``), whether
the explanation was ``tested`` or is ``open``, and the explanation. Raw values ``value.tried.<claim>`` of its results
are readings that were tried and are not taken for the paper's; they are listed with the claim.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from experiments.study import FOLDER, VALUE, read
from experiments.verdicts import (
    DIFFERS,
    NOT_COMPARABLE,
    NOT_RUN,
    OURS,
    PRINT_WRONG,
    READING,
    REPRODUCED,
    VERDICTS,
    Claim,
    Ours,
    Verdict,
    claims,
    fits,
    papers,
    results,
    verdict,
    wilson,
)

__all__ = [
    "DIFFERS",
    "NOT_COMPARABLE",
    "NOT_RUN",
    "OURS",
    "PRINT_WRONG",
    "READING",
    "REPRODUCED",
    "VERDICTS",
    "Claim",
    "Explanation",
    "Miss",
    "Ours",
    "Verdict",
    "claims",
    "counts",
    "explain",
    "explanations",
    "fits",
    "main",
    "misses",
    "page",
    "pages",
    "paper_page",
    "papers",
    "results",
    "table",
    "tried",
    "verdict",
    "wilson",
]

#: Prefix of the claim_id of a reading that was tried.
TRIED = f"{VALUE}tried."
MOST_MISSES = 20


@dataclass(frozen=True)
class Explanation:
    """A row of misses.csv: `status` is "tested", if a variant of the protocol was run for it, or "open"."""

    pattern: str
    status: str
    explanation: str


@dataclass(frozen=True)
class Miss:
    """A printed claim that differs, with the reading of ours that comes nearest."""

    paper: str
    claim: Claim
    nearest: Ours

    @property
    def apart(self) -> float:
        """Relative difference of a number; infinite for a statement and for a printed 0."""
        statement = self.claim.rule not in ("mean", "draw")
        return math.inf if statement or not self.claim.value else abs(self.nearest.mean / self.claim.value - 1)


def main(folder: Path = FOLDER) -> None:
    """Write the pages."""
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Text of all pages by their place below experiments/."""
    _results.cache_clear()
    return {"README.md": page(), **{f"{paper}/scoreboard.md": paper_page(paper) for paper in papers()}}


def page() -> str:
    """Text of the first page."""
    return "\n".join(
        [
            _HEAD.format(printed=sum(map(_printed_count, papers())), defined=sum(map(_defined_count, papers()))),
            _summary(),
            *_miss_tables(),
            _ADDING,
        ]
    )


def paper_page(paper: str) -> str:
    """Text of the page of a folder: printed claims, then ours, and the files that they are from."""
    parts = [_PAPER_HEAD.format(title=title(paper))]
    for heading, source in (("Printed claims", "printed"), ("Our own claims", "ours")):
        found = table(paper, source)
        if found:
            parts.append(f"## {heading}\n\n{found}\n")
    return "\n".join([*parts, f"## Files\n\n{_files(paper)}\n"])


def title(paper: str) -> str:
    """The head of a folder's README."""
    with (FOLDER / paper / "README.md").open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


def table(paper: str, source: str) -> str:
    """A row per claim of a source, and per variant where there are several; the first has the claim's verdict."""
    found = [claim for claim in claims(paper) if claim.source == source]
    lines = [line for claim in found for line in _rows(claim, _results(paper).get(claim.claim_id, []))]
    return "\n".join([_line(_COLUMNS), _line("---" for _ in _COLUMNS), *map(_line, lines)]) if lines else ""


def counts(paper: str) -> dict[str, int]:
    """Number of claims by verdict."""
    tally = dict.fromkeys(VERDICTS, 0)
    for claim in claims(paper):
        tally[verdict(claim, _results(paper).get(claim.claim_id, [])).kind] += 1
    return tally


def misses() -> list[Miss]:
    """Printed claims that differ: numbers by their relative difference, the largest first, after the statements."""
    found = []
    for paper in papers():
        for claim in claims(paper):
            candidates = _results(paper).get(claim.claim_id, [])
            if verdict(claim, candidates).kind == DIFFERS:
                found.append(Miss(paper, claim, min(candidates, key=lambda ours: abs(ours.mean - claim.value))))
    return sorted(found, key=lambda miss: -miss.apart)


def explanations(paper: str) -> list[Explanation]:
    """Rows of misses.csv; none without the file."""
    path = FOLDER / paper / "misses.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Explanation(**row) for row in csv.DictReader(file)]


def explain(miss: Miss) -> Explanation | None:
    """The first explanation whose pattern the claim matches."""
    return next((each for each in explanations(miss.paper) if fnmatchcase(miss.claim.claim_id, each.pattern)), None)


def tried(paper: str, claim_id: str) -> list[Ours]:
    """Readings of a claim that were tried and are not candidates for its verdict."""
    return _tried(paper).get(claim_id, [])


@cache
def _results(paper: str) -> dict[str, list[Ours]]:
    return results(FOLDER / paper / "results")


@cache
def _tried(paper: str) -> dict[str, list[Ours]]:
    found: dict[str, list[Ours]] = {}
    for path in sorted((FOLDER / paper / "results").glob("*.csv")):
        command, origin, rows = read(path)
        values: dict[tuple[str, str], list[float]] = {}
        for row in rows:
            if row.claim_id.startswith(TRIED):
                values.setdefault((row.claim_id.removeprefix(TRIED), row.variant), []).append(row.value)
        for (claim_id, variant), own in values.items():
            found.setdefault(claim_id, []).append(Ours(variant, tuple(own), origin, command, path.stem))
    return found


def _printed_count(paper: str) -> int:
    return sum(claim.source == "printed" for claim in claims(paper))


def _defined_count(paper: str) -> int:
    return sum(claim.source == "printed" and "not printed)" in claim.what for claim in claims(paper))


def _summary() -> str:
    found = {f"[{title(paper)}]({paper}/scoreboard.md)": counts(paper) for paper in papers()}
    printed = {name: tally for name, tally in found.items() if sum(tally.values()) > tally[OURS]}
    printed["all"] = {kind: sum(tally[kind] for tally in printed.values()) for kind in VERDICTS}
    head = ["claims of", "claims", *VERDICTS[:-1], "our own claims"]
    rows = [
        [name, str(sum(tally.values()) - tally[OURS]), *(str(tally[kind]) for kind in VERDICTS)]
        for name, tally in printed.items()
    ]
    own = ", ".join(f"{name} ({tally[OURS]} rows)" for name, tally in found.items() if name not in printed)
    return "\n".join([*_table(head, rows), "", f"Our own studies, without published values: {own}.", ""])


def _miss_tables() -> Iterator[str]:
    found = misses()
    numbers = [miss for miss in found if math.isfinite(miss.apart)]
    statements = [miss for miss in found if not math.isfinite(miss.apart)]
    head = ["claim", "printed", "ours, closest reading", "difference", "best explanation", "rejected readings"]
    rows = [_miss_row(miss, f"{miss.apart:.0%}") for miss in numbers[:MOST_MISSES]]
    yield "\n".join([_NUMBERS.format(shown=len(rows), all=len(numbers)), *_table(head, rows), ""])
    head[1:4] = ["statement", "ours, closest reading", "rule"]
    lines = [_miss_row(miss, miss.claim.rule) for miss in statements]
    yield "\n".join([_STATEMENTS.format(count=len(lines)), *_table(head, lines), ""])


def _miss_row(miss: Miss, gap: str) -> list[str]:
    claim, known = miss.claim, explain(miss)
    number = math.isfinite(miss.apart)
    link = f"[{claim.claim_id}]({miss.paper}/scoreboard.md)"
    said = f"{claim.value:g}" if number else claim.what
    why = f"{known.status}: {known.explanation}" if known else "open"
    others = "; ".join(f"{ours.variant} {_mean(ours, 3)}" for ours in tried(miss.paper, claim.claim_id))
    return [link, said, f"{_mean(miss.nearest)} {miss.nearest.variant}".strip(), gap, why, others]


def _mean(ours: Ours, digits: int = 4) -> str:
    error = f" ± {ours.standard_error:.1g}" if len(ours.values) > 1 else ""
    return f"{ours.mean:.{digits}g}{error}"


def _rows(claim: Claim, candidates: list[Ours]) -> list[list[str]]:
    sd = "" if math.isnan(claim.published_sd) else f" ± {claim.published_sd:g}"
    published = "" if math.isnan(claim.value) else f"{claim.value:.10g}{sd}"
    rule = "" if math.isnan(claim.tolerance) else f"{claim.rule}, {claim.tolerance:g}: {claim.reason}"
    text = str(verdict(claim, candidates))
    if claim.source == "ours" and claim.note:
        text = f"{text}; {claim.note}"
    start = [claim.claim_id, claim.where, claim.what, f"{published} {claim.unit}".strip()]
    if not candidates:
        return [[*start, "", "", "", rule, text, "", claim.command]]
    lines = []
    for ours in candidates:
        good = "" if claim.rule == "none" else ("yes" if fits(claim, ours) else "no")
        values = [ours.variant, _mean(ours, 6), good, rule, text, str(len(ours.values)), ours.study]
        lines.append([*start, *values])
        start, rule, text = ["″", "", "", ""], "", ""
    return lines


def _files(paper: str) -> str:
    """A row per file of results: its command, and what it was made with."""
    rows = []
    for path in sorted((FOLDER / paper / "results").glob("*.csv")):
        command, origin, _ = read(path)
        rows.append([f"[{path.stem}](results/{path.name})", f"`{command}`", origin])
    return "\n".join(_table(["from", "command", "made with"], rows))


def _table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    return [_line(head), _line("---" for _ in head), *map(_line, rows)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_COLUMNS = (
    "claim", "where", "what", "published", "variant", "ours ± standard error", "fits", "rule, tolerance and its reason",
    "verdict", "seeds", "from",
)  # fmt: skip
_HEAD = """# Replication studies

Generated by `python -m experiments.scoreboard` from the files `expected.csv` (published values) and `results/*.csv`
(values measured by auclab). The table counts the {printed} claims of the papers by verdict; {defined} of them follow
from a printed definition, and their value is not printed. The last column counts our own claims. The scoreboard of each
paper lists them all.

**Rules.** Each claim has a rule that decides whether the measured value agrees:

* *mean*: our mean differs by at most the tolerance plus two standard errors of the difference. The standard error of
  the published value is included if it is a mean over a stated number of runs.
* *draw*: the published value is a single draw. It differs from our mean by at most the tolerance plus two standard
  deviations.
* *most*: the statement holds in most draws (the 95 % interval of its share is above ½).
* *at most*: the statement holds up to two standard errors.
* *all*: the statement holds for every seed.

**Verdicts.**

* *Reproduced*: our value agrees under the protocol as printed.
* *Print wrong, correction confirmed*: the printed and the corrected formula give different values, and ours agree with
  the corrected one. The [erratum](../docs/errata.md) is named.
* *Reproduced under another reading*: the paper is ambiguous or contradicts itself, and our value agrees under the named
  reading. Several readings are several chances to agree.
* *Differs*: no reading agrees.
* *Not comparable*: data or software are not available.

The variant `as_published` computes the printed formula, and `corrected` the corrected one. The README of each paper
names the other variants.
"""
_NUMBERS = """## Largest differences

The {shown} largest relative differences of the {all} printed numbers that differ. An explanation is *tested* if the
protocol was run with it, and *open* otherwise. The last column lists readings that were run and rejected.
"""
_STATEMENTS = """## Statements that differ

All {count} printed statements, inequalities and zeros that our values contradict.
"""
_PAPER_HEAD = """# {title}: scoreboard

Generated by `python -m experiments.scoreboard`. The [summary](../README.md) explains rules and verdicts, and the
[README](README.md) protocols and variants. ″ marks another variant of the claim above; the verdict is for the claim.
"""
_ADDING = """## Adding a study

Each folder of `experiments/` with an `expected.csv` is a study, and the pages include it automatically. A study needs:

* `README.md`, whose first line is the title, with the protocol, the readings, and the differences from the paper;
* `expected.csv`: one row per claim, with the same columns as in the other folders. Each number has a rule, a tolerance
  and a reason for it. A claim that cannot be judged has the rule `none`; `source` is `printed` or `ours`;
* modules with `run(scale)`, or with `SEEDS` and `run_seed(seed, scale)`, that return the rows ([study.py](study.py)),
  and for each a short file `conf/experiment/FOLDER_MODULE.yaml`;
* `results/*.csv`, which `--scale full` writes. `python -m experiments.scoreboard` then writes the pages;
* if claims differ, `misses.csv` with the columns `pattern,status,explanation`; the status is tested or open.

At scale `smoke` all studies together take less than four minutes. The tests in `tests/experiments` run each of them.
"""


if __name__ == "__main__":
    main()
