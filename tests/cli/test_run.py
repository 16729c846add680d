"""`run.py` from the shell: the commands a reader types, their exit codes, and what is left behind."""

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool

import pytest
from hydra.errors import ConfigCompositionException

from auclab.cli.run import main
from composed import REPOSITORY
from run_command import SMALL, command, run, runs_in
from waiting import wait_until


@pytest.mark.slow
def test_help_lists_every_choice_and_imports_nothing_heavy(tmp_path):
    answer = subprocess.run(
        [sys.executable, "-X", "importtime", *command("--help")[1:]],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for group in ("dataset", "split", "preprocess", "formulation", "solver", "metrics", "bounds", "tracking"):
        (choices,) = re.findall(rf"^{group}: (.*)$", answer.stdout, flags=re.MULTILINE)
        files = {path.stem for path in (REPOSITORY / "conf" / group).glob("*.yaml")}
        assert set(choices.split(", ")) == files
    assert len(re.findall("^  python run.py", answer.stdout, flags=re.MULTILINE)) == 3
    imported = {line.rpartition("|")[2].strip() for line in answer.stderr.splitlines()}
    assert not imported & {"numpy", "pandas", "sklearn", "mlflow", "cvxpy", "pyomo", "numba", "matplotlib"}
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_an_unknown_choice_lists_the_known_ones(tmp_path):
    answer = run(tmp_path, "formulation=nonsense")
    assert answer.returncode == 1
    for name in ("bauc", "generalized_bauc", "ranksvm", "csvm", "ecsvm"):
        assert name in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.slow
def test_the_default_experiment(tmp_path):
    """`python run.py` alone, as in the README: no file, no network."""
    answer = run(tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "398 rows of breast_cancer, 30 columns" in " ".join(answer.stdout.split())
    assert answer.stderr == ""
    client, (kept,) = runs_in(tmp_path)
    assert kept.info.status == "FINISHED"
    assert kept.info.run_id[:8] in answer.stdout
    assert kept.info.run_name == "ranksvm λ tuned l2² · breast_cancer · seed 0 · auto"
    assert {"objective", "lower_bound", "gap", "test/auc", "test/bauc", "bound/fixed_scorer_auc"} <= set(
        kept.data.metrics
    )
    assert kept.data.metrics["gap"] <= 1e-6
    assert kept.data.params["formulation"] == "ranksvm"
    assert kept.data.params["split.test_size"] == "0.3"
    assert re.fullmatch("[0-9a-f]{16}", kept.data.tags["config.hash"])
    recommended = "formulation=ranksvm formulation.squared=true tune=penalty"
    assert kept.data.tags["command"] == f"python run.py {recommended}"
    assert {item.path for item in client.list_artifacts(kept.info.run_id)} == {
        *("scores.parquet", "coefficients.csv", "certificate.json", "bounds.json", "multipliers.parquet"),
        *("metrics.json", "config.yaml", "history.csv", "tuning.csv", "tuning.png", "model"),
        *("details.json", "roc.png", "scores.png"),
    }
    assert kept.inputs.dataset_inputs[0].dataset.name == "breast_cancer"


@pytest.mark.slow
def test_ionosphere_with_highs(tmp_path):
    answer = run(tmp_path, "solver=highs", "dataset=ionosphere")
    assert answer.returncode == 0, answer.stderr
    assert "of ionosphere" in answer.stdout
    _, (kept,) = runs_in(tmp_path)
    assert kept.data.metrics["gap"] <= 1e-6
    assert kept.data.metrics["lower_bound"] <= kept.data.metrics["objective"] * (1 + 1e-12)
    assert kept.data.metrics["train/bauc"] == pytest.approx(1 - kept.data.metrics["objective"], abs=1e-7)


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process on Windows")
def test_ctrl_c_marks_the_run_killed(tmp_path):
    """Clarabel computes for a minute in compiled code; the run is stopped, and its record is sent to the store."""
    big = ("dataset=artificial", "dataset.n_pos=1000", "dataset.n_neg=1000", "solver=clarabel")
    process = subprocess.Popen(command(*big), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: list(tmp_path.glob("outputs/*/*/.staging-*")), process)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "KILLED" in errors
    assert "Traceback" not in errors
    _, (kept,) = runs_in(tmp_path)
    assert kept.info.status == "KILLED"
    assert not list(tmp_path.glob("mlruns/pending/*"))
    with pytest.raises(ProcessLookupError):  # nobody is left of its process
        os.kill(process.pid, 0)


@pytest.mark.weekly
@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process on Windows")
def test_ctrl_c_in_a_sweep_says_what_is_left_and_the_command_that_goes_on(tmp_path):
    """The command that is shown takes what was done, and computes the others."""
    words = ("-m", *SMALL, "formulation=bauc", "solver=highs", "bounds=none", "split.seed=range(60)")
    process = subprocess.Popen(command(*words), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(list(tmp_path.glob("multirun/*/*/*/run.json"))) >= 2, process)
    process.send_signal(signal.SIGINT)
    text, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors
    (far,) = re.findall(r"stopped: +(\d+) of 60 jobs ended, (\d+) stopped in the middle, (\d+) not begun", text)
    done, stopped, left = map(int, far)
    assert done + stopped + left == 60
    assert left > 0
    # A job whose record was being written is kept in its folder.
    counts = re.fullmatch(
        r"sweep: (\d+) finished, 0 skipped, 0 failed, (\d+) killed(?:, (\d+) kept in their folders)?",
        text.splitlines()[-1],
    )
    assert counts is not None
    finished, killed, kept = (int(each or 0) for each in counts.groups())
    assert (finished + kept, killed) == (done, stopped)
    (again,) = re.findall(r"continue: +python run.py (.*)", text)
    assert shlex.split(again) == list(words)
    second = run(tmp_path, *[word.replace("range(60)", f"range({done + 1})") for word in shlex.split(again)])
    assert second.returncode == 0
    assert f"{finished} skipped" in second.stdout.splitlines()[-1]


@pytest.mark.slow
def test_a_store_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "mlruns").write_text("a file where a folder should be", encoding="utf-8")
    answer = run(tmp_path, *SMALL)
    assert answer.returncode == 1
    (line,) = answer.stderr.splitlines()
    assert line.startswith("error: cannot keep runs in")
    assert "tracking=none" in line
    assert (tmp_path / "mlruns").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("words", [("hydra.run.dir=file/out",), ("-m", "hydra.sweep.dir=file/out")])
def test_an_output_folder_that_cannot_be_written_is_one_line(tmp_path, words):
    """A file where a folder should be; full and read-only disks in benchmarks/faults.py."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    answer = run(tmp_path, *words, *SMALL, "tracking=none")
    assert answer.returncode == 1
    (line,) = answer.stderr.splitlines()
    assert re.match(r"error: the output folder .*file/out\S* cannot be written: .*hydra\.run\.dir=", line)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BrokenProcessPool("a worker"), "error: a worker process died"),
        (OSError(errno.ENOSPC, "No space left on device"), "error: the output folder cannot be written: No space left"),
        (ConfigCompositionException("no such choice"), "error: no such choice"),
    ],
)
def test_errors_outside_the_experiment_are_one_line(monkeypatch, capsys, error, words):
    def fail():
        assert os.environ["HYDRA_FULL_ERROR"] == "1"
        raise error

    monkeypatch.setattr("auclab.cli.run._run", fail)
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)
    monkeypatch.setattr("logging.raiseExceptions", True)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(words)
    assert "HYDRA_FULL_ERROR" not in os.environ


def test_a_study_outside_the_repository_says_where_studies_are(tmp_path):
    words = [sys.executable, "-m", "auclab", "run", "-m", "experiment=ratigan_cowen_formulas"]
    answer = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    (line,) = answer.stderr.splitlines()
    assert line.startswith("error: studies are in the repository")
    assert not list(tmp_path.iterdir())
