"""Every study runs, speaks of claims that exist, and the scoreboard leaves none out."""

import csv
import doctest
import importlib
import math
import time

import pytest
from experiments.errata.page import errata
from experiments.scoreboard import Claim, Ours, Verdict
from omegaconf import OmegaConf

from composed import REPOSITORY
from experiments import scoreboard, study

STUDIES = study.find_studies()
#: Studies that have a yaml, by its name.
YAMLS = {
    path.stem: found
    for path in (REPOSITORY / "conf" / "experiment").glob("*.yaml")
    if (found := OmegaConf.load(path).get("study"))
}
NEED_FILES = {
    *("data_sets", "spect", "accuracy", "threshold_family", "page_blocks", "linear", "sampling"),
    *("splits", "exact", "partial", "family", "answers", "grades"),
    *("table2", "table2_readings", "table3", "proposition8", "calibrated"),
    *("expansions", "statements", "other_readings"),
    *("error_rate", "scenarios", "scored"),
}
#: Files that no manifest has; tests/experiments/test_downloads.py runs these studies on made tables.
NEED_DOWNLOAD = {"fraud": "creditcard.csv", "ultrasound": "busi_features.csv"}
#: Studies on the data sets of libraries that are an extra.
NEED_LIBRARY = {"survival": "sksurv", "choice": "statsmodels"}
RULES = {"mean", "draw", "most", "at most", "all", "none"}


def identifiers(paper):
    return {claim.claim_id for claim in scoreboard.claims(paper)}


@pytest.mark.parametrize("name", ["experiments.scoreboard", "experiments.study", "experiments.sweep", *STUDIES])
def test_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_papers_have_printed_claims_and_questions_of_our_own_have_none():
    own = {paper for paper in scoreboard.papers() if not any(c.source == "printed" for c in scoreboard.claims(paper))}
    assert own == {"which_formulation", "scorecards", "ranking"}
    for paper in own:
        assert {claim.rule for claim in scoreboard.claims(paper)} == {"none"}
    assert {name.split(".")[1] for name in STUDIES} == set(scoreboard.papers())


def test_every_study_has_its_yaml_and_every_yaml_its_study():
    assert sorted(YAMLS.values()) == STUDIES
    assert all(stem == "_".join(found.split(".")[1:]) for stem, found in YAMLS.items())


def marked(name):
    """A study with the mark of the tables that it needs."""
    stem = name.rsplit(".", 1)[1]
    if stem in NEED_FILES:
        return pytest.param(name, marks=pytest.mark.needs_tables)
    return pytest.param(name, marks=pytest.mark.needs_tables(NEED_DOWNLOAD[stem])) if stem in NEED_DOWNLOAD else name


@pytest.mark.slow
@pytest.mark.parametrize("name", [marked(name) for name in STUDIES])
def test_smoke_speaks_of_claims_that_exist(name, record_property):
    pytest.importorskip(NEED_LIBRARY.get(name.rsplit(".", 1)[1], "auclab"), reason="needs auclab[survival]")
    begin = time.perf_counter()
    rows = [row for seed in range(study.count_seeds(name, "smoke")) for row in study.rows_of(name, seed, "smoke")]
    record_property("smoke_seconds", round(time.perf_counter() - begin, 2))
    assert rows
    claimed = {row.claim_id for row in rows if not row.claim_id.startswith(study.VALUE)}
    assert claimed <= identifiers(name.split(".")[1])
    assert not any(math.isnan(row.value) for row in rows)
    keys = [(row.claim_id, row.variant, row.seed) for row in rows]
    assert len(keys) == len(set(keys)), "two values for one claim, variant and seed"


def runs_a_study(command):
    if command[1] == "-m":
        return command[2] in STUDIES
    return command[:3] == ["python", "run.py", "-m"] and command[3].removeprefix("experiment=") in YAMLS


@pytest.mark.parametrize("paper", scoreboard.papers())
def test_every_claim_can_be_judged(paper):
    found = scoreboard.claims(paper)
    assert len({claim.claim_id for claim in found}) == len(found)
    for claim in found:
        assert claim.rule in RULES
        assert claim.source in ("printed", "ours")
        assert not math.isfinite(claim.corrected_value) or claim.erratum
        assert claim.where
        assert claim.what
        if claim.rule == "none":
            assert claim.note
        else:
            assert claim.reason
            assert math.isfinite(claim.value)
            assert claim.tolerance >= 0
        command = claim.command.split()
        assert claim.command == scoreboard.NOT_RUN or runs_a_study(command)


