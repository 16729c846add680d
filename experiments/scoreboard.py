"""Published values against ours, a row per claim: ``python -m experiments.scoreboard`` writes experiments/README.md.

Rules that decide whether a row fits its claim (column `rule` of expected.csv, with the tolerance and its reason):

mean      |mean of ours − published| ≤ tolerance + 2 standard errors of the difference
draw      the published value is one draw: … ≤ tolerance + 2 standard deviations of a draw less our mean
most      the statement holds in most draws: the 95 % interval of Wilson for its share lies above ½
at most   mean of ours ≤ published + tolerance + 2 standard errors
all       the statement holds for every seed
none      no value is published

The standard error of the difference has ours, and that of the print where it is a mean over finitely many runs: column
`published_seeds` says of how many of our seeds it is the mean.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, stdev

from experiments.study import AGREE, AS_PUBLISHED, CORRECTED, FOLDER, VALUE, read

NOT_RUN = "not run yet"
REPRODUCED, PRINT_WRONG = "reproduced", "print wrong, correction confirmed"
READING, DIFFERS = "reproduced under another reading", "differs"
NOT_COMPARABLE, OURS = "not comparable", "ours"
VERDICTS = (REPRODUCED, PRINT_WRONG, READING, DIFFERS, NOT_COMPARABLE, NOT_RUN, OURS)


@dataclass(frozen=True)
class Claim:
    """A row of expected.csv; numbers are NaN where none is published.

    `source` is "printed" or "ours" (a statement or number that the paper does not have). `erratum` is the identifier in
    errata.csv of the error of the print that the claim is about; `corrected_value`, what should be printed, where one
    row of ours decides between the two.
    """

    paper: str
    claim_id: str
    where: str
    what: str
    value: float
    published_sd: float
    unit: str
    command: str
    rule: str
    tolerance: float
    reason: str
    note: str
    source: str = "printed"
    published_seeds: float = math.nan
    erratum: str = ""
    corrected_value: float = math.nan


@dataclass(frozen=True)
class Ours:
    """The values of one claim in one variant, a value per seed."""

    variant: str
    values: tuple[float, ...]
    commit: str
    command: str

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return fmean(self.values)

    @property
    def sd(self) -> float:
        """Standard deviation over seeds, 0 for one."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return self.sd / math.sqrt(len(self.values))


@dataclass(frozen=True)
class Verdict:
    """One of `VERDICTS`, and the reading under which a claim is reproduced, or why it cannot be compared."""

    kind: str
    detail: str = ""

    def __str__(self) -> str:
        text = f"{self.kind}: {self.detail}" if self.detail else self.kind
        return f"**{text}**" if self.kind == DIFFERS else text


def papers() -> list[str]:
    """Folders with an expected.csv."""
    return sorted(path.parent.name for path in FOLDER.glob("*/expected.csv"))


def claims(paper: str) -> list[Claim]:
    """Claims of a paper."""
    with (FOLDER / paper / "expected.csv").open(newline="", encoding="utf-8") as file:
        return [_claim(paper, row) for row in csv.DictReader(file)]


def _claim(paper: str, row: dict[str, str]) -> Claim:
    names = ("value", "published_sd", "tolerance", "published_seeds", "corrected_value")
    numbers = {key: float(row[key] or "nan") for key in names}
    return Claim(paper=paper, **{**row, **numbers})  # type: ignore[arg-type]


def results(folder: Path) -> dict[str, list[Ours]]:
    """All results of a paper by claim, from the csv files below `folder`, without raw values."""
    found: dict[str, list[Ours]] = {}
    for path in sorted(folder.glob("*.csv")):
        command, origin, rows = read(path)
        commit = origin.split(";")[0].removeprefix("commit ")
        values: dict[tuple[str, str], list[float]] = {}
        for row in rows:
            if not row.claim_id.startswith(VALUE):
                values.setdefault((row.claim_id, row.variant), []).append(row.value)
        for (claim_id, variant), own in values.items():
            found.setdefault(claim_id, []).append(Ours(variant, tuple(own), commit, command))
    return found


@cache
def _results(paper: str) -> dict[str, list[Ours]]:
    return results(FOLDER / paper / "results")


