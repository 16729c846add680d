"""Splits: both classes everywhere, nothing twice, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import instantiate
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from auclab._core.base import AuclabError
from auclab.datasets import splits
from auclab.datasets.records import Dataset, Split

Y = np.repeat([1, 0], [30, 70])


@given(
    n_pos=st.integers(10, 60),
    n_neg=st.integers(10, 60),
    test_size=st.floats(0.2, 0.8),
    seed=st.integers(0, 2**32 - 1),
    n_folds=st.integers(2, 10),
)
def test_parts_are_disjoint_complete_and_stratified(
    n_pos: int, n_neg: int, test_size: float, seed: int, n_folds: int
) -> None:
    y = np.random.default_rng(0).permutation(np.repeat([1, 0], [n_pos, n_neg]))
    shuffled = [*splits.holdout(y, test_size=test_size, seed=seed), *splits.repeated(y, n_repeats=2, seed=seed)]
    folds = splits.kfold(y, n_folds=n_folds, seed=seed)
    for split in [*shuffled, *folds, *splits.none(y)]:
        np.testing.assert_array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(len(y)))
    for split in [*shuffled, *folds]:
        share = len(split.test) / len(y)
        assert abs(y[split.test].sum() - share * n_pos) < 1.0 + 1e-9
        assert 0 < y[split.test].sum() < len(split.test)
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.test for fold in folds])), np.arange(len(y)))


def test_sizes() -> None:
    [split] = splits.holdout(Y)
    assert (len(split.train), len(split.test), int(Y[split.test].sum())) == (70, 30, 9)
    for split in splits.repeated(Y):
        assert (len(split.train), len(split.test), int(Y[split.test].sum())) == (90, 10, 3)
    assert [len(split.test) for split in splits.kfold(Y)] == [20] * 5
    assert [int(Y[split.test].sum()) for split in splits.kfold(Y)] == [6] * 5


@pytest.mark.parametrize("function", [splits.holdout, splits.kfold, partial(splits.repeated, n_repeats=3)])
def test_seeds(function: Callable[..., list[Split]]) -> None:
    def tests(seed: int) -> list[list[int]]:
        return [sorted(split.test.tolist()) for split in function(Y, seed=seed)]

    assert tests(1) == tests(1)
    assert tests(1) != tests(2)


def test_repeats_differ() -> None:
    assert len({tuple(sorted(split.test.tolist())) for split in splits.repeated(Y)}) == 10


def test_one_fold_is_that_of_all() -> None:
    folds = splits.kfold(Y, n_folds=4, seed=2)
    for number, fold in enumerate(folds):
        [single] = splits.kfold(Y, n_folds=4, seed=2, fold=number)
        assert single.name == fold.name == f"fold {number}"
        np.testing.assert_array_equal(single.test, fold.test)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: splits.holdout([1] * 5), r"two classes are needed"),
        (lambda: splits.none([1] * 5), r"two classes are needed"),
        (lambda: splits.holdout(Y, test_size=1.0), r"test_size is 1\.0; it is a share between 0 and 1"),
        (lambda: splits.holdout(Y, test_size=-0.1), r"test_size is -0\.1"),
        (lambda: splits.holdout(Y, seed=-1), r"seed is -1; it must be ≥ 0"),
        (lambda: splits.holdout([1, 0, 0, 0, 0]), r"of 1 positive and 4 negatives"),
        (lambda: splits.holdout([1, 1] + [0] * 98, test_size=0.1), r"the test part of 10 rows has one class only"),
        (lambda: splits.holdout([1, 1] + [0] * 98, test_size=0.9), r"the training part of 10 rows has one class only"),
        (lambda: splits.holdout([1, 1, 0, 0], test_size=0.01), r"no stratified split with test_size=0\.01"),
        (lambda: splits.repeated(Y, n_repeats=0), r"n_repeats is 0"),
        (lambda: splits.kfold(Y, n_folds=1), r"n_folds is 1; cross-validation needs at least 2"),
        (lambda: splits.kfold(Y, fold=5), r"fold is 5; the 5 folds are numbered 0 to 4"),
        (lambda: splits.kfold(Y, fold=-1), r"fold is -1"),
        (lambda: splits.kfold([1] * 4 + [0] * 9), r"5 folds need 5 .* 4 positives and 9 negatives; use n_folds=4"),
        (lambda: splits.kfold([1] + [0] * 9), r"do without folds"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(AuclabError, match=message):
        call()


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "conf" / "split").glob("*.yaml")), ids=lambda it: it.stem
)
def test_every_yaml_instantiates(path: Path) -> None:
    config = OmegaConf.load(path)
    if "column" in config:
        config["column"] = "seen"
    dataset = Dataset("toy", np.zeros((len(Y), 1)), np.array(Y), aside={"seen": np.arange(len(Y)) * 7 % len(Y)})
    made, _ = splits.split_rows(instantiate(config), dataset)
    assert all(isinstance(split, Split) for split in made)
    assert made[0].name.split()[0] == {"kfold": "fold", "repeated": "repeat"}.get(path.stem, path.stem)


@pytest.mark.parametrize("test_size", [0.3, 0.5, 0.25])
def test_many_rows_are_drawn_in_arrays(monkeypatch: pytest.MonkeyPatch, test_size: float) -> None:
    """Every row is in one part, either class in proportion, and draws differ."""
    monkeypatch.setattr(splits, "MANY", 1)
    y = np.random.default_rng(0).permutation(np.repeat([1, 0], [40, 60]))
    first, second = splits.repeated(y, n_repeats=2, test_size=test_size, seed=3)
    for split in (first, second):
        np.testing.assert_array_equal(np.sort(np.r_[split.train, split.test]), np.arange(100))
        assert (y[split.test].sum(), len(split.test)) == (40 * test_size, 100 * test_size)
    assert set(first.test) != set(second.test)
    [again, _] = splits.repeated(y, n_repeats=2, test_size=test_size, seed=3)
    np.testing.assert_array_equal(first.test, again.test)


@pytest.mark.parametrize(
    ("setting", "few", "advice"),
    [
        ("tune.folds", 2, "use tune.folds=2"),
        ("tune.folds", 1, "do without folds"),
    ],
)
def test_the_setting_that_asks_for_folds_is_named(setting, few, advice):
    with pytest.raises(AuclabError, match=advice):
        splits.check_rows([1] * few + [0] * 9, n_folds=5, setting=setting)
