"""Our own study: shares mean the same for every scorer, nothing of the test part is used, ranks are the textbook's."""

import numpy as np
import pandas as pd
import pytest
from experiments.study import Row, write
from experiments.which_formulation import answers, exact, figures, splits
from experiments.which_formulation.methods import COMPARED, METHODS, NAMES, Effort, partial
from scipy.optimize import minimize

from auclab._core.base import AuclabError
from auclab.metrics import auc_score

EFFORT = Effort(1e-6, 500)


@pytest.fixture(scope="module")
def sample():
    random = np.random.default_rng(0)
    y = np.repeat([1, 0], [30, 70])
    X = random.standard_normal((100, 4)) + np.outer(y, [1.0, 0.5, 0.0, 0.0])
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("name", ["bauc_z", "ranksvm", "csvm2", "ecsvm", "ranksvm2", "partial", "logistic", "lda"])
def test_every_scorer_ranks_and_a_larger_share_is_a_simpler_one(sample, name):
    X, y = sample
    strict, loose = (METHODS | {"partial": partial})[name](X, y, (0.9, 1e-3), EFFORT)
    assert strict.certified
    assert auc_score(y, loose.distance(X)) > 0.7
    if name != "lda":  # shrinkage turns w and does not shorten it
        assert np.linalg.norm(strict.coef) <= np.linalg.norm(loose.coef) * 1.0001


@pytest.mark.parametrize("name", ["bauc_z", "ranksvm", "ecsvm"])
def test_at_share_one_nothing_is_learned_and_below_it_something_is(sample, name):
    above, below = METHODS[name](*sample, (1.001, 0.97), EFFORT)
    assert np.linalg.norm(above.coef) < 1e-6
    assert np.linalg.norm(below.coef) > 1e-3


def test_penalty_and_threshold_find_the_same_directions(sample):
    """Prop. 7: RankSVM at λ is bAUC_z at z = −λ/V, where V is its optimum, so a smaller share of z."""
    X, y = sample
    (ranksvm,) = METHODS["ranksvm"](X, y, (0.3,), EFFORT)
    slope = np.linalg.norm(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    margins = (X[y == 1] @ ranksvm.coef)[:, None] - X[y == 0] @ ranksvm.coef
    value = np.maximum(1 - margins, 0).mean() + 0.3 * slope * np.linalg.norm(ranksvm.coef)
    (bauc,) = METHODS["bauc_z"](X, y, (0.3 / value,), EFFORT)
    assert ranksvm.distance(X) == pytest.approx(bauc.distance(X), abs=5e-3)


def test_the_share_is_that_of_a_plain_loop_and_platt_is_platts(sample):
    X, y = sample
    shares = (0.9, 0.1, 0.01)
    scorer, platt, solved = splits.tuned(METHODS["ranksvm"], X, y, shares, seed=3)
    means = []
    for share in shares:
        found = []
        for fold in splits.kfold(y, n_folds=5, seed=3):
            (each,) = METHODS["ranksvm"](X[fold.train], y[fold.train], (share,), splits.ROUGH)
            found.append(auc_score(y[fold.test], each.distance(X[fold.test])))
        means.append(np.mean(found))
    (expected,) = METHODS["ranksvm"](X, y, (shares[int(np.argmax(means))],), splits.FINE)
    assert scorer.coef == pytest.approx(expected.coef, rel=1e-6)
    assert len(solved) == 16
    distance = np.linspace(-2, 2, len(y)) + y
    target = np.where(y == 1, 31 / 32, 1 / 72)

    def loss(line):
        margin = line[0] * distance + line[1]
        return np.sum(np.logaddexp(0, margin) - target * margin)

    line = minimize(loss, [1.0, 0.0], tol=1e-10).x
    assert splits._platt(distance, y)(distance) == pytest.approx(
        1 / (1 + np.exp(-line[0] * distance - line[1])), abs=1e-4
    )
    assert platt(scorer.distance(X)).max() < 1


def test_many_rows_are_drawn_with_the_smaller_class_first():
    y = (np.arange(10_000) % 4 == 0).astype(int)
    for labels in (y, 1 - y):
        rows = splits._drawn(labels, 0)
        assert len(rows) == len(set(rows)) == 2000
        assert min(np.bincount(labels[rows])) == 500
        assert rows.tolist() != splits._drawn(labels, 1).tolist()
    assert splits._drawn(y[:50], 0).tolist() == list(range(50))
    rare = (np.arange(10_000) < 32).astype(int)
    assert rare[splits._drawn(rare, 0)].sum() == 32


@pytest.mark.needs_tables("heart_statlog.csv")
def test_nothing_beats_the_best_auc():
    numbers = exact._one("heart_statlog", 0, 2, 15)
    assert numbers["unproved"] == pytest.approx(0, abs=1e-9)
    assert numbers["lost.bauc"] >= numbers["lost.family"] >= -1e-12
    assert numbers["lost.logistic"] >= -1e-12
    assert 0.5 < numbers["train.exact"] <= 1


def test_ranks_wins_and_differences_of_made_values(tmp_path, monkeypatch):
    """bAUC is .5 everywhere; the k-th other scorer is better by k hundredths on every set and seed, and slower."""
    rows = []
    for number, name in enumerate(COMPARED):
        for place in ("one", "three", "fifteen"):
            for seed in range(3):
                value = 0.5 + 0.01 * number + 1e-4 * seed * number + 1e-6 * number * len(place)
                rows += [Row(f"value.{place}.{measure}", value, seed, name) for measure in ("auc", "bauc", "voros")]
                rows += [
                    Row(f"value.{place}.brier", value, seed, name),
                    Row(f"value.{place}.seconds", number, seed, name),
                ]
    write(tmp_path / "splits.csv", rows, command="python run.py -m experiment=which_formulation_splits scale=full")
    monkeypatch.setattr(answers, "SPLITS", tmp_path / "splits.csv")
    monkeypatch.setattr(answers, "rows_per_column", len)
    found = {row.claim_id: row.value for row in answers.run("default")}
    names = list(COMPARED)
    assert [found[f"rank.auc.{name}"] for name in names] == list(range(5, 0, -1))
    assert [found[f"rank.brier.{name}"] for name in names] == list(range(1, 6))
    assert found["friedman.auc"] == pytest.approx(0, abs=1e-12)
    assert found["better.lda"] == 3
    assert found["worse.lda"] == 0
    assert found["difference.csvm2"] == pytest.approx(0.0202, abs=1e-4)
    assert found["spread.largest"] == pytest.approx(0.0404, abs=1e-4)
    assert found["seconds.csvm2"] == 2
    assert found["room.correlation"] == pytest.approx(1)


def test_answers_need_values(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "SPLITS", tmp_path / "splits.csv")
    with pytest.raises(AuclabError, match="experiment=which_formulation_splits"):
        list(answers.run("default"))


@pytest.mark.parametrize("name", ["ranks", "differences", "exact"])
def test_figures_are_drawn_from_the_kept_results(name):
    if not (answers.SPLITS.exists() and figures.EXACT.exists()):
        pytest.skip("the study was not run")
    figure = getattr(figures, name)()
    assert len(figure.axes) == 2
    assert (figures.PLACE / f"{name}.png").stat().st_size < 150_000
    assert set(NAMES) == set(METHODS)


def test_means_are_of_seeds():
    values = pd.DataFrame(
        [("a", "auc", name, seed, float(seed)) for name in COMPARED for seed in (0, 1)],
        columns=["set", "measure", "method", "seed", "value"],
    )
    assert answers.means(values, "auc").to_numpy().tolist() == [[0.5] * 5]
