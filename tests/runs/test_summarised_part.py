"""Parts whose scores are not held: the numbers of a run from summaries against those from all scores."""

import json

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.runs.split import summarised_part
from auclab.runs.split.measured import HeldPart
from auclab.runs.split.summarised_part import SummarisedPart
from auclab.samples.blocks import open_parquet
from composed import run_here

N_ROWS = 4_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(8)
    y = (rng.random(N_ROWS) < 0.3).astype("int8")
    X = rng.normal(size=(N_ROWS, 4)) + y[:, None] * [0.6, 0.4, 0.0, 0.1]
    X[:, 3] = np.round(X[:, 3])
    place = tmp_path_factory.mktemp("summarised")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_parquet(place / "a.parquet", row_group_size=500, index=False)
    return place


@pytest.mark.slow
def test_a_run_from_summaries_is_that_from_scores(folder, tmp_path, monkeypatch):
    settings = ("dataset=blocks", f"dataset.path={folder}", "dataset.target=y", "solver=newton", "figures=all")
    held = run_here(tmp_path / "held", *settings)
    monkeypatch.setattr(summarised_part, "MOST_HELD", 100)
    monkeypatch.setattr(summarised_part, "N_BINS", 2048)  # about two scores in a bin
    ours = run_here(tmp_path / "ours", *settings)
    assert ours.folds[0].parts["test"].y_score is None
    same = [key for key in held.summary if key.startswith(("train/", "test/"))]
    for key in same:
        assert ours.summary[key] == pytest.approx(held.summary[key], abs=1e-6 if key.endswith("bauc") else 2e-3), key
    for key in ("bound/fixed_scorer_auc", "bound/fixed_scorer_bauc"):
        assert ours.summary[key] == pytest.approx(held.summary[key], abs=1e-3), key
    assert ours.summary["bound/fixed_scorer_bauc"] <= held.summary["bound/fixed_scorer_bauc"] + 1e-12
    kept = [pd.read_parquet(tmp_path / name / "scores.parquet") for name in ("ours", "held")]
    pd.testing.assert_frame_equal(*kept, check_categorical=False)
    decided = [
        json.loads((tmp_path / name / "model" / "scorer.json").read_text(encoding="utf-8"))["threshold"]
        for name in ("ours", "held")
    ]
    assert decided[0]["value"] == pytest.approx(decided[1]["value"], abs=1e-2)
    assert "bins" in decided[0]["chosen_on"]
    for name in ("roc", "ranking_errors", "scores", "roc_train"):
        assert (tmp_path / "ours" / f"{name}.png").stat().st_size > 5_000


def test_limits_and_figures_of_a_part(folder, monkeypatch):
    table, labels = open_parquet(folder, target="y")
    y, w = labels.to_numpy(), np.array([1.0, 0.7, 0.1, 0.2])
    held = HeldPart(y, table @ w + 2.5)
    part = SummarisedPart(y, table, w, 2.5)
    assert (part.n_pos, part.n_neg) == (held.n_pos, held.n_neg)
    assert part.score_range == (held.scores.min(), held.scores.max())
    np.testing.assert_allclose(np.concatenate(list(part.by_block())), held.scores, atol=1e-12)
    for a in (0.0, 0.1, 1.0, 30.0):
        exact = held.hinge(a)
        assert exact - 1e-12 <= part.hinge(a) <= exact + 1e-4
    for metric in ("auc", "bauc", "auc_threshold", "voros"):
        assert part.value(metric) == pytest.approx(held.value(metric), abs=1e-12)
        few = part.for_figures
        assert few.value(metric) == pytest.approx(held.value(metric), abs=2e-3)
    # Every cut counts what lies above it.
    for k in (1, 50, part.cuts.between.size // 2):
        above = held.scores > part.cuts.between[k]
        assert (above[y == 1].sum(), above[y == 0].sum()) == (part.cuts.tp[k], part.cuts.fp[k])
    with pytest.raises(AuclabError, match="soft_auc needs all scores in memory"):
        part.value("soft_auc")
    monkeypatch.setattr(summarised_part, "N_BINS", 128)
    middle = SummarisedPart(y, table, w, 2.5)
    low, high = middle.summary.auc()
    assert middle.value("auc") == pytest.approx(0.5 * (low + high))
    assert middle.value("bauc") == pytest.approx(held.value("bauc"), abs=1e-4)
