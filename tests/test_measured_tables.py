"""Tables of measured numbers are those of their results files, which say where they come from.

A page has a table between ``<!-- begin: SCRIPT --page, NAME -->`` and ``<!-- end -->``; SCRIPT makes it from a file
with the command and the origin (commit, versions, machine) in its first two lines (`benchmarks/measured.py`).
"""

import doctest
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: Scripts that use `measured`, by the name of their module.
SCRIPTS = (
    "user_code",
    "frontier",
    "kernels_large",
    "check_seconds",
    "metrics",
    "merged_metrics",
    "blocks",
    "blocks_scale",
    "blocks_run",
    "comparing",
)
#: Results files from before origins were kept; a file that is measured again leaves the list.
WITHOUT_ORIGIN = {
    "docs/all_data_sets/limit.csv",
    "docs/all_data_sets/results.csv",
    "docs/all_data_sets/solvers.csv",
    "docs/kernels.csv",
}


@pytest.fixture(scope="module", autouse=True)
def beside_benchmarks():
    """Scripts import `measured` from their own folder."""
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_page_shows_what_the_file_has(name):
    script = runpy.run_path(str(BENCHMARKS / f"{name}.py"))
    made = script["tables"](script["measured"].read(script["RESULTS"]))
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for table, content in made.items():
        place = f"<!-- begin: {script['PAGE_COMMAND']}, {table} -->\n{content}\n<!-- end -->"
        assert place in text, f"run python {script['PAGE_COMMAND']}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_file_says_how_and_from_what_it_was_made(name):
    script = runpy.run_path(str(BENCHMARKS / f"{name}.py"))
    command, origin = script["measured"].origin_of(script["RESULTS"])
    assert command == script["COMMAND"]
    assert re.match(
        r"commit [0-9a-f]{7,}(\+changes)?; Python 3\.\d+\.\d+, numpy .*; \S+, \d+ CPUs, threads \S+$", origin
    )


def test_older_pages_show_what_their_files_have():
    auto = runpy.run_path(str(BENCHMARKS / "auto_selection.py"))
    assert auto["table"](auto["read"](auto["RESULTS"])) in (ROOT / "docs" / "auto_selection.md").read_text("utf-8")
    bands = runpy.run_path(str(BENCHMARKS / "roc_band_coverage.py"))
    types = {"n": int, "covered": float, "width": float}
    table = bands["pd"].DataFrame(bands["measured"].read(bands["RESULTS"])).astype(types)
    assert bands["page"](table) in (ROOT / "docs" / "inference.md").read_text(encoding="utf-8")


def test_every_results_file_of_the_pages_has_an_origin_or_is_listed():
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.csv")}
    bare = {name for name in files if not (ROOT / name).read_text(encoding="utf-8").startswith("# ")}
    assert bare == WITHOUT_ORIGIN & files


def test_every_marked_table_names_a_script_that_is_there():
    for page in PAGES:
        for script in re.findall(r"<!-- begin: (\S+\.py) --page", page.read_text(encoding="utf-8")):
            assert (ROOT / script).is_file(), f"{page.name}: {script}"


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
