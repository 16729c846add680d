"""Random programs over the space of a kernel: no false bound, no false optimum, no crash.

A hundred and twenty by default; `AUCLAB_FUZZ=4000` is for the nightly run.
"""

import os

import numpy as np
import pytest

from auclab import ECSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, solve
from auclab.kernels import RBF, Laplacian, Polynomial, Precomputed
from fuzz.kernels import defects, kernel_case

COUNT = int(os.environ.get("AUCLAB_FUZZ", "120"))
PART = 10


@pytest.mark.slow
@pytest.mark.covering(part=1)
@pytest.mark.parametrize("part", range(max(1, COUNT // PART)))
def test_no_answer_over_a_kernel_is_wrong(part):
    wrong = {seed: found for seed in range(part * PART, (part + 1) * PART) if (found := defects(kernel_case(seed)))}
    assert not wrong


def test_equal_rows_have_a_span_of_one_landmark():
    """No landmark was chosen, and a span without functions ended in NumPy's words."""
    solution = solve(BufferedAUC(), [[1.0]] * 4, [0, 1, 0, 1], kernel=RBF(1.0))
    assert solution.objective == 1.0
    assert solution.n_landmarks == 0


@pytest.mark.parametrize("program", [BufferedAUC(), GeneralizedBufferedAUC(-0.3), PartialAUC(0.5)], ids=str)
def test_a_kernel_that_is_0_everywhere_has_one_scorer(program):
    """H has h = 0 alone, which is optimal."""
    solution = solve(program, np.zeros((4, 4)), [0, 1, 0, 1], kernel=Precomputed())
    assert (solution.objective, str(solution.status)) == (1.0, "optimal")
    assert solution.lower_bound == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("program", [GeneralizedBufferedAUC, ECSVM])
@pytest.mark.parametrize("threshold", [-1.9e-9, -1e-3])
def test_one_positive_with_equal_rows_and_a_buffer(program, threshold):
    """g is 0 but for rounding: no landmark is chosen for it."""
    X, y = np.repeat([[-2.1768136494850046, 0.09492718485511631]], 4, axis=0), [1, 0, 0, 0]
    solution = solve(program(threshold), X, y, kernel=Polynomial(1, 1.0, 0.0))
    assert solution.lower_bound <= solution.objective <= 1.0
    assert solution.gap < 2e-3 or str(solution.status) == "iteration_limit"  # ‖g‖² ends in rounding, z² below it


@pytest.mark.filterwarnings("error")
def test_a_span_in_which_w_grows_without_limit():
    """Values that are not numbers ended a step with a division by 0."""
    X = [[-5685.494297193205], [-1614.5215261993387], [-6054.495238294933], [-16252.952940050187]]
    solution = solve(PartialAUC(0.4), X, [0, 0, 1, 0], kernel=Laplacian(0.5), tolerance=1e-5)
    assert solution.lower_bound <= solution.objective <= 1e-5
