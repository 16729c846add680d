"""Words of a list may stand on both sides of an option."""

import pytest

from auclab.cli import frontier, main


def test_settings_stand_before_and_after_options(monkeypatch):
    seen = []
    monkeypatch.setattr(frontier, "frontier", lambda parsed: seen.append(parsed.settings) or 0)
    with pytest.raises(SystemExit):
        main.main(["frontier", "dataset=ionosphere", "--points", "3", "dataset.target=y"])
    assert seen == [["dataset=ionosphere", "dataset.target=y"]]


def test_an_option_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main.main(["frontier", "dataset=ionosphere", "--nothing", "3", "dataset.target=y"])
    assert ended.value.code == 2
    assert "--nothing" in capsys.readouterr().err
