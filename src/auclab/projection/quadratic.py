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

    Parameters
    ----------
    quadratic : sparse matrix of shape (n, n)
        Positive semidefinite; its upper triangle is read.
    linear : array of shape (n,)
    equal, at_most : pair of a sparse matrix (n_rows, n) and an array (n_rows,)
        `equal` may be None.

    Returns
    -------
    array of shape (n,) or None
        None if Clarabel does not report it solved, to 1e-12 in its own measures.

    Examples
    --------
    The point of the half-plane x + y ≥ 2 nearest to the origin:

    >>> identity, row = sp.eye_array(2, format="csc"), sp.csc_array(np.array([[-1.0, -1.0]]))
    >>> solve_quadratic(identity, np.zeros(2), None, (row, np.array([-2.0]))).round(6).tolist()
    [1.0, 1.0]

    See Also
    --------
    auclab.projection.quadratic.solve_quadratic_pair : With the multipliers of the inequalities.
    """
    found = solve_quadratic_pair(quadratic, linear, equal, at_most)
    return None if found is None else found[0]


def solve_quadratic_pair(
    quadratic: Any, linear: Array, equal: tuple[Any, Array] | None, at_most: tuple[Any, Array]
) -> tuple[Array, Array] | None:
    """The argmin of `solve_quadratic`, and the multipliers ≥ 0 of `at_most`, shape (n_rows,).

    Examples
    --------
    >>> identity, row = sp.eye_array(2, format="csc"), sp.csc_array(np.array([[-1.0, -1.0]]))
    >>> solve_quadratic_pair(identity, np.zeros(2), None, (row, np.array([-2.0])))[1].round(6).tolist()
    [1.0]
    """
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
