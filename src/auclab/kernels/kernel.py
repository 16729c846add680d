"""Kernel functions, named as in scikit-learn: their values, diagonals and formulas."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_rows, dense
from auclab._core.validation import check_choice, check_types

#: Width of a kernel: a number > 0, or one that is taken from the training rows as scikit-learn does.
Gamma = float | Literal["scale", "auto"]
#: Half a unit in the last place.
ROUNDING = float(np.finfo(float).eps) / 2


class Kernel(ABC):
    """A positive semidefinite function κ(x, y) = ⟨φ(x), φ(y)⟩; the subclasses are frozen dataclasses.

    Attributes
    ----------
    name : str
        As in the configuration.
    is_shift_invariant : bool
        Whether κ depends on x − y alone.
    largest : float
        sup κ(x, x), the square of the radius of φ about 0; infinite if κ is not bounded.
    is_given : bool
        Whether the data are kernel values: a row holds κ of an observation with every training observation.
    has_width : bool
        Whether it has a width γ.

    See Also
    --------
    auclab.solve : Fits kernel scorers with its argument `kernel`.

    Examples
    --------
    >>> from auclab.kernels import RBF
    >>> kernel = RBF(1.0)
    >>> isinstance(kernel, Kernel), kernel.largest, kernel.get_params()
    (True, 1.0, {'gamma': 1.0})
    """

    name: ClassVar[str]
    is_shift_invariant: ClassVar[bool] = False
    largest: ClassVar[float] = math.inf
    is_given: ClassVar[bool] = False
    has_width: ClassVar[bool] = False

    def between(self, X: Any, Y: Any) -> Array:
        """κ(x_i, y_j), shape (rows of X, rows of Y); the parameters have to be numbers (`resolved`)."""
        rows, others = (as_rows(each, may_be_empty=True) for each in (X, Y))
        if rows.shape[1] != others.shape[1]:
            raise AuclabError(f"X and Y must have as many columns, got {rows.shape[1]} and {others.shape[1]}")
        return self._between(rows, others)

    def diagonal(self, X: Any) -> Array:
        """κ(x_i, x_i), shape (rows of X,)."""
        return self._diagonal(as_rows(X))

    @abstractmethod
    def _between(self, X: Any, Y: Any) -> Array:
        """`between` for arrays and CSR matrices of float64."""

    @abstractmethod
    def _diagonal(self, X: Any) -> Array:
        """`diagonal` for an array or a CSR matrix of float64."""

    @abstractmethod
    def rounding(self, n_features: int, size: float) -> float:
        """Bound on the rounding error of a computed κ(x, y), for rows with ``‖x‖₂, ‖y‖₂ ≤ size``."""

    def resolved(self, X: Any) -> Self:
        """The kernel with numbers for parameters that depend on the training rows `X`, such as "scale"."""
        return self

    @property
    def width(self) -> float:
        """γ as a number; NaN for a kernel that has none."""
        return math.nan

    def widened(self, multiple: float) -> Self:
        """The kernel with a multiple of its γ; itself where it has none."""
        return self

    def columns_of(self, X: Any, train: NDArray[np.intp]) -> Any:
        """The columns of `X` that a scorer on the training rows `train` reads: all of them."""
        return X

    def at_landmarks(self, X: Any, rows: Any, numbers: NDArray[np.intp]) -> Array:
        """κ of rows `X` with landmarks, given by their row numbers in the training sample."""
        return self.between(X, rows)

    @property
    def diameter(self) -> float:
        """Largest ‖φ(x) − φ(y)‖ for a bounded kernel that is nowhere negative, ``√(2 sup κ(x, x))``; else infinite.

        Examples
        --------
        >>> from auclab.kernels import RBF, Polynomial
        >>> round(RBF(0.5).diameter, 6), Polynomial(2).diameter
        (1.414214, inf)
        """
        return math.sqrt(2.0 * self.largest)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn reads them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


class WidthKernel(Kernel):
    """A kernel with a width γ, the field `gamma` of the subclasses."""

    gamma: Gamma

    has_width = True

    def __post_init__(self) -> None:
        check_types(self)
        check_gamma(self.gamma)

    def resolved(self, X: Any) -> Self:
        """The kernel with a number for γ: "scale" is ``1/(n_features · Var(X))``, "auto" ``1/n_features``."""
        return replace(self, gamma=gamma_of(self.gamma, X))  # type: ignore[type-var]

    @property
    def width(self) -> float:
        """γ as a number.

        Raises
        ------
        AuclabError
            It has not been taken from training rows yet.
        """
        if isinstance(self.gamma, str):
            raise AuclabError(f"gamma={self.gamma!r} is a number only after `resolved(X)` with the training rows")
        return float(self.gamma)

    def widened(self, multiple: float) -> Self:
        """The kernel with a multiple of its γ."""
        return replace(self, gamma=multiple * self.width)  # type: ignore[type-var]


def check_gamma(gamma: Any) -> None:
    """Raise `AuclabError` unless γ is a number > 0, "scale" or "auto"."""
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise AuclabError(f"gamma={gamma!r} is unknown; give a number > 0, 'scale' or 'auto'")
        return
    if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number) or not 0 < gamma < math.inf:
        raise AuclabError(f"gamma must be a finite number > 0, 'scale' or 'auto', got {gamma!r}")


def gamma_of(gamma: Gamma, X: Any) -> float:
    """γ as a number, for the training rows `X`.

    Examples
    --------
    The variance of all entries is 2.5, and there are two columns:

    >>> gamma_of("scale", np.array([[0.0, 1.0], [3.0, 4.0]])), gamma_of("auto", np.zeros((3, 4)))
    (0.2, 0.25)
    """
    if not isinstance(gamma, str):
        return float(gamma)
    rows = as_rows(X)
    n_features = int(rows.shape[1])
    if gamma == "auto":
        return 1.0 / n_features
    variance = float(np.var(rows) if isinstance(rows, np.ndarray) else rows.multiply(rows).mean() - rows.mean() ** 2)
    return 1.0 / (n_features * variance) if variance > 0 else 1.0


@dataclass(frozen=True)
class RBF(WidthKernel):
    """``κ(x, y) = exp(−γ ‖x − y‖₂²)``, as `sklearn.metrics.pairwise.rbf_kernel`.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        γ > 0; "scale" is ``1/(n_features · Var(X))`` of the training rows, "auto" ``1/n_features``.

    See Also
    --------
    auclab.kernels.Laplacian : With the distance itself.

    Examples
    --------
    >>> RBF(0.5).between(np.array([[0.0], [2.0]]), np.array([[0.0]])).ravel().round(6).tolist()   # 1 and exp(−2)
    [1.0, 0.135335]
    """

    gamma: Gamma = "scale"

    name = "rbf"
    is_shift_invariant = True
    largest = 1.0

    def _between(self, X: Any, Y: Any) -> Array:
        """``exp(−γ ‖x_i − y_j‖₂²)``, shape (rows of X, rows of Y)."""
        if sp.issparse(X) or sp.issparse(Y):
            from sklearn.metrics.pairwise import rbf_kernel

            return np.asarray(rbf_kernel(X, Y, gamma=self.width))
        # The exponent 2γ x·y − γ‖x‖² − γ‖y‖² is one product of rows with two more columns,
        # which takes two thirds of the time of rbf_kernel.
        ones = np.ones((len(X), 1)), np.ones((len(Y), 1))
        left = np.hstack([2.0 * self.width * X, -self.width * _squares(X), ones[0]])
        right = np.hstack([Y, ones[1], -self.width * _squares(Y)])
        values = left @ right.T
        np.minimum(values, 0.0, out=values)
        return np.asarray(np.exp(values, out=values))

    def _diagonal(self, X: Any) -> Array:
        """Ones."""
        return np.ones(X.shape[0])

    def rounding(self, n_features: int, size: float) -> float:
        """From the exponent and the exponential.

        In ``2γ x·y − γ‖x‖² − γ‖y‖²`` the squares have n + 1 roundings each, and every term n + 2 more in the sum: at
        most ``(6n + 12) γ size²`` halves of a unit.
        """
        return (6 * n_features + 16) * 1.01 * ROUNDING * self.width * size**2 + 10.0 * ROUNDING


def _squares(rows: Array) -> Array:
    """``‖x‖²`` of every row, as a column."""
    return np.einsum("ij,ij->i", rows, rows)[:, None]


@dataclass(frozen=True)
class Laplacian(WidthKernel):
    """``κ(x, y) = exp(−γ ‖x − y‖₁)``, as `sklearn.metrics.pairwise.laplacian_kernel`.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        γ > 0; "scale" is ``1/(n_features · Var(X))`` of the training rows, "auto" ``1/n_features``.

    See Also
    --------
    auclab.kernels.RBF : With the squared Euclidean distance.

    Examples
    --------
    >>> Laplacian(0.5).between(np.array([[0.0, 0.0]]), np.array([[1.0, -1.0]])).round(6).tolist()   # exp(−1)
    [[0.367879]]
    """

    gamma: Gamma = "scale"

    name = "laplacian"
    is_shift_invariant = True
    largest = 1.0

    def _between(self, X: Any, Y: Any) -> Array:
        """``exp(−γ ‖x_i − y_j‖₁)``, shape (rows of X, rows of Y)."""
        from sklearn.metrics.pairwise import laplacian_kernel

        return np.asarray(laplacian_kernel(X, Y, gamma=self.width))

    def _diagonal(self, X: Any) -> Array:
        """Ones."""
        return np.ones(X.shape[0])

    def rounding(self, n_features: int, size: float) -> float:
        """The relative error of n + 3 roundings in ``t = γ‖x − y‖₁``, times ``t exp(−t)``."""
        return (n_features + 3) * ROUNDING + 10.0 * ROUNDING


@dataclass(frozen=True)
class Polynomial(WidthKernel):
    """``κ(x, y) = (γ x·y + c₀)^degree``, as `sklearn.metrics.pairwise.polynomial_kernel`.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float, "scale" or "auto"
        γ > 0; "scale" is ``1/(n_features · Var(X))`` of the training rows, "auto" ``1/n_features``.
    coef0 : float
        c₀ ≥ 0; below 0 the function would not be a kernel.

    See Also
    --------
    auclab.kernels.RBF : A bounded kernel.

    Examples
    --------
    >>> Polynomial(2, gamma=1.0).between(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]])).tolist()   # (3 + 1)²
    [[16.0]]
    """

    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 1.0

    name = "polynomial"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree < 1:
            raise AuclabError(f"degree must be a whole number ≥ 1, got {self.degree!r}")
        if not 0 <= self.coef0 < math.inf:
            raise AuclabError(f"coef0 must be a finite number ≥ 0, got {self.coef0!r}: below 0 it is not a kernel")

    def _between(self, X: Any, Y: Any) -> Array:
        """``(γ x_i·y_j + c₀)^degree``, shape (rows of X, rows of Y)."""
        from sklearn.metrics.pairwise import polynomial_kernel

        return np.asarray(polynomial_kernel(X, Y, degree=self.degree, gamma=self.width, coef0=self.coef0))

    def _diagonal(self, X: Any) -> Array:
        """``(γ ‖x_i‖² + c₀)^degree``."""
        squares = np.einsum("ij,ij->i", X, X) if isinstance(X, np.ndarray) else X.multiply(X).sum(axis=1)
        return np.asarray((self.width * np.ravel(squares) + self.coef0) ** self.degree)

    def rounding(self, n_features: int, size: float) -> float:
        """``degree · base^(degree − 1)`` times the rounding of the base, and that of the power."""
        base = (self.width * size * size + self.coef0) * (1.0 + 1e-9)
        return float((n_features + 8) * self.degree * base**self.degree * ROUNDING)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel given by its values: a training row holds κ of an observation with every training observation.

    `X` is the symmetric positive semidefinite matrix K of shape (n_samples, n_samples); new rows have shape
    (n_new, n_samples), as for `sklearn.svm.SVC(kernel="precomputed")`. Values of K are treated as exact.

    See Also
    --------
    auclab.kernels.RBF : A kernel that is computed.

    Examples
    --------
    >>> Precomputed().diagonal(np.array([[2.0, 1.0], [1.0, 3.0]])).tolist()
    [2.0, 3.0]
    """

    name = "precomputed"
    is_given = True

    def between(self, X: Any, Y: Any) -> Array:
        """The columns of `X` whose numbers are `Y`, shape (rows of X, size of Y)."""
        return self._between(as_rows(X), np.asarray(Y, dtype=np.intp))

    def _between(self, X: Any, Y: Any) -> Array:
        """The columns of an array or a CSR matrix of float64."""
        columns = X[:, Y]
        return dense(columns)

    def columns_of(self, X: Any, train: NDArray[np.intp]) -> Any:
        """The columns of the training rows `train`."""
        return X[:, train]

    def at_landmarks(self, X: Any, rows: Any, numbers: NDArray[np.intp]) -> Array:
        """The columns of `X` with these numbers."""
        return self.between(X, numbers)

    def _diagonal(self, X: Any) -> Array:
        """The diagonal of the training matrix."""
        return np.array(X.diagonal())

    def rounding(self, n_features: int, size: float) -> float:
        """None."""
        return 0.0


