"""Figures drawn from the scores that a run has kept."""

import pytest

from auclab._core.base import AuclabError
from auclab.runs.record.figures import FIGURES, draw_figures
from composed import run_here

SMALL = ("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=2", "bounds=none")


@pytest.mark.slow
def test_a_single_run_in_the_store_keeps_two_figures_and_a_job_none(tmp_path):
    store = f"tracking.dir={tmp_path / 'mlruns'}"
    run_here(tmp_path / "single", *SMALL, "tracking=mlflow", store)
    (kept,) = (tmp_path / "mlruns" / "artifacts").glob("[0-9a-f]*")  # beside the models
    assert {path.name for path in (kept / "artifacts").glob("*.png")} == {"roc.png", "scores.png"}
    run_here(tmp_path / "job", *SMALL, "tracking=mlflow", store, parent="a sweep")
    assert len(list((tmp_path / "mlruns" / "artifacts").rglob("*.png"))) == 2


@pytest.mark.slow
def test_a_run_draws_figures_only_if_they_are_asked_for(tmp_path):
    run_here(tmp_path / "without", *SMALL)
    run_here(tmp_path / "with", *SMALL, "figures=test")
    drawn = {path.name for path in (tmp_path / "with").glob("*.png")}
    assert drawn == {f"{stem}.png" for stem in FIGURES}
    assert not list((tmp_path / "without").glob("*.png"))


@pytest.mark.slow
def test_figures_of_a_kept_run_are_those_that_it_would_have_drawn(tmp_path):
    run_here(tmp_path, *SMALL, "figures=test")
    at_once = {path.name: path.read_bytes() for path in tmp_path.glob("*.png")}
    for name in at_once:
        (tmp_path / name).unlink()
    again = draw_figures(tmp_path, split="holdout")
    assert {path.name: path.read_bytes() for path in again} == at_once


def test_without_scores_there_is_nothing_to_draw(tmp_path):
    with pytest.raises(AuclabError, match=r"scores\.parquet is missing"):
        draw_figures(tmp_path, split="holdout")


@pytest.mark.slow
def test_figures_of_the_training_part(tmp_path):
    run_here(tmp_path, *SMALL, "figures=all")
    for ending in ("", "_train"):
        assert {path.stem for path in tmp_path.glob("*.png")} >= {f"{stem}{ending}" for stem in FIGURES}


def test_a_wrong_word_is_said_before_anything_is_solved(tmp_path):
    with pytest.raises(AuclabError, match="figures is 'some'; it is one of auto, none, test, all"):
        run_here(tmp_path, *SMALL, "figures=some")
