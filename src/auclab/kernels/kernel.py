"""The base class of kernels: values, their diagonal, and a bound on their rounding error."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from auclab.forms import as_rows
from auclab.types import Array, AuclabError
from auclab.validation import check_types

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
