"""Measured numbers of the pages are those of their results files, which say where they come from.

A page has a table between ``<!-- begin: SCRIPT --page, NAME -->`` and ``<!-- end -->``; SCRIPT makes it from a file
with the command and the origin (commit, versions, machine) in its first two lines (`benchmarks/measured.py`). What the
text around the tables says about the same numbers is made by the function `sentences` of the script.
"""

import doctest
import re
import runpy
import sys
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.lint

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
#: Scripts whose tables stand on a page, and those that make sentences alone, by the name of their module.
SCRIPTS = sorted({*re.findall(r"<!-- begin: benchmarks/(\w+)\.py --page", TEXT)})
#: Results files from before origins were kept; a file that is measured again leaves the list.
WITHOUT_ORIGIN = {
    "docs/all_data_sets/limit.csv",
    "docs/all_data_sets/results.csv",
    "docs/all_data_sets/solvers.csv",
    "docs/papers.csv",  # a table of names
}

#: Columns of shares of samples.
COVERED = ("covered", "beside_covered")
#: Scripts whose file names a commit and no versions.
WITHOUT_VERSIONS = set()


@pytest.fixture(scope="module", autouse=True)
def beside_benchmarks():
    """Scripts import `measured` from their own folder."""
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


@cache
def script_of(name: str):
    return runpy.run_path(str(BENCHMARKS / f"{name}.py"))


def test_there_are_scripts():
    assert len(SCRIPTS) > 12


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_page_shows_what_the_file_has(name):
    script = script_of(name)
    made = script["tables"](script["measured"].read(script["RESULTS"]))
    for table, content in made.items():
        place = f"<!-- begin: {script['PAGE_COMMAND']}, {table} -->\n{content}\n<!-- end -->"
        assert place in TEXT, f"run python {script['PAGE_COMMAND']}"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_text_says_what_the_file_has(name):
    script = script_of(name)
    if "sentences" in script:
        page = " ".join(script["PAGE"].read_text(encoding="utf-8").split())
        for sentence in script["sentences"](script["measured"].read(script["RESULTS"])):
            assert " ".join(sentence.split()) in page, script["PAGE"].name


def test_every_share_of_the_page_on_doubts_is_in_a_file():
    page = ROOT / "docs" / "when_not_to_believe.md"
    text, known = page.read_text(encoding="utf-8"), set()
    for name in sorted(set(re.findall(r"\]\(([\w/]+\.csv)\)", text)) - {"all_data_sets/results.csv"}):
        rows = script_of("more_coverage")["measured"].read(page.parent / name)
        known |= {f"{100 * float(row[key]):.1f}" for row in rows for key in COVERED if key in row}
        shares = {}
        for row in rows if "vacuous" in rows[0] else ():
            shares.setdefault(row["bound"], []).append(float(row["vacuous"]))
        known |= {f"{100 * sum(each) / len(each):.1f}" for each in shares.values()}
    named = set(re.findall(r"(\d+\.\d) %", text))
    assert len(named) > 25
    assert named <= known


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_file_says_how_and_from_what_it_was_made(name):
    script = script_of(name)
    command, origin = script["measured"].origin_of(script["RESULTS"])
    assert command == script["COMMAND"]
    assert name in WITHOUT_VERSIONS or re.match(
        r"commit [0-9a-f]{7,}(\+changes)?; Python 3\.\d+\.\d+, numpy .*; \S+, \d+ CPUs, threads \w+(, load [\d.]+)?$",
        origin,
    )


def test_every_results_file_of_the_pages_has_an_origin_or_is_listed():
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.csv")}
    bare = {name for name in files if not (ROOT / name).read_text(encoding="utf-8").startswith("# ")}
    assert bare == WITHOUT_ORIGIN & files


def test_functions_of_measured():
    import measured

    assert doctest.testmod(measured).failed == 0
    page = "a\n<!-- begin: x --page, t -->\nold\n<!-- end -->\nb\n"
    assert measured.filled(page, "x --page", {"t": "new"}) == page.replace("old", "new")
    with pytest.raises(ValueError, match="no place for a table"):
        measured.filled(page, "y --page", {"t": "new"})


def test_a_results_file_is_read_as_written(tmp_path):
    import measured

    path = tmp_path / "found.csv"
    with measured.writer(path, "python x.py", ("rows", "seconds"), [{"rows": "1", "seconds": "0.1"}]) as keep:
        keep({"rows": 2, "seconds": 1 / 3})
    assert measured.read(path) == [{"rows": "1", "seconds": "0.1"}, {"rows": "2", "seconds": "0.3333333333"}]
    command, origin = measured.origin_of(path)
    assert command == "python x.py"
    assert origin.startswith("commit ")
