"""Jobs that end between inner folds: limits on means, and what is said of the folds that were done."""

import pytest

from auclab.pipeline.split.inner_limits import Limits, PrunedError


def test_means_are_held_against_their_limits():
    limits = Limits("auc", (0.7, 0.8))
    assert not limits.refuse([])
    assert not limits.refuse([0.7])
    assert limits.refuse([0.69])
    assert not limits.refuse([0.7, 0.9])
    assert limits.refuse([0.7, 0.89])
    assert not limits.refuse([0.9, 0.9, 0.0])  # no limit on the last


def test_of_a_metric_that_falls_large_means_are_worse():
    limits = Limits("auc_threshold", (0.3,), sign=-1)
    assert limits.refuse([0.31])
    assert not limits.refuse([0.29])


def test_the_error_says_what_was_measured():
    error = PrunedError({"auc": [0.5, 0.75], "bauc": [0.1, 0.2]}, 5, Limits("auc", (0.4, 0.7)))
    assert str(error) == "left after 2 of 5 inner folds: auc 0.6250, median 0.7000"
    assert error.values == {"auc": [0.5, 0.75], "bauc": [0.1, 0.2]}


def test_folds_after_the_limit_are_not_solved():
    """The third of five folds is the last: the mean falls below the limit there."""
    from types import SimpleNamespace

    import numpy as np

    from auclab.datasets.records import Split
    from auclab.pipeline.config.settings import InnerConfig
    from auclab.pipeline.split.inner_folds import score_on_inner_folds
    from auclab.types import Status

    scores, solved = [0.9, 0.8, 0.1, 0.9, 0.9], []

    def solve(split):
        solved.append(split)
        metrics = {"auc": scores[len(solved) - 1]}
        solution = SimpleNamespace(status=Status.OPTIMAL)
        return SimpleNamespace(parts={"test": SimpleNamespace(metrics=metrics)}, solution=solution)

    y = np.tile([0, 1], 20)
    split = Split(np.arange(30), np.arange(30, 40), "holdout")
    with pytest.raises(PrunedError, match="left after 3 of 5"):
        score_on_inner_folds(solve, split, y, InnerConfig(folds=5), Limits("auc", (0.7, 0.7, 0.7, 0.7)))
    assert len(solved) == 3
    solved.clear()
    found = score_on_inner_folds(solve, split, y, InnerConfig(folds=5))
    assert found.values == {"auc": tuple(scores)}
    assert found.means["auc"] == pytest.approx(0.72)


def test_limits_hold_for_what_the_metric_is_called_over_other_pairs():
    """A search by inner/auc is one by the concordance where times are compared."""
    from types import SimpleNamespace

    import numpy as np

    from auclab.datasets.records import Split
    from auclab.datasets.target import Target
    from auclab.pipeline.config.settings import InnerConfig
    from auclab.pipeline.split.inner_folds import score_on_inner_folds
    from auclab.types import Status

    values = iter([0.5, 0.6, 0.9])

    def solve(split):
        part = SimpleNamespace(metrics={"concordance": next(values)})
        return SimpleNamespace(parts={"test": part}, solution=SimpleNamespace(status=Status.OPTIMAL))

    times, event = np.arange(30.0), np.ones(30, dtype=bool)
    split = Split(np.arange(30), np.arange(0), "all")
    with pytest.raises(PrunedError, match=r"left after 1 of 3 inner folds: concordance 0\.5000"):
        score_on_inner_folds(solve, split, Target(times, event=event), InnerConfig(folds=3), Limits("auc", (0.7, 0.7)))
