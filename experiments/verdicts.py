"""Published values and ours: claims, results, and the rules that decide what our rows say of the print.

Rules that decide whether a row fits its claim (column `rule` of expected.csv, with the tolerance and its reason):

mean      |mean of ours − published| ≤ tolerance + 2 standard errors of the difference
draw      the published value is one draw: … ≤ tolerance + 2 standard deviations of a draw less our mean
most      the statement holds in most draws: the 95 % interval of Wilson for its share lies above ½
at most   mean of ours ≤ published + tolerance + 2 standard errors
all       the statement holds for every seed
none      no value is published, or none of ours could contradict it, for the reason in the note

The standard error of the difference has ours, and that of the print where it is a mean over finitely many runs: column
`published_seeds` says of how many of our seeds it is the mean.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from experiments.study import AGREE, AS_PUBLISHED, CORRECTED, FOLDER, VALUE, Row, read

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
    """The values of one claim in one variant, a value per seed; `study` is the name of the file of results."""

    variant: str
    values: tuple[float, ...]
    commit: str
    command: str
    study: str = ""

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


@dataclass(frozen=True)
class Judged:
    """A claim with what a study has measured of it, under the reading that the verdict is about."""

    claim: Claim
    measured: Ours
    verdict: Verdict

    @property
    def cells(self) -> tuple[str, ...]:
        """Claim, what is printed, measured, tolerance and verdict, as text."""
        error = f" ± {self.measured.standard_error:.1g}" if len(self.measured.values) > 1 else ""
        printed = "" if math.isnan(self.claim.value) else f"{self.claim.value:.6g}"
        tolerance = f"{self.claim.tolerance:.2g}" if self.claim.tolerance > 0 else ""
        verdict = str(self.verdict).replace("**", "")
        return self.claim.claim_id, printed, f"{self.measured.mean:.6g}{error}", tolerance, verdict


#: Head of the cells of `Judged`.
HEAD = ("claim", "printed", "measured", "tolerance", "verdict")


def judge(paper: str, rows: Sequence[Row]) -> list[Judged]:
    """The claims of a paper on which the rows of a study bear, each with its verdict, in the order of the paper."""
    if paper not in papers():
        return []
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        values.setdefault(row.claim_id, {}).setdefault(row.variant, []).append(row.value)
    found = []
    for claim in claims(paper):
        if of_claim := values.get(claim.claim_id):
            candidates = [Ours(variant, tuple(own), "", "") for variant, own in of_claim.items()]
            judged = verdict(claim, candidates)
            shown = next((each for each in candidates if fits(claim, each)), candidates[-1])
            if judged.kind == PRINT_WRONG:  # what should be printed
                shown = next((each for each in candidates if each.variant == CORRECTED), shown)
            found.append(Judged(claim, shown, judged))
    return found


def counted(judged: Sequence[Judged]) -> str:
    """How many claims have each verdict, such as ``3 reproduced · 1 differs``."""
    kinds = [each.verdict.kind for each in judged]
    return " · ".join(f"{kinds.count(kind)} {kind}" for kind in VERDICTS if kind in kinds)


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
            found.setdefault(claim_id, []).append(Ours(variant, tuple(own), commit, command, path.stem))
    return found


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
    are distinguished, the print is wrong. Else it is reproduced by what is printed, by the plain row, or under another
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
    if claim.rule == "none":  # what is measured could not contradict the print; the note says why
        return Verdict(NOT_COMPARABLE, claim.note)
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
