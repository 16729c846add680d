"""Tables with groups, grades and times: what is read of them, what is refused, and how their rows are split."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from auclab._core.base import AuclabError
from auclab.datasets.file import load_file
from auclab.datasets.records import Dataset, part_sha256
from auclab.datasets.splits import Grouped, Timed, holdout, inner_folds, kfold, repeated, split_rows
from auclab.datasets.target import Target
from ranked_tables import patients, queries


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("ranked")
    queries().to_csv(place / "queries.csv", index=False)
    patients().to_csv(place / "patients.csv", index=False)
    return place


def test_columns_with_a_role_are_no_features(folder):
    table = queries()
    dataset = load_file(folder / "queries.csv", "click", group="query", drop=["relevance"])
    assert list(dataset.X) == ["a", "b", "c", "level", "kind"]
    assert dataset.target.kind == "groups"
    assert dataset.target.groups.tolist() == table["query"].tolist()
    assert dataset.column("relevance").tolist() == table["relevance"].astype(str).tolist()
    pairs = sum((part["click"] == 1).sum() * (part["click"] == 0).sum() for _, part in table.groupby("query"))
    assert dataset.target.pairs.n_pairs == pairs
    assert dataset.census == f"55 positive, 105 negative; {pairs} pairs within 20 groups are compared"


def test_times_and_events_take_the_place_of_a_target(folder):
    table = patients()
    dataset = load_file(folder / "patients.csv", time="days", event="died", positive="yes", drop="admitted")
    assert list(dataset.X) == ["a", "b", "c", "hospital"]
    assert dataset.y.tolist() == table["days"].tolist()
    assert dataset.target.event.tolist() == (table["died"] == "yes").tolist()
    days, died = table["days"].to_numpy(), (table["died"] == "yes").to_numpy()
    assert dataset.target.pairs.n_pairs == int((died[:, None] & (days[:, None] < days[None, :])).sum())


def test_grades_are_numbers(folder):
    dataset = load_file(folder / "queries.csv", "relevance", graded=True, drop=["click", "query"])
    assert dataset.target.kind == "grades"
    assert dataset.y.dtype == float
    with pytest.raises(AuclabError, match="column 'kind' has 'web' in row 1; a grade is a number"):
        load_file(folder / "queries.csv", "kind", graded=True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"time": "days"}, "dataset.time is given and dataset.event is not"),
        ({"event": "died"}, "dataset.event is given and dataset.time is not"),
        (
            {"time": "days", "event": "died", "target": "a"},
            "ranks rows by their times, and dataset.target",
        ),
        ({"time": "days", "event": "died", "graded": True}, "and dataset.graded=true by a target"),
        ({"time": "days", "event": "days"}, "column 'days' is given as dataset.time and dataset.event"),
        ({"time": "dayz", "event": "died"}, r"time column 'dayz' does not exist \(did you mean 'days'\?\)"),
        (
            {"time": "days", "event": "died", "positive": "yes", "drop": ["died"]},
            "'died' is the event and to be dropped",
        ),
        ({"target": "died", "group": "hospitals", "positive": "yes"}, "group column 'hospitals' does not exist"),
        ({"target": "a", "graded": True, "positive": "1"}, "takes all grades as they are"),
    ],
)
def test_roles_that_do_not_go_together_are_refused(folder, given, said):
    with pytest.raises(AuclabError, match=said):
        load_file(folder / "patients.csv", **given)


def test_missing_groups_and_times_are_refused(tmp_path):
    pd.DataFrame({"a": [1, 2, 3], "g": ["x", None, "y"], "t": [1.0, 2.0, None], "y": [0, 1, 0]}).to_csv(
        tmp_path / "gaps.csv", index=False
    )
    with pytest.raises(AuclabError, match=r"group column 'g' has 1 missing value \(first in row 2\)"):
        load_file(tmp_path / "gaps.csv", "y", group="g")
    with pytest.raises(AuclabError, match=r"time column 't' has 1 missing value \(first in row 3\)"):
        load_file(tmp_path / "gaps.csv", time="t", event="y")


@given(st.integers(0, 2**31), st.integers(6, 30), st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_no_split_cuts_a_group(seed, n_groups, n_folds):
    """Every part holds groups as wholes, and folds hold every row once."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([f"g{k}" for k in range(n_groups)], rng.integers(2, 6, n_groups))
    y = rng.integers(0, 2, groups.size)
    y[np.unique(groups, return_index=True)[1]] = 1
    y[np.unique(groups, return_index=True)[1] + 1] = 0  # every group has a pair
    for target in (Target(y, groups), Target(y, together=groups)):
        folds = kfold(target, n_folds=n_folds, seed=seed % 1000)
        assert sorted(np.concatenate([split.test for split in folds]).tolist()) == list(range(y.size))
        drawn = [*holdout(target, seed=seed % 1000), *repeated(target, n_repeats=2, test_size=0.4, seed=seed % 1000)]
        for split in [*folds, *drawn]:
            assert not set(groups[split.train]) & set(groups[split.test])
            assert len(split.train) + len(split.test) == y.size


