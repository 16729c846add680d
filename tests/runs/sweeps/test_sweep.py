"""Sweeps: what finished is skipped, what failed or was killed comes again, one parent, and kill -9 in the midst."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec

import psutil
import pytest
from omegaconf import OmegaConf

from auclab.runs.sweeps.sweep import SweepCallback, count_grid
from auclab.runs.sweeps.watcher import Watcher
from auclab.runs.sweeps.workers import START_METHOD, THREAD_VARIABLES, check_launcher, cores, pin_threads
from auclab.runs.tracking.record import RunRecord
from run_command import SMALL, command, run, runs_in
from waiting import wait_until

QUICK = ("-m", *SMALL, "solver=highs", "bounds=none", "metrics=[auc]")


def children_of(runs):
    return [kept for kept in runs if "sweep.grid" not in kept.data.tags]


def parents_among(runs):
    return [kept for kept in runs if "sweep.grid" in kept.data.tags]


@pytest.mark.slow
def test_what_finished_is_skipped_and_what_failed_comes_again(tmp_path):
    grid = (*QUICK, "formulation=bauc,ranksvm", "formulation.norm=l2", "split.seed=range(2)")
    first = run(tmp_path, *grid)
    assert first.returncode == 1
    assert first.stdout.splitlines()[-1] == "sweep: 2 finished, 0 skipped, 2 failed, 0 killed"
    logs = sorted(tmp_path.glob("multirun/*/*/*/run.log"))
    assert ["AuclabError: solver=highs cannot solve ranksvm" in path.read_text(encoding="utf-8") for path in logs] == [
        False, False, True, True,
    ]  # fmt: skip
    assert "Traceback" in logs[-1].read_text(encoding="utf-8")
    assert "Traceback" not in first.stderr
    assert len(re.findall("^error: solver=highs cannot solve", first.stderr, flags=re.MULTILINE)) == 2
    assert "note: formulation.norm is not a setting of formulation=bauc, and is left out there\n" in first.stderr

    again = run(tmp_path, *grid)
    assert again.returncode == 1
    assert again.stdout.splitlines()[-1] == "sweep: 0 finished, 2 skipped, 2 failed, 0 killed"
    _, runs = runs_in(tmp_path)
    (parent,) = parents_among(runs)  # opened again, as it had not finished
    assert parent.info.status == "FAILED"
    assert parent.data.tags["sweep.skipped"] == "2"
    assert parent.data.tags["sweep.grid"].splitlines()[-3:] == [
        "formulation=bauc,ranksvm", "formulation.norm=choice(l2)", "split.seed=range(2)",
    ]  # fmt: skip
    assert all(kept.data.tags["mlflow.parentRunId"] == parent.info.run_id for kept in children_of(runs))
    failed = [kept for kept in children_of(runs) if kept.info.status == "FAILED"]
    assert all("solver=clarabel" in kept.data.tags["error"] for kept in failed)
    assert Counter(kept.info.status for kept in children_of(runs)) == {"FINISHED": 2, "FAILED": 4}
    assert not any(key.startswith("rerun") for kept in runs for key in kept.data.params)


@pytest.mark.slow
def test_a_sweep_says_once_for_which_formulations_weights_of_the_classes_cancel(tmp_path):
    small = ("-m", *SMALL, "bounds=none", "metrics=[auc]", "tracking=none", "formulation=bauc,csvm,generalized_bauc")
    said = run(tmp_path, *small, "class_weight=null,balanced").stderr
    (line,) = (line for line in said.splitlines() if "class_weight" in line)
    assert line.startswith("note: bauc, generalized_bauc: class_weight makes no difference to a scorer over pairs")
    assert "class_weight" not in run(tmp_path, *small).stderr


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_kill_9_loses_no_job_and_doubles_none(tmp_path):
    """In the midst of a job, after one; benchmarks/sweep_survival.py does it ten times with sixty jobs."""
    words = command(*QUICK, "split.seed=range(5)")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    wait_until(lambda: list(tmp_path.glob("multirun/*/*/1/run.json")), process, every=0.01)
    time.sleep(random.uniform(0.0, 0.2))
    process.send_signal(signal.SIGKILL)
    process.wait()
    answer = run(tmp_path, *QUICK, "split.seed=range(5)")
    assert answer.returncode == 0, answer.stderr
    _, runs = runs_in(tmp_path)
    seeds = Counter(
        kept.data.params["split.seed"] for kept in runs if kept.info.status == "FINISHED" and kept.data.params
    )
    assert seeds == {str(seed): 1 for seed in range(5)}
    assert {kept.info.status for kept in runs} <= {"FINISHED", "KILLED"}
    (parent,) = parents_among(runs)
    assert parent.info.status == "FINISHED"
    assert all(kept.data.tags["mlflow.parentRunId"] == parent.info.run_id for kept in children_of(runs))
    assert not list((tmp_path / "mlruns" / "pending").glob("*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("launcher", "two"), [("processes", "workers=2"), ("dask", "workers=2"), ("joblib", "n_jobs=2")]
)
def test_launchers(tmp_path, launcher, two):
    """Two workers, a job that fails, and the count of cores that each of them sees."""
    if launcher == "joblib":
        pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    of_jobs = ("formulation=bauc,ranksvm", "formulation.norm=l2", "split.seed=0,1")
    grid = (*QUICK, f"hydra/launcher={launcher}", f"hydra.launcher.{two}", *of_jobs)
    answer = run(tmp_path, *grid)
    assert answer.returncode == 1
    if launcher == "dask" and find_spec("distributed") is None:
        assert answer.stderr.splitlines() == [
            "error: this launcher needs distributed; install it with pip install 'auclab[dask]'"
        ]
        assert not (tmp_path / "mlruns").exists()
        return
    assert answer.stdout.splitlines()[-1] == "sweep: 2 finished, 0 skipped, 2 failed, 0 killed"
    note, *errors = [line for line in answer.stderr.splitlines() if line.startswith(("note", "error"))]
    assert note.startswith("note: formulation.norm is not a setting of formulation=bauc")
    assert len(errors) == 2
    assert all(line.startswith("error: solver=highs cannot") for line in errors)
    assert not re.search(r"HYDRA|Warning", answer.stdout)
    _, runs = runs_in(tmp_path)
    (parent,) = parents_among(runs)
    children = children_of(runs)
    assert all(kept.data.tags["mlflow.parentRunId"] == parent.info.run_id for kept in children)
    pinned = os.environ.get("OMP_NUM_THREADS", str(max(1, cores() // 2)))
    assert {kept.data.tags["OMP_NUM_THREADS"] for kept in children} == {pinned}


@pytest.mark.weekly
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_cluster_whose_workers_stand_in_another_folder_and_one_dies(tmp_path):
    """Two workers of two threads: what the dead one had computed is kept, what it was computing is computed again."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address=None, local_directory=str(tmp_path / "dask")
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        (tmp_path / "here").mkdir()
        address = f"hydra.launcher.address={cluster.scheduler_address}"
        words = command(*QUICK, "split.seed=range(12)", "hydra/launcher=dask", address)
        process = subprocess.Popen(words, cwd=tmp_path / "here", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wait_until(lambda: len(list(tmp_path.glob("here/multirun/*/*/*/run.json"))) >= 3, process, every=0.01)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        shown = process.communicate(timeout=120)[0].decode()
    assert process.returncode == 0, shown
    assert shown.splitlines()[-1] == "sweep: 12 finished, 0 skipped, 0 failed, 0 killed"
    _, runs = runs_in(tmp_path / "here")
    assert Counter(kept.data.params["split.seed"] for kept in children_of(runs)) == {str(seed): 1 for seed in range(12)}


@pytest.mark.weekly
@pytest.mark.skipif(START_METHOD != "forkserver", reason="workers are not forked here")
def test_a_worker_of_dask_that_dies_takes_one_job_with_it(tmp_path):
    pytest.importorskip("distributed")
    words = command(*QUICK, "split.seed=range(12)", "hydra/launcher=dask", "hydra.launcher.workers=2")
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wait_until(lambda: len(list(tmp_path.glob("multirun/*/*/*/run.json"))) >= 3, process, every=0.01)
    servers = (
        each
        for each in psutil.Process(process.pid).children()
        if "multiprocessing.forkserver" in " ".join(each.cmdline())
    )
    random.choice(next(servers).children()).kill()
    last = process.communicate(timeout=120)[0].decode().splitlines()[-1]
    # Between two jobs there is none to lose, and one that had just begun has no folder.
    assert re.fullmatch(r"sweep: 1[12] finished, 0 skipped, 0 failed, (1 killed|0 killed(, 1 not begun)?)", last)
    assert process.returncode == (0 if "12 finished" in last else 1)


@pytest.mark.slow
def test_a_cluster_without_workers_ends_the_sweep_with_one_line(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        place = cluster.scheduler_address
        launcher = ("hydra/launcher=dask", f"hydra.launcher.address={place}", "hydra.launcher.wait=1")
        answer = run(tmp_path, *QUICK, "split.seed=0,1", *launcher)
    assert answer.returncode == 1
    assert f"error: the Dask cluster {place} had no worker for 1 s; start some and repeat the call" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert answer.stdout.splitlines()[-1] == "sweep: 0 finished, 0 skipped, 0 failed, 0 killed, 2 not begun"


def test_a_launcher_that_is_not_installed_names_its_extra(monkeypatch):
    monkeypatch.setattr("auclab.runs.sweeps.workers.find_spec", lambda name: None)
    for target, extra in {
        "hydra_plugins.auclab_dask_launcher.DaskLauncher": "dask",
        "hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher": "slurm",
    }.items():
        with pytest.raises(ValueError, match=rf"pip install 'auclab\[{extra}\]'"):
            check_launcher({"_target_": target})
    check_launcher({"_target_": "hydra._internal.core_plugins.basic_launcher.BasicLauncher"})


THREADS = """
import os, sys
import auclab.runs.sweeps.libraries
with open(sys.argv[1], "w") as file:
    print(*(open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")), file=file)
"""


@pytest.mark.weekly
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_workers_are_forked_from_a_process_with_one_thread(tmp_path):
    """Besides that of jemalloc (in pyarrow), which ends and restarts it around a fork."""
    subprocess.run(
        [sys.executable, "-c", THREADS, str(tmp_path / "threads")],
        env=os.environ | dict.fromkeys(THREAD_VARIABLES, "1"), check=True,
    )  # fmt: skip
    threads = (tmp_path / "threads").read_text(encoding="utf-8").split()
    assert len([name for name in threads if name != "jemalloc_bg_thd"]) == 1


@pytest.mark.slow
@pytest.mark.skipif(START_METHOD != "forkserver", reason="workers are not forked here")
def test_a_worker_has_the_libraries_before_its_first_job(tmp_path):
    """With threads of OpenBLAS in the process that is forked: it restarts them."""
    workers = ("hydra/launcher=processes", "hydra.launcher.workers=2")
    words = (*QUICK, "formulation=bauc", *workers, "split.seed=range(4)")
    answer = run(tmp_path, *words, **dict.fromkeys(THREAD_VARIABLES, "2"))
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    _, runs = runs_in(tmp_path)
    assert {kept.data.tags["OMP_NUM_THREADS"] for kept in children_of(runs)} == {"2"}
    logs = [path.read_text(encoding="utf-8") for path in tmp_path.glob("multirun/*/*/*/run.log")]
    assert len(logs) == 4


@pytest.mark.weekly
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_killed_worker_ends_the_sweep_and_the_next_start_does_the_rest(tmp_path):
    words = command(*QUICK, "hydra/launcher=processes", "hydra.launcher.workers=2", "split.seed=range(12)")
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: list(tmp_path.glob("multirun/*/*/*/run.json")), process, every=0.01)
    workers = [each for each in psutil.Process(process.pid).children(recursive=True) if not each.children()]
    newest = max(workers, key=lambda each: each.create_time())
    newest.kill()
    _, errors = process.communicate()
    assert process.returncode == 1
    assert "error: a worker process died, killed or out of memory; the same command again computes" in errors
    wait_until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in workers))
    answer = run(tmp_path, *QUICK, "hydra/launcher=processes", "hydra.launcher.workers=2", "split.seed=range(12)")
    assert answer.returncode == 0, answer.stderr
    _, runs = runs_in(tmp_path)
    finished = Counter(kept.data.params["split.seed"] for kept in children_of(runs) if kept.info.status == "FINISHED")
    assert finished == {str(seed): 1 for seed in range(12)}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("hydra_plugins.hydra_submitit_launcher") is None, reason="needs the extra slurm")