def fits(claim: Claim, ours: Ours, value: float | None = None) -> bool:
    """Whether our values agree with the published one, or with `value`, by the claim's rule.

    Examples
    --------
    >>> claim = Claim("p", "auc", "Table 1", "AUC", 0.7, math.nan, "AUC", "…", "mean", 0.005, "rounding", "")
    >>> fits(claim, Ours("", (0.704,), "abc", "…")), fits(claim, Ours("", (0.71,), "abc", "…"))
    (True, False)
    """
    target = claim.value if value is None else value
    if claim.rule == "all":
        return all(each == target for each in ours.values)
    if claim.rule == "most":
        return wilson(sum(each == target for each in ours.values), len(ours.values))[0] > 0.5
    if claim.rule == "at most":
        return ours.mean <= target + claim.tolerance + 2 * ours.standard_error
    own = ours.sd if claim.rule == "draw" else 0.0
    theirs = 0.0 if math.isnan(claim.published_seeds) else ours.sd / math.sqrt(claim.published_seeds)
    slack = 2 * math.hypot(own, theirs, ours.standard_error)
    # the last digit of a number like .2865 is not a binary number: 1e-12 of rounding is not a difference
    return abs(ours.mean - target) <= claim.tolerance + slack + 1e-12 * abs(target)


def wilson(count: int, size: int) -> tuple[float, float]:
    """Interval of 95 % for a share.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(10, 10)], [round(end, 3) for end in wilson(7, 10)]
    ([0.722, 1.0], [0.397, 0.892])
    """
    z = 1.959964
    centre, width = count + z * z / 2, z * math.sqrt(count * (size - count) / size + z * z / 4)
    return (centre - width) / (size + z * z), (centre + width) / (size + z * z)


def verdict(claim: Claim, candidates: Sequence[Ours]) -> Verdict:
    """What the rows of a claim say of the print.

    A claim about an error of the print (`erratum`) has a row of what is printed and one of the correction: if the two
    are told apart, the print is wrong. Else it is reproduced by what is printed, by the plain row, or under another
    reading.

    Examples
    --------
    >>> claim = Claim("p", "auc", "Table 1", "AUC", 0.7, math.nan, "AUC", "…", "mean", 0.005, "rounding", "")
    >>> plain, tied = Ours("", (0.6,), "abc", "…"), Ours("ties one", (0.7,), "abc", "…")
    >>> str(verdict(claim, [plain])), str(verdict(claim, [plain, tied]))
    ('**differs**', 'reproduced under another reading: ties one')
    >>> str(verdict(claim, []))
    'not run yet'
    """
    if claim.source == "ours":
        return Verdict(OURS, "" if candidates else NOT_RUN)
    if not candidates:
        return Verdict(NOT_COMPARABLE, claim.note) if claim.command == NOT_RUN and claim.note else Verdict(NOT_RUN)
    by_variant = {ours.variant: fits(claim, ours) for ours in candidates}
    if claim.erratum and _print_is_wrong(claim, candidates, by_variant):
        return Verdict(PRINT_WRONG, claim.erratum)
    if by_variant.get(AS_PUBLISHED) or by_variant.get(AGREE):
        return Verdict(REPRODUCED)
    others = [variant for variant, good in by_variant.items() if good]
    return Verdict(READING, ", or ".join(sorted(others))) if others else Verdict(DIFFERS)


def _print_is_wrong(claim: Claim, candidates: Sequence[Ours], by_variant: dict[str, bool]) -> bool:
    if not math.isnan(claim.corrected_value):
        plain = next(ours for ours in candidates if ours.variant in (CORRECTED, AGREE))
        return fits(claim, plain, claim.corrected_value) and not fits(claim, plain)
    printed = by_variant.get(AS_PUBLISHED)
    if printed is None:
        return False
    return not printed if CORRECTED not in by_variant else printed != by_variant[CORRECTED]


def main(target: Path = FOLDER / "README.md") -> None:
    """Write the page."""
    target.write_text(page(), encoding="utf-8")


def page() -> str:
    """Text of the page."""
    _results.cache_clear()
    parts = [_HEAD.format(printed=_printed_count()), _summary(), _misses()]
    for paper in papers():
        parts.append(
            f"## {paper}\n\nProtocol and differences: [{paper}/README.md]({paper}/README.md).\n\n{table(paper)}\n"
        )
    return "\n".join(parts)


def table(paper: str) -> str:
    """A row per claim, and per variant where there are several; the verdict is that of the claim, in its first row."""
    lines = [line for claim in claims(paper) for line in _rows(claim, _results(paper).get(claim.claim_id, []))]
    return "\n".join([_line(_COLUMNS), _line("---" for _ in _COLUMNS), *map(_line, lines)])


