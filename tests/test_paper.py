"""Numbers of paper/paper.md, and those that the README and the first page share with it, are those of the results.

Every source that the paper cites is in paper/paper.bib.
"""

import re
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.lint

ROOT = Path(__file__).parents[1]
PAPER, README, FIRST = (
    " ".join((ROOT / name).read_text(encoding="utf-8").split())
    for name in ("paper/paper.md", "README.md", "docs/index.md")
)


def read(path: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "docs" / path, comment="#")


@pytest.fixture(scope="module")
def user_code() -> pd.DataFrame:
    return read("solvers/user_code.csv").set_index(["problem", "method"])


def ratio(table: pd.DataFrame, problem: str) -> float:
    return float(table.loc[(problem, "newton"), "seconds"] / table.loc[(problem, "L-BFGS-B"), "seconds"])


def test_times_and_gaps(user_code):
    large, scaled, small = "artificial 10⁶ + 10⁶ × 10", "artificial 10⁴, columns × 10^(−3…3)", "ionosphere × 1"
    newton, plain = user_code.loc[(large, "newton")], user_code.loc[(scaled, "L-BFGS-B")]
    gap = (newton["objective"] - newton["lower_bound"]) / newton["objective"]
    assert f"{ratio(user_code, large):.2f} times as long as L-BFGS-B" in PAPER
    assert f"takes {ratio(user_code, large):.2f} of the time of SciPy's L-BFGS-B" in FIRST
    assert f"relative gap of {gap:.0e}" in PAPER
    above = plain["objective"] / user_code.loc[(scaled, "newton"), "objective"] - 1.0
    assert above > 0.1
    assert "L-BFGS-B stops far above the optimum, unless they are rescaled first" in PAPER
    pairs = user_code.loc[(small, "newton"), "pairs"]
    assert f"takes {ratio(user_code, small):.1f} times as long for {pairs:,.0f} pairs" in PAPER


def test_data_sets():
    results = read("all_data_sets/results.csv")
    auto = results[results["solver"] == "auto"]
    sets, formulations = auto["data_set"].nunique(), auto["formulation"].nunique()
    certified = (auto["status"] == "optimal").sum()
    assert (
        f"Of {len(auto):,} combinations of {sets} data sets and {formulations} formulations, {certified:,} are" in PAPER
    )
    assert f"within {auto['limit'].max():.0f} seconds each" in PAPER


def test_blocks():
    row = read("blocks_scale.csv").set_index("rows").loc[10**9]
    assert f"in {row['seconds']:.0f} seconds to a gap of {row['gap']:.1e}" in PAPER
    assert "by two processes" in PAPER
    assert row["workers"] == 2


def test_claims():
    board = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    (defined,) = re.findall(r"(\d+) of them follow", board)
    rows = re.findall(r"^\| all \|(.*)\|$", board, re.MULTILINE)
    claims, reproduced, misprints, reading, differ, not_comparable, left, _ = map(int, rows[0].split("|"))
    assert f"{claims} claims, {reproduced} are reproduced, {reading} are reproduced under another" in README
    assert f"{misprints} are misprints, {differ} differ, and {not_comparable} cannot be compared here" in README
    assert f"of {claims} claims of ten papers, {reproduced} are reproduced and {misprints} are misprints" in FIRST
    assert f"Of {claims} claims of ten papers ({defined} follow from a printed definition)" in PAPER
    assert f"{reproduced} were reproduced, {reading} under" in PAPER
    assert f"{misprints} are misprints" in PAPER
    assert f"{differ} differ, and {not_comparable} cannot be compared" in PAPER
    assert left == 0


def test_ranks():
    board = (ROOT / "experiments" / "which_formulation" / "scoreboard.md").read_text(encoding="utf-8")
    ranks = {
        name: float(value)
        for name, value in re.findall(r"^\| rank\.auc\.(\w+) \|.*? rank \|  \| ([\d.]+) \|", board, re.M)
    }
    assert f"by test AUC ({ranks['ranksvm2']:.2f})" in PAPER
    assert f"logistic regression ({ranks['logistic']:.2f})" in PAPER
    assert f"is last ({ranks['bauc']:.2f})" in PAPER
    assert min(ranks, key=ranks.__getitem__) == "ranksvm2"
    assert max(ranks, key=ranks.__getitem__) == "bauc"


def test_sources():
    cited = set(re.findall(r"@([a-z]+\d{4})", PAPER))
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert cited == known


def test_the_form_of_the_journal():
    """Sections and length that JOSS requires (docs/paper.md of openjournals/joss): 750 to 1,750 words."""
    sections = re.findall(r"^# (.+)$", (ROOT / "paper" / "paper.md").read_text(encoding="utf-8"), re.MULTILINE)
    needed = ["Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"]
    assert [section for section in sections if section in needed] == needed
    assert sections[-2:] == ["AI usage disclosure", "References"]
    body = PAPER.partition("# Summary")[2]
    assert 750 <= len(body.split()) <= 1750
