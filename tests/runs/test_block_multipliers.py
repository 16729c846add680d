"""Runs over bins of the scores keep multipliers of all rows, which prove their bounds in rational arithmetic."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from auclab.runs.checking import command
from auclab.runs.checking.claims import Verdict
from auclab.runs.checking.command import check_folder, exit_code
from auclab.runs.record import artifacts
from auclab.samples.blocks import open_parquet
from auclab.solvers.certify import certify
from composed import run_here

N_ROWS = 6_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files with a column far from 0, so that rows are centred first."""
    rng = np.random.default_rng(4)
    y = (rng.random(N_ROWS) < 0.4).astype("int8")
    X = rng.normal(size=(N_ROWS, 3)) + y[:, None] * [0.7, 0.3, 0.0] + [0.0, 1e4, 0.0]
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    place = tmp_path_factory.mktemp("bins")
    frame[:4_000].to_parquet(place / "a.parquet", row_group_size=900, index=False)
    frame[4_000:].to_parquet(place / "b.parquet", row_group_size=900, index=False)
    return place


@pytest.fixture(autouse=True)
def in_bins(monkeypatch):
    monkeypatch.setattr("auclab.samples.blocks.block_sample.DRAWN_FROM", 1_000)


def settings(folder, *others):
    return "dataset=blocks", f"dataset.path={folder}", "dataset.target=y", "solver=newton", *others


def verdicts(folder):
    return {claim.name: claim.verdict for check in check_folder(folder) for claim in check.claims}


@pytest.mark.slow
@pytest.mark.parametrize(
    "others",
    [
        ("split=none", "preprocess=none"),
        ("formulation=ranksvm", "formulation.penalty=0.03"),
        ("formulation=csvm", "formulation.penalty=0.01", "split=kfold", "split.n_folds=2"),
    ],
    ids=str,
)
def test_a_run_over_bins_is_confirmed(folder, tmp_path, others):
    result = run_here(tmp_path, *settings(folder, *others))
    assert result.folds[0].solution.bin_multipliers is not None
    found = verdicts(tmp_path)
    assert {"rows", "objective", "lower bound", "status"} <= set(found)
    assert set(found.values()) == {Verdict.CONFIRMED}


def test_the_file_is_written_block_by_block_and_proves_the_bound(folder, tmp_path):
    result = run_here(tmp_path, *settings(folder, "split=none", "preprocess=none"))
    file = pq.ParquetFile(tmp_path / "multipliers.parquet")
    assert file.metadata.num_row_groups == 8
    assert file.schema_arrow.names == ["row", "y_true", "multiplier"]
    stored, solution = file.read().to_pandas(), result.folds[0].solution
    assert stored["row"].tolist() == list(range(N_ROWS))
    table, labels = open_parquet(folder, target="y")
    again = certify(
        solution.formulation, table, labels.to_numpy(), solution.coef, multipliers=stored["multiplier"].to_numpy()
    )
    assert again.lower_bound == pytest.approx(solution.lower_bound, rel=1e-9)
    assert again.gap <= 1e-6


@pytest.mark.slow
def test_changed_multipliers_prove_less(folder, tmp_path):
    run_here(tmp_path, *settings(folder, "split=none"))
    path = tmp_path / "multipliers.parquet"
    stored = pd.read_parquet(path)
    stored["multiplier"] = stored["multiplier"].to_numpy()[::-1].copy()
    stored.to_parquet(path, index=False)
    assert verdicts(tmp_path)["lower bound"] is Verdict.UNPROVED


def test_rows_that_do_not_fit_are_not_checked(folder, tmp_path, monkeypatch):
    run_here(tmp_path, *settings(folder, "split=none"))
    monkeypatch.setattr(command, "BYTES_A_ROW", 1e12)
    checks = check_folder(tmp_path)
    reasons = {claim.name: claim.found for claim in checks[0].claims if claim.verdict is Verdict.UNCHECKED}
    assert set(reasons) == {"objective", "lower bound", "status"}
    assert "6,000 rows in rational numbers need 6000000 GB of memory, and" in reasons["objective"]
    assert exit_code(checks) == 2


def test_no_file_above_what_is_read(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "MOST_SCORES", 5_999)
    run_here(tmp_path, *settings(folder, "split=none"))
    assert not (tmp_path / "multipliers.parquet").exists()
    assert verdicts(tmp_path)["lower bound"] is Verdict.UNCHECKED