#: Kernels by the name they have in the configuration, which is scikit-learn's.
KERNELS: dict[str, type[Kernel]] = {kernel.name: kernel for kernel in (RBF, Laplacian, Polynomial, Precomputed)}


def kernel_named(name: str, **parameters: Any) -> Kernel:
    """Return a kernel by its name in `KERNELS`; parameters that the kernel does not have are refused.

    Parameters
    ----------
    name : {"rbf", "laplacian", "polynomial", "precomputed"}
    **parameters
        `gamma`, `degree`, `coef0`.

    Raises
    ------
    AuclabError
        No such kernel, a parameter that it does not have, or a value outside its range.

    See Also
    --------
    as_kernel : Takes an object as well.

    Examples
    --------
    >>> kernel_named("rbf", gamma=0.5), kernel_named("polynomial", degree=2)
    (RBF(gamma=0.5), Polynomial(degree=2, gamma='scale', coef0=1.0))
    """
    check_choice("kernel", name, KERNELS)
    known = KERNELS[name]().get_params()
    if unknown := [key for key in parameters if key not in known]:
        has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
        raise AuclabError(f"kernel {name} has no {unknown[0]}; {has}")
    return KERNELS[name](**parameters)


def as_kernel(kernel: str | Kernel) -> Kernel:
    """Return a kernel, or make one from its name with default parameters.

    Raises
    ------
    AuclabError
        An unknown name, or neither a name nor a kernel.

    See Also
    --------
    kernel_named : With parameters.

    Examples
    --------
    >>> as_kernel("laplacian"), as_kernel(RBF(2.0))
    (Laplacian(gamma='scale'), RBF(gamma=2.0))
    """
    if isinstance(kernel, str):
        return kernel_named(kernel)
    if isinstance(kernel, Kernel):
        return kernel
    raise AuclabError(
        f"kernel must be a name ({', '.join(KERNELS)}) or an object such as RBF(gamma=0.5), got {type(kernel).__name__}"
    )
