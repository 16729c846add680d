"""A study through `run.py`: a tracked job per seed, skipped when it is known, results from the rows that were kept."""

import os

import pytest

from composed import REPOSITORY
from experiments import study, sweep
from run_command import run, runs_in

# A study outside of the repository: PYTHONPATH finds it in every process.
QUICK = '''
from pathlib import Path
from experiments.study import Row, main

SEEDS = {"smoke": 1, "default": 3, "full": 4}


def run_seed(seed, scale):
    """A square."""
    if Path("broken").exists() and seed == 1:
        raise ValueError("seed 1 breaks")
    yield Row("square", float(seed**2), seed)
    yield Row("square", seed + 0.1, seed, "as_published")


if __name__ == "__main__":
    main(run_seed, SEEDS)
'''
WORDS = ("experiment=ratigan_cowen_formulas", "study=paper.quick", "results_dir=found")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "__init__.py").touch()
    (tmp_path / "paper" / "quick.py").write_text(QUICK, encoding="utf-8")
    return tmp_path


def start(place, *words):
    return run(place, *words, PYTHONPATH=f"{place}{os.pathsep}{REPOSITORY}", OMP_NUM_THREADS="1")


def jobs_in(place):
    return [run for run in runs_in(place)[1] if "sweep.grid" not in run.data.tags]


@pytest.mark.slow
def test_seeds_are_jobs_and_what_failed_comes_again(place):
    (place / "broken").touch()
    first = start(place, "-m", *WORDS, "scale=default")
    assert first.returncode == 1
    assert first.stdout.splitlines()[-1] == "sweep: 2 finished, 0 skipped, 1 failed, 0 killed"
    assert "seed 1 breaks" in first.stderr
    assert "1 of 3 jobs gave no rows" in first.stderr
    command, made, rows = study.read(place / "found" / "quick.csv")
    assert command == "python run.py -m experiment=ratigan_cowen_formulas scale=default"
    assert made.endswith("; 1 of 3 jobs missing")
    assert [row.seed for row in rows] == [0, 0, 2, 2]

    (place / "broken").unlink()
    again = start(place, "-m", *WORDS, "scale=default")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == "sweep: 1 finished, 2 skipped, 0 failed, 0 killed"
    _, made, rows = study.read(place / "found" / "quick.csv")
    assert "missing" not in made
    assert [(row.claim_id, row.value, row.seed, row.variant) for row in rows if row.variant == ""] == [
        ("square", 0.0, 0, ""), ("square", 1.0, 1, ""), ("square", 4.0, 2, ""),
    ]  # fmt: skip
    some = start(place, "-m", *WORDS, "scale=default", "seed=1", "rerun=true")
    assert some.returncode == 0, some.stderr
    assert "quick.csv has more seeds and stays: 2 of 2 values are the same" in some.stdout
    assert study.read(place / "found" / "quick.csv")[2] == rows
    names = sorted({(run.info.status, run.info.run_name) for run in jobs_in(place)})
    assert names == [
        ("FAILED", "paper quick · default · seed 1"),
        *(("FINISHED", f"paper quick · default · seed {seed}") for seed in range(3)),
    ]
    (second,) = [run for run in jobs_in(place) if run.info.run_name.endswith("seed 2")]
    assert second.data.metrics["square"] == 4.0
    assert second.data.metrics["as_published/square"] == pytest.approx(2.1)
    told = {key: value for key, value in second.data.params.items() if not key.startswith("tracking")}
    assert told == {"study": "paper.quick", "scale": "default", "seed": "2"}
    assert second.data.tags["command"] == f"python run.py seed=2 {' '.join(WORDS)} scale=default hydra.mode=RUN"


@pytest.mark.slow
def test_results_go_to_the_folder_of_the_sweep(place):
    """Following a README changes no file that is kept with the studies."""
    done = start(place, "-m", *WORDS[:2], "scale=default", "hydra.sweep.dir=swept")
    assert done.returncode == 0, done.stderr
    assert "written: swept/quick.csv, 6 rows of 3 jobs" in done.stdout
    assert len(study.read(place / "swept" / "quick.csv")[2]) == 6
    assert not (place / "found").exists()


