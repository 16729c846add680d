"""The fewest features of a level of bAUC: against enumeration, and what is said where there is no such scorer."""

from itertools import combinations

import numpy as np
import pytest

from auclab import AuclabError, BufferedAUC, Constraints, solve
from auclab.metrics import bauc_score
from auclab.solvers.guaranteed import fewest_features


def sample(seed, n_features=4, rows=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, n_features))
    y = (X @ rng.normal(size=n_features) + 1.5 * rng.normal(size=rows) > 0).astype(int)
    return X, y


def largest(X, y, count, allowed):
    """The largest bAUC of any `count` of the columns."""
    return max(1 - solve(BufferedAUC(), X[:, list(chosen)], y).objective for chosen in combinations(allowed, count))


@pytest.mark.parametrize("seed", range(6))
def test_as_few_as_by_enumeration(seed):
    X, y = sample(seed)
    by_count = [largest(X, y, count, range(4)) for count in (1, 2, 3, 4)]
    for fewer, more, count in zip(by_count, by_count[1:], (2, 3, 4), strict=False):
        if more - fewer < 1e-2:
            continue
        level = 0.5 * (fewer + more)
        found = fewest_features(X, y, level)
        assert (found.n_features, found.proved, found.is_least) == (count, count, True)
        assert bauc_score(y, found.solution.decision_function(X)) >= level


def test_features_that_are_excluded_are_not_used():
    X, y = sample(1)
    level = 0.9 * largest(X, y, 3, (1, 2, 3))
    found = fewest_features(X, y, level, constraints=Constraints(excluded=[0]))
    assert found.solution.coef[0] == 0
    assert found.is_least


def test_too_much_is_refused_with_what_is_proved():
    X, y = sample(2)
    with pytest.raises(AuclabError, match=r"impossible with 4 features \(proved\)"):
        fewest_features(X, y, 0.5 + 0.5 * largest(X, y, 4, range(4)))
    with pytest.raises(AuclabError, match="impossible with 1 feature "):
        fewest_features(X, y, largest(X, y, 4, range(4)) - 1e-3, constraints=Constraints(max_features=1))
