"""Points that keep the limits of mean hinges exactly, not up to rounding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auclab.solvers.guaranteed.parts import Part
from auclab.types import Array

#: Shares of the inner point that are mixed in, one after the other.
_SHARES = (0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2, 1.0)


def kept_inside(parts: Sequence[Part], limits: Sequence[float], coef: Array, inner: Array) -> Array:
    """The point if it keeps all limits, evaluated in twice the working precision, or the nearest mixture with another.

    A mean hinge is convex: the mixture ``(1 − s) w + s v`` has at most ``(1 − s) h(w) + s h(v)``.

    Parameters
    ----------
    parts : sequence of Part
    limits : sequence of float
        Infinite for none.
    coef, inner : arrays of shape (n_features,)
        The second keeps all limits.
    """
    for share in _SHARES:
        mixed = coef + share * (inner - coef) if share < 1.0 else inner
        if all(np.isinf(limit) or part.value(mixed) <= limit for part, limit in zip(parts, limits, strict=True)):
            return mixed
    return inner
