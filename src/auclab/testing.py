"""Whether a loss, a norm, a regulariser or a bound of your own keeps what solvers, certificates and runs rest on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import binom
from scipy.stats import norm as norm_distribution

from auclab._core.base import Array, AuclabError
from auclab.bounds import Bound
from auclab.formulations import Composed
from auclab.formulations.properties import check_loss_properties, check_regulariser_properties, require
from auclab.losses import Hinge, Loss
from auclab.margins import AllPairs, Points
from auclab.metrics import auc_score
from auclab.regularisers import Norm, Regulariser, VectorNorm
from auclab.solvers.dispatch import solve

#: Distance of bound and objective up to which an optimum is proved.
_AGREEMENT = 1e-5
#: Solvers of their own kinds: smoothed Newton, cuts, and a CVXPY model that Clarabel solves.
_SOLVERS = ("newton", "cutting_plane", "clarabel")
#: Random points of each property.
_POINTS = 200
#: Samples of each distribution for a bound, and the probability below which its failures are too many.
_SAMPLES, _IMPLAUSIBLE = 400, 1e-4


def check_loss(loss: Loss, *, seed: int = 0) -> None:
    """Check a loss: its table, value, slope, conjugate and smoothing, and certified solves of small programs.

    For all a, b and α ≥ 0,

        ℓ(b) ≥ ℓ(a) + ℓ'(a)(b − a),     ℓ'(a) ≥ 0,     ℓ*(α) ≥ α a − ℓ(a),  with equality at α = ℓ'(a),

    ``ℓ(a) = 0`` for small a, and ``ℓ ≤ ℓ_h`` for the smoothed loss, which ends as ℓ for h → 0. Programs over pairs and
    points are solved by newton, cutting_plane and a CVXPY model: every objective is the sum of its terms, every bound
    is below every objective, and newton and the model prove their optimum.

    Parameters
    ----------
    loss : Loss
    seed : int ≥ 0
        Of the points and of the programs.

    Raises
    ------
    AuclabError
        The property that fails, and where.

    See Also
    --------
    auclab.losses.Loss : How to define a loss.
    auclab.testing.check_regulariser : The same for norms and regularisers.

    Examples
    --------
    >>> from auclab.losses import SquaredHinge
    >>> check_loss(SquaredHinge())
    """
    check_loss_properties(loss, n_points=_POINTS, seed=seed)
    for program in _programs(loss, Norm("l2", 0.05, squared=True)):
        _check_solves(loss, program, seed)


def check_regulariser(piece: Regulariser | VectorNorm, *, n_features: int = 3, seed: int = 0) -> None:
    """Check a norm or a regulariser: the norm's axioms, dual and subgradient, the bound, and certified solves.

    For all v, w and g,

        ‖v + w‖ ≤ ‖v‖ + ‖w‖,     ‖−2w‖ = 2‖w‖,     g·w ≤ ‖g‖_* ‖w‖,     s·w = ‖w‖ and ‖s‖_* ≤ 1 at a subgradient s,

    and what `dual_value` proves, ``τ·total − R*(τg)``, is at most ``τ(total − g·w) + R(w)``. Programs over pairs and
    points are solved by newton, cutting_plane and a CVXPY model that states the norm by its epigraph.

    Parameters
    ----------
    piece : Regulariser or VectorNorm
        A norm is checked as λ‖w‖ too.
    n_features : int ≥ 1
        Number of coefficients that it takes.
    seed : int ≥ 0

    Raises
    ------
    AuclabError
        The property that fails, and where.

    See Also
    --------
    auclab.regularisers.VectorNorm : How to define a norm.
    auclab.testing.check_loss : The same for losses.

    Examples
    --------
    >>> from auclab.regularisers import ElasticNet, L1
    >>> check_regulariser(L1())
    >>> check_regulariser(ElasticNet(0.1, 0.5))
    """
    check_regulariser_properties(piece, n_features, _POINTS, seed)
    term = Norm(piece, 0.05) if isinstance(piece, VectorNorm) else piece
    for program in _programs(Hinge(), term):
        _check_solves(piece, program, seed, n_features)


def check_bound(
    bound: Callable[..., Bound], *, rho: float | Sequence[float] = (0.01, 0.05, 0.2), seed: int = 0
) -> None:
    """Check by simulation that a bound on the AUC of a held-out part holds with probability at least ``1 − ρ``.

    Scores of the classes are normal with unit variance and means δ apart, where the AUC is ``Φ(δ/√2)``, for several δ
    and class sizes, and the same scores rounded to halves. A bound is refused if it fails so often that a bound that
    holds would do so with probability below 10⁻⁴. To pass is not a proof:
    a bound may fail for other distributions.

    Parameters
    ----------
    bound : callable
        ``(y_true, y_score, *, rho) -> Bound``.
    rho : float in (0, 1), or several
    seed : int ≥ 0

    Raises
    ------
    AuclabError
        The distribution for which the bound fails too often; what was returned in place of a bound.

    See Also
    --------
    auclab.bounds.Bound : What it returns.
    auclab.testing.check_loss : The same for losses.

    Examples
    --------
    >>> from auclab.bounds import Bound
    >>> check_bound(lambda y_true, y_score, *, rho: Bound(0.0, 1.0, True, ()))
    """
    rng = np.random.default_rng(seed)
    name = getattr(bound, "__name__", type(bound).__name__)
    for n_pos, n_neg in ((3, 3), (10, 40), (40, 40)):
        y = np.repeat([1, 0], [n_pos, n_neg])
        for apart in (0.0, 1.0, 3.0):
            scores = rng.normal(size=(_SAMPLES, y.size)) + apart * y
            for step, auc in ((0.0, norm_distribution.cdf(apart / math.sqrt(2.0))), (0.5, _rounded_auc(apart, 0.5))):
                drawn = scores if step == 0 else step * np.round(scores / step)
                for level in np.atleast_1d(rho).tolist():
                    failures = sum(not _holds(name, bound(y, row, rho=level), y, row, auc) for row in drawn)
                    if binom.sf(failures - 1, _SAMPLES, level) < _IMPLAUSIBLE:
                        raise AuclabError(
                            f"{name} is above the AUC, {auc:.4f}, in {failures} of {_SAMPLES} samples of {n_pos} "
                            f"positives and {n_neg} negatives, normal with means {apart:g} apart; rho = {level:g} "
                            f"allows {level * _SAMPLES:.0f}"
                        )


def _holds(name: str, bound: Any, y: Array, scores: Array, auc: float) -> bool:
    """Whether an AUC is within a bound, one-sided or two-sided."""
    if not isinstance(bound, Bound) or (math.isnan(bound.lower) and math.isnan(bound.half_width)):
        raise AuclabError(f"{name} returned {bound!r}; return auclab.bounds.Bound with lower or half_width")
    if math.isnan(bound.half_width):
        if bound.vacuous and bound.lower > 0:
            raise AuclabError(f"{name} says vacuous=True of AUC ≥ {bound.lower:.4f}, which excludes something")
        return bound.lower <= auc
    return abs(auc_score(y, scores) - auc) <= bound.half_width


def _rounded_auc(apart: float, step: float) -> float:
    """The AUC of unit normal scores with means `apart` apart, rounded to multiples of `step`; a tie counts one half."""
    edges = step * (np.arange(-40, 41) + 0.5)
    pos = np.diff(norm_distribution.cdf(edges - apart))
    neg = np.diff(norm_distribution.cdf(edges))
    return float(pos @ (np.cumsum(neg) - 0.5 * neg))


def _programs(loss: Loss, term: Regulariser) -> Iterator[Composed]:
    """Over pairs, and over points with a threshold."""
    yield Composed(AllPairs(), loss, term)
    yield Composed(Points(), loss, term)


def _check_solves(piece: object, program: Composed, seed: int, n_features: int = 3) -> None:
    """Solve a small program by every solver; objectives are summed again, margin by margin."""
    rng = np.random.default_rng([seed, 1])
    X = np.round(rng.normal(size=(24, n_features)), 2)
    y = (X[:, 0] + rng.normal(size=24) > 0.3).astype(int)
    y[:2] = 0, 1
    solutions = {name: solve(program, X, y, solver=name) for name in _SOLVERS}
    least = min(solution.objective for solution in solutions.values())
    for name, solution in solutions.items():
        scores = X @ solution.coef + solution.intercept
        if isinstance(program.comparisons, AllPairs):
            margins = np.subtract.outer(scores[y == 1], scores[y == 0]).ravel()
        else:
            margins = np.where(y == 1, scores, -scores)
        objective = float(np.mean(program.loss.value(1.0 - margins))) + program.regulariser.value(solution.coef)
        where = f"of {program.equation()} by {name}"
        require(piece, f"the objective {where} is the sum of its terms", solution.objective - objective)
        require(piece, f"the lower bound {where} is below every objective", max(0.0, solution.lower_bound - least))
        # Cutting planes may stop earlier; a model that states another norm or loss ends at another point.
        if name != "cutting_plane" and not solution.objective - solution.lower_bound <= _AGREEMENT:
            gap = solution.objective - solution.lower_bound
            look = "`pieces`" if isinstance(piece, Loss) else "`subgradient` and `epigraph`"
            raise AuclabError(
                f"{piece!r}: the optimum {where} is not proved, bound and objective are {gap:.2g} apart; look at {look}"
            )
