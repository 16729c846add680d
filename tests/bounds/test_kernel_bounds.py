"""Bounds of a kernel's scorers without an observed radius: a sample of the benchmark, and the table of its page."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield runpy.run_path(str(ROOT / "benchmarks" / "kernel_bounds.py"))
    sys.path.remove(str(ROOT / "benchmarks"))


def test_the_rings_are_those_that_are_described(script):
    X, y = script["draw"](np.random.default_rng(1), 4000)
    radius = np.linalg.norm(X, axis=1)
    assert y.mean() == pytest.approx(0.4, abs=0.03)
    assert [radius[y == label].mean() for label in (1, 0)] == pytest.approx([1.0, 2.0], abs=0.05)


def test_bounds_of_a_sample_are_below_the_value_on_new_rows(script):
    found = script["one_sample"](0, rows=150, new_rows=2000)
    assert found["gap"] <= 1e-3
    assert found["stability_bound"] < found["margin_bound"] < found["new_bauc"] < 1.0


def test_the_page_shows_what_the_file_has(script):
    rows = script["measured"].read(script["RESULTS"])
    assert len(rows) == script["SAMPLES"]
    assert len({row["new_bauc"] for row in rows}) == len(rows)
    content = script["tables"](rows)["bounds"]
    place = f"<!-- begin: {script['PAGE_COMMAND']}, bounds -->\n{content}\n<!-- end -->"
    assert place in (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    command, origin = script["measured"].origin_of(script["RESULTS"])
    assert command == script["COMMAND"]
    assert origin.startswith("commit ")
