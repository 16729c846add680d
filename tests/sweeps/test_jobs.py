"""One job of a sweep: computed, skipped, computed again because its code changed; data sets are loaded once."""

import shutil
from importlib.metadata import PackageNotFoundError

import pytest
from auclab.tracking.job_status import SWEEP_VARIABLE, add_line, count_jobs, count_other_code, read_statuses

from auclab.cli.run import main
from auclab.estimators import baselines
from auclab.pipeline.screen.console import show_sweep
from auclab.sweeps.jobs import Job, Rerun, attempt, lacking_library, parse_rerun
from auclab.tracking import CODE_TAG, HASH_TAG, SETTINGS_TAG, Record, TrackingConfig, code, fingerprint, open_run
from auclab.tracking.store import open_store
from auclab.types import AuclabError
from composed import REPOSITORY
from run_command import SMALL, run
from tracked_runs import DATASET


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """One sweep over three seeds: its statuses, and the last line of its screen."""
    tracking = TrackingConfig(dir=str(tmp_path / "mlruns"))
    sweeps = iter(range(100))

    def run(code, rerun=Rerun.STALE):
        number = str(next(sweeps))
        monkeypatch.setenv(SWEEP_VARIABLE, number)
        folder = tmp_path / number

        def job(seed):
            configuration = {"split": {"seed": seed}}

            def work():
                tags = {SETTINGS_TAG: fingerprint(configuration), CODE_TAG: code}
                with open_run(tracking, name=f"job {seed}", folder=folder / str(seed), params={}, tags=tags) as run:
                    run.keep(Record(DATASET, {}, {HASH_TAG: fingerprint(configuration, "aa")}))
                add_line(folder / str(seed), f"job {seed}", status="FINISHED")

            return Job(f"job {seed}", configuration, tracking, rerun, code, lambda: "aa", work)

        for seed in range(3):
            (folder / str(seed) / ".hydra").mkdir(parents=True)
            attempt(folder / str(seed), f"seed={seed}", lambda seed=seed: job(seed))
        counts, other = count_jobs(folder, number), count_other_code(folder, number)
        show_sweep(counts, folder=folder, tracking=tracking, parent=None, other_code=other)
        return list(read_statuses(folder, number))

    return run


@pytest.mark.slow
def test_results_of_other_code_are_computed_again_and_said(sweep, capsys):
    def last_line():
        return capsys.readouterr().out.splitlines()[-1]

    first = sweep("code 1")
    assert last_line() == "sweep: 3 finished, 0 skipped, 0 failed, 0 killed"
    assert [job.status for job in sweep("code 1")] == ["SKIPPED"] * 3
    assert last_line() == "sweep: 0 finished, 3 skipped, 0 failed, 0 killed"
    again = sweep("code 2")
    assert [job.status for job in again] == ["FINISHED"] * 3
    assert [job.other_code for job in again] == [job.run_id for job in first]
    assert last_line() == (
        "sweep: 3 finished, 0 skipped, 0 failed, 0 killed; other code: 3 computed again, rerun=false takes such results"
    )
    taken = sweep("code 3", Rerun.FALSE)
    assert [job.status for job in taken] == ["SKIPPED"] * 3
    assert [job.run_id for job in taken] == [job.run_id for job in again]  # the newest
    assert "finished before with other code" in taken[0].line
    assert last_line() == (
        "sweep: 0 finished, 3 skipped, 0 failed, 0 killed; other code: 3 taken, rerun=stale computes them again"
    )
    assert [job.run_id for job in sweep("code 1", Rerun.FALSE)] == [job.run_id for job in first]
    assert last_line() == "sweep: 0 finished, 3 skipped, 0 failed, 0 killed"
    every = sweep("code 1", Rerun.TRUE)
    assert [(job.status, job.other_code) for job in every] == [("FINISHED", None)] * 3


def test_rerun_is_one_of_three():
    with pytest.raises(AuclabError, match="rerun is 'maybe'; it is one of stale, false and true"):
        parse_rerun("maybe")


