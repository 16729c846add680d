"""Kernels: every value against its formula, the bound of its rounding, parameters and names."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from auclab import AuclabError
from auclab.kernels import RBF, Laplacian, Polynomial, Precomputed, as_kernel, kernel_named
from reference_kernels import full_matrix

KERNELS = [RBF(0.7), Laplacian(0.3), Polynomial(3, 0.5, 1.0), Polynomial(1, 2.0, 0.0)]
ids = [f"{kernel.name}-{k}" for k, kernel in enumerate(KERNELS)]


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
@pytest.mark.parametrize("sparse", [False, True])
def test_values_are_those_of_the_formula(kernel, sparse):
    X = np.random.default_rng(0).normal(size=(7, 3)) * (np.random.default_rng(1).random((7, 3)) > 0.4)
    rows = sp.csr_array(X) if sparse else X
    np.testing.assert_allclose(kernel.between(rows, rows), full_matrix(kernel, X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(rows), np.diag(full_matrix(kernel, X)), rtol=1e-12)


def exact(kernel, x, y):
    """κ with 60 digits, from exact differences and products."""
    from decimal import Decimal, localcontext

    a, b = [Fraction(float(v)) for v in x], [Fraction(float(v)) for v in y]
    gamma = Fraction(float(kernel.gamma))
    with localcontext() as context:
        context.prec = 60
        if isinstance(kernel, Polynomial):
            base = gamma * sum(p * q for p, q in zip(a, b, strict=True)) + Fraction(kernel.coef0)
            value = base**kernel.degree
            return Decimal(value.numerator) / Decimal(value.denominator)
        differences = [p - q for p, q in zip(a, b, strict=True)]
        distance = (
            sum(abs(t) for t in differences) if isinstance(kernel, Laplacian) else sum(t * t for t in differences)
        )
        exponent = -gamma * distance
        return (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_rounding_is_bounded(kernel, scale):
    X = scale * np.random.default_rng(3).normal(size=(12, 5))
    X[6:] = X[:6] * (1 + 1e-9)  # nearly equal rows, where ‖x‖² + ‖y‖² − 2x·y cancels
    values, size = kernel.between(X, X), float(np.linalg.norm(X, axis=1).max())
    bound = kernel.rounding(5, size)
    worst = max(abs(float(exact(kernel, X[i], X[j])) - values[i, j]) for i in range(12) for j in range(12) if i != j)
    assert worst <= bound
    assert bound <= 1e-9 * max(1.0, float(abs(values).max()))


def test_gamma_is_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(20, 4))
    assert RBF().resolved(X).gamma == pytest.approx(1 / (4 * X.var()))
    assert RBF().resolved(sp.csr_array(X)).gamma == pytest.approx(1 / (4 * X.var()))
    assert Laplacian("auto").resolved(X).gamma == 0.25
    assert RBF(2.0).resolved(X) == RBF(2.0)
    assert RBF().resolved(np.ones((3, 2))).gamma == 1.0  # as in scikit-learn
    with pytest.raises(AuclabError, match="only after"):
        RBF().between(X, X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), "gamma must be"),
        (lambda: RBF("wide"), "gamma='wide' is unknown"),
        (lambda: Laplacian(float("nan")), "gamma must be"),
        (lambda: Polynomial(0), "degree must be"),
        (lambda: Polynomial(2.5), "degree must be"),
        (lambda: Polynomial(2, 1.0, -1.0), "coef0 must be"),
        (lambda: kernel_named("rfb"), "did you mean 'rbf'"),
        (lambda: kernel_named("rbf", degree=3), "kernel rbf has no degree"),
        (lambda: as_kernel(3), "kernel must be a name"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(AuclabError, match=message):
        make()


def test_bounded_kernels_know_their_diameter():
    assert RBF(0.5).diameter == Laplacian(3.0).diameter == pytest.approx(np.sqrt(2))
    assert Polynomial().diameter == Precomputed().diameter == np.inf
