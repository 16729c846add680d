"""Runs with an elastic net and a group lasso: groups of nominal columns, tuning, decisions, checks, changed files."""

import math

import numpy as np
import pandas as pd
import pytest

from auclab import AuclabError
from auclab.runs.checking.claims import Verdict
from auclab.runs.checking.command import check_folder
from auclab.runs.config.checks import check_data
from composed import composed, run_here
from tampered_runs import edit_certificate, read_certificate

COMMON = ["bounds=none", "decision.probability=sigmoid", "decision.folds=2", "tune=penalty", "tune.folds=2"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A numeric column that matters, a nominal one that does, and a nominal one of noise, some of it rare."""
    generator = np.random.default_rng(0)
    m = 120
    colour = generator.choice(list("rgb"), m)
    noise = generator.choice(list("uvwxyz"), m, p=[0.4, 0.3, 0.2, 0.06, 0.02, 0.02])
    x = generator.normal(size=m)
    y = (x + 1.5 * (colour == "r") + generator.normal(size=m) > 0.7).astype(int)
    path = tmp_path_factory.mktemp("data") / "data.csv"
    pd.DataFrame({"x": x, "colour": colour, "noise": noise, "y": y}).to_csv(path, index=False)
    return ["dataset=file", f"dataset.path={path}", "dataset.target=y", *COMMON]


@pytest.fixture(scope="module")
def runs(data, tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    settings = {
        "group lasso": ["formulation=group_lasso", "tune.values=[0.01,0.05]"],
        "named groups": ["formulation=group_lasso", "formulation.regulariser.groups=[[x,colour]]", "tune=none"],
        "elastic net": ["formulation=elastic_net", "formulation.loss=squared_hinge", "tune.values=[0.01,0.05]"],
        "points": ["formulation=elastic_net", "formulation.comparisons=points", "formulation.regulariser.l2=0.1"],
    }
    untuned = [word for word in data if not word.startswith("tune")]
    results = {
        name: run_here(place / name, *(untuned if "tune=none" in overrides else data), *overrides)
        for name, overrides in settings.items()
    }
    return place, results


@pytest.mark.parametrize("name", ["group lasso", "named groups", "elastic net", "points"])
def test_a_run_is_certified_and_confirmed(runs, name):
    place, results = runs
    assert results[name].folds[0].solution.gap <= 1e-6
    checks = check_folder(place / name)
    assert {claim.verdict for check in checks for claim in check.claims} == {Verdict.CONFIRMED}


def test_the_zeros_and_ones_of_a_nominal_column_are_a_group(runs):
    fold = runs[1]["group lasso"].folds[0]
    groups = fold.solution.formulation.regulariser.groups
    assert groups == tuple(str(name).split("_")[0].split("=")[0] for name in fold.features)
    assert {groups.count(name) > 1 for name in ("colour", "noise")} == {True}
    for name in set(groups):
        used = fold.solution.coef[np.array(groups) == name] != 0
        assert used.all() or not used.any()


def test_named_columns_are_a_group_with_their_zeros_and_ones(runs):
    fold = runs[1]["named groups"].folds[0]
    groups = fold.solution.formulation.regulariser.groups
    sources = [str(name).split("_")[0] for name in fold.features]
    assert groups == tuple({"x": "x, colour", "colour": "x, colour"}.get(name, name) for name in sources)


def test_other_groups_in_the_certificate_are_refuted(runs):
    """Also where the objective is the same, because the labels are other words for the same groups."""
    folder = runs[0] / "named groups"
    kept = (folder / "certificate.json").read_text(encoding="utf-8")
    try:
        labels = read_certificate(folder)["program"]["regulariser"]["groups"]
        _regulariser(folder, groups=["a" if label == "noise" else label for label in labels])
        claims = {claim.name: claim.verdict for check in check_folder(folder) for claim in check.claims}
        assert (claims["groups"], claims["objective"]) == (Verdict.REFUTED, Verdict.CONFIRMED)
    finally:
        (folder / "certificate.json").write_text(kept, encoding="utf-8")


def test_names_of_groups_are_columns_of_the_data(data):
    words = ["formulation=group_lasso", "tracking=none"]
    said = r"formulation.regulariser.groups has 'colur', .* \(did you mean 'colour'\?\); columns are x, colour, noise"
    with pytest.raises(AuclabError, match=said):
        check_data(composed([*data, *words, "formulation.regulariser.groups={all: [x, colur]}"]))


def test_the_tuned_scale_keeps_the_ratio_of_the_weights(runs):
    fold = runs[1]["points"].folds[0]
    regulariser = fold.solution.formulation.regulariser
    assert regulariser.l1 == fold.tuning.selected
    assert math.isclose(regulariser.l2 / regulariser.l1, 10.0)


def _regulariser(folder, **changes):
    program = read_certificate(folder)["program"]
    edit_certificate(folder, program=program | {"regulariser": program["regulariser"] | changes})


def _number(folder, name, factor):
    edit_certificate(folder, **{name: read_certificate(folder)["objective"] * factor})


def _one_group(folder):
    groups = read_certificate(folder)["program"]["regulariser"]["groups"]
    _regulariser(folder, groups=["a"] * len(groups))


PIECES = "auclab.regularisers"
#: The run, how it is changed, and what is then refuted.
CHANGES = {
    "l1": ("elastic net", lambda folder: _regulariser(folder, l1=1e-3), "objective"),
    "l2": ("elastic net", lambda folder: _regulariser(folder, l2=1e-3), "objective"),
    "weight": ("group lasso", lambda folder: _regulariser(folder, weight=1e-3), "objective"),
    "groups": ("group lasso", _one_group, "objective"),
    "class": (
        "group lasso",
        lambda folder: _regulariser(folder, **{"class": "auclab.regularisers.Norm"}),
        "formulation",
    ),
    "bound": ("group lasso", lambda folder: _number(folder, "lower_bound", 1.001), "lower bound"),
    "objective": ("elastic net", lambda folder: _number(folder, "objective", 0.999), "objective"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_run_is_refuted(runs, change):
    name, edit, refuted = CHANGES[change]
    folder = runs[0] / name
    kept = {path: path.read_text(encoding="utf-8") for path in (folder / "certificate.json", folder / "metrics.json")}
    try:
        edit(folder)
        claims = [claim for check in check_folder(folder) for claim in check.claims]
        assert refuted in {each.name for each in claims if each.verdict in (Verdict.REFUTED, Verdict.UNPROVED)}
    finally:
        for path, text in kept.items():
            path.write_text(text, encoding="utf-8")