@given(st.integers(0, 2**31), st.integers(2, 4))
@settings(max_examples=30, deadline=None)
def test_rows_are_trained_on_before_they_are_tested_on(seed, n_folds):
    """Every training row of a split in time is earlier than every test row; rows of one time are together."""
    rng = np.random.default_rng(seed)
    order = rng.integers(0, 25, 120)
    target = Target(rng.integers(0, 2, 120), order=order)
    for split in [*holdout(target, test_size=0.25), *kfold(target, n_folds=n_folds)]:
        assert order[split.train].max() < order[split.test].min()
    (split,) = holdout(target, test_size=0.25)
    assert len(split.train) + len(split.test) == 120
    with pytest.raises(AuclabError, match="split=time has one hold-out part"):
        repeated(target, n_repeats=2)


def test_a_split_by_customer_keeps_customers_on_inner_folds_too(folder):
    dataset = load_file(folder / "queries.csv", "click", drop=["relevance", "query"])
    splits, target = split_rows(Grouped("query", n_folds=3), dataset)
    assert [split.name for split in splits] == ["fold 0", "fold 1", "fold 2"]
    assert target.is_of_classes
    assert not target.is_plain
    inner = target.take(splits[0].train)
    for split in kfold(inner, n_folds=3):
        assert not set(inner.together[split.train]) & set(inner.together[split.test])
    with pytest.raises(AuclabError, match=r"split.column is 'quary' \(did you mean 'query'\?\)"):
        split_rows(Grouped("quary"), dataset)
    with pytest.raises(AuclabError, match="split=grouped needs the column"):
        split_rows(Grouped(), dataset)


def test_a_split_that_cuts_groups_which_are_compared_is_refused(folder):
    dataset = load_file(folder / "queries.csv", "click", group="query", drop=["relevance"])
    with pytest.raises(AuclabError, match=r"split\.column cuts groups of dataset\.group"):
        split_rows(Grouped("kind"), dataset)
    splits, target = split_rows(Grouped(), dataset)
    assert not set(target.groups[splits[0].train]) & set(target.groups[splits[0].test])


def test_dates_in_text_order_rows(folder):
    """31.01.2020 is before 01.02.2020, though its text is not."""
    dataset = load_file(folder / "patients.csv", "died", "yes", drop=["admitted", "days"])
    (split,), _ = split_rows(Timed("admitted", test_size=0.25), dataset)
    assert split.train.tolist() == list(range(120))
    assert split.test.tolist() == list(range(120, 160))
    with pytest.raises(AuclabError, match="rows are ordered by numbers or by dates of one form"):
        split_rows(Timed("hospital"), dataset)
    with pytest.raises(AuclabError, match="split=time needs the column"):
        split_rows(Timed(), dataset)


def test_a_part_without_a_pair_is_refused():
    late = Target(np.array([5.0, 6.0, 7.0, 8.0, 9.0, 10.0]), event=np.array([True, True, True, True, False, False]))
    in_time = late.split_by(order=np.arange(6))
    with pytest.raises(AuclabError, match="the test part of 2 rows cannot be used: no two rows can be compared"):
        holdout(in_time, test_size=0.3)
    with pytest.raises(AuclabError, match="the test part of 2 rows has one class only"):
        holdout(Target(np.array([0, 1, 0, 1, 1, 1]), order=np.arange(6)), test_size=0.3)
    with pytest.raises(AuclabError, match=r"has one class only; use fewer tune\.folds"):
        inner_folds(Target(np.array([0, 1] * 10), order=np.arange(20)), n_folds=12, seed=0, setting="tune.folds")


def test_every_value_of_a_target_counts_in_the_checksum():
    X, y = np.ones((3, 1)), np.array([1.0, 2.0, 2.5])
    event, groups = np.array([True, False, True]), np.array(["a", "a", "b"])
    targets = [
        Target(y, graded=True), Target(np.array([1.0, 2.0, 2.75]), graded=True), Target(y, groups, True),
        Target(y, np.array(["a", "b", "b"]), True), Target(y, event=event), Target(y, event=~event),
    ]  # fmt: skip
    assert len({part_sha256(X, target) for target in targets}) == 6
    assert part_sha256(X, np.array([0, 1, 1])) == part_sha256(X, Target(np.array([0, 1, 1])))
    sparse = [sp.csr_matrix(X), sp.csr_array(X), sp.csr_array(X + 1.0)]
    assert len({part_sha256(each, np.array([0, 1, 1])) for each in sparse}) == 2


def test_grades_of_the_catalogue_are_read_with_a_word_more(tmp_path):
    from auclab.datasets.published import load_published

    queries().drop(columns=["click", "query", "kind"]).to_csv(tmp_path / "grades.csv", index=False)
    given = {"name": "grades", "file": "grades.csv", "data_dir": tmp_path}
    dataset = load_published(target="relevance", graded=True, **given)
    assert isinstance(dataset, Dataset)
    assert dataset.target.kind == "grades"
    assert load_published(target="relevance", positive=[2, 3], **given).target.is_plain