@pytest.mark.slow
def test_a_sweep_notices_that_a_file_changed(tmp_path, monkeypatch, capsys):
    """With a checkout of its own: documentation does not count, a line of code does."""
    checkout = tmp_path / "checkout"
    for name in ("src", "conf", "docs"):
        shutil.copytree(REPOSITORY / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("run.py", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, checkout / name)
    grid = (*SMALL, "formulation=bauc", "solver=highs", "bounds=none", "metrics=[auc]", "split.seed=0,1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(code, "__file__", str(checkout / "src" / "auclab" / "tracking" / "code.py"))

    def last_line(*overrides):
        code.code_version.cache_clear()  # read once per process
        try:
            main(["-m", *grid, *overrides])
        finally:
            code.code_version.cache_clear()
        said = capsys.readouterr()
        return said.out.splitlines()[-1], said.err

    assert last_line() == ("sweep: 2 finished, 0 skipped, 0 failed, 0 killed", "")
    (checkout / "docs" / "sweeps.md").write_text("rewritten", encoding="utf-8")
    assert last_line() == ("sweep: 0 finished, 2 skipped, 0 failed, 0 killed", "")
    with (checkout / "src" / "auclab" / "types.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    line, notice = last_line("rerun=false")
    assert line.startswith("sweep: 0 finished, 2 skipped, 0 failed, 0 killed; other code: 2 taken")
    assert notice == ""
    line, notice = last_line()
    assert line.startswith("sweep: 2 finished, 0 skipped, 0 failed, 0 killed; other code: 2 computed again")
    assert notice.count("finished runs of other code are computed again") == 1
    store = open_store(tmp_path / "mlruns")
    runs = store.client.search_runs([store.experiment_id], "params.solver = 'highs'")
    assert len(runs) == 4
    assert len({run.data.tags[CODE_TAG] for run in runs}) == 2
    assert all(run.data.tags[CODE_TAG].startswith("files ") for run in runs)


@pytest.mark.slow
def test_the_jobs_of_a_process_load_a_data_set_once(tmp_path):
    """Two data sets in turn, read for the checksum, too, where a job finished before."""
    counter = tmp_path / "site" / "counted.py"
    counter.parent.mkdir()
    counter.write_text(
        "from auclab.datasets.artificial import make_artificial as make\n"
        "def load(log, **options):\n"
        "    with open(log, 'a') as file:\n"
        "        print(options['seed'], file=file)\n"
        "    return make(**options)\n",
        encoding="utf-8",
    )
    grid = (*SMALL, "solver=highs", "bounds=none", "metrics=[auc]", "split.seed=0,1", "dataset.seed=7,8")
    grid += ("dataset._target_=counted.load", f"+dataset.log={tmp_path / 'loads.txt'}")
    for rerun in ("stale", "false"):  # the second time every job is skipped, by the checksum of its data
        answer = run(tmp_path, "-m", *grid, f"rerun={rerun}", PYTHONPATH=str(counter.parent))
        assert answer.returncode == 0, answer.stderr
        assert sorted((tmp_path / "loads.txt").read_text(encoding="utf-8").split()) == ["7", "8"]
        (tmp_path / "loads.txt").unlink()
    assert "0 finished, 4 skipped" in answer.stdout


def test_a_job_whose_library_is_not_installed_is_left_out(tmp_path, monkeypatch):
    """It has not failed: the sweep is complete without it."""
    monkeypatch.setenv(SWEEP_VARIABLE, "1")
    (tmp_path / ".hydra").mkdir()

    def make():
        raise AssertionError("not called")

    lacks = "formulation=lightgbm needs lightgbm, which is not installed: pip install 'auclab[lightgbm]'"
    job = Job("lightgbm · toy", {}, TrackingConfig(dir=str(tmp_path)), Rerun.STALE, "1", make, make, lacks)
    attempt(tmp_path, "a job", lambda: job)
    (found,) = read_statuses(tmp_path, "1")
    assert found.status == "LEFT_OUT"
    assert "lightgbm · toy  left out: formulation=lightgbm needs lightgbm" in found.line


def test_only_baselines_can_lack_a_library(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(baselines, "version", missing)
    assert lacking_library({"_target_": "auclab.formulations.ranksvm.RankSVM", "penalty": 1.0}) == ""
    named = {"_target_": "auclab.estimators.baselines.BoostedTrees", "n_estimators": 5}
    assert "pip install 'auclab[lightgbm]'" in lacking_library(named)
