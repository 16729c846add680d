"""The table of γ × λ in docs/kernels.md is that of its results file."""

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_the_file_has(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    script = runpy.run_path(str(ROOT / "benchmarks" / "kernel_tuning.py"))
    rows = script["measured"].read(script["RESULTS"])
    assert {row["data"] for row in rows} == set(script["DATA"])
    content = script["tables"](rows)["tuning"]
    place = f"<!-- begin: {script['PAGE_COMMAND']}, tuning -->\n{content}\n<!-- end -->"
    assert place in (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    assert script["measured"].origin_of(script["RESULTS"])[0] == script["COMMAND"]
