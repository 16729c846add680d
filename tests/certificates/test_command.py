"""Stored runs are confirmed as they are, and refuted where anything about them was changed."""

import numpy as np
import pandas as pd
import pytest

from auclab.runs.checking.claims import Verdict
from auclab.runs.checking.command import check_folder, check_run, exit_code
from auclab.runs.checking.stored import prepare_training
from composed import run_here
from tampered_runs import (
    OF_DATA,
    OF_RUNS,
    copied_runs,
    edit_certificate,
    forge_checksums,
    read_certificate,
    refuted,
    write_limited,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Runs on one file of data: with a penalty, without, and one that was stopped after a few steps."""
    place = tmp_path_factory.mktemp("checked")
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3 == 0
    X = rng.standard_normal((90, 3)) + 0.9 * y[:, None]
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y.astype(int))
    table.to_csv(place / "data.csv", index=False)
    data = ["dataset=file", f"dataset.path={place / 'data.csv'}", "dataset.target=y", "bounds=none"]
    data += ["decision.probability=none", "metrics=[auc]"]
    settings = {
        "penalised": ["formulation=ranksvm", "formulation.penalty=0.03"],
        "plain": ["formulation=bauc"],
        "stopped": ["formulation=ranksvm", "solver=cutting_plane", "solver.max_iters=4"],
        "partial": ["formulation=partial_auc", "formulation.max_fpr=0.3"],
        "points": ["formulation=ecsvm", "formulation.threshold=-0.05", "formulation.norm=l1"],
        "folds": ["formulation=csvm", "split=kfold", "split.n_folds=2"],
        "squares": ["formulation=ranksvm", "formulation.loss=squared_hinge", "formulation.norm=l1"],
        "stopped_squares": [
            *("formulation=ranksvm", "formulation.loss=squared_hinge", "solver=cutting_plane", "solver.max_iters=4"),
        ],
        "square_points": ["formulation=csvm", "formulation.loss=squared_hinge", "formulation.squared=true"],
        "counted": ["formulation=exact_auc", "solver.time_limit=2"],
    }
    for name, overrides in settings.items():
        run_here(place / name, *data, *overrides)
    write_limited(place, lambda overrides: run_here(place / "limited", *overrides))
    return place


@pytest.fixture
def copied(made, tmp_path):
    """A copy that may be changed, its data included."""
    return copied_runs(made, tmp_path / "copy")


@pytest.mark.parametrize(
    "name",
    [
        *("penalised", "plain", "stopped", "limited", "partial", "points", "folds"),
        *("squares", "square_points"),
    ],
)
def test_a_run_is_confirmed(made, name):
    checks = check_folder(made / name)
    assert {claim.verdict for check in checks for claim in check.claims} == {Verdict.CONFIRMED}
    assert len(checks) == (2 if name == "folds" else 1)


def test_a_bound_without_multipliers_is_not_checked(made):
    checks = check_folder(made / "counted")
    verdicts = {claim.name: claim.verdict for claim in checks[0].claims}
    assert verdicts["lower bound"] is Verdict.UNCHECKED
    assert verdicts["objective"] is Verdict.CONFIRMED
    assert exit_code(checks) == 2


def test_a_bound_above_the_objective_is_refuted_without_multipliers_too(copied):
    """By 1e-10 of it; what a search tree proved is at most the value of its point."""
    folder = copied / "counted"
    edit_certificate(folder, lower_bound=read_certificate(folder)["objective"] * (1 + 1e-10))
    assert "lower bound" in refuted(folder)


#: Which run is changed, and which claim is then refuted.
CHANGES = {
    "coef": ("penalised", "objective"),
    "objective": ("penalised", "objective"),
    "lower bound": ("stopped", "lower bound"),
    "multipliers": ("plain", "lower bound"),
    "status": ("stopped", "status"),
    "norm_bound": ("limited", "lower bound"),
    "penalty": ("penalised", "objective"),
    "gap": ("plain", "gap"),
    "model": ("penalised", "model"),
    "train/auc": ("points", "train/auc"),
}


@pytest.mark.parametrize("change", OF_RUNS)
def test_a_changed_run_is_refuted(copied, change):
    name, claim = CHANGES[change]
    OF_RUNS[change](copied / name)
    assert claim in refuted(copied / name)


@pytest.mark.parametrize("name", ["penalised", "plain", "stopped", "points"])
def test_a_tolerance_that_is_not_that_of_the_configuration_is_refuted(copied, name):
    """With 1e9 any gap was within it, and the run was confirmed."""
    edit_certificate(copied / name, tolerance=1e9)
    assert "tolerance" in refuted(copied / name)


@pytest.mark.parametrize(
    ("change", "name", "claim"),
    [
        ("coef", "squares", "objective"),
        ("objective", "square_points", "objective"),
        ("penalty", "squares", "objective"),
        ("gap", "square_points", "gap"),
    ],
)
def test_a_changed_run_of_the_squared_hinge_is_refuted(copied, change, name, claim):
    OF_RUNS[change](copied / name)
    assert claim in refuted(copied / name)


@pytest.mark.parametrize("change", ["lower bound", "status"])
def test_what_the_scorer_of_a_stopped_run_does_not_prove_is_not_confirmed(copied, change):
    OF_RUNS[change](copied / "stopped_squares")
    checks = check_folder(copied / "stopped_squares")
    verdicts = {claim.name: claim.verdict for claim in checks[0].claims}
    assert verdicts[change] is Verdict.UNCHECKED
    assert exit_code(checks) == 2


def test_another_loss_than_that_of_the_configuration_is_refuted(copied):
    folder = copied / "squares"
    edit_certificate(folder, program=read_certificate(folder)["program"] | {"loss": "hinge"})
    assert {"formulation", "objective"} <= refuted(folder)


@pytest.mark.parametrize("change", OF_DATA)
def test_changed_data_are_noticed(copied, change):
    OF_DATA[change](copied / "data.csv")
    assert "data set" in refuted(copied / "penalised")


def test_a_longer_limit_is_refuted(copied):
    """At w = 1e9 the objective is 0."""
    edit_certificate(copied / "limited", norm_bound=1e9)
    assert refuted(copied / "limited") == {"lower bound", "status"}
    edit_certificate(copied / "limited", status="optimal", norm_bound="inf")
    assert refuted(copied / "limited") == {"lower bound", "status"}


def test_changed_labels_are_refuted_though_the_checksums_were_changed_too(copied):
    folder = copied / "penalised"
    OF_DATA["labels"](copied / "data.csv")
    forge_checksums(folder, next(prepare_training(folder, [0])))
    assert {"objective"} <= refuted(folder)


def test_the_formulation_has_to_be_that_of_the_configuration(copied):
    folder = copied / "penalised"
    program = read_certificate(folder)["program"]
    edit_certificate(folder, program=program | {"penalty": 0.02})
    assert {"formulation", "objective"} <= refuted(folder)


UNKNOWN = {
    "class": ({"class": "elsewhere.WeightedRankSVM"}, "formulation elsewhere.WeightedRankSVM"),
    "name": ({"name": "my_auc"}, "formulation my_auc"),
    "loss": ({"loss": {"class": "elsewhere.HuberHinge", "width": 0.1}}, "loss elsewhere.HuberHinge"),
    "norm": ({"norm": "l3"}, "norm l3"),
    "regulariser": ({"regulariser": {"class": "elsewhere.WeightedL1"}}, "regulariser elsewhere.WeightedL1"),
    "norm of its own": ({"norm": {"class": "elsewhere.WeightedL1", "c": [1.0]}}, "norm elsewhere.WeightedL1"),
    "comparison": ({"name": "composed", "comparisons": {"class": "elsewhere.Triples"}}, "comparison elsewhere.Triples"),
    "parameter": ({"cost": 2.0}, "parameter of ranksvm, cost"),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_a_program_that_the_checker_does_not_support_is_named_in_one_sentence(copied, capsys, what):
    """Whatever the data and the configuration are, nothing is claimed."""
    changes, named = UNKNOWN[what]
    folder = copied / "penalised"
    edit_certificate(folder, program=read_certificate(folder)["program"] | changes)
    assert check_run(str(folder)) == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"cannot be checked: the checker does not support the {named}, so objective")


def test_a_configuration_with_the_formulation_of_another_package_confirms_nothing(copied, capsys):
    """Its class may do something else under the name of ours, which older certificates alone have."""
    folder = copied / "penalised"
    program = read_certificate(folder)["program"]
    edit_certificate(folder, program={key: value for key, value in program.items() if key != "class"})
    path = folder / "config.yaml"
    text = path.read_text(encoding="utf-8")
    assert "_target_: auclab.formulations.programs.RankSVM" in text
    path.write_text(text.replace("auclab.formulations.programs.RankSVM", "elsewhere.ranksvm.RankSVM"), encoding="utf-8")
    for allow in ([], ["elsewhere.ranksvm.RankSVM"]):
        assert check_run(str(folder), allow=allow) == 2
        shown = capsys.readouterr().out
        assert "the training part is missing" in shown
    assert "does not support the formulation elsewhere.ranksvm.RankSVM" in " ".join(shown.split())


def test_what_could_not_be_corrected_is_not_called_wrong(made, monkeypatch):
    """More features than are eliminated in reasonable time: a bound for every w is not checked."""
    from auclab.certificates.checker import correction
    from auclab.runs.checking import claims

    for module in (claims, correction):
        monkeypatch.setattr(module, "MAX_FEATURES", 2)
    monkeypatch.setattr(correction, "_MOST_SQUARES", 2)
    (check,) = check_folder(made / "plain")
    verdicts = {claim.name: claim.verdict for claim in check.claims}
    assert verdicts["status"] is Verdict.UNCHECKED
    assert verdicts["objective"] is Verdict.CONFIRMED


def test_missing_data_are_said_in_words(copied, capsys):
    (copied / "data.csv").unlink()
    assert check_run(str(copied / "penalised")) == 2
    shown = capsys.readouterr().out
    assert "the training part could not be prepared again" in shown
    assert "data.csv" in shown
    assert "not checked" in shown


def test_missing_data_do_not_hide_a_contradiction(copied):
    (copied / "data.csv").unlink()
    OF_RUNS["gap"](copied / "penalised")
    assert check_run(str(copied / "penalised")) == 1


def test_a_run_without_multipliers_claims_what_nobody_can_check(copied):
    (copied / "plain" / "multipliers.parquet").unlink()
    checks = check_folder(copied / "plain")
    assert exit_code(checks) == 2


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all"])
def test_damaged_multipliers_are_an_error_in_words(copied, capsys, content):
    (copied / "plain" / "multipliers.parquet").write_bytes(content)
    assert check_run(str(copied / "plain")) == 2
    assert "cannot be checked" in capsys.readouterr().out


def test_runs_of_earlier_versions_are_refused_in_words(copied, capsys):
    path = copied / "plain" / "certificate.json"
    path.write_text('{"objective": 0.5}', encoding="utf-8")
    assert check_run(str(copied / "plain")) == 2
    assert "before multipliers were kept" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_of_the_store(tmp_path, capsys, made):
    """Found by its id; the numbers of the store have to agree, too."""
    data = ["dataset=file", f"dataset.path={made / 'data.csv'}", "dataset.target=y", "bounds=none"]
    store = tmp_path / "store"
    run_here(tmp_path / "run", *data, "formulation=bauc", "tracking=mlflow", f"tracking.dir={store}")
    assert check_run("last", str(store)) == 0
    assert "the same in the store" in capsys.readouterr().out
    (certificate,) = store.glob("artifacts/*/artifacts/certificate.json")
    edit_certificate(certificate.parent, lower_bound=read_certificate(certificate.parent)["lower_bound"] - 1e-3)
    assert check_run("last", str(store)) == 1
    assert check_run("nothing", str(store)) == 2
