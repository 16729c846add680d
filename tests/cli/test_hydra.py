"""Hydra is used as Hydra: its options, search path, launchers, sweepers and working directories."""

import os
import re
import shlex
from pathlib import Path

import pytest
import yaml
from hydra.errors import ConfigCompositionException
from omegaconf import OmegaConf

from auclab.cli import main as cli
from auclab.cli.run import main
from run_command import SMALL, run, runs_in

QUICK = ("bounds=none", "decision.probability=none", "figures=none", "metrics=[auc]")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with a solver and a data set, beside the table."""
    rows = [f"{k % 7},{k % 5},{k % 3 == 0:d}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]), encoding="utf-8")
    solver = {"name": "highs", "tolerance": 1e-8, "time_limit": None}
    dataset = {"_target_": "auclab.datasets.file.load_file", "path": "t.csv", "target": "y", "positive": 1}
    for group, mine in {"solver": solver, "dataset": dataset}.items():
        path = tmp_path / "my" / group / "mine.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(yaml.safe_dump(mine), encoding="utf-8")
    (tmp_path / "my" / "other.yaml").write_text("defaults: [config, _self_]\nmark: 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page(capsys, *words):
    """What a command prints that runs nothing."""
    ended = []
    try:
        main(words)
    except SystemExit as end:
        ended.append(end.code)
    shown = capsys.readouterr()
    assert ended in ([], [0]), shown.err
    return shown.out


@pytest.mark.slow
def test_options_are_the_same_in_long_and_short_forms_wherever_they_stand(own, capsys):
    plain = page(capsys, "--cfg", "job", "split.seed=3")
    assert yaml.safe_load(plain)["formulation"]["_target_"].endswith("RankSVM")
    for words in ("-c job -cd my", "-c job --config-dir my", "-c job --config-dir=my", "-cn config -c job",
                  "--config-name config -c job"):  # fmt: skip
        assert page(capsys, *words.split(), "split.seed=3") == plain
        assert page(capsys, "split.seed=3", *words.split()) == plain
    # A primary configuration of the user's own chooses the formulation.
    other = yaml.safe_load(page(capsys, "-cd", "my", "--config-name", "other", "--cfg", "job"))
    assert other["mark"] == 1
    assert other["formulation"]["_target_"].endswith("BufferedAUC")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--hydra-help", "Use '--cfg hydra' to Show the Hydra config"),
        ("-h", "auclab: maximise and measure"),
        ("--info searchpath", "Config search path"),
        ("formulation=bauc --info defaults", "formulation/bauc"),
        ("-sc install=bash", "complete"),
    ],
)
def test_pages_of_hydra(capfd, words, said):
    assert said in page(capfd, *words.split())


@pytest.mark.slow
@pytest.mark.parametrize("where", ["--config-dir my", "hydra.searchpath=[file://HERE/my]"])
def test_choices_of_the_users_own(own, where, capsys):
    """Named like those of the package, and in the command that the run shows."""
    words = where.replace("HERE", str(own)).split()
    main([*words, "solver=mine", "dataset=mine", "formulation=ranksvm", "tracking=none", *QUICK])
    assert "a norm that is not chosen is l1" in capsys.readouterr().err
    (kept,) = own.glob("outputs/*/*/config.yaml")
    config = OmegaConf.load(kept)
    assert (config.solver.tolerance, config.dataset.path, config.formulation.norm) == (1e-8, "t.csv", "l1")
    with pytest.raises(SystemExit):
        main([*words, "solver=mein"])
    assert "(did you mean 'mine'?); choices are auto, " in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_of_a_run_says_where_its_settings_are(own, capsys):
    main(["-cd", "my", "dataset=mine", "formulation=bauc", *QUICK])
    _, (kept,) = runs_in(own)
    words = shlex.split(kept.data.tags["command"])
    assert words[2:] == [f"--config-dir={own}/my", "dataset=mine", "formulation=bauc", *QUICK]


@pytest.mark.slow
def test_launchers_and_sweepers_of_hydra(tmp_path):
    """With the parent run, its jobs below it, and the command that compares them."""
    words = ("hydra/launcher=basic", "hydra/sweeper=basic", "hydra.sweep.subdir=${hydra.job.override_dirname}")
    answer = run(tmp_path, *words, *SMALL, *QUICK, "-m", "formulation=csvm,bauc", "formulation.penalty=1,2")
    assert answer.returncode == 0, answer.stderr
    # The jobs of bauc are the same without the setting that it does not have.
    assert answer.stderr == "note: formulation.penalty is not a setting of formulation=bauc, and is left out there\n"
    assert answer.stdout.splitlines()[-1] == "sweep: 3 finished, 1 skipped, 0 failed, 0 killed"
    _, runs = runs_in(tmp_path)
    (parent,) = (each for each in runs if "sweep.grid" in each.data.tags)
    children = [each for each in runs if each is not parent]
    assert f"auclab compare --sweep {parent.info.run_id[:8]}" in answer.stdout
    assert {each.data.tags["mlflow.parentRunId"] for each in children} == {parent.info.run_id}
    commands = [each.data.tags["command"].partition("metrics=[auc]")[2] for each in children]
    assert sorted(re.sub("' ?", "", each).strip() for each in commands) == [
        "formulation=bauc", "formulation=csvm formulation.penalty=1", "formulation=csvm formulation.penalty=2",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_working_directory_of_its_own_leaves_store_and_table_where_they_are(own, capsys):
    """What a job writes is in its folder, and the command that is printed next finds the run."""
    words = ["hydra.job.chdir=true", "-cd", "my", "dataset=mine", "formulation=bauc", "solver=highs", *QUICK]
    main([*words, "solver.export=m.lp"])
    said = " ".join(capsys.readouterr().out.split())
    assert [path.parent.parent.parent.name for path in own.glob("outputs/**/m.lp")] == ["outputs"]
    show = re.search(r"next auclab (show \w+ --store \S+)", said)
    assert show is not None, said
    with pytest.raises(SystemExit) as end:
        cli.main(shlex.split(show[1]))
    assert end.value.code == 0
    main(["-m", *words, "split.seed=1,2"])
    assert "sweep: 2 finished" in capsys.readouterr().out
    assert Path.cwd() == own
    assert len(runs_in(own)[1]) == 4
    main([*words, "tracking.uri=sqlite:///other.db", "split.seed=3"])
    assert sorted(path.relative_to(own) for path in own.rglob("*.db")) == [Path("mlruns/mlflow.db"), Path("other.db")]


@pytest.mark.slow
def test_a_key_that_is_added_is_stored_and_said(own, capsys):
    main(["+marc=7", "+split_seed=3", "split.seed=${split_seed}", *SMALL, "formulation=bauc", "tracking=none", *QUICK])
    said = capsys.readouterr().err
    assert "note: marc is not a setting: it is stored, and has an effect where other settings refer to it" in said
    (kept,) = Path.cwd().glob("outputs/*/*/config.yaml")
    assert (OmegaConf.load(kept).marc, OmegaConf.load(kept).split.seed) == (7, 3)


def test_traces_are_shown_where_hydra_is_asked_for_them(monkeypatch):
    def fail():
        raise ConfigCompositionException("no such choice")

    monkeypatch.setattr("auclab.cli.run._run", fail)
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(ConfigCompositionException):
        main([])
    assert os.environ["HYDRA_FULL_ERROR"] == "1"
