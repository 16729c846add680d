"""Studies whose data need a download run from end to end on made tables of the same columns, and say what is missing.

The numbers of a made table say nothing about the paper; where they can be known beforehand they are.
"""

import numpy as np
import pandas as pd
import pytest
from experiments.ratigan_cowen import figures, fraud, ultrasound
from sklearn.datasets import make_classification

from auclab._core.base import AuclabError
from auclab.datasets import catalogue, load
from auclab.metrics import auc_score, voros_score
from experiments import scoreboard, study
from openml_server import OpenMLServer, Table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty machine with one folder for data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "ROOT", tmp_path / "elsewhere")
    monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def unreachable(monkeypatch):
    def refuse(*_, **__):
        raise OSError("Network is unreachable")

    monkeypatch.setattr("auclab.datasets.published.fetch", refuse)


def transactions(n=4000, n_frauds=60):
    """Columns as published; frauds are low in V1, with a few far away, and spread in V2 so that the curves cross."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.standard_normal((n, 28)), columns=[f"V{k}" for k in range(1, 29)])
    table["Amount"] = random.exponential(80, n).round(2)
    table["Class"] = (np.arange(n) < n_frauds).astype(int)
    table.loc[table.index < n_frauds // 2, "V1"] -= 6.0
    table.loc[table.index < n_frauds, "V2"] += 1.2
    return table


def values(rows):
    return {(row.claim_id, row.variant): row.value for row in rows}


def known(paper):
    return {claim.claim_id for claim in scoreboard.claims(paper)}


def test_fraud_on_a_made_table(folder):
    table = transactions()
    table.to_csv(folder / "creditcard.csv", index=False)
    found = values(fraud.run("smoke"))
    assert {claim for claim, _ in found} <= known("ratigan_cowen")
    assert (found["fraud.records", ""], found["fraud.frauds", ""]) == (4000, 60)
    # one column: the model can only turn it
    assert found["table5.m1.auroc", ""] == pytest.approx(100 * auc_score(table.Class, -table.V1), abs=1e-9)
    assert found["table5.m2.auroc", ""] == pytest.approx(100 * auc_score(table.Class, table.V2), abs=1e-9)
    header = 100 * voros_score(table.Class, -table.V1, cost_range=(999 / 5999, 99 / 399))
    assert found["table5.m1.voros", "as_published"] == pytest.approx(header, abs=1e-9)
    t = found["fraud.crossing", ""]
    costs = [voros_score(table.Class, scores, cost_range=(t, t)) for scores in (-table.V1, table.V2)]
    assert costs[0] == pytest.approx(costs[1], abs=1e-9)


def test_fraud_from_openml(folder, monkeypatch):
    table = transactions(400, 20)
    labels = table.pop("Class").astype(str)
    server = OpenMLServer(Table.of(table.assign(Class=labels), target="Class"))
    try:
        server.lead(monkeypatch)
        size = {"rows": 400, "n_pos": 20, "n_neg": 380}
        with pytest.raises(AuclabError, match=r"not the published data set: .*rows 400 instead of 284807"):
            load("creditcard", openml_id=7)
        assert load("creditcard", openml_id=7, **size).n_pos == 20
    finally:
        server.stop()
    found = values(fraud.run("smoke"))  # from the copy in the cache
    assert found["fraud.records", ""] == 400
    assert found["table5.m2.auroc", ""] == pytest.approx(100 * auc_score(labels == "1", table.V2), abs=1e-9)


def test_fraud_without_data_says_so(folder, unreachable):
    with pytest.raises(AuclabError, match=r"'creditcard' is not on this machine.*could not be fetched from OpenML"):
        list(fraud.run("smoke"))


def test_the_command_without_data_ends_with_one_line(folder, unreachable, capsys):
    with pytest.raises(SystemExit) as caught:
        study.main(fraud.run, arguments=["--scale", "smoke"])
    assert caught.value.code == 1
    told = capsys.readouterr().err
    assert "'creditcard' is not on this machine" in " ".join(told.split())
    assert "Traceback" not in told


def test_curves_that_do_not_cross_are_an_error():
    diagonal, above = (np.array([0.0, 1.0]),) * 2, (np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.9, 1.0]))
    with pytest.raises(AuclabError, match="nowhere dearer"):
        fraud.crossing(diagonal, above)


def images(n=240):
    X, y = make_classification(n, 12, n_informative=5, weights=[0.7], random_state=0)
    label = np.where(y == 1, "malignant", np.where(np.arange(n) % 4 == 0, "normal", "benign"))
    return pd.DataFrame(X, columns=[f"f{k}" for k in range(12)]).assign(label=label)


def test_ultrasound_on_a_made_table(folder):
    images().to_csv(folder / "busi_features.csv", index=False)
    rows = list(ultrasound.run_seed(0, "smoke"))
    found = values(rows)
    assert len(found) == len(rows) == 3 * 5 + 1
    assert {claim for claim, _ in found} <= known("ratigan_cowen")
    for name in ("log", "forest", "naive"):
        assert 50 < found[f"table3.{name}.auroc", ""] <= 100
        thirds = [found[f"table4.{name}.{third}", ""] for third in ultrasound.THIRDS]
        assert found[f"table3.{name}.voros", ""] == pytest.approx(np.mean(thirds), abs=1e-9)  # a partition of [0, 1]
    assert load("busi").n_pos == int((images().label == "malignant").sum())


def test_ultrasound_without_its_file_names_the_columns(folder):
    with pytest.raises(AuclabError, match=r"'busi' is not on this machine.*a column 'label' \(normal, benign or malig"):
        list(ultrasound.run_seed(0, "smoke"))


def test_ultrasound_with_a_column_of_words_names_it(folder):
    images().assign(file="a.png").to_csv(folder / "busi_features.csv", index=False)
    with pytest.raises(AuclabError, match=r"file has cells that are not numbers.*columns numbers"):
        list(ultrasound.run_seed(0, "smoke"))


@pytest.mark.slow
def test_figures_of_downloads_are_drawn(folder):
    transactions().to_csv(folder / "creditcard.csv", index=False)
    images().to_csv(folder / "busi_features.csv", index=False)
    curves, hulls, surfaces = figures.figure5().axes, figures.figure6().axes, figures.figure7().axes
    assert (len(curves), len(hulls), len(surfaces)) == (4, 1, 2)
    crossing = values(fraud.run("smoke"))["fraud.crossing", ""]
    assert f"equal cost, t = {crossing:.4f}" in [line.get_label() for line in hulls[0].get_lines()]
