"""Of the selected runs: worst ranked observations, decisions and costs, settings that differ, against plain loops."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab._core.base import AuclabError
from auclab.metrics import ScoredPart
from auclab.metrics.roc import roc_from_sorted
from auclab.runs import write_report
from auclab.runs.report.curves import MOST_ROWS, decisions, worst_rows
from auclab.runs.report.lines import settings_that_differ
from auclab.runs.stored.stored_files import StoredScores
from composed import run_here
from runs.report.browser import CHROMIUM, ask

SCORES = st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=2, max_size=30).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def stored(rows, first=100):
    y, scores = (np.array(column) for column in zip(*rows, strict=True))
    return StoredScores("test", y.astype("int8"), scores.astype(float), np.arange(first, first + len(rows)))


def polygon_of(scores):
    return roc_from_sorted(ScoredPart(scores.y_true, scores.y_score).classes)


@given(SCORES)
def test_worst_rows_are_those_of_all_pairs(rows):
    found = worst_rows(stored(rows))
    for positive in (True, False):
        sign = 1 if positive else -1
        others = [sign * score for label, score in rows if label != positive]
        means = {
            100 + k: np.mean([max(0.0, other - sign * score) for other in others])
            for k, (label, score) in enumerate(rows)
            if label == positive
        }
        listed = [each for each in found if each["positive"] == positive]
        expected = sorted((value for value in means.values() if value > 0), reverse=True)[:MOST_ROWS]
        assert [each["error"] for each in listed] == pytest.approx(expected, rel=1e-2)
        for each in listed:
            assert means[each["row"]] == pytest.approx(each["error"], rel=1e-2)
            score = sign * rows[each["row"] - 100][1]
            wrong = np.mean([(other > score) + 0.5 * (other == score) for other in others])
            assert each["wrong"] == pytest.approx(wrong, abs=1e-4)


@given(SCORES, st.floats(0.01, 0.99), st.floats(0.02, 50.0))
def test_the_cheapest_vertex_is_the_cheapest_of_all_thresholds(tmp_path_factory, rows, share, ratio):
    scores = stored(rows)
    y, values = scores.y_true, scores.y_score
    found = decisions(tmp_path_factory.getbasetemp(), scores, polygon_of(scores))
    assert found["threshold"] is None
    assert found["calibration"] is None

    def cost(level):
        called = values >= level
        return (1 - share) * called[y == 0].mean() + share * ratio * (1 - called[y == 1].mean())

    levels = [np.inf if level is None else level for *_, level in found["cheapest"]]
    assert min(map(cost, levels)) == pytest.approx(min(map(cost, [np.inf, *values])), abs=1e-12)
    for (fpr, tpr, _), level in zip(found["cheapest"], levels, strict=True):
        called = values >= level
        assert [fpr / 1e4, tpr / 1e4] == pytest.approx([called[y == 0].mean(), called[y == 1].mean()], abs=1e-4)


def test_thresholds_of_scores_with_a_common_part_differ(tmp_path):
    scores = stored([(True, 3), (False, 2), (True, 1), (False, 0)])
    scores = StoredScores("test", scores.y_true, 1e9 + 0.05 * scores.y_score, scores.row)
    levels = [level for *_, level in decisions(tmp_path, scores, polygon_of(scores))["cheapest"]]
    assert levels[0] is None
    assert [int((scores.y_score >= level).sum()) for level in levels[1:]] == [1, 3, 4]


def test_infinite_scores_have_no_worst_rows():
    scores = stored([(True, 3), (False, 2)])
    assert worst_rows(StoredScores("test", scores.y_true, np.array([-np.inf, 1.0]), scores.row)) is None


def test_probabilities_and_threshold_are_those_of_the_model(tmp_path):
    scorer = {
        **{"format": "auclab scorer", "version": 1, "columns": [], "terms": [], "intercept": 0.0, "labels": ["0", "1"]},
        "threshold": {"value": 0.0, "rule": "prior"},
        "probability": {"method": "sigmoid", "slope": 0.0, "centre": 0.0, "offset": 0.0},  # ½ for every score
    }
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "scorer.json").write_text(json.dumps(scorer), encoding="utf-8")
    scores = stored([(True, 1), (True, -1), (False, 1), (False, -1), (False, 0)])
    found = decisions(tmp_path, scores, polygon_of(scores))
    assert found["threshold"] == {"value": 0.0, "rule": "prior", "rates": [3333, 5000]}
    assert found["calibration"]["brier"] == 0.25
    groups = found["calibration"]["groups"]
    assert [group[0] for group in groups] == [5000] * 5
    assert sum(group[-1] for group in groups) == 5
    assert sum(group[1] for group in groups) == 20_000  # two of five groups of one
    for _, share, low, high, _ in groups:
        assert low <= share <= high


def test_a_damaged_model_is_said(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "scorer.json").write_text('{"threshold": {}}', encoding="utf-8")
    scores = stored([(True, 1), (False, 0)])
    with pytest.raises(AuclabError, match="damaged"):
        decisions(tmp_path, scores, polygon_of(scores))


def test_settings_that_differ_and_no_others():
    runs = pd.DataFrame(
        {
            "run_id": ["a", "a", "b"],
            "formulation": ["ranksvm", "ranksvm", "csvm"],
            "split.seed": [0, 0, 0],
            "formulation.penalty": [0.1, 0.1, np.nan],
            "tracking.dir": ["x", "x", "y"],
            "test/auc": [0.8, 0.9, 0.7],
            "tag.python": ["3.11", "3.11", "3.12"],
        }
    )
    assert settings_that_differ(runs, {"a": 0, "b": 3}) == {
        "names": ["formulation", "formulation.penalty", "Python"],
        "values": {0: ["ranksvm", "0.1", "3.11"], 3: ["csvm", "", "3.12"]},
    }


SLIDE = """
const text = (id) => document.getElementById(id).textContent;
const words = (nodes) => [...nodes].map((each) => each.textContent);
const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => words(row.cells));
const slide = (id, value) => {
  const each = document.getElementById(id);
  each.value = value;
  each.dispatchEvent(new Event("input"));
};
const start = [text("cost-ratio-text"), text("cost-share-text"), rows("cost-table")];
slide("cost-ratio", 2);
const dear = [text("cost-ratio-text"), rows("cost-table")];
slide("cost-ratio", -2);
const cheap = [text("cost-ratio-text"), rows("cost-table")];
slide("cost-share", -4);
const rare = text("cost-share-text");
document.getElementById("cost-reset").click();
const again = [text("cost-ratio-text"), text("cost-share-text"), rows("cost-table")];
const boxes = [...document.querySelectorAll("input[name=draw]")];
const bands = () => document.querySelectorAll("#roc-plot .band").length;
const several = bands();
for (const each of boxes.slice(1)) if (each.checked) each.click();
return { start, dear, cheap, rare, again, several, alone: bands(), differences: text("differences"),
  worst: document.querySelectorAll("#worst table").length, titles: words(document.querySelectorAll("svg > title")) };