def test_slurm_composes_and_pins_threads(tmp_path):
    answer = run(tmp_path, *SMALL, "hydra/launcher=slurm", "hydra.launcher.partition=fast", "--cfg", "hydra")
    assert answer.returncode == 0, answer.stderr
    assert "SlurmLauncher" in answer.stdout
    assert "partition: fast" in answer.stdout
    assert "export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}" in answer.stdout


def test_threads_are_shared_among_workers_and_the_readers_choice_stays(monkeypatch):
    for variable in THREAD_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    pin_threads({"_target_": "x.BasicLauncher"})
    assert not any(variable in os.environ for variable in THREAD_VARIABLES)
    monkeypatch.setattr("auclab.runs.sweeps.workers.cores", lambda: 8)
    for variable in THREAD_VARIABLES:
        monkeypatch.setenv(variable, "to be taken away at the end")
        monkeypatch.delenv(variable)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    pin_threads({"workers": 4})
    assert [os.environ[variable] for variable in THREAD_VARIABLES] == ["3", "2", "2", "2", "2", "2"]
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")


def test_the_grid_is_counted():
    assert count_grid(["formulation=bauc,ranksvm,csvm", "dataset=pima", "split.seed=range(20)"]) == 60
    assert count_grid(["solver.time_limit=choice(1,2)", "+x=3", "metrics=[auc,bauc]"]) == 2
    assert count_grid(["split.seed=1,2,3", "split.seed=1,2"]) == 2  # the later override counts
    assert count_grid(["split.seed=1,2,3", "split.seed=1", "solver=highs,newton"]) == 2


