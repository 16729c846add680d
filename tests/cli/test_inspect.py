"""`auclab inspect` on the screen, and all problems of a table in one refusal."""

import shlex

import pytest

import customers
from auclab._core.base import AuclabError
from auclab.cli import main as cli
from auclab.runs.compare.runs import read_runs
from auclab.runs.config.checks import check_data, check_settings
from composed import composed


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    customers.write(tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        with pytest.raises(SystemExit) as end:
            cli.main(["inspect", *words])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return run


def test_the_screen(call):
    code, text, error = call("customers.csv")
    assert (code, error) == (0, "")
    assert "customers.csv: 2,000 rows · 9 columns · separator comma · decimals point · encoding utf-8" in text
    command = next(line for line in text.splitlines() if line.startswith("run it"))
    assert command.split(maxsplit=2)[2] == (
        "auclab run dataset=file dataset.path=customers.csv dataset.target=left dataset.positive=yes "
        "'dataset.drop=[customer,row]' 'preprocess.dates=[year,month,age]'"
    )
    for words in ("decimal commas", "written %d.%m.%Y", "rare: trial 2019 (4)", "yes is positive by convention"):
        assert words in text


def test_numeric_labels_and_their_counts_are_told_apart(call, tmp_path):
    """They were "1 700, 2 300; 2 is .3", and a column without text stood beside a table that needs no setting."""
    (tmp_path / "plain.csv").write_text("x,y\n" + "1.5,1\n2.5,2\n3.5,1\n" * 10, encoding="utf-8")
    code, text, _ = call("plain.csv", "--target", "y", "--positive", "2")
    assert code == 0
    assert "1 (20), 2 (10); share of 2 .333" in text
    assert "in a run" not in text
    assert "in a run" in call("customers.csv")[1]


def test_what_has_to_be_repaired_is_exit_code_1(call, tmp_path):
    (tmp_path / "my.csv").write_text("x,y\n1,0\n2,1\n3,\n", encoding="utf-8")
    code, text, _ = call("my.csv")
    assert code == 1
    assert "problem  no stratified split with test_size=0.3 of 1 positive and 1 negative" in text
    code, _, error = call("gone.csv")
    assert (code, "gone.csv does not exist" in error) == (1, True)


def test_all_problems_of_a_table_are_one_refusal(call):
    experiment = composed(["dataset=file", "dataset.path=customers.csv"])
    check_settings(experiment)
    with pytest.raises(AuclabError) as refused:
        check_data(experiment)
    said = str(refused.value)
    assert said.startswith("3 problems: (1) which column of customers.csv is the target?")
    for words in ("'dataset.drop=[customer]'", "'preprocess.dates=[year,month,age]'"):
        assert words in said
    assert said.endswith("auclab inspect customers.csv proposes settings for all of it")


def test_settings_of_columns_are_refused_together(call):
    words = [
        "dataset.target=lft",
        "dataset.drop=[custmer,row]",
        "dataset.nominal=[pln]",
    ]
    with pytest.raises(AuclabError) as refused:
        check_data(composed(["dataset=file", "dataset.path=customers.csv", *words]))
    for near in ("left", "customer", "plan"):
        assert f"(did you mean '{near}'?)" in str(refused.value)


@pytest.mark.slow
def test_from_inspect_to_evaluate_in_six_commands_without_a_refusal(capsys, tmp_path, monkeypatch):
    """The commands as they are proposed on the screens; what the last says is right on the rows that were made."""
    customers.write(tmp_path, n_rows=800, n_new=300)
    monkeypatch.chdir(tmp_path)

    def typed(line):
        from hydra.core.global_hydra import GlobalHydra

        code = 0
        try:
            cli.main(shlex.split(line)[1:])
        except SystemExit as end:
            code = end.code
        finally:
            GlobalHydra.instance().clear()
        said = capsys.readouterr()
        assert code == 0, said.err
        assert "error" not in said.err
        return said.out

    screen = typed("auclab inspect customers.csv")
    proposed = next(line for line in screen.splitlines() if line.startswith("run it")).removeprefix("run it").strip()
    assert "test AUC" in typed(proposed)
    assert "column" in typed("auclab show last")
    measured = typed("auclab evaluate last new.csv")
    assert "300 of new.csv" in measured
    assert "the scores are distributed differently" in measured  # later customers visit more often
    assert "new.csv" in typed(f"{proposed} dataset.path=new.csv tune.values=[0.1]")
    ids = [str(each)[:8] for each in read_runs(tmp_path / "mlruns")["run_id"]]
    both = typed(f"auclab evaluate {ids[0]} {ids[1]} new.csv")
    assert "on the same 300 rows" in both
