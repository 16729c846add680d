"""Least buffered probability of exceedance of a linear loss, by one certified linear program.

    min_{w, γ<z} E[w·L + b − γ]₊/(z − γ) = min_{v, a≥0} E[v·L + a(b − z) + 1]₊,    v = a w

(Norton & Uryasev 2018, (15) to (17)): a mean of hinges over pairs of a row (−L, z − b) with a single row of zeros. This
is the bAUC program, so its solvers and certificates apply.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.validation import finite_array
from auclab.formulations import BufferedAUC
from auclab.formulations.constraints import Constraints
from auclab.metrics.roc import finite_number
from auclab.solvers.dispatch import solve
from auclab.solvers.solution import Solution


@dataclass(frozen=True)
class LeastExceedance:
    """Weights with the least bPOE of a linear loss.

    Attributes
    ----------
    coef : array of shape (n_columns,)
        w; NaN where the infimum belongs to no w (bPOE is 1 for all w, or falls for ever along a ray).
    value : float
        The least bPOE.
    lower_bound : float
        No w has a smaller bPOE.
    gamma : float
        ``γ = z − 1/a``; −∞ or NaN where a is 0.
    solution : Solution
        Of the program in (v, a): status, gap, solver.

    See Also
    --------
    minimise_bpoe : Computes it.

    Examples
    --------
    With Σ w = 1 there is one w. Its losses are 1 and −3, and the tail {1, ⅐ of −3} has the mean ½:

    >>> from auclab.solvers import minimise_bpoe
    >>> round(minimise_bpoe([[1.0], [-3.0]], 0.5, sum_to=1.0).value, 9) == round((1 + 1 / 7) / 2, 9)
    True
    """

    coef: Array
    value: float
    lower_bound: float
    gamma: float
    solution: Solution


def minimise_bpoe(
    losses: ArrayLike,
    threshold: float,
    *,
    offset: ArrayLike = 0.0,
    nonnegative: bool = False,
    sum_to: float | None = None,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> LeastExceedance:
    """Weights w with the least ``bPOE_z(w·L + b)`` of a loss that is linear in w, over all w that are allowed.

    A portfolio has losses L = −returns, weights ≥ 0 and the sum 1. The program is convex, and the result is certified.

    Parameters
    ----------
    losses : array of shape (n_samples, n_columns)
        L, a row for each scenario.
    threshold : float
        z, in units of the loss.
    offset : float or array of shape (n_samples,)
        b, the part of the loss that does not depend on w.
    nonnegative : bool
        Whether w ≥ 0.
    sum_to : float, optional
        ``Σ w``. Without it and without an offset, bPOE_z is smallest as w → 0 (z > 0) or as w grows for ever (z < 0).
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0 of the scenarios.
    **options
        Options of `auclab.solve`: solver, tolerance, time_limit, …

    Returns
    -------
    LeastExceedance

    Raises
    ------
    AuclabError
        Losses, offsets and weights whose sizes differ, NaN, and what `auclab.solve` raises.

    See Also
    --------
    auclab.metrics.bpoe : bPOE of a sample.
    auclab.BufferedAUC : The same of ranking errors.

    Examples
    --------
    Two assets, each with a loss of 2 in one of four scenarios and a gain of 1 in the others. Half of each never loses
    more than ½; of one alone, the largest 1.875 of the four losses have the mean .6, so its bPOE is .46875.

    >>> losses = [[2.0, -1.0], [-1.0, 2.0], [-1.0, -1.0], [-1.0, -1.0]]
    >>> found = minimise_bpoe(losses, 0.6, nonnegative=True, sum_to=1.0)
    >>> found.coef.round(6).tolist(), round(found.value, 6)
    ([0.5, 0.5], 0.0)
    """
    L = finite_array("losses", losses)
    if L.ndim != 2:
        raise AuclabError(f"losses must have a row for each scenario and a column for each weight, got shape {L.shape}")
    scenarios, columns = L.shape
    z = finite_number("threshold", threshold)
    b = finite_array("offset", offset)
    if b.shape not in ((), (scenarios,)):
        raise AuclabError(f"offset must be a number or have one entry for each of {scenarios} rows, got {b.shape}")
    X = np.zeros((scenarios + 1, columns + 1))
    X[:-1, :-1], X[:-1, -1] = -L, z - b
    weight = None if sample_weight is None else np.append(finite_array("sample_weight", sample_weight), 1.0)
    rows = []
    if sum_to is not None:  # Σ v = a · sum_to
        total = {**dict.fromkeys(range(columns), 1.0), columns: -finite_number("sum_to", sum_to)}
        rows = [{"coefficients": total, "equals": 0.0}]
    signs = Constraints(nonnegative=tuple(range(columns + 1)) if nonnegative else (columns,), rows=rows)
    labels = np.append(np.ones(scenarios, int), 0)
    solution = solve(BufferedAUC(), X, labels, constraints=signs, sample_weight=weight, **options)
    v, a = solution.coef[:-1], float(solution.coef[-1])
    found = a > 0.0
    coef = v / a if found else np.full(columns, math.nan)
    return LeastExceedance(
        coef, solution.objective, solution.lower_bound, z - 1.0 / a if found else -math.inf, solution
    )