"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_costs_follow_the_sliders(tmp_path):
    place = tmp_path / "mlruns"
    small = ("dataset=artificial", "dataset.n_pos=40", "dataset.n_neg=60", "dataset.n_features=3")
    for number in range(2):
        settings = [f"tracking.dir={place}", "tracking=mlflow", *small, "formulation=ranksvm", "bounds=none"]
        run_here(
            tmp_path / f"out{number}", *settings, f"formulation.penalty={0.1**number}", "decision.probability=sigmoid"
        )
    from auclab.runs import read_runs

    page = write_report(read_runs(place, status=None), tmp_path / "report.html", store_dir=place)
    answer, console = ask(page, SLIDE)
    assert console == []
    assert answer["start"][0] == "1 : 1"
    assert answer["start"][1] == "40 %"
    assert answer["again"] == answer["start"]
    assert (answer["dear"][0], answer["cheap"][0]) == ("100 : 1", "1 : 100")
    rates = {name: [row[3] for row in answer[name][-1]] for name in ("dear", "cheap")}
    shares = {name: [float(text.split()[0]) for text in each] for name, each in rates.items()}
    assert all(dear >= cheap for dear, cheap in zip(shares["dear"], shares["cheap"], strict=True))
    assert answer["rare"].startswith("0.0")
    assert (answer["several"], answer["alone"], answer["worst"]) == (0, 1, 1)
    assert answer["differences"] == "Select two runs or more to see in which settings they differ."
    assert "Probabilities against outcomes" in answer["titles"]


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_constant_scorer_has_ties_and_no_worst_rows(tmp_path):
    place = tmp_path / "mlruns"
    small = ("dataset=artificial", "dataset.n_pos=40", "dataset.n_neg=60", "dataset.n_features=3", "bounds=none")
    run_here(tmp_path / "out", f"tracking.dir={place}", "tracking=mlflow", *small, "formulation=csvm",
             "formulation.penalty=1e6", "solver=newton")  # fmt: skip
    from auclab.runs import read_runs

    page = write_report(read_runs(place, status=None), tmp_path / "report.html", store_dir=place)
    answer, console = ask(page, "return document.getElementById('worst').textContent;")
    assert console == []
    assert answer.endswith("(test part): every pair is tied")
