"""Coefficients of stored splits, by column."""

import math

import pytest

from auclab._core.base import AuclabError
from auclab.runs.compare.run_screen import read_effects

HEAD = "feature,coefficient,column,value,effect,share\n"


def split(folder, *lines):
    folder.mkdir()
    (folder / "coefficients.csv").write_text(HEAD + "".join(lines) + "(intercept),0.0,,,1.5,\n", encoding="utf-8")
    return folder


def test_means_over_splits_the_largest_share_first(tmp_path):
    one = split(tmp_path / "fold_0", "age,1,age,,-0.25,0.25\n", "a,1,plan,a,0.5,0.75\n", "b,1,plan,b,-2.0,0.75\n")
    two = split(tmp_path / "fold_1", "age,1,age,,-0.75,0.5\n", "a,1,plan,a,1.5,0.5\n")
    plan, age = read_effects([one, two])
    assert (plan.column, plan.share, plan.direction) == ("plan", 0.625, 0)
    assert plan.effects == {"a": 1.0, "b": -2.0}
    assert plan.text == "b -2, a +1"
    assert age.deviation == pytest.approx(math.sqrt(2) * 0.125)
    assert (age.text, age.direction) == ("-0.5 per unit", -1)
    assert math.isnan(read_effects([one])[0].deviation)


def test_runs_without_them_and_damaged_files(tmp_path):
    assert read_effects([tmp_path]) == []
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    (earlier / "coefficients.csv").write_text("feature,coefficient\nx,1.0\n(intercept),0.0\n", encoding="utf-8")
    assert read_effects([earlier]) == []
    with pytest.raises(AuclabError, match="is damaged"):
        read_effects([split(tmp_path / "damaged", "age,1,age,,much,0.25\n")])
