"""Small convex quadratic programs in Clarabel's own form: no modelling layer, no import of one."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from auclab.types import Array


def solve_quadratic(
    quadratic: Any, linear: Array, equal: tuple[Any, Array] | None, at_most: tuple[Any, Array]
) -> Array | None:
    """Argmin of ``½ xᵀ quadratic x + linear·x`` with ``equal[0] x = equal[1]`` and ``at_most[0] x ≤ at_most[1]``.

    `quadratic` (n, n): positive semidefinite; its upper triangle is read. `equal`, `at_most`: `equal` may be None.
    Returns: None if Clarabel does not report it solved, to 1e-12 in its own measures.
    """
    found = solve_quadratic_pair(quadratic, linear, equal, at_most)
    return None if found is None else found[0]


def solve_quadratic_pair(
    quadratic: Any, linear: Array, equal: tuple[Any, Array] | None, at_most: tuple[Any, Array]
) -> tuple[Array, Array] | None:
    """The argmin of `solve_quadratic`, and the multipliers ≥ 0 of `at_most`, shape (n_rows,)."""
    blocks: list[Any] = []
    right: list[Array] = []
    cones: list[Any] = []
    if equal is not None:
        blocks, right, cones = [equal[0]], [equal[1]], [clarabel.ZeroConeT(equal[1].size)]
    matrix = sp.vstack([*blocks, at_most[0]], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(quadratic),
        linear,
        sp.csc_matrix(matrix),
        np.concatenate([*right, at_most[1]]),
        [*cones, clarabel.NonnegativeConeT(at_most[1].size)],
        settings,
    ).solve()
    if "Solved" not in str(solution.status):
        return None
    return np.asarray(solution.x), np.maximum(np.asarray(solution.z)[-at_most[1].size :], 0.0)
