"""Samples that are hard for a reason: collinear columns, one rare class, ties, very many sparse columns."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def correlated() -> tuple[np.ndarray, np.ndarray]:
    """100 features of rank 5 and a little noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 5)) @ rng.normal(size=(5, 100)) + 0.1 * rng.normal(size=(10_000, 100))
    X[:5000] += 0.003 * rng.normal(size=100)
    return X, np.repeat([1, 0], 5000)


def few_positives() -> tuple[np.ndarray, np.ndarray]:
    """30 against 10⁵."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(0.7, 1, (30, 10)), rng.normal(0, 1, (100_000, 10))])
    return X, np.repeat([1, 0], [30, 100_000])


def binary() -> tuple[np.ndarray, np.ndarray]:
    """20 features of zeros and ones: heavily tied scores."""
    rng = np.random.default_rng(2)
    X = np.vstack([rng.random((5000, 20)) < 0.5, rng.random((20_000, 20)) < 0.4]).astype(float)
    return X, np.repeat([1, 0], [5000, 20_000])


def text() -> tuple[sp.csr_array, np.ndarray]:
    """4,000 documents of about 100 of 50,000 words whose frequencies fall as in a language; CSR."""
    rng = np.random.default_rng(3)
    documents, words = 4_000, 50_000
    frequency = 1.0 / np.arange(10, words + 10)
    columns = rng.choice(words, p=frequency / frequency.sum(), size=(documents, 100))
    rows = np.repeat(np.arange(documents), 100)
    X = sp.csr_array((np.ones(rows.size), (rows, columns.ravel())), shape=(documents, words))
    X.sum_duplicates()
    X = sp.csr_array(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    weight = rng.normal(size=words) * (rng.random(words) < 0.1)
    scores = np.asarray(X @ weight)
    y = (scores + 0.5 * scores.std() * rng.normal(size=documents) > np.median(scores)).astype(int)
    return X, y
