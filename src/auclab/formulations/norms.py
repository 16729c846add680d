"""The three norms, their duals, and nothing else."""

from __future__ import annotations

import numpy as np

from auclab.compiled.accurate import accurate_norm
from auclab.types import NORMS, Array, AuclabError, Norm
from auclab.validation import did_you_mean

_ORDER: dict[Norm, float] = {"l1": 1, "l2": 2, "linf": np.inf}
_DUAL: dict[Norm, Norm] = {"l1": "linf", "l2": "l2", "linf": "l1"}
#: Below it, and above its inverse, squares lose digits to under- or overflow.
_SAFE = 1e-140
SYMBOL: dict[Norm, str] = {"l1": "‖w‖₁", "l2": "‖w‖₂", "linf": "‖w‖∞"}


def norm_of(vector: Array, norm: Norm) -> float:
    """‖vector‖ in the given norm; 0 for an empty vector.

    See Also
    --------
    auclab.formulations.norms.dual_norm_of : The dual norm.
    """
    if not vector.size:
        return 0.0
    size = float(np.linalg.norm(vector, _ORDER[norm]))
    if norm == "l2" and not _SAFE < size < 1.0 / _SAFE and vector.any() and np.isfinite(vector).all():
        # Squares under- or overflow: once more in units of the largest entry.
        unit = float(abs(vector).max())
        size = unit * float(np.linalg.norm(vector / unit))
    return size


def accurate_norm_of(vector: Array, norm: Norm) -> tuple[float, float]:
    """‖vector‖ as ``high + low``, with about 30 digits.

    See Also
    --------
    auclab.formulations.norms.norm_of : The norm in working precision.
    """
    return accurate_norm(vector, _ORDER[norm])


def dual_norm_of(vector: Array, norm: Norm) -> float:
    """‖vector‖_*, the norm dual to `norm` (l1 ↔ linf, l2 ↔ l2).

    Examples
    --------
    >>> dual_norm_of(np.array([3.0, -4.0]), "l1"), dual_norm_of(np.array([3.0, -4.0]), "linf")
    (4.0, 7.0)

    See Also
    --------
    auclab.formulations.norms.norm_of : The norm itself.
    """
    return norm_of(vector, _DUAL[norm])


def check_norm(norm: str) -> None:
    """Raise `AuclabError` with the choices unless `norm` is one of them.

    See Also
    --------
    auclab.types.NORMS : The choices.
    """
    if norm not in NORMS:
        raise AuclabError(f"norm={norm!r} is unknown{did_you_mean(norm, NORMS)}; choose one of {', '.join(NORMS)}")


def subgradient(vector: Array, norm: Norm) -> Array:
    """A subgradient of ‖·‖ at `vector`; 0 at 0.

    See Also
    --------
    auclab.formulations.norms.norm_of : The norm.
    """
    if not vector.any():
        return np.zeros_like(vector)
    if norm == "l1":
        return np.sign(vector)
    if norm == "l2":
        return np.asarray(vector / np.linalg.norm(vector))
    largest = np.abs(vector) == np.abs(vector).max()
    return np.where(largest, np.sign(vector), 0.0) / largest.sum()