def test_errata_of_claims_exist_and_name_them():
    named = {(erratum.paper, claim, erratum.id) for erratum in errata() for claim in erratum.claims.split()}
    found = [claim for paper in scoreboard.papers() for claim in scoreboard.claims(paper) if claim.erratum]
    assert len(found) > 30
    assert [each.claim_id for each in found if (each.paper, each.claim_id, each.erratum) not in named] == []


@pytest.mark.parametrize("paper", scoreboard.papers())
def test_every_result_has_a_claim_and_its_command(paper):
    assert set(scoreboard.results(study.FOLDER / paper / "results")) <= identifiers(paper)
    for path in (study.FOLDER / paper / "results").glob("*.csv"):
        _, *command = path.read_text(encoding="utf-8").splitlines()[0].split()
        assert command[:3] in (
            ["python", "-m", f"experiments.{paper}.{path.stem}"],
            ["python", "run.py", "-m"],
        )
        assert command[1] == "-m" or command[3] == f"experiment={paper}_{path.stem}"


@pytest.mark.parametrize("paper", scoreboard.papers())
def test_the_table_has_a_row_for_every_claim(paper):
    tables = [scoreboard.table(paper, source).splitlines()[2:] for source in ("printed", "ours")]
    first = [line.split(" | ")[0].removeprefix("| ") for lines in tables for line in lines]
    assert set(first) - {"″"} == identifiers(paper)
    assert sum(scoreboard.counts(paper).values()) == len(identifiers(paper))
    assert (study.FOLDER / paper / "README.md").is_file()


@pytest.fixture(scope="module")
def pages():
    return scoreboard.pages()


@pytest.fixture(scope="module")
def misses():
    return scoreboard.misses()


@pytest.mark.parametrize("place", ["README.md", *(f"{paper}/scoreboard.md" for paper in scoreboard.papers())])
def test_the_page_is_the_one_that_the_files_give(place, pages):
    assert (study.FOLDER / place).read_text(encoding="utf-8") == pages[place]


def test_the_first_page_is_short_and_counts_printed_claims_alone(pages):
    page = pages["README.md"]
    assert len(page) < 40_000
    printed = sum(claim.source == "printed" for paper in scoreboard.papers() for claim in scoreboard.claims(paper))
    assert f"| all | {printed} |" in page


def test_what_differs_most_is_explained(misses):
    largest = [miss for miss in misses if math.isfinite(miss.apart)][: scoreboard.MOST_MISSES]
    statements = [miss for miss in misses if not math.isfinite(miss.apart)]
    unexplained = [miss.claim.claim_id for miss in (*largest, *statements) if scoreboard.explain(miss) is None]
    assert unexplained == []


@pytest.mark.parametrize("paper", scoreboard.papers())
def test_every_explanation_is_of_a_claim_that_differs(paper, misses):
    differ = [miss for miss in misses if miss.paper == paper]
    used = {scoreboard.explain(miss) for miss in differ}
    for row in scoreboard.explanations(paper):
        assert row.status in ("tested", "open")
        assert row.explanation
        assert row in used, f"{row.pattern} explains nothing that differs"


def claim(value, rule, tolerance, note="", **more):
    return Claim("paper", "id", "Table 1", "AUC", value, math.nan, "AUC", "…", rule, tolerance, "reason", note, **more)


def rows(**values):
    return [Ours(variant.replace("_or_", " ").strip("_"), found, "abc", "…") for variant, found in values.items()]


