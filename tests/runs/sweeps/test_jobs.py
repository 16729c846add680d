"""One job of a sweep: computed, skipped, computed again because its code changed; data sets are loaded once."""

import shutil
from collections import Counter
from itertools import count

import pytest

from auclab._core.base import AuclabError
from auclab.cli.run import main
from auclab.runs.screen.console import show_sweep
from auclab.runs.sweeps.jobs import Job, Rerun, SweepRecord, attempt, parse_rerun
from auclab.runs.sweeps.watcher import Watcher, line_of_job
from auclab.runs.tracking import environment
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.environment import CODE_TAG, HASH_TAG, SETTINGS_TAG, fingerprint
from auclab.runs.tracking.record import RunRecord, recording
from auclab.runs.tracking.sync import Pending, write_finished, writing
from composed import REPOSITORY
from run_command import SMALL, run, runs_in


def test_a_job_whose_worker_died_is_repeated_and_one_that_had_ended_is_not(tmp_path):
    """As a launcher does that submits the jobs of a dead worker again."""
    SweepRecord(tmp_path, "a sweep").write()
    computed = []

    def job(configuration, *, dies=False):
        def record(sweep):
            return recording(place, name="job", tracking=None, params={}, tags={}, sweep=sweep.id)

        def work(run):
            computed.append(place.name)
            if dies:
                raise SystemExit

        place = tmp_path / configuration["folder"]
        settings = {"split": {"seed": configuration["seed"]}}
        return place, lambda: Job("job", settings, Rerun.STALE, "code", lambda: "aa", record, work)

    def run(place, make):
        attempt(place, tmp_path, "job", make)
        return RunRecord.read(place).status

    with pytest.raises(SystemExit):
        run(*job({"folder": "0", "seed": 1}, dies=True))
    shutil.rmtree(tmp_path / "0")  # a process that is killed leaves no record
    assert run(*job({"folder": "0", "seed": 1})) == "FINISHED"
    assert run(*job({"folder": "0", "seed": 1})) == "FINISHED"
    assert computed == ["0", "0"]
    assert run(*job({"folder": "1", "seed": 1})) == "SKIPPED"  # another job with these settings


def test_jobs_that_left_nothing_are_counted(tmp_path, capsys):
    show_sweep(Counter(FINISHED=2), folder=tmp_path, tracking=TrackingConfig(name="none"), parent=None, lost=3)
    assert capsys.readouterr().out.splitlines()[-1] == "sweep: 2 finished, 0 skipped, 0 failed, 0 killed, 3 not begun"


@pytest.fixture
def sweep(tmp_path):
    """One sweep over three seeds: its records, and the last line of its screen."""
    tracking = TrackingConfig(dir=str(tmp_path / "mlruns"))
    numbers = count()

    def run(code, rerun=Rerun.STALE):
        folder, name = tmp_path / str(number := next(numbers)), f"sweep {number}"
        SweepRecord(folder, name).write()
        with writing(tracking) as store:
            write_finished(store, folder)

        def job(seed):
            configuration, place = {"split": {"seed": seed}}, folder / str(seed)

            def record(sweep):
                tags = {SETTINGS_TAG: fingerprint(configuration), CODE_TAG: code}
                return recording(place, name=f"job {seed}", tracking=tracking, params={}, tags=tags, sweep=sweep.id)

            def work(run):
                run.keep(tags={HASH_TAG: fingerprint(configuration, "aa")})

            return Job(f"job {seed}", configuration, rerun, code, lambda: "aa", record, work)

        for seed in range(3):
            attempt(folder / str(seed), folder, f"seed={seed}", lambda seed=seed: job(seed))
        watcher = Watcher(folder, name, total=3, pending=Pending(tmp_path / "pending.json", folder, tracking))
        watcher.start()
        watcher.stop()
        other = Counter(record.status for record in watcher.records.values() if record.other_code)
        show_sweep(watcher.counts, folder=folder, tracking=tracking, parent=None, other_code=other)
        return list(watcher.records.values())

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
    assert "finished before with other code" in line_of_job(taken[0])
    assert last_line() == (
        "sweep: 0 finished, 3 skipped, 0 failed, 0 killed; other code: 3 taken, rerun=stale computes them again"
    )
    assert [job.run_id for job in sweep("code 1", Rerun.FALSE)] == [job.run_id for job in first]
    assert last_line() == "sweep: 0 finished, 3 skipped, 0 failed, 0 killed"
    every = sweep("code 1", Rerun.TRUE)
    assert [(job.status, job.other_code) for job in every] == [("FINISHED", None)] * 3


def test_a_worker_that_does_not_see_the_folder_of_the_sweep_says_so(tmp_path, capsys):
    with pytest.raises(SystemExit):
        attempt(tmp_path / "0", tmp_path, "seed=0", lambda: pytest.fail("was made"))
    assert "a worker needs the folder of the command, under the same path" in capsys.readouterr().err


def test_rerun_is_one_of_three():
    with pytest.raises(AuclabError, match="rerun is 'maybe'; it is one of stale, false, true"):
        parse_rerun("maybe")


@pytest.mark.weekly
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
    module = checkout / "src" / "auclab" / "runs" / "tracking" / "environment.py"
    monkeypatch.setattr(environment, "__file__", str(module))

    def last_line(*overrides):
        environment.code_version.cache_clear()  # read once per process
        try:
            main(["-m", *grid, *overrides])
        finally:
            environment.code_version.cache_clear()
        said = capsys.readouterr()
        return said.out.splitlines()[-1], said.err

    assert last_line() == ("sweep: 2 finished, 0 skipped, 0 failed, 0 killed", "")
    (checkout / "docs" / "sweeps.md").write_text("rewritten", encoding="utf-8")
    assert last_line() == ("sweep: 0 finished, 2 skipped, 0 failed, 0 killed", "")
    with (checkout / "src" / "auclab" / "testing.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    line, notice = last_line("rerun=false")
    assert line.startswith("sweep: 0 finished, 2 skipped, 0 failed, 0 killed; other code: 2 taken")
    assert notice == ""
    line, notice = last_line()
    assert line.startswith("sweep: 2 finished, 0 skipped, 0 failed, 0 killed; other code: 2 computed again")
    assert notice.count("finished runs of other code are computed again") == 1
    runs = [run for run in runs_in(tmp_path)[1] if run.data.params.get("solver") == "highs"]
    assert len(runs) == 4
    assert len({run.data.tags[CODE_TAG] for run in runs}) == 2
    assert all(run.data.tags[CODE_TAG].startswith("files ") for run in runs)


@pytest.mark.weekly
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
