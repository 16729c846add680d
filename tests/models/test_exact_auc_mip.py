"""The mixed-integer programs of the count of pairs, box by box."""

import numpy as np

from auclab import ExactAUC
from auclab.formulations.problem import Problem
from auclab.models.exact_auc_mip import MARGIN, Box, pair_directions, solve_box, widest
from auclab.samples.as_sample import as_sample
from programs import overlapping


def test_the_relaxation_of_a_box_is_below_every_count_in_it():
    X, y = overlapping(41, 6, 7)
    pairs = pair_directions(Problem(ExactAUC(), as_sample(X, y)))
    rng = np.random.default_rng(41)
    for _ in range(20):
        low = rng.uniform(-1, 0.5, 3)
        box = Box(low, low + rng.uniform(0.05, 0.5, 3), pairs)
        bounds = [solve_box(box, np.inf, None, integer=integer).bound for integer in (False, True)]
        points = rng.uniform(box.low, box.high, (300, 3))
        least = min(float(pairs.count[pairs.rows @ v < 1e-6].sum()) for v in points)
        assert box.lost <= bounds[0] + 1e-9 <= bounds[1] + 2e-9 <= least + 3e-9


def test_directions_hold_every_pair_once():
    # Differences 1 (three pairs, in all), 0 (one pair) and −1 (none): one direction, and the equal rows apart.
    pairs = pair_directions(Problem(ExactAUC(), as_sample([[1.0], [2.0], [0.0], [1.0]], [1, 1, 0, 0])))
    assert pairs.rows.tolist() == [[1.0]]
    assert pairs.count.tolist() == [3.0]
    assert pairs.equal == 0.25
    assert (pairs.wrong(np.array([1.0])), pairs.wrong(np.array([-1.0]))) == (0.0, 3.0)


def test_halves_cover_the_box():
    X, y = overlapping(42, 4, 5)
    box = Box(-np.ones(3), np.ones(3), pair_directions(Problem(ExactAUC(), as_sample(X, y))))
    lower, upper = box.halves()
    side = int(np.flatnonzero(lower.high != box.high)[0])
    assert lower.high[side] == upper.low[side] == 0.0
    assert (lower.low == box.low).all()
    assert (upper.high == box.high).all()


def test_the_widest_point_keeps_the_right_pairs():
    X, y = overlapping(43, 6, 7)
    pairs = pair_directions(Problem(ExactAUC(), as_sample(X, y)))
    rng = np.random.default_rng(43)
    for _ in range(10):
        point = rng.uniform(-1, 1, 3)
        right = pairs.rows @ point >= 0.5 * MARGIN
        found = widest(pairs, point)
        assert np.abs(found).max() <= 1 + 1e-9
        assert (pairs.rows[right] @ found).min() >= (pairs.rows[right] @ point).min() - 1e-9


def test_directions_that_are_opposite_but_for_the_last_digits_are_thin():
    # (0.03 − 0.01, 0.02) against (0.01 − 0.02, 0.01 − 0.02): as floats 0.03 − 0.01 < 0.02, so both pairs are ranked
    # correctly by a w close to (−1, 1). In hundredths (2, 2) and (−1, −1) are exactly opposite.
    X = np.array([[0.03, 0.02], [0.01, 0.01], [0.01, 0.0], [0.02, 0.02]])
    y = [1, 1, 0, 0]
    assert pair_directions(Problem(ExactAUC(), as_sample(X, y))).thin
    assert not pair_directions(Problem(ExactAUC(), as_sample(np.rint(100 * X), y))).thin
    assert not pair_directions(Problem(ExactAUC(), as_sample(X * [1.0, 0.0] + [0.0, 1.0], y))).thin
