"""Two classes at a time: as many threads as are allowed, and the same digits for any number of them."""

import threading

import numpy as np
import pytest

from auclab import CSVM, AuclabError, BufferedAUC, PartialAUC, RankSVM, solve
from auclab._core import threads
from auclab._core.threads import LARGE, allowed_threads, in_parallel, limit_threads

#: Rows of a class that is sorted and summed in a thread of its own.
SIZE = LARGE + 1


def names(*_):
    return threading.current_thread().name


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (2, 2), (7, 2)])
def test_threads_are_as_many_as_allowed(limit, count):
    with limit_threads(limit):
        assert len(set(in_parallel(names, (0,), (1,), threads=True))) == count
        assert len(set(in_parallel(names, (0,), (1,), threads=False))) == 1


def test_work_that_starts_threads_inside_a_thread_ends():
    def nested(depth):
        return sum(in_parallel(nested, (depth - 1,), (depth - 1,), threads=True)) if depth else 1

    with limit_threads(2):
        assert in_parallel(nested, (5,), (5,), threads=True) == [32, 32]


def test_what_one_class_raises_is_raised():
    with limit_threads(2), pytest.raises(ZeroDivisionError):
        in_parallel(lambda x: 1 // x, (1,), (0,), threads=True)


def test_environment_and_cores_are_the_limit_unless_one_is_set(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert allowed_threads() == 3
    with limit_threads(None):
        assert allowed_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "zero")
    assert allowed_threads() == threads._cores()


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_a_number_of_threads_that_is_none_is_refused(count):
    with pytest.raises(AuclabError, match="threads must be a whole number of at least 1"):
        solve(BufferedAUC(), [[0.0], [1.0]], [0, 1], threads=count)


@pytest.mark.parametrize(
    "program",
    [RankSVM(0.01, squared=True), RankSVM(0.01, "l1"), CSVM(0.01), PartialAUC(0.2, 0.1)],
    ids=lambda p: p.name,
)
def test_digits_are_those_of_one_thread(program):
    rng = np.random.default_rng(0)
    y = np.arange(2 * SIZE) % 2
    X = rng.normal(size=(2 * SIZE, 10)) + 0.2 * y[:, None]
    one, two = (solve(program, X, y, solver="newton", threads=count) for count in (1, 2))
    assert one.coef.tolist() == two.coef.tolist()
    assert (one.objective, one.gap, one.intercept) == (two.objective, two.gap, two.intercept)
