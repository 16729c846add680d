"""Eν-SVM by linear programs against many scorers of length 1."""

import numpy as np
import pytest
from experiments.norton_mafusalov_uryasev_2017.equivalences import enu_svm, sample

from auclab.metrics import superquantile
from auclab.regularisers import norm_named


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("nu", [0.3, 0.7])
def test_no_scorer_of_length_one_has_a_smaller_tail_mean(norm, nu):
    X, y = sample(3)
    signs = 2 * y - 1
    value, w, b = enu_svm(X, y, nu, norm)
    assert norm_named(norm)(w) == pytest.approx(1.0, abs=1e-6)
    assert superquantile(-signs * (X @ w + b), 1 - nu) == pytest.approx(value, abs=1e-6)
    random = np.random.default_rng(0)
    for scale in (0.02, 0.3, 3.0):  # near the optimum and everywhere
        for _ in range(300):
            other = w + scale * random.standard_normal(3)
            other /= norm_named(norm)(other)
            tail = superquantile(-signs * (X @ other + b + scale * random.standard_normal()), 1 - nu)
            assert tail >= value - 1e-6
