"""How far apart a positive and a negative can be: the D that the bounds ask for.

D is a property of the distribution. Preprocessing into a ball or a bounded kernel gives one that holds for every
observation to come; the largest distance of a sample does not, and a bound that uses it is conditional on the support
lying within the observed radius.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

from numpy.typing import ArrayLike

from auclab.bounds.bound import check_nonnegative
from auclab.regularisers import norm_named
from auclab.samples.as_sample import as_sample
from auclab.types import AuclabError, Norm
from auclab.validation import check_choice

Kernel = Literal["rbf", "laplacian", "cosine", "linear", "polynomial"]


def kernel_diameter(
    kernel: Kernel,
    *,
    radius: float | None = None,
    degree: int = 3,
    gamma: float = 1.0,
    coef0: float = 1.0,
) -> float:
    """D for a kernel: ``sup ‖φ(x) − φ(y)‖ = sup √(K(x,x) + K(y,y) − 2K(x,y))``.

    ::

        "rbf", "laplacian"     √2         K(x,x) = 1 and K > 0; not 2
        "cosine"               2          K in [−1, 1]
        "linear"               2R         ‖x‖₂ ≤ R
        "polynomial"           √(2κ) if K ≥ 0 on the ball, else 2√κ;      K = (γ x·y + c)^p, κ = (γR² + c)^p

    Derivations 8.5. With a kernel, ``‖h‖² = βᵀKβ`` takes the place of ‖w‖²; the rows of a factor L of the kernel matrix
    ``K = L Lᵀ`` are features that give the same scores, with ``w = Lᵀβ``.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "cosine", "linear", "polynomial"}
    radius : float, optional
        R ≥ 0, essential bound of ‖x‖₂; needed for "linear" and "polynomial".
    degree, gamma, coef0
        p ≥ 1, γ > 0 and c ≥ 0 of the polynomial kernel.

    Raises
    ------
    AuclabError
        An unknown kernel, a missing radius, a value outside its range.

    See Also
    --------
    observed_radii : Radii computed from a sample.

    Examples
    --------
    (1 · 1 + 1)² = 4, and a square is never negative: √8.

    >>> round(kernel_diameter("rbf"), 6), round(kernel_diameter("polynomial", radius=1.0, degree=2), 6)
    (1.414214, 2.828427)
    """
    check_choice("kernel", kernel, get_args(Kernel))
    if kernel in ("rbf", "laplacian"):
        return math.sqrt(2.0)
    if kernel == "cosine":
        return 2.0
    if radius is None:
        raise AuclabError(f"the {kernel} kernel is unbounded: give the radius of the ball all observations lie in")
    check_nonnegative(radius=radius, coef0=coef0)
    if kernel == "linear":
        return 2.0 * radius
    if degree < 1 or degree != int(degree) or not (math.isfinite(gamma) and gamma > 0.0):
        raise AuclabError(f"degree must be a whole number ≥ 1 and gamma > 0, got degree={degree}, gamma={gamma}")
    size = (gamma * radius * radius + coef0) ** degree
    is_nonnegative = degree % 2 == 0 or coef0 >= gamma * radius * radius
    return math.sqrt(2.0 * size) if is_nonnegative else 2.0 * math.sqrt(size)


def observed_radii(X: Any, y: ArrayLike, norm: Norm = "l2") -> tuple[float, float]:
    """Largest distance of a positive, and of a negative, from the mean of the sample, in the norm dual to `norm`.

    ``R⁺ + R⁻`` is at least every ‖x⁺ − x⁻‖_* of the sample; new observations may exceed it.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans.
    norm : {"l2", "l1", "linf"}
        Norm of w.

    Raises
    ------
    AuclabError
        Bad labels or features, an unknown norm.

    See Also
    --------
    kernel_diameter : Diameters that hold for new observations.
    auclab.datasets.preprocess.UnitBall : A preprocessing with radius 1.

    Examples
    --------
    The mean is (1, 1):

    >>> observed_radii([[0.0, 0.0], [1.0, 3.0], [2.0, 0.0]], [0, 1, 0], norm="linf")
    (2.0, 2.0)
    """
    return as_sample(X, y).radii(norm_named(norm).dual_rows)
