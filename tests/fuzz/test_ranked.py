"""Random programs over groups, grades and censored times: no false bound, no false optimum, no crash.

Forty by default, which take every pair of an option of the pairs and of the loss; `AUCLAB_FUZZ=1000` is for the nightly
run, and `python -m tests.fuzz.ranked` counts by option.
"""

import os

import numpy as np
import pytest

from fuzz.ranked import KINDS, Judge, pairs_of, ranked_case, rows_of

COUNT = int(os.environ.get("AUCLAB_FUZZ", "40"))
LEAST_CERTIFIED = 0.75
"""The share of the solves that must end with a proof, of those that are not refused for values beyond the range of
floats: of 467 nasty programs 85 % do. What auto does not prove has columns that differ by 10⁸ or more in scale, or are
as far from 0, and rounding is charged to their bounds."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_answer_over_ranked_pairs_is_wrong(kind):
    step = 11 if COUNT < 200 else 1  # from one case to another with another regulariser
    rows = [row for number in range(COUNT // 2) for row in rows_of(step * number, kind)]
    wrong = [{name: row[name] for name in ("seed", "solver", "defects", "message")} for row in rows if row["defects"]]
    assert not wrong
    solved = [row["status"] for row in rows if row["status"] != "refused"]
    assert sum(status.startswith("optimal") for status in solved) >= LEAST_CERTIFIED * len(solved)


def test_the_judge_finds_what_is_false():
    """The values of a point, a bound above it and a false optimum, by hand: one pair, ``[1 − w]₊ + λ|w|``."""
    case = ranked_case(0, "ordinary")
    X = np.array([[0.0], [1.0]])
    case = type(case)(
        X, np.r_[0.0, 1.0], {}, "hinge", case.regulariser.with_weight(0.25), 0.0, False, False, case.options
    )
    assert [part.tolist() for part in pairs_of(case)] == [[1], [0], [1.0]]
    judge = Judge(case)
    assert judge.value(np.r_[1.0])[0] == 0.25
    assert judge.value(np.r_[0.0])[0] == 1.0
    judge.add_minimum_by_cvxpy()
    assert judge.least(np.inf, np.zeros(1), judge.norm)[0] == pytest.approx(0.25, abs=1e-9)
    # Half of the way from 0 to the minimum, at 1:
    assert judge.least(0.5, np.zeros(1), judge.norm)[0] == pytest.approx(0.625, abs=1e-9)


def test_a_column_of_numbers_near_the_largest_does_not_end_in_a_traceback():
    """Its slack overflowed where likely zeros are looked for."""
    assert not any(row["defects"] for row in rows_of(710_116, "nasty"))
