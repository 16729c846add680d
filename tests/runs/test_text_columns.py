"""Columns of text whose words become features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from auclab._core.base import AuclabError
from auclab.datasets import inspect_file, preprocess
from auclab.datasets.file import load_file
from auclab.datasets.records import Dataset
from auclab.export.scorer import Scorer
from auclab.export.writers import export_scorer
from auclab.runs import load_model
from auclab.runs.stored.new_rows import predict_file
from auclab.scorecards.card import items
from composed import run_here

HAM = ["meeting", "tomorrow", "home", "dinner", "call", "later"]
SPAM = ["win", "prize", "free", "cash", "claim", "urgent"]


def messages(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    texts = [
        " ".join([*rng.choice(SPAM if spam else HAM, 2), *rng.choice(HAM, 2), f"the word{rng.integers(400)} n{k}"])
        for k, spam in enumerate(y)
    ]
    frame = pd.DataFrame({"message": texts, "size": rng.normal(0, 1, n), "kind": np.where(y, "spam", "ham")})
    frame.loc[3, "message"] = None
    return frame


@pytest.fixture
def path(tmp_path: Path) -> Path:
    messages(300, 0).to_csv(tmp_path / "sms.csv", index=False)
    return tmp_path / "sms.csv"


def test_inspect_proposes_it_and_a_run_refuses_without(path: Path) -> None:
    found = inspect_file(path)
    assert found.command.endswith("dataset.positive=spam 'dataset.text=[message]'")
    assert found.problems == ()
    dataset = load_file(path, "kind", "spam")
    with pytest.raises(AuclabError, match=r"make features of the words with 'dataset.text=\[message\]'"):
        preprocess.standard(dataset)
    with pytest.raises(AuclabError, match=r"column 'mesage' of text does not exist \(did you mean 'message'"):
        load_file(path, "kind", "spam", text=["mesage"])


@pytest.mark.parametrize("kind", ["standard", "minmax", "unit_ball", "none"])
def test_words_that_two_rows_have_are_features(path: Path, kind: str) -> None:
    dataset = load_file(path, "kind", "spam", text=["message"])
    made = getattr(preprocess, kind)(dataset)
    found = made.fit_transform(dataset.frame)
    names = list(made.get_feature_names_out())
    assert {"size", "message: win", "message: the"} <= set(names)
    assert not any(name.startswith("message: n1") for name in names)
    assert found.shape == (300, len(names))
    rows = found.toarray() if sp.issparse(found) else found
    new = made.transform(messages(20, 1)[["message", "size"]])
    assert np.isfinite(rows).all()
    assert new.shape == (20, len(names))
    if kind == "none":
        words = rows[:, [name.startswith("message") for name in names]]
        np.testing.assert_allclose(np.linalg.norm(words[[0, 1, 2, 4]], axis=1), 1.0)
        assert not words[3].any()


def test_no_common_word_and_scorecards_are_refused() -> None:
    X = pd.DataFrame({"message": ["one", "two", "three", None]})
    dataset = Dataset("sms", X, np.array([0, 1, 0, 1]), text=("message",))
    with pytest.raises(AuclabError, match="column 'message' has no word that two rows have"):
        preprocess.standard(dataset).fit(X)
    with pytest.raises(AuclabError, match="preprocess=items has no items for words"):
        items(dataset)


@pytest.mark.slow
def test_a_run_on_words_is_certified_and_predicts(path: Path, tmp_path: Path) -> None:
    run_here(
        tmp_path / "out",
        *("dataset=file", f"dataset.path={path}", "dataset.target=kind", "dataset.positive=spam"),
        *("dataset.text=[message]", "formulation=bauc", "bounds=none", "decision.probability=none", "tracking=none"),
    )
    folder = next((tmp_path / "out").rglob("scorer.json")).parent
    model = load_model(folder)
    scorer = Scorer(Scorer.read(folder).description, model)
    messages(50, 2).to_csv(tmp_path / "new.csv", index=False)
    table = predict_file(scorer, tmp_path / "new.csv").table
    assert (table["label"] == messages(50, 2)["kind"]).mean() > 0.9
    with pytest.raises(AuclabError, match="not a formula over the columns, so that it cannot be exported"):
        export_scorer(scorer, "sql")