@pytest.mark.slow
def test_changed_code_is_computed_again_and_one_variant_is_only_shown(place):
    assert start(place, "-m", *WORDS, "scale=default").returncode == 0
    _, _, kept = study.read(place / "found" / "quick.csv")
    (place / "paper" / "quick.py").write_text(QUICK.replace("seed + 0.1", "seed + 10.1"), encoding="utf-8")
    again = start(place, "-m", *WORDS, "scale=default", "variant=as_published")
    assert again.returncode == 0, again.stderr
    last_line = again.stdout.splitlines()[-1]
    assert last_line.startswith("sweep: 3 finished, 0 skipped, 0 failed, 0 killed; other code: 3 computed again")
    assert study.read(place / "found" / "quick.csv")[2] == kept  # one variant alone is shown, and nothing written
    (shown,) = [line for line in again.stdout.splitlines() if "as_published" in line]
    assert shown.endswith("11.1 ± 0.6 (3 values)")


@pytest.mark.weekly
@pytest.mark.slow
def test_smoke_is_kept_in_the_store_alone(place):
    answer = start(place, "-m", *WORDS, "scale=smoke")
    assert answer.returncode == 0, answer.stderr
    assert not (place / "found").exists()
    (kept,) = jobs_in(place)
    assert kept.info.run_name == "paper quick · smoke"
    alone = start(place, *WORDS, "scale=default", "seed=2", "hydra.mode=RUN")
    assert alone.returncode == 0, alone.stderr
    assert "square" in alone.stdout
    assert {run.info.run_name for run in jobs_in(place)} == {"paper quick · smoke", "paper quick · default · seed 2"}
    wrong = start(place, "-m", *WORDS, "scale=default", "dataset=pima")
    assert wrong.returncode == 1
    assert "dataset=pima has no effect on a study" in wrong.stderr
    for words in (("scale=tiny",), ("scale=smoke", "variant=other")):
        wrong = start(place, "-m", *WORDS, *words)
        assert wrong.returncode == 1
        assert wrong.stderr.startswith("error: ")
        assert "Traceback" not in wrong.stderr


@pytest.mark.weekly
@pytest.mark.slow
def test_seeds_run_in_processes_of_their_own(place):
    answer = start(place, "-m", *WORDS, "scale=full", "hydra/launcher=processes", "hydra.launcher.workers=2")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1] == "sweep: 4 finished, 0 skipped, 0 failed, 0 killed"
    assert [row.seed for row in study.read(place / "found" / "quick.csv")[2]] == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_direct_way_gives_the_same_rows(place, monkeypatch, capsys, jobs):
    monkeypatch.syspath_prepend(place)
    monkeypatch.setenv("PYTHONPATH", f"{place}{os.pathsep}{REPOSITORY}")
    from paper import quick

    (place / "target").mkdir()
    monkeypatch.setattr(study, "FOLDER", place / "target")
    study.main(quick.run_seed, quick.SEEDS, ["--scale", "full", "--jobs", jobs])
    command, _, rows = study.read(place / "target" / "paper" / "results" / "quick.csv")
    assert command == "python -m experiments.paper.quick --scale full"
    assert rows == [row for seed in range(4) for row in study.rows_of("paper.quick", seed, "full")]
    assert study.count_seeds("paper.quick", "smoke") == 1
    assert sweep.seeds("paper.quick", "full") == "range(4)"
    assert "square" in capsys.readouterr().out


def test_a_study_in_one_piece_is_one_job():
    assert sweep.seeds("experiments.ratigan_cowen.formulas", "full") == "0"
    assert sweep.seeds("experiments.ratigan_cowen.breast_cancer", "full") == "0"  # its own seeds are inside