def counts(paper: str) -> dict[str, int]:
    """Number of claims by verdict."""
    tally = dict.fromkeys(VERDICTS, 0)
    for claim in claims(paper):
        tally[verdict(claim, _results(paper).get(claim.claim_id, [])).kind] += 1
    return tally


def _printed_count() -> int:
    return sum(claim.source == "printed" for paper in papers() for claim in claims(paper))


def _summary() -> str:
    found = {paper: counts(paper) for paper in papers()}
    found["all"] = {kind: sum(tally[kind] for tally in found.values()) for kind in VERDICTS}
    head = ["printed claims of", "claims", *VERDICTS[:-1], "beside them, ours"]
    rows = [
        [paper, str(sum(tally.values()) - tally[OURS]), *(str(tally[kind]) for kind in VERDICTS)]
        for paper, tally in found.items()
    ]
    return "\n".join([_line(head), _line("---" for _ in head), *map(_line, rows), ""])


def _misses(most: int = 20) -> str:
    """The claims that differ by most of what their rule allows, numbers only."""
    found = []
    for paper in papers():
        for claim in claims(paper):
            candidates = _results(paper).get(claim.claim_id, [])
            if claim.rule not in ("mean", "draw") or verdict(claim, candidates).kind != DIFFERS:
                continue
            best = min(candidates, key=lambda ours: abs(ours.mean - claim.value))
            found.append((abs(best.mean / claim.value - 1) if claim.value else math.inf, paper, claim, best))
    found.sort(key=lambda each: -each[0])
    lines = [
        [f"{paper} {claim.claim_id}", f"{claim.value:g}", f"{ours.mean:.4g} {ours.variant}".strip(), f"{gap:.0%}"]
        for gap, paper, claim, ours in found[:most]
    ]
    head = ["claim", "printed", "ours, nearest reading", "apart"]
    title = f"The {len(lines)} largest relative differences of numbers that differ (reasons: the papers' pages):\n"
    return "\n".join([title, _line(head), _line("---" for _ in head), *map(_line, lines), ""])


def _rows(claim: Claim, candidates: Sequence[Ours]) -> list[list[str]]:
    sd = "" if math.isnan(claim.published_sd) else f" ± {claim.published_sd:g}"
    published = "" if math.isnan(claim.value) else f"{claim.value:.10g}{sd}"
    tolerance = "" if math.isnan(claim.tolerance) else f"{claim.rule}, {claim.tolerance:g}: {claim.reason}"
    start = [claim.claim_id, claim.where, claim.what, f"{published} {claim.unit}".strip()]
    text = str(verdict(claim, candidates))
    if claim.source == "ours" and claim.note:
        text = f"{text}; {claim.note}"
    if not candidates:
        return [[*start, "", "", "", tolerance, text, "", "", claim.command]]
    lines = []
    for ours in candidates:
        error = f" ± {ours.standard_error:.1g}" if len(ours.values) > 1 else ""
        good = "" if claim.rule == "none" else ("yes" if fits(claim, ours) else "no")
        values = [ours.variant, f"{ours.mean:.6g}{error}", good, tolerance, text, str(len(ours.values))]
        lines.append([*start, *values, ours.commit, f"`{ours.command}`"])
        text = "″"
    return lines


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_COLUMNS = (
    "claim", "where", "what", "published", "variant", "ours ± standard error", "fits", "rule, tolerance and its reason",
    "verdict", "seeds", "commit", "command",
)  # fmt: skip
_HEAD = """# Replication studies

Generated by `python -m experiments.scoreboard` from the files `expected.csv` (published values) and `results/*.csv`
(values measured by auclab). The head counts the {printed} claims that are printed; what is ours beside them is counted
in the last column. A row fits by the rule of its claim: *mean*, our mean is within the tolerance and two standard
errors of the difference, the print's own counted where it is a mean over a stated number of runs; *draw*, the published
value is one draw, within the tolerance and two standard deviations; *most*, the statement holds in most draws (the 95 %
interval of its share is above ½); *at most*, up to two standard errors; *all*, the statement holds for every seed.

Verdicts: **reproduced**, by what is printed; **print wrong, correction confirmed**, our rows tell what is printed from
what should be, and the [erratum](../docs/errata.md) is named; **reproduced under another reading**, which is named: the
paper leaves it open, or says otherwise (several readings are several chances to fit); **differs**; **not comparable**,
data or software are not here. Variants: `as_published` computes what is printed, `corrected` what it should be; others
are named in the paper's README. `scorecards` and `which_formulation` are not papers but studies of our own.
"""


if __name__ == "__main__":
    main()
