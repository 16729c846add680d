"""Equal rows have equal scores, wherever they are and whoever scores them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from auclab import ExactAUC, RankSVM, solve
from auclab._core.forms import row_scores
from auclab.estimators import AUCClassifier
from auclab.estimators.baselines import BaselineFit
from auclab.kernels import RBF, Polynomial
from auclab.metrics import auc_score, score_blocks, summarise
from auclab.models.timings import Timings


def summed(X, coef):
    """The twin: Python's floats, column by column."""
    return [sum((x * w for x, w in zip(row, coef.tolist(), strict=True)), 0.0) for row in X.tolist()]


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_the_sums_column_by_column(seed):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 3000 if seed % 5 == 0 else 40), rng.integers(1, 30)
    X, coef = rng.normal(size=(m, n)), rng.normal(size=n)
    expected = summed(X, coef)
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    for form in (X, np.asfortranarray(X), wide, sp.csr_array(X)):
        assert row_scores(form, coef).tolist() == expected


def test_equal_rows_of_both_classes_are_tied_pairs():
    """One pair of three is tied: counted as ranked, the value was 1/3."""
    w = [0.36457239618607573, 0.294132496655526]
    X = [[0.345584192064786, 0.8216181435011584]] * 2
    X += [[0.9053558666731177, 0.4463745723640113], [-0.5369532353602852, 0.5811181041963531]]
    assert ExactAUC().value(w, 0.0, X, [1, 0, 0, 0]) == 2 / 3


def repeated_rows(seed, n_features=7):
    """Few distinct rows, each in both classes, in an order that gives the copies all kinds of places."""
    rng = np.random.default_rng(seed)
    distinct = rng.normal(size=(9, n_features))
    place = rng.integers(0, 9, 61)
    y = rng.integers(0, 2, 61)
    return distinct[place], y, place


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("order", ["C", "F"])
def test_whatever_is_fitted_gives_equal_rows_one_score(seed, order):
    X, y, place = repeated_rows(seed)
    X = np.asarray(X, order=order)
    program = RankSVM(0.1, squared=True)
    logistic = LogisticRegression().fit(X, y)
    scorers = {
        "linear": solve(program, X, y),
        "estimator": AUCClassifier(program).fit(X, y),
        "rbf": solve(program, X, y, kernel=RBF(0.3)),
        "polynomial": solve(program, X, y, kernel=Polynomial(2, 1.0, 1.0)),
        "baseline": BaselineFit(logistic, None, "scikit-learn", Timings()),
    }
    for name, scorer in scorers.items():
        scores = scorer.decision_function(X)
        assert len(set(zip(place.tolist(), scores.tolist(), strict=True))) == len(set(place.tolist())), name


@pytest.mark.parametrize("seed", range(8))
def test_rows_that_are_scored_in_blocks_keep_their_ties(seed):
    """The strict AUC of rows in blocks is that of the whole."""
    X, y, _ = repeated_rows(seed)
    coef = np.random.default_rng(seed).normal(size=X.shape[1])
    blocks = score_blocks([(y[k : k + 13], row_scores(X[k : k + 13], coef)) for k in range(0, 61, 13)])
    strict = auc_score(y, row_scores(X, coef), ties="strict")
    assert summarise(blocks).auc() == (auc_score(y, row_scores(X, coef)),) * 2
    assert 1.0 - ExactAUC().value(coef, 0.0, X, y) == pytest.approx(strict, abs=1e-15)
