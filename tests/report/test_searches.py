"""Adaptive searches on the page: a figure and a line each."""

import json
import re

import pytest

from auclab.comparison import read_runs
from auclab.report import write_report
from auclab.report.searches import search_lines
from searched_store import make_search


@pytest.mark.slow
def test_a_search_has_a_figure_and_a_line(tmp_path, monkeypatch):
    parent, ids = make_search(tmp_path, monkeypatch)
    store = tmp_path / "mlruns"
    runs = read_runs(store, status=None)
    (line,) = search_lines(store, runs, {each: number for number, each in enumerate(ids)})
    values = runs.set_index("run_id")["inner/auc"]
    assert line.number == ids.index(values.idxmax())
    assert line.settings == f"formulation.penalty={runs.set_index('run_id')['formulation.penalty'][values.idxmax()]:g}"
    each, best = line.data
    assert [point["mean"] for point in each["points"]] == [values[job] for job in ids[:3]]
    assert best["points"][-1]["mean"] == pytest.approx(values.max(), abs=0)
    page = write_report(runs, tmp_path / "page.html", store_dir=store).read_text(encoding="utf-8")
    section = re.search(r'<section id="searches".*?</section>', page, re.DOTALL)[0]
    assert parent[:8] in section
    assert f"{values.max():.4f}" in section
    data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert [len(each["points"]) for each in data["searches"]] == [3, 3]
