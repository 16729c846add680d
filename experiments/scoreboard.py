"""Published values against ours, a row per claim: ``python -m experiments.scoreboard`` writes experiments/README.md.

Rules that decide a claim (column `rule` of expected.csv, with the tolerance and its reason):

mean      |mean of ours − published| ≤ tolerance + 2 standard errors of ours
draw      the published value is one draw: |mean of ours − published| ≤ tolerance + 2 standard deviations of ours
at most   mean of ours ≤ published + tolerance
all       the statement holds for every seed
none      no value is published
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from experiments.study import FOLDER, VALUE, read

NOT_RUN = "not run yet"


@dataclass(frozen=True)
class Claim:
    """A row of expected.csv; numbers are NaN where none is published."""

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


def papers() -> list[str]:
    """Folders with an expected.csv."""
    return sorted(path.parent.name for path in FOLDER.glob("*/expected.csv"))


def claims(paper: str) -> list[Claim]:
    """Claims of a paper."""
    with (FOLDER / paper / "expected.csv").open(newline="", encoding="utf-8") as file:
        return [_claim(paper, row) for row in csv.DictReader(file)]


def _claim(paper: str, row: dict[str, str]) -> Claim:
    numbers = {key: float(row[key] or "nan") for key in ("value", "published_sd", "tolerance")}
    return Claim(paper=paper, **{**row, **numbers})  # type: ignore[arg-type]


def results(folder: Path) -> dict[str, list[Ours]]:
    """All results of a paper by claim, from the csv files below `folder`, without raw values."""
    found: dict[str, list[Ours]] = {}
    for path in sorted(folder.glob("*.csv")):
        command, origin, rows = read(path)
        commit = origin.split(";")[0].removeprefix("commit ")
        rows = [row for row in rows if not row.claim_id.startswith(VALUE)]
        for key in dict.fromkeys((row.claim_id, row.variant) for row in rows):
            values = tuple(row.value for row in rows if (row.claim_id, row.variant) == key)
            found.setdefault(key[0], []).append(Ours(key[1], values, commit, command))
    return found


def verdict(claim: Claim, ours: Ours | None) -> str:
    """Reproduced, differs, not comparable, or not run yet.

    Examples
    --------
    >>> claim = Claim("p", "auc", "Table 1", "AUC", 0.7, math.nan, "AUC", "…", "mean", 0.005, "rounding", "")
    >>> verdict(claim, Ours("", (0.704,), "abc", "…")), verdict(claim, Ours("", (0.71,), "abc", "…"))
    ('reproduced', '**differs**')
    >>> verdict(claim, None)
    'not run yet'
    """
    if ours is None:
        return f"not comparable: {claim.note}" if claim.note and claim.command == NOT_RUN else NOT_RUN
    if claim.rule == "none":
        return f"measured; {claim.note}"
    slack = {"mean": 2 * ours.standard_error, "draw": 2 * ours.sd}.get(claim.rule, 0.0)
    if claim.rule == "all":
        good = all(value == claim.value for value in ours.values)
    elif claim.rule == "at most":
        good = ours.mean <= claim.value + claim.tolerance
    else:
        # the last digit of a number like .2865 is not a binary number: 1e-12 of rounding is not a difference
        good = abs(ours.mean - claim.value) <= claim.tolerance + slack + 1e-12 * abs(claim.value)
    return "reproduced" if good else "**differs**"


def main(target: Path = FOLDER / "README.md") -> None:
    """Write the page."""
    target.write_text(page(), encoding="utf-8")


def page() -> str:
    """Text of the page."""
    parts = [_HEAD, _summary()]
    for paper in papers():
        parts.append(
            f"## {paper}\n\nProtocol and differences: [{paper}/README.md]({paper}/README.md).\n\n{table(paper)}\n"
        )
    return "\n".join(parts)


def table(paper: str) -> str:
    """A row per claim, and per variant where there are several."""
    found = results(FOLDER / paper / "results")
    lines = [_row(claim, ours) for claim in claims(paper) for ours in found.get(claim.claim_id, [None])]
    return "\n".join([_line(_COLUMNS), _line("---" for _ in _COLUMNS), *map(_line, lines)])


def counts(paper: str) -> dict[str, int]:
    """Number of claims by verdict; a claim with two variants counts by the corrected one."""
    found, tally = results(FOLDER / paper / "results"), dict.fromkeys(_VERDICTS, 0)
    for claim in claims(paper):
        text = verdict(claim, _preferred(found.get(claim.claim_id, []))).replace("*", "")
        tally[next(kind for kind in _VERDICTS if text.startswith(kind))] += 1
    return tally


def _preferred(candidates: Sequence[Ours]) -> Ours | None:
    order = {"corrected": 0, "": 1, "as_published": 2}
    return min(candidates, key=lambda ours: order.get(ours.variant, 3), default=None)


def _summary() -> str:
    rows = [[paper, *(str(count) for count in counts(paper).values())] for paper in papers()]
    head = ["paper", *_VERDICTS]
    return "\n".join([_line(head), _line("---" for _ in head), *map(_line, rows), ""])


def _row(claim: Claim, ours: Ours | None) -> list[str]:
    sd = "" if math.isnan(claim.published_sd) else f" ± {claim.published_sd:g}"
    published = "" if math.isnan(claim.value) else f"{claim.value:.10g}{sd}"
    tolerance = "" if math.isnan(claim.tolerance) else f"{claim.rule}, {claim.tolerance:g}: {claim.reason}"
    start = [claim.claim_id, claim.where, claim.what, f"{published} {claim.unit}".strip()]
    if ours is None:
        return [*start, "", "", tolerance, verdict(claim, None), "", "", claim.command]
    error = f" ± {ours.standard_error:.1g}" if len(ours.values) > 1 else ""
    values = [ours.variant, f"{ours.mean:.6g}{error}", tolerance, verdict(claim, ours), str(len(ours.values))]
    return [*start, *values, ours.commit, f"`{ours.command}`"]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_VERDICTS = ("reproduced", "differs", "measured", "not comparable", NOT_RUN)
_COLUMNS = (
    "claim", "where", "what", "published", "variant", "ours ± standard error", "rule, tolerance and its reason",
    "verdict", "seeds", "commit", "command",
)  # fmt: skip
_HEAD = """# Replication studies

Generated by `python -m experiments.scoreboard` from the files `expected.csv` (published values) and `results/*.csv`
(values measured by auclab). The rule of a claim decides its verdict: *mean*, our mean is within the tolerance and two
standard errors; *draw*, the published value is one draw, within the tolerance and two standard deviations of ours;
*at most*; *all*, the statement holds for every seed. Where a paper needs a correction, a claim has two rows:
`as_published` computes what is printed, `corrected` what it should be; other variants are named in the paper's README.
The counts use the corrected row, or the only one. "measured": no number is published to compare with.
`which_formulation` is not a paper but a study of our own: all its numbers are measured.
"""


if __name__ == "__main__":
    main()
