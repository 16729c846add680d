"""Thresholds and probabilities of runs on blocks, and what such runs refuse before they make a pass over the rows."""

import json

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.runs.split import decision, summarised_part
from auclab.samples.blocks.engines import number_of_passes, passes_to
from composed import run_here

N_ROWS = 3_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(8)
    y = (rng.random(N_ROWS) < 0.3).astype("int8")
    X = rng.normal(size=(N_ROWS, 3)) + y[:, None] * [0.9, 0.5, 0.0]
    place = tmp_path_factory.mktemp("decided")
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    (place / "blocks").mkdir()
    frame.to_parquet(place / "blocks" / "a.parquet", row_group_size=700, index=False)
    frame.to_parquet(place / "memory.parquet", index=False)
    return place


@pytest.fixture
def summarised(monkeypatch):
    monkeypatch.setattr(summarised_part, "MOST_HELD", 100)


def run_on(folder, out, *settings, of="blocks"):
    path = folder / "blocks" if of == "blocks" else folder / "memory.parquet"
    name = "blocks" if of == "blocks" else "file"
    # A program with one minimiser.
    program = ("formulation=ranksvm", "formulation.squared=true", "formulation.penalty=0.1", "solver.tolerance=1e-9")
    words = (f"dataset={name}", f"dataset.path={path}", "dataset.target=y", "solver=newton", *program, *settings)
    return run_here(out, *words)


@pytest.mark.slow
@pytest.mark.covering(probability=1)
@pytest.mark.parametrize("probability", ["sigmoid", "isotonic"])
def test_probabilities_are_those_of_memory(folder, tmp_path, monkeypatch, probability):
    monkeypatch.setattr(decision, "TOLERANCE", 1e-9)  # of the inner folds
    # A part of the rows would be in the order of the files, and inner folds of others.
    settings = ("split=none", f"decision.probability={probability}", "decision.threshold=[fpr,0.1]", "decision.folds=2")
    ours, theirs = (run_on(folder, tmp_path / of, *settings, of=of).folds[0].decision for of in ("blocks", "memory"))
    assert ours.threshold == pytest.approx(theirs.threshold, abs=1e-3)
    assert (ours.rule, ours.source) == (theirs.rule, theirs.source)
    numbers = {key: value for key, value in theirs.probability.items() if key not in ("method", "calibrated_on")}
    for key, value in numbers.items():
        np.testing.assert_allclose(np.asarray(ours.probability[key], float), np.asarray(value, float), atol=3e-3)
    assert ours.probability["method"] == theirs.probability["method"] == probability
    assert (tmp_path / "blocks" / "model" / "scorer.json").exists()
    stored = json.loads((tmp_path / "blocks" / "model" / "scorer.json").read_text(encoding="utf-8"))
    assert stored["probability"]["calibrated_on"] == "out-of-fold scores of the training part, 2 folds"


RULES = ["prior", "[cost,1,5]", "[fpr,0.05]"]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_thresholds_are_those_of_memory(folder, tmp_path, rule):
    settings = (f"decision.threshold={rule}", "decision.probability=none")
    ours, theirs = (run_on(folder, tmp_path / of, *settings, of=of).folds[0].decision for of in ("blocks", "memory"))
    assert ours.threshold == pytest.approx(theirs.threshold, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [*(pytest.param(rule, marks=pytest.mark.weekly) for rule in RULES[:-1]), RULES[-1]])
def test_thresholds_from_a_summary_are_near(folder, tmp_path, rule, summarised):
    """Rates of the training part, by the rule, differ by the rows of a bin."""
    settings = (f"decision.threshold={rule}", "decision.probability=none", "split=none")
    fold = run_on(folder, tmp_path / "blocks", *settings).folds[0]
    held = run_on(folder, tmp_path / "memory", *settings, of="memory").folds[0]
    assert fold.parts["train"].y_score is None
    assert "bins" in fold.decision.source
    y, scores = held.parts["train"].y_true, held.parts["train"].y_score
    for k in (0, 1):
        ours, theirs = (float((scores[y == k] > each.decision.threshold).mean()) for each in (fold, held))
        assert ours == pytest.approx(theirs, abs=2e-3)
    if "fpr" in rule:
        assert (scores[y == 0] > fold.decision.threshold).mean() <= 0.05


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (("decision.probability=sigmoid",), "use decision.probability=none"),
        (("decision.probability=isotonic",), "use decision.probability=none"),
        (("metrics=[auc,soft_auc]",), "soft_auc needs all scores in memory"),
    ],
)
def test_what_a_summarised_part_lacks_is_refused_first(folder, tmp_path, summarised, settings, reason):
    assert_refused(folder, tmp_path, settings, reason)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (("formulation=logistic",), "is fitted by another library, which needs all rows in memory"),
        (("formulation=exact_auc", "solver=auto"), "every solver of exact_auc with these parameters does"),
        (("formulation=ecsvm", "formulation.threshold=0.1", "solver=auto"), "every solver of ecsvm with these"),
        (("solver=clarabel", "formulation=ranksvm"), "use solver=cutting_plane or solver=newton"),
        (("kernel=rbf",), "a kernel needs its rows in memory"),
    ],
    ids=str,
)
def test_what_needs_all_rows_is_refused_first(folder, tmp_path, settings, reason):
    assert_refused(folder, tmp_path, settings, reason)


def assert_refused(folder, tmp_path, settings, reason):
    words = ("dataset=blocks", f"dataset.path={folder / 'blocks'}", "dataset.target=y", *settings)
    with passes_to(lambda progress: None):
        with pytest.raises(AuclabError, match=reason):
            run_here(tmp_path, *words)
        assert number_of_passes() == 0
