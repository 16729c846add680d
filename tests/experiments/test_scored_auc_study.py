"""The sROC curve of a hand-made sample, and the parts of the study of selection."""

from itertools import pairwise

import numpy as np
import pytest
from experiments.wu_flach_ferri_2007 import scored

from auclab.metrics import scored_auc


def test_area_of_two_pairs():
    """Margins .5 and −.2: half of the pairs up to .5, none after it."""
    labels, scores = np.array([1, 0, 0]), np.array([0.7, 0.2, 0.9])
    assert scored.area_under_sroc(labels, scores) == pytest.approx(0.25)
    assert scored_auc(labels, scores) == pytest.approx(0.25)


def test_halves_are_stratified_and_parts_nested():
    labels = np.arange(40) % 4 == 0
    first, second = scored.halves(np.arange(40), labels, np.random.default_rng(0))
    assert sorted([*first, *second]) == list(range(40))
    assert labels[first].sum() == labels[second].sum() == 5
    parts = [set(scored.first_rows(labels[first], share)) for share in scored.SHARES]
    assert all(small <= large for small, large in pairwise(parts))
    assert len(parts[-1]) == len(first)
