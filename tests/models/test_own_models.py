"""The models of docs/own_models.md run, and print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "own_models.md"
BLOCKS = re.findall(r"```(python|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def without_gaps(text):
    return re.sub(r"gap [-+.e\d]+", "gap", text)


@pytest.mark.slow
@pytest.mark.needs_tables("german_credit.csv")
def test_the_page():
    names: dict = {}
    printed = ""
    for kind, text in BLOCKS:
        if kind == "text":
            assert without_gaps(printed) == without_gaps(text)
            assert all(float(gap) <= 1e-6 for gap in re.findall(r"gap ([-+.e\d]+)", printed))
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(text, names)
        printed = out.getvalue()
    assert [kind for kind, _ in BLOCKS].count("text") == 6
