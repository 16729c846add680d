"""A scorecard as an experiment: its items, its card, and the files of the run."""

import json

import numpy as np
import pytest

from auclab import AuclabError
from auclab.runs.config.settings import with_formulation
from auclab.runs.record.artifacts import write_fold
from auclab.runs.stored.stored_files import read_card
from auclab.scorecards import Card
from composed import run_here

FAST = ("bounds=none", "decision.probability=none")
SMALL = (
    "dataset=breast_cancer",
    "formulation.max_items=3",
    "preprocess.max_candidates=6",
    "solver.time_limit=20",
    *FAST,
)


@pytest.mark.slow
def test_the_card_is_that_of_the_training_part_and_its_files_are_written(tmp_path):
    result = run_here(tmp_path / "out", *with_formulation(["formulation=scorecard", *SMALL, "tracking=none"]))
    fold = result.folds[0]
    card = fold.card
    assert card.n_items <= 3
    assert card.classes == ("benign", "malignant")
    assert fold.solution.gap <= 1e-6
    assert sum(total.count for total in card.totals) == len(fold.split.train)
    scores = fold.parts["train"].y_score
    assert (scores == np.rint(scores)).all()
    (tmp_path / "files").mkdir()
    write_fold(fold, tmp_path / "files")
    names = {path.name for path in (tmp_path / "files").iterdir()}
    assert {"card.json", "card.txt", "card.md", "card.tex", "card.html"} <= names
    content = json.loads((tmp_path / "files" / "card.json").read_text(encoding="utf-8"))
    assert Card.from_dict(content) == card
    assert (tmp_path / "files" / "card.txt").read_text(encoding="utf-8") == f"{card}\n"


@pytest.mark.slow
def test_signs_are_by_the_names_of_the_columns(tmp_path):
    words = ["formulation=scorecard", *SMALL, "tracking=none", "+formulation.signs={worst radius: -1}"]
    found = run_here(tmp_path / "out", *with_formulation(words)).folds[0]
    items = [each for each in found.card.items if each.item.name == "worst radius" and each.item.low is not None]
    assert all(each.points <= 0 for each in items if each.item.high is None)


def test_columns_that_are_no_items_are_refused(tmp_path):
    with pytest.raises(AuclabError, match="preprocess=items"):
        run_here(tmp_path / "out", "formulation=scorecard", "preprocess=standard", "tracking=none")


def test_a_file_that_is_no_card_is_refused(tmp_path):
    assert read_card(tmp_path) is None
    (tmp_path / "card.json").write_text('{"items": [{}]}', encoding="utf-8")
    with pytest.raises(AuclabError, match=r"card.json is damaged"):
        read_card(tmp_path)
