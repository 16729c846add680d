"""What a comparison says of costs, against the least costs of the stored scores at a thousand shares."""

import re
from pathlib import Path

import numpy as np
import pytest

from auclab.metrics import least_cost
from auclab.runs import compare_runs, read_runs
from auclab.runs.compare import formats
from auclab.runs.compare.costs import best_hulls
from auclab.runs.stored.stored_files import read_scores

SHARES = np.linspace(0.0, 1.0, 1001)


def mean_cost(folders):
    stored = [read_scores(Path(folder)) for folder in folders]
    return np.mean([least_cost(each.y_true, each.y_score, SHARES) for each in stored], axis=0)


@pytest.fixture(scope="module")
def runs(store):
    found = read_runs(store)
    return found[found["split"] == "holdout"]


def test_the_best_two_change_places_where_a_comparison_says(runs):
    table = compare_runs(runs)
    (line,) = [each for each in formats.sentences(table) if each.startswith("costs on")]
    costs = {name: mean_cost(block["fold_folder"]) for name, block in runs.groupby("formulation")}
    cheaper, other, share = re.search(r": (\w+) costs less than (\w+) up to the cost share ([\d.]+)", line).groups()
    assert set(costs) == {cheaper, other}
    gains = costs[other] - costs[cheaper]
    before, after = float(share) - 1e-3 > SHARES, float(share) + 1e-3 < SHARES
    assert (gains[before] > -1e-12).all(), line
    assert gains[before].max() > 0.0
    assert gains[after].min() < 0.0
    found = [float(each) for each in re.findall(r"[\d.]*\d", line.partition("cost share ")[2])]
    signs = np.sign(np.where(np.abs(gains) > 1e-12, gains, 0.0))
    changes = SHARES[signs != 0.0][1:][np.diff(signs[signs != 0.0]) != 0.0]
    assert found == pytest.approx(changes, abs=2e-3)


def test_rows_without_scores_have_no_line(runs, tmp_path):
    assert best_hulls(compare_runs(runs))
    assert not best_hulls(compare_runs(runs.assign(fold_folder=tmp_path)))
    assert not best_hulls(compare_runs(runs.drop(columns="fold_folder")))
    assert not best_hulls(compare_runs(runs[runs["formulation"] == "csvm"]))
    (tmp_path / "scores.parquet").write_text("damaged", encoding="utf-8")
    assert not best_hulls(compare_runs(runs.assign(fold_folder=tmp_path)))
