"""``‖w‖ ≤ t`` in Clarabel's own form, of any norm: from its epigraph."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from auclab.formulations.base import Program
from auclab.types import Array


def norm_cone(
    program: Program, unit: Array, t: int, size: int, *, center: Array | None = None, scale: float | Array = 1.0
) -> tuple[Any, Array, list[Any]]:
    """``‖(x₀ + scale·x)·unit‖ ≤ t₀ + scale·t`` as rows, right-hand side and cones.

    `program`: gives the norm; without one t is 0. `t`, `size`: the column of t, and the number of columns of the model;
    x are the first. What the norm needs besides follows them. `center` (n_features + …,): x₀ first, t₀ last; zeros if
    left out. Stated in steps, small ones keep their digits. `scale` (n_features + 1,): the units of the steps in x and
    t; what the norm needs besides has units to match. Returned `cones`: of Clarabel, for ``right − rows·columns``.
    """
    n = unit.size
    if not program.uses_norm:
        return sp.csc_array(([1.0], ([0], [t])), shape=(1, size)), np.zeros(1), [clarabel.ZeroConeT(1)]
    epigraph = program.regulariser.norm.epigraph(unit)
    n_parts = epigraph.n_parts(n)
    scales = np.broadcast_to(np.asarray(scale, dtype=float), n + 1)
    sizes = epigraph.least_parts(scales[:n], moduli=True)
    scales = np.r_[scales, np.where(sizes > 0, sizes, 1.0)]
    places = np.r_[:n, t, size : size + n_parts]
    point = np.zeros(n + 1 + n_parts)
    if center is not None:
        point[: n + 1], point[n + 1 :] = np.r_[center[:n], center[-1]], epigraph.least_parts(center[:n])
    n_linear = epigraph.linear.shape[0]
    linear, conic = epigraph.linear.tocoo(), epigraph.conic.tocoo()
    entries = np.r_[linear.data * scales[linear.col], -conic.data * scales[conic.col]]
    where = np.r_[linear.row, n_linear + conic.row], places[np.r_[linear.col, conic.col]]
    rows = sp.csc_array((entries, where), shape=(n_linear + conic.shape[0], size + n_parts))
    right = np.r_[-(epigraph.linear @ point), epigraph.conic @ point]
    cones = [clarabel.NonnegativeConeT(n_linear)] if n_linear else []
    return rows, right, [*cones, *(clarabel.SecondOrderConeT(count) for count in epigraph.sizes)]
