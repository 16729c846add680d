"""Norms of vectors whose squares over- or underflow."""

import numpy as np
import pytest

from auclab.regularisers import norm_named


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("n_features", [2, 33])
def test_the_length_of_a_vector_whose_squares_are_no_numbers(size, n_features):
    assert norm_named("l2")(np.full(n_features, size)) == pytest.approx(size * np.sqrt(n_features))
