"""Runs that auclab 0.1 kept: their configurations name functions by old addresses and settings by old names."""

import shutil
from importlib import import_module

import pytest

from auclab.comparison.replay import replay
from auclab.comparison.runs import find_run, read_runs
from auclab.pipeline.stored.stores_of_0_1 import MOVED_TARGETS, update_configuration, update_params
from auclab.types import AuclabError


def as_in_0_1(text):
    """A config.yaml with the addresses of 0.1."""
    for old, new in MOVED_TARGETS.items():
        text = text.replace(f"_target_: {new}\n", f"_target_: {old}\n")
    return text


def test_every_moved_target_is_there_and_its_old_address_is_not():
    for old, new in MOVED_TARGETS.items():
        module, _, name = new.rpartition(".")
        assert callable(getattr(import_module(module), name)), new
        old_module, _, old_name = old.rpartition(".")
        try:
            found = getattr(import_module(old_module), old_name, None)
        except ModuleNotFoundError:
            found = None
        assert found is None, f"{old} is still there: no entry is needed"


@pytest.mark.parametrize("fold", ["holdout", "fold 0"])
def test_a_run_of_0_1_comes_out_the_same_again(store, tmp_path, fold):
    runs = read_runs(store)
    rows = find_run(runs, runs[runs["fold"] == fold]["run_id"].iloc[0]).copy()
    copy = tmp_path / "files"
    shutil.copytree(rows["folder"].iloc[0], copy)
    rows["folder"] = copy
    config = copy / "config.yaml"
    new = config.read_text()
    config.write_text(as_in_0_1(new))
    assert config.read_text() != new
    assert "_target_: auclab.splits." in config.read_text()
    assert replay(rows).same
    config.write_text(new.replace("_target_: auclab.datasets.splits.", "_target_: auclab.elsewhere."))
    with pytest.raises(AuclabError, match=r"auclab\.elsewhere"):
        replay(rows)


def test_renamed_settings_are_read_under_their_new_names():
    old = {"solver": {"name": "highs", "pairs": "dual"}, "metrics": [{"_target_": "auclab.metrics.auc_score"}]}
    new = {"solver": {"name": "highs", "encoding": "dual"}, "metrics": [{"_target_": "auclab.metrics.auc_score"}]}
    assert update_configuration(old) == new
    assert update_configuration(new) == new
    assert update_params({"solver.pairs": "dual", "pairs": "x"}) == {"solver.encoding": "dual", "pairs": "x"}
