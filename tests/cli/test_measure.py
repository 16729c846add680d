"""`auclab measure` on files as they come: what it prints, writes and refuses."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auclab import measure
from auclab.cli.main import main


@pytest.fixture
def scores(tmp_path, monkeypatch):
    """A csv of two models' scores, three rows of each patient."""
    rng, n = np.random.default_rng(0), 120
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "patient": [f"p{k // 3}" for k in range(n)],
            "ill": np.where(y == 1, "yes", "no"),
            "model": (1 / (1 + np.exp(-(rng.normal(size=n) + y)))).round(6),
            "radiologist": (rng.normal(size=n) + 0.5 * y).round(6),
            "days": rng.exponential(100, n).round(),
            "died": rng.integers(0, 2, n),
        }
    )
    monkeypatch.chdir(tmp_path)
    frame.to_csv("scores.csv", index=False)
    return frame


def call(capsys, *words, file="scores.csv"):
    with pytest.raises(SystemExit) as end:
        main(["measure", file, *words])
    printed = capsys.readouterr()
    return end.value.code, printed.out + printed.err


@pytest.mark.slow
def test_two_models_on_patients(scores, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    words = ["--target", "ill", "--positive", "yes", "--score", "model,radiologist", "--cluster", "patient"]
    code, text = call(capsys, *words, "--plot", "roc.png", "--out", "table.csv")
    assert code == 0, text
    expected = measure(
        (scores["ill"] == "yes").astype(int), scores[["model", "radiologist"]], clusters=scores["patient"]
    )
    assert "in 40 clusters" in text
    for line in expected.to_text().drop(columns=["n", "events"]).to_numpy().tolist():
        assert "".join(str(cell) for cell in line).replace(" ", "") in text.replace(" ", "")
    assert text.count("calibrated") == 1
    written = pd.read_csv("table.csv")
    assert written["value"].to_numpy() == pytest.approx(expected.frame()["value"].to_numpy(), abs=1e-12)
    with open("roc.png", "rb") as file:
        assert file.read(4) == b"\x89PNG"


@pytest.mark.slow
def test_page_needs_no_other_file(scores, capsys):
    scores.rename(columns={"radiologist": "<b>radiologist</b>"}).to_csv("scores.csv", index=False)
    words = ["--target", "ill", "--positive", "yes", "--score", "model,<b>radiologist</b>", "--cluster", "patient"]
    code, text = call(capsys, *words, "--out", "page.html")
    assert code == 0, text
    page = Path("page.html").read_text(encoding="utf-8")
    assert "120 of scores.csv in 40 clusters" in page
    assert "logit slope" in page
    assert "data:image/svg+xml;base64," in page
    assert "<b>radiologist" not in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    code, text = call(capsys, "--time", "days", "--event", "died", "--score", "model", "--out", "page.html")
    assert code == 0, text
    assert "svg+xml" not in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_times(scores, capsys):
    code, text = call(capsys, "--time", "days", "--event", "died", "--score", "model")
    assert code == 0, text
    assert f"{int(scores['died'].sum())} events" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--score", "model"], "--target names the column of labels"),
        (["--target", "died", "--positive", "x", "--score", "model"], "label 'x' does not occur"),
        (["--target", "ill", "--positive", "yes", "--score", "modell"], "no column 'modell' (did you mean 'model'?)"),
        (["--target", "ill", "--positive", "yes", "--score", "patient"], "not numbers"),
        (["--time", "days", "--score", "model"], "--time is given and --event is not"),
        (["--time", "days", "--event", "died", "--score", "model", "--plot", "a.png"], "ROC curves of two classes"),
        (["--target", "ill", "--score", "model", "--out", "table.docx"], "has to end in .md"),
    ],
)
def test_refusals(scores, capsys, words, message):
    code, text = call(capsys, *words)
    assert code != 0
    assert message in " ".join(text.split())
    assert "Traceback" not in text


@pytest.mark.slow
def test_a_missing_file_and_missing_scores(scores, capsys):
    scores.loc[3, "model"] = np.nan
    scores.to_csv("scores.csv", index=False)
    code, text = call(capsys, "--target", "ill", "--positive", "yes", "--score", "model")
    assert code == 1
    assert "1 missing scores" in text
    code, text = call(capsys, "--target", "y", "--score", "a", file="absent.csv")
    assert code == 1
    assert "does not exist" in " ".join(text.split())


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([3, 1, 2, 1], [2, 2, 2, 1], "b costs less than a up to the cost share 0.5"),
        ([3, 2, 1, 0], [3, 1, 2, 0], "a costs no more than b at any cost share"),
        ([3, 2, 1, 0], [9, 8, 7, 6], "a and b cost the same at every cost share"),
    ],
)
def test_costs_of_two_scorers(tmp_path, monkeypatch, capsys, first, second, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    frame = pd.DataFrame({"y": [1, 1, 0, 0], "a": first, "b": second})
    pd.concat([frame] * 10).to_csv("scores.csv", index=False)
    code, printed = call(capsys, "--target", "y", "--score", "a,b")
    assert code in (0, None)
    assert words in printed
