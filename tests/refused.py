"""What every mistake in a command has in common: one line is said, nothing is left behind, and the fix in it works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra

from auclab.cli.run import main
from auclab.runs.config.checks import check_data, check_settings
from auclab.runs.config.typed_words import quoted_where_needed
from composed import composed
from typed_mistake import Mistake


def check_refused(one: Mistake, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Type a mistake in the folder of its tables, and then what the answer proposes."""
    before = set(folder.rglob("*"))
    own = () if "tracking=mlflow" in one.words else ("tracking=none",)
    try:
        with pytest.raises(SystemExit) as ended:
            main([*own, *one.words])
    finally:
        GlobalHydra.instance().clear()
    captured = capsys.readouterr()
    assert (ended.value.code, captured.out) == (1, "")
    (line,) = captured.err.splitlines()
    assert line.startswith("error: ")
    assert re.search(one.answer, line), line
    assert set(folder.rglob("*")) == before
    for word in one.fix:
        assert plain(word) in plain(line) or proposals(word) & pieces(line), (word, line)
    if one.mended:
        experiment = composed(quoted_where_needed(one.mended))
        check_settings(experiment)
        if experiment.choices["dataset"] == "file":
            check_data(experiment)


def plain(text: str) -> str:
    """Without quotes, which the shell and the settings need in some places."""
    return text.replace('"', "").replace("'", "")


def pieces(text: str) -> set[str]:
    """Its words, keys and values without the signs around them."""
    return set(re.sub(r"[\[\]();:?=]|,(?= )", " ", plain(text)).split())


def proposals(word: str) -> set[str]:
    """What a message proposes of ``group.key=value``: the key, its last part, or the value."""
    key, _, value = word.partition("=")
    return {key, key.rpartition(".")[2]} | pieces(value)
