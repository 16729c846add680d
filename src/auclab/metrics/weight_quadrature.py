"""Quadrature of a weight W on the specificity: its nodes, its break points and its checked values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from auclab.types import Array, AuclabError
from auclab.validation import finite_vector

# Gauss–Legendre: the error of two nodes on a cell of 1e-4 is 2e-20 times the fourth derivative of W; sixteen
# nodes on a sixteenth of [0, 1] are exact to the last digit for every W that is smooth on that scale.
NARROW, WIDE = 1e-4, 1 / 16
FEW_NODES, MANY_NODES = (np.polynomial.legendre.leggauss(nodes) for nodes in (2, 16))


def checked_breakpoints(breakpoints: Sequence[float]) -> Array:
    """Declared break points, checked."""
    if isinstance(breakpoints, Sequence) and len(breakpoints) == 0:
        return np.empty(0)
    points = finite_vector("breakpoints", breakpoints)
    if (points < 0.0).any() or (points > 1.0).any():
        raise AuclabError(f"breakpoints are specificities in [0, 1], got {points[(points < 0) | (points > 1)][0]}")
    return points


def weight_values(weight: Callable[[Array], ArrayLike], specificity: Array) -> Array:
    """W at specificities, checked."""
    values = np.asarray(weight(specificity), dtype=np.float64)
    if values.shape != specificity.shape:
        raise AuclabError(f"weight turned specificities of shape {specificity.shape} into {values.shape}")
    if not np.isfinite(values).all():
        where = specificity[~np.isfinite(values)][0]
        raise AuclabError(f"weight is {values[~np.isfinite(values)][0]} at specificity {where}; it must be bounded")
    return values
