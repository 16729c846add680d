"""`run.py dataset=blocks` on a published data set with categories and gaps, against the same run in memory."""

import importlib.util
import json
import math
import os
import subprocess
import sys

import pytest

from auclab.datasets import load
from composed import REPOSITORY, run_here

#: A program with one minimiser, solved to the last digits: the solvers take other steps in blocks.
SETTINGS = (
    "formulation=ranksvm",
    "formulation.squared=true",
    "formulation.penalty=10",
    "solver=newton",
    "solver.tolerance=1e-13",
    "dataset.target=y",
    "dataset.name=credit",
    "tracking=none",
)


@pytest.fixture(scope="module")
def credit(tmp_path_factory):
    """Credit approval: nine columns of categories, six of numbers, 67 gaps; with a column of booleans beside them."""
    dataset = load("credit_approval")
    frame = dataset.frame.assign(heavy=dataset.frame.iloc[:, -1] > 100.0, y=dataset.y)
    place = tmp_path_factory.mktemp("credit")
    (place / "folder").mkdir()
    frame[:400].to_parquet(place / "folder" / "a.parquet", row_group_size=150, index=False)
    frame[400:].to_parquet(place / "folder" / "b.parquet", row_group_size=150, index=False)
    frame.to_parquet(place / "one.parquet", index=False)
    assert frame.isna().any().sum() >= 7
    return place


def agree(ours, theirs):
    """All numbers but seconds, what says how a solver went about it, and a bound that charges the gap it left.

    Scores move with w, which a gap of 1e-12 leaves open to about its root: the level alpha at which the optimum is read
    and thresholds follow them to first order, other metrics to less.
    """
    assert set(ours) == set(theirs)
    of_solver = ("gap", "absolute_gap", "dual_residual", "iterations", "seconds/", "bound/pairwise_stability")
    for key in ours:
        if not key.startswith(of_solver):
            moves_with_w = key == "alpha" or key.endswith("threshold")
            close = 1e-7 if moves_with_w else 1e-8
            assert math.isclose(ours[key], theirs[key], rel_tol=close, abs_tol=close), (key, ours[key], theirs[key])


@pytest.mark.slow
@pytest.mark.needs_tables("credit_approval.csv")
@pytest.mark.covering(others=1)
@pytest.mark.parametrize("others", [("preprocess=unit_ball", "preprocess.missing_indicators=true"), ("split=none",)])
def test_a_run_on_blocks_is_that_in_memory(credit, tmp_path, others):
    blocks = run_here(tmp_path / "a", *SETTINGS, *others, "dataset=blocks", f"dataset.path={credit / 'folder'}")
    memory = run_here(tmp_path / "b", *SETTINGS, *others, "dataset=file", f"dataset.path={credit / 'one.parquet'}")
    agree(blocks.summary, memory.summary)
    assert blocks.folds[0].features == memory.folds[0].features
    assert blocks.folds[0].scorer["columns"] == memory.folds[0].scorer["columns"]


@pytest.mark.needs_tables("credit_approval.csv")
@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs the extra auclab[dask]")
def test_from_the_shell_on_a_dask_cluster(credit, tmp_path):
    found = []
    for name, words in (
        ("blocks", ("dataset=blocks", f"dataset.path={credit / 'folder'}", "engine=dask")),
        ("memory", ("dataset=file", f"dataset.path={credit / 'one.parquet'}")),
    ):
        command = [sys.executable, REPOSITORY / "run.py", *words, *SETTINGS, f"hydra.run.dir={tmp_path / name}"]
        answer = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY / "src")},
        )  # fmt: skip
        assert answer.returncode == 0, answer.stderr
        found.append(json.loads((tmp_path / name / "metrics.json").read_text(encoding="utf-8")))
    agree(*found)
