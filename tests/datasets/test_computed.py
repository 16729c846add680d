"""Sets that need no file: bundled, artificial, perturbed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from auclab import datasets
from auclab._core.base import AuclabError
from auclab.datasets.artificial import make_artificial, make_perturbed
from auclab.datasets.records import array_sha256


def test_breast_cancer_has_malignant_as_positive() -> None:
    dataset = datasets.load("breast_cancer")
    radius = dataset.X["mean radius"].to_numpy()
    assert radius[dataset.y == 1].mean() > radius[dataset.y == 0].mean()  # malignant tumours are larger
    assert dataset.sha256 == array_sha256(dataset.X.to_numpy(), dataset.y)


@pytest.mark.needs_tables("wdbc.csv")
def test_breast_cancer_is_the_published_set() -> None:
    bundled, published = datasets.load("breast_cancer"), datasets.load("wdbc")
    np.testing.assert_array_equal(bundled.y, published.y)
    np.testing.assert_allclose(bundled.X, published.X)


def test_artificial_is_uniform_on_two_cubes() -> None:
    dataset = make_artificial(n_pos=2000, n_neg=3000, n_features=3, seed=5)
    assert (dataset.n_pos, dataset.n_neg) == (2000, 3000)
    X = dataset.X.to_numpy()
    for label, low in ((1, -0.25), (0, 0.0)):
        side = X[dataset.y == label].ravel()
        assert stats.kstest(side, stats.uniform(low, 1.0).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(X[dataset.y == 1].T) - np.eye(3)).max() < 0.1


def test_seeds() -> None:
    assert make_artificial(seed=3).sha256 == make_artificial(seed=3).sha256
    assert make_artificial(seed=3).sha256 != make_artificial(seed=4).sha256
    options = {"base": "breast_cancer", "factor": 2}
    assert make_perturbed(**options, seed=3).sha256 == make_perturbed(**options, seed=3).sha256
    assert make_perturbed(**options, seed=3).sha256 != make_perturbed(**options, seed=4).sha256


def test_first_numbers_of_a_seed() -> None:
    """NumPy keeps its streams; so published results can be made again."""
    first = np.random.Generator(np.random.PCG64(0)).uniform(-0.25, 0.75)
    assert make_artificial(n_pos=1, n_neg=1).X.iloc[0, 0] == first == pytest.approx(0.38696169)


def test_perturbed_keeps_originals_and_stays_within_one_deviation() -> None:
    base = datasets.load("breast_cancer")
    dataset = make_perturbed(base="breast_cancer", factor=4, seed=1)
    X = base.X.to_numpy()
    blocks = dataset.X.to_numpy().reshape(4, *X.shape)
    np.testing.assert_array_equal(blocks[0], X)
    np.testing.assert_array_equal(dataset.y.reshape(4, -1), np.tile(base.y, (4, 1)))
    moves = (blocks[1:] - X) / X.std(axis=0)
    assert abs(moves).max() <= 1.0 + 1e-9
    assert stats.kstest(moves.ravel(), stats.uniform(-1.0, 2.0).cdf).pvalue > 1e-4
    # Drawn anew for each feature: features of one copy move independently.
    assert abs(np.corrcoef(moves.reshape(-1, X.shape[1]).T) - np.eye(X.shape[1])).max() < 0.15


def test_factor_one_changes_nothing() -> None:
    base, dataset = datasets.load("breast_cancer"), make_perturbed(base="breast_cancer", factor=1)
    assert dataset.sha256 == base.sha256
    assert list(dataset.X) == list(base.X)


def test_perturbed_ionosphere_has_the_sizes_of_the_paper() -> None:
    dataset = datasets.load("perturbed")
    assert (dataset.n_pos, dataset.n_neg, dataset.X.shape[1]) == (1260, 2250, 34)
    assert (dataset.X["a02"] == 0).all()  # constant: no spread, no perturbation


@pytest.mark.needs_tables("wpbc.csv")
def test_missing_values_stay_missing() -> None:
    dataset = make_perturbed(base="wpbc", factor=3)
    assert int(dataset.X.isna().to_numpy().sum()) == 3 * 4


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("artificial", {"n_pos": 0}, "n_pos is 0; .* whole number ≥ 1"),
        ("artificial", {"seed": -1}, r"seed is -1"),
        ("artificial", {"n_pos": 2.5}, r"n_pos is 2\.5"),
        ("perturbed", {"factor": 0}, r"factor is 0; .* whole number ≥ 1"),
        ("perturbed", {"factor": 2.5}, r"factor is 2\.5"),
        ("perturbed", {"base": "nothing"}, r"no data set 'nothing'; choose from"),
    ],
)
def test_what_is_refused(name: str, overrides: dict[str, object], message: str) -> None:
    with pytest.raises(AuclabError, match=message):
        datasets.load(name, **overrides)


@pytest.mark.needs_tables("abalone.csv")
def test_categories_cannot_be_perturbed() -> None:
    with pytest.raises(AuclabError, match=r"'abalone' has the nominal features sex"):
        make_perturbed(base="abalone")
