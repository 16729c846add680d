"""The master of the outer approximation: the values, the duals, and what is removed."""

import numpy as np
import pytest

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.models.limit_master import LimitMaster
from auclab.types import Status


def test_the_least_norm_under_two_cuts_by_hand():
    """``1 − w₁ − 2 w₂ ≤ ½`` at costs 1 and 3: w₁ = ½ is cheaper than w₂ = ¼."""
    master = LimitMaster([1], np.array([0.5]), np.array([1.0, 3.0]), np.array([2.0, 0.5]), ColumnConstraints.of(2))
    master.add(np.array([0]), np.array([1.0]), np.array([[1.0, 2.0]]))
    point = master.minimise()
    assert point.status is Status.OPTIMAL
    assert point.coef == pytest.approx([0.5, 0.0])
    assert point.value == pytest.approx(0.5)
    assert point.part_weights == pytest.approx([1.0])  # the norm falls by 1 for each unit of the limit
    assert point.cut_weights == pytest.approx([1.0])
    master.add(np.array([0]), np.array([2.0]), np.array([[0.0, 6.0]]))  # 2 − 6 w₂ ≤ ½
    assert master.minimise().coef == pytest.approx([0.0, 0.25])
    master.remove(np.array([1]))
    assert master.minimise().value == pytest.approx(0.5)
    master.set_limits(np.array([0.8]))
    assert master.minimise().value == pytest.approx(0.2)


def test_blocks_add_up_and_rows_have_multipliers():
    """Blocks ``½ − w`` and ``½ + w/2``, so their sum falls by ½ for each unit of w, but w ≤ ¼."""
    constraints = ColumnConstraints.of(1, matrix=[[2.0]], limit=[0.5])
    master = LimitMaster([2], np.array([np.inf]), np.zeros(1), np.ones(1), constraints)
    master.add(np.array([0, 1]), np.array([0.5, 0.5]), np.array([[1.0], [-0.5]]))
    point = master.minimise()
    assert point.coef == pytest.approx([0.25])
    assert point.value == pytest.approx(0.875)
    assert point.part_weights == pytest.approx([1.0])
    assert point.cut_weights == pytest.approx([1.0, 1.0])
    assert point.row_multipliers == pytest.approx([0.25])


def test_the_largest_excess_is_shared_by_what_attains_it():
    """``max(1 − w − ½, 1 + w − ¾)`` is least where both are equal, at w = ⅛."""
    master = LimitMaster([1, 1], np.array([0.5, 0.75]), np.zeros(1), np.ones(1), ColumnConstraints.of(1))
    master.minimise_excess(True)
    master.add(np.array([0, 1]), np.array([1.0, 1.0]), np.array([[1.0], [-1.0]]))
    point = master.minimise()
    assert point.coef == pytest.approx([0.125])
    assert point.value == pytest.approx(0.375)
    assert point.part_weights == pytest.approx([0.5, 0.5])


def test_bounds_of_either_sign_are_kept():
    constraints = ColumnConstraints.of(3, lower=[0.2, -np.inf, -0.5], upper=[np.inf, -0.3, 0.5])
    master = LimitMaster([1], np.array([0.5]), np.ones(3), np.ones(3), constraints)
    point = master.minimise()
    assert point.coef == pytest.approx([0.2, -0.3, 0.0])
    assert point.value == pytest.approx(0.5)
