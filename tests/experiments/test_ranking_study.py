"""The page on patients, choices and grades is what the results give; its scorers solve what they are said to."""

import doctest

import numpy as np
import pytest
from experiments.ranking import choice, compared, page
from experiments.ranking.compared import Compared, measured, own

from auclab import certify
from auclab._core.base import AuclabError


def made(size=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 3))
    risk = X @ [1.0, -0.5, 0.0] + rng.normal(size=size)
    return Compared(X, np.exp(-risk), "times", event=(rng.random(size) < 0.7).astype(float))


def test_the_page_is_the_one_that_the_files_give():
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_examples_run():
    for module in (choice, compared):
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("study", page.USUAL)
def test_every_scorer_has_every_split_of_every_set(study):
    values = page.kept_values(study)
    counts = values.groupby(["set", "measure", "scorer"])["seed"].nunique()
    assert (counts == 10).all()
    assert set(values["scorer"]) == {*page.OWN, *page.USUAL[study]}
    table = page.means(values, "auc")
    first, name = table.columns[0], table.index[0]
    chosen = values[(values["set"] == name) & (values["measure"] == "auc") & (values["scorer"] == first)]
    assert table.loc[name, first] == pytest.approx(chosen["value"].mean())
    difference, p_value = page.tested(values, "auc", name, first, table.columns[1])
    assert difference == pytest.approx(table.loc[name, first] - table.loc[name, table.columns[1]])
    assert 0.0 <= p_value <= 1.0


def test_what_was_not_run_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    with pytest.raises(AuclabError, match="experiment=ranking_grades"):
        page.kept_values("grades")


@pytest.mark.parametrize("name", compared.OWN)
def test_scorers_of_auclab_are_optimal_and_lambda_is_in_its_unit(name):
    rows = made()
    scorer = own(name)(rows, 0.1)
    coef = scorer(np.eye(3))
    assert certify(compared.program_of(name, rows, 0.1), rows.X, rows.y, coef, **rows.given).gap <= 1e-5
    if name == "hinge":  # at its unit w = 0 is optimal, and not much below
        assert not own(name)(rows, 1.001)(np.eye(3)).any()
        assert own(name)(rows, 0.9)(np.eye(3)).any()


def test_what_is_tried_is_compared_on_the_second_half_alone():
    rows, asked = made(80), []

    def fit(part, value):
        asked.append((part.y.size, value))
        return lambda X: value * X[:, 0]

    halves = np.arange(30), np.arange(30, 50)
    found = list(measured(rows.part(np.arange(50)), halves, rows.part(np.arange(50, 80)), {"a": (fit, (-1.0, 2.0))}))
    assert asked == [(30, -1.0), (30, 2.0), (50, 2.0)]
    name, numbers, scores = found[0]
    assert name == "a"
    np.testing.assert_array_equal(scores, 2.0 * rows.X[50:, 0])
    assert numbers["auc"] == rows.part(np.arange(50, 80)).measures(scores)["auc"]


def test_fast_survival_svm_minimises_the_squared_hinge():
    pytest.importorskip("sksurv", reason="needs auclab[survival]")
    from experiments.ranking.survival import fast_svm

    rows = made()
    coef = own("squared_hinge")(rows, 0.1)(np.eye(3))
    np.testing.assert_allclose(fast_svm(rows, 0.1)(np.eye(3)), coef, atol=1e-4)
