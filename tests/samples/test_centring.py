"""Offsets are removed without rounding, and values out of range are refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab._core.base import AuclabError
from auclab.samples.as_sample import as_sample

finite = st.floats(-1e12, 1e12, allow_nan=False, allow_subnormal=True)


@given(st.lists(finite, min_size=2, max_size=6), st.floats(0.0, 1e12))
def test_differences_are_the_same_numbers(values, offset):
    """In exact arithmetic, every difference of two rows is what it was."""
    column = np.array(values) + offset
    if 0 < np.ptp(column) < 1e-150:
        return
    sample = as_sample(column[:, None], [1, *[0] * (column.size - 1)])
    shift = 0.0 if sample.offset is None else sample.offset[0]
    stored = [Fraction(x) + Fraction(shift) for x in (*sample.X_pos[:, 0], *sample.X_neg[:, 0])]
    assert stored == [Fraction(x) for x in column]


def test_what_is_moved():
    near, around, constant = [1e8, 1e8 + 1, 1e8 + 2], [-1.0, 0.0, 2.0], [0.1, 0.1, 0.1]
    sample = as_sample(np.c_[near, around, constant], [1, 0, 0])
    assert sample.offset.tolist() == [1e8 + 1, 0.0, 0.1]
    assert sample.X_pos.tolist() == [[-1.0, -1.0, 0.0]]
    assert sample.X_neg.tolist() == [[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]]
    assert as_sample(np.c_[around, around], [1, 0, 0]).offset is None


def test_data_of_the_caller_are_not_changed():
    X = np.full((3, 1), 1e8)
    X[0] += 1
    before = X.copy()
    as_sample(X, [1, 0, 0])
    assert (before == X).all()


@pytest.mark.parametrize("bad", [1e151, -1e300])
def test_values_beyond_the_range_are_refused(bad):
    with pytest.raises(AuclabError, match=r"at row 1, column 0, beyond ±1e\+150"):
        as_sample([[0.0], [bad], [1.0]], [1, 0, 0])


def test_columns_that_hardly_vary_are_refused():
    with pytest.raises(AuclabError, match="column 1 of X varies by 2e-200 only"):
        as_sample([[0.0, 0.0], [1.0, 2e-200], [1.0, 0.0]], [1, 0, 0])
