"""What may be searched: bounds, lists, tags, and how many settings there are."""

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from auclab.sweeps.search_space import Interval, advice_on, every_setting, size_of, space_of
from auclab.types import AuclabError

LAMBDA = "formulation.penalty=tag(log,interval(1e-4,1))"


def space(*words):
    return space_of(OverridesParser.create().parse_overrides(list(words)))


def test_space_keeps_what_all_jobs_share():
    found, fixed = space("tune=auto", "preprocess=standard,minmax", "tune.folds=range(2,5)", LAMBDA)
    assert fixed == ["tune=auto"]
    assert found == {
        "preprocess": ("standard", "minmax"),
        "tune.folds": ("2", "3", "4"),
        "formulation.penalty": Interval(1e-4, 1.0, log=True),
    }
    assert space("solver.cuts=int(interval(1,9))")[0] == {"solver.cuts": Interval(1, 9, whole=True)}


def test_a_list_of_one_value_is_no_choice():
    assert space("kernel=choice(rbf)", "preprocess=minmax,minmax") == ({}, ["kernel=rbf", "preprocess=minmax"])


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("formulation.penalty=interval(1,0.1)", "the smaller one first"),
        ("formulation.penalty=tag(log,interval(0,1))", "above 0"),
        ("formulation.penalty=tag(lgo,interval(0.1,1))", "the only tag is log"),
        ("formulation.penalty=tag(log,choice(0.1,1))", "for intervals"),
    ],
)
def test_what_means_nothing_is_refused(word, said):
    with pytest.raises(AuclabError, match=said):
        space(word)


def test_wide_bounds_without_a_scale_are_remarked_on():
    (line,) = advice_on(space("formulation.penalty=interval(1e-5,1)")[0])
    assert line.startswith("formulation.penalty: nine of ten proposals in interval(1e-05, 1.0) are above 0.1; ")
    assert "write tag(log,interval(1e-05,1.0))" in line
    assert not list(advice_on(space(LAMBDA)[0]))
    assert not list(advice_on(space("formulation.threshold=interval(-1,0)", "solver.x=interval(0.1,1)")[0]))


def test_settings_of_a_space_with_an_end_are_counted_and_listed():
    found, _ = space("kernel=none,rbf", "solver.cuts=int(interval(1,3))")
    every = list(every_setting(found))
    assert len(every) == size_of(found) == 6
    assert every[:2] == [{"kernel": "none", "solver.cuts": 1}, {"kernel": "none", "solver.cuts": 2}]
    assert size_of(space("kernel=none,rbf", LAMBDA)[0]) is None