def end_job(folder, sweep="now", **values):
    RunRecord(folder, f"job {folder.name}", sweep=sweep).keep(**values)


def test_records_of_an_earlier_sweep_in_the_same_folder_do_not_count(tmp_path):
    end_job(tmp_path / "0", "earlier", status="FAILED")
    end_job(tmp_path / "1")
    watcher = Watcher(tmp_path, "now", total=2, pending=None)
    watcher.start()
    watcher.stop()
    assert watcher.counts == {"FINISHED": 1}


def test_the_watcher_tells_every_job_once_and_the_time_left(tmp_path, capsys):
    watcher = Watcher(tmp_path, "now", total=4, pending=None)
    assert watcher.seconds_left() is None
    watcher.start_time -= 100.0
    for number, status in enumerate(("FINISHED", "SKIPPED", "FAILED")):
        end_job(tmp_path / str(number), status=status, line="it broke" if status == "FAILED" else "")
    watcher.start()
    watcher.stop()
    said, cried = capsys.readouterr()
    assert ["job 0" in said.splitlines()[0], "job 1" in said.splitlines()[1]] == [True, True]
    assert len(said.splitlines()) == 2
    assert [line.split("  ")[0] for line in cried.splitlines()] == ["error: it broke"]
    assert "3 of 4, about" in cried
    # One job is left, two took a hundred seconds, one was skipped.
    assert watcher.seconds_left() == pytest.approx(50.0, abs=5.0)
    assert Watcher(tmp_path, "now", total=None, pending=None).seconds_left() is None


def test_a_fault_at_the_start_of_a_sweep_ends_it(monkeypatch, capfd):
    # Hydra alone would make a warning of it and run the jobs of a sweep that is not open.
    def fail(launcher):
        raise RuntimeError("no such thing")

    monkeypatch.setattr("auclab.runs.sweeps.workers.check_launcher", fail)
    with pytest.raises(SystemExit) as ended:
        SweepCallback().on_multirun_start(OmegaConf.create({"hydra": {"launcher": {}}}))
    assert ended.value.code == 1
    assert "RuntimeError: no such thing" in capfd.readouterr().err