@pytest.mark.parametrize(
    ("value", "rule", "tolerance", "ours", "expected"),
    [
        (0.7, "mean", 0.005, (0.704,), True),
        (0.7, "mean", 0.005, (0.706,), False),
        # mean 0.72, sd 0.0327, standard error 0.0163: 0.02 away is within two of them
        (0.7, "mean", 0.0, (0.68, 0.72, 0.76, 0.72), True),
        # mean 0.75, sd 0.05, standard error 0.0289: two sd reach 0.1 away, two standard errors do not
        (0.66, "draw", 0.0, (0.7, 0.75, 0.8), True),
        (0.66, "mean", 0.0, (0.7, 0.75, 0.8), False),
        (0.05, "at most", 0.0, (0.0, 0.1), True),
        (0.05, "at most", 0.0, (0.1, 0.1), False),
        # 3e-5 above, standard error 5e-5
        (0.0, "at most", 0.0, (0.00008, -0.00002), True),
        (1.0, "all", 0.0, (1.0, 1.0), True),
        (1.0, "all", 0.0, (1.0, 0.0), False),
        # nine of ten: the interval is .596 to .982; seven of ten: .397 to .892
        (1.0, "most", 0.0, (1.0,) * 9 + (0.0,), True),
        (1.0, "most", 0.0, (1.0,) * 7 + (0.0,) * 3, False),
    ],
)
def test_rules(value, rule, tolerance, ours, expected):
    assert scoreboard.fits(claim(value, rule, tolerance), Ours("", ours, "abc", "…")) == expected


def test_the_error_of_a_print_that_is_a_mean_of_runs_counts_too():
    ours = Ours("", (0.7, 0.75, 0.8), "abc", "…")  # standard error .0289, as that of a print over three such runs
    assert not scoreboard.fits(claim(0.68, "mean", 0.0), ours)
    assert scoreboard.fits(claim(0.68, "mean", 0.0, published_seeds=3.0), ours)  # 2 · .0289 · √2 = .0816
    assert not scoreboard.fits(claim(0.66, "mean", 0.0, published_seeds=3.0), ours)


@pytest.mark.parametrize(
    ("found", "more", "expected"),
    [
        (rows(_=(0.7,)), {}, Verdict("reproduced")),
        (rows(_=(0.6,), ties_or_one=(0.7,)), {}, Verdict("reproduced under another reading", "ties one")),
        (rows(_=(0.6,), ties_or_one=(0.5,)), {}, Verdict("differs")),
        (rows(corrected=(0.7,), as_published=(0.6,)), {}, Verdict("reproduced under another reading", "corrected")),
        # a claim about an error of the print: our rows tell the two apart, whichever of them has the printed value
        (rows(corrected=(0.7,), as_published=(0.6,)), {"erratum": "N1"}, Verdict(scoreboard.PRINT_WRONG, "N1")),
        (rows(corrected=(0.6,), as_published=(0.7,)), {"erratum": "N1"}, Verdict(scoreboard.PRINT_WRONG, "N1")),
        (rows(corrected=(0.7,), as_published=(0.7,)), {"erratum": "N1"}, Verdict("reproduced")),
        (rows(corrected=(0.6,), as_published=(0.5,)), {"erratum": "N1"}, Verdict("differs")),
        (rows(_=(0.3,)), {"erratum": "V7", "corrected_value": 0.3}, Verdict(scoreboard.PRINT_WRONG, "V7")),
        (rows(_=(0.4,)), {"erratum": "V7", "corrected_value": 0.3}, Verdict("differs")),
        (rows(_=(0.7,)), {"source": "ours"}, Verdict("ours")),
        (rows(_=(1.0,)), {"rule": "none", "note": "vacuous"}, Verdict("not comparable", "vacuous")),
        ([], {}, Verdict("not run yet")),
    ],
)
def test_verdicts(found, more, expected):
    more = {"value": 0.7, "rule": "mean", "tolerance": 0.005, **more}
    assert scoreboard.verdict(claim(**more), found) == expected


def test_results_are_read_as_written(tmp_path):
    rows = [study.Row("a", 0.1, 0), study.Row("a", 0.3, 1), study.Row("a", 5.0, 0, study.AS_PUBLISHED)]
    study.write(tmp_path / "s.csv", rows, command="python -m experiments.p.s --scale full")
    plain, printed = scoreboard.results(tmp_path)["a"]
    assert plain.values == (0.1, 0.3)
    assert printed.values == (5.0,)
    assert plain.command == "python -m experiments.p.s --scale full"
    with (tmp_path / "s.csv").open(newline="", encoding="utf-8") as file:
        assert [line[0] for line in csv.reader(file)][2:] == ["claim_id", "a", "a", "a"]


def test_the_command_line_prints_and_keeps_nothing_at_smoke_scale(capsys):
    module = importlib.import_module("experiments.ratigan_cowen.formulas")
    before = {path: path.read_bytes() for path in study.FOLDER.rglob("*.csv")}
    study.main(module.run, arguments=["--scale", "smoke"])
    assert "lemma23" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in study.FOLDER.rglob("*.csv")} == before
