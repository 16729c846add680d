"""A study is found by the name of its module, and what is not a study is refused in one line."""

import pytest

from auclab._core.base import AuclabError
from experiments import study


def test_a_study_is_its_module():
    name = "experiments.ratigan_cowen.formulas"
    assert study.load_study(name).__name__ == name


@pytest.mark.parametrize("name", ["experiments.ratigan_cowen.formula", "experiments.nobody_2000.table1"])
def test_an_unknown_name_lists_the_studies(name):
    with pytest.raises(AuclabError, match=rf"no study '{name}'; choose one of .*experiments.ratigan_cowen.formulas"):
        study.load_study(name)


def test_a_module_without_rows_is_no_study():
    with pytest.raises(AuclabError, match=r"experiments\.drawing is not a study"):
        study.count_seeds("experiments.drawing", "full")


def test_a_missing_import_of_a_study_is_not_hidden(tmp_path, monkeypatch):
    (tmp_path / "lacking.py").write_text("import no_such_library\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        study.load_study("lacking")
