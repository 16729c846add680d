"""What solvers ask of rows has one answer, whether these are dense, CSR, or read in blocks: that of plain arrays."""

from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from auclab.datasets.blocks import load_blocks
from auclab.datasets.preprocess import none
from auclab.samples.as_sample import as_sample
from auclab.samples.blocks import open_parquet
from auclab.samples.blocks.row_forms import EncodedRows
from auclab.samples.memory import Sample
from auclab.samples.protocol import Rows

N_ROWS = 700


def _kinds(X, y, place):
    """The same numbers as a dense and a CSR matrix, as blocks of numbers, and with a column of blocks encoded."""
    columns = [f"x{k}" for k in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns)
    frame.assign(y=y).to_parquet(place / "plain.parquet", row_group_size=150, index=False)
    # the last column, of zeros and ones, as a category: it comes back as two columns
    text = frame.assign(x5=np.where(X[:, 5] == 1, "yes", "no"), y=y)
    text.to_parquet(place / "text.parquet", row_group_size=150, index=False)
    mixed = load_blocks(place / "text.parquet", target="y")
    encoded = none(mixed).fit_transform(mixed.X)
    return {
        "dense": (X, X),
        "csr": (sp.csr_array(X), X),
        "blocks": (open_parquet(place / "plain.parquet", target="y")[0], X),
        "encoded blocks": (encoded, np.asarray(encoded)),
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(11)
    y = (rng.random(N_ROWS) < 0.4).astype("int8")
    X = np.where(rng.random((N_ROWS, 6)) < 0.5, 0.0, rng.normal(size=(N_ROWS, 6)) + 0.4 * y[:, None])
    X[:, 4] = 1e6 + 0.01 * rng.normal(size=N_ROWS)  # far from 0: it is centred
    X[:, 5] = rng.random(N_ROWS) < 0.3
    return _kinds(X, y, tmp_path_factory.mktemp("rows")), y, rng.integers(1, 4, N_ROWS).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr", "blocks", "encoded blocks"])
def test_rows_answer_as_plain_arrays_do(data, kind, weighted):
    kinds, y, weight = data
    (given, X), w = kinds[kind], weight if weighted else np.ones(N_ROWS)
    sample: Rows = as_sample(given, y, weight if weighted else None)
    rng, offset = np.random.default_rng(3), np.zeros(X.shape[1]) if sample.offset is None else sample.offset
    assert abs(offset).max() > 9e5
    pos, neg = X[y == 1] - offset, X[y == 0] - offset
    u, v = w[y == 1] / w[y == 1].sum(), w[y == 0] / w[y == 0].sum()
    assert (sample.n_pos, sample.n_neg, sample.n_features) == (len(pos), len(neg), X.shape[1])
    assert sample.in_blocks == kind.endswith("blocks")
    assert sample.is_sparse == (kind == "csr")
    assert sample.n_entries == (np.count_nonzero(X) if kind == "csr" else X.size)
    for found, expected in zip(sample.weights, (u, v), strict=True):
        assert found is None if not weighted else np.allclose(found, expected, rtol=1e-14)
    points = np.concatenate(sample.point_weights)
    np.testing.assert_allclose(points, np.r_[w[y == 1], w[y == 0]] / w.sum(), rtol=1e-13)
    scale = max(1.0, abs(pos).max())
    np.testing.assert_allclose(sample.mean_difference, u @ pos - v @ neg, atol=1e-13 * scale)
    np.testing.assert_allclose(sample.peaks, np.maximum(abs(pos).max(axis=0), abs(neg).max(axis=0)), rtol=1e-12)
    variance = sum(s @ (rows - s @ rows) ** 2 for s, rows in ((u, pos), (v, neg)))
    used = variance > 1e-6
    np.testing.assert_allclose(sample.spread[used], np.sqrt(variance[used]), rtol=1e-6)
    coef = rng.normal(size=X.shape[1])
    for found, rows in zip(sample.scores(coef), (pos, neg), strict=True):
        np.testing.assert_allclose(found, rows @ coef, atol=1e-12 * scale)
    a, b = rng.random(len(pos)) * (rng.random(len(pos)) < 0.3), rng.random(len(neg))
    np.testing.assert_allclose(sample.combine(a, b), a @ pos - b @ neg, atol=1e-11 * scale)
    for (high, low, error), multipliers, rows in zip(sample.accurate_sums(a, b), (a, b), (pos, neg), strict=True):
        for k, column in enumerate(rows.T):
            exact = sum(Fraction(float(w)) * Fraction(float(x)) for w, x in zip(multipliers, column, strict=True))
            assert abs(Fraction(float(high[k])) + Fraction(float(low[k])) - exact) <= error[k]
        assert (error <= 1e-28 * scale * N_ROWS).all()
    gram = (pos * a[:, None]).T @ pos + (neg * b[:, None]).T @ neg
    np.testing.assert_allclose(sample.gram(a, b), gram, rtol=1e-11, atol=1e-10 * scale**2)
    centre = np.vstack([pos, neg]).mean(axis=0)
    for order in (1, 2, np.inf):
        lengths = partial(np.linalg.norm, ord=order, axis=1)
        radii = [lengths(rows - centre).max() for rows in (pos, neg)]
        np.testing.assert_allclose(sample.radii(lengths), radii, rtol=1e-9)
    chosen = np.array([5, 1, 1]), np.array([0, 9])
    for found, rows, numbers in zip(sample.take(*chosen), (pos, neg), chosen, strict=True):
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, rows[numbers])
    joined = np.empty(N_ROWS)
    joined[y == 1], joined[y == 0] = a, b
    np.testing.assert_array_equal(sample.join(a, b), joined)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_rows_in_memory_in_other_forms(data, kind):
    kinds, y, _ = data
    X = kinds[kind][1]
    sample = as_sample(kinds[kind][0], y)
    assert isinstance(sample, Sample)
    plain = sample.uncentred()
    np.testing.assert_array_equal(np.vstack(plain.arrays()), np.vstack([X[y == 1], X[y == 0]]))
    stacked = plain.stack([plain.X_pos[:2], -plain.X_neg[:1]])
    assert sp.issparse(stacked) == sample.is_sparse
    np.testing.assert_array_equal(
        stacked.toarray() if sample.is_sparse else stacked, np.vstack([X[y == 1][:2], -X[y == 0][:1]])
    )
    unit = 2.0 ** np.arange(-3, 3)
    for found, before in zip(plain.in_units(unit).arrays(), plain.arrays(), strict=True):
        np.testing.assert_array_equal(found * unit, before)


def test_encoded_blocks_are_read_as_they_are_kept(data):
    rows = next(data[0]["encoded blocks"][0].stream())
    assert isinstance(rows, EncodedRows)
