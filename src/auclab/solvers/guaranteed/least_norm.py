"""The shortest linear scorer whose buffered AUC is at least a given level.

    minimise  Σ_k cost_k |w_k|     subject to     mean_ij [1 − w·d_ij]₊ ≤ 1 − α,     d_ij = x_i⁺ − x_j⁻

As ``bAUC(w) = 1 − min_{a ≥ 0} mean_ij [1 − a w·d_ij]₊`` (the bPOE of the ranking errors at 0; Norton & Uryasev 2018,
Def. 3 and eq. 23), and the minimum is attained (the mean is a piecewise linear function of a, bounded below),
``bAUC(w) ≥ α`` iff some multiple a·w keeps the limit; for α > 0 that multiple has a > 0. The feasible set is therefore
convex, and its directions are exactly those with ``bAUC(w) ≥ α``: nothing is lost if the length of w is free, as it is
here, where the length is minimised. Constraints that fix the length, such as ``Σ w_k = 1`` or an upper bound of 2, make
it a restriction: the limit is then required at the length of w itself, which is sufficient for ``bAUC(w) ≥ α``, not
necessary.

The dual problem is ``max_{π ≥ 0, q}  π (Σq − 1 + α)  subject to  π |Σ q d|_k ≤ cost_k,  0 ≤ q_ij ≤ share_ij``
(`auclab.solvers.guaranteed.lagrangian`). At the optimum w minimises ``cost·|w| + π (mean hinge − 1 + α)``, so with unit
costs it solves RankSVM with norm l1 and ``λ = 1/π``, and π is the slope of the least norm in α, which is a convex
function of it: the frontier. Derived.
"""

from __future__ import annotations

import math
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints, constraints_on_columns
from auclab.formulations.problem import Problem
from auclab.metrics import bauc_score
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample
from auclab.solvers.budget import left_of
from auclab.solvers.certificate import relative_gap
from auclab.solvers.dispatch import check_limits, solve_problem
from auclab.solvers.guaranteed.outer_approximation import OuterApproximation
from auclab.solvers.guaranteed.parts import Part, kept_inside, limit_of
from auclab.solvers.guaranteed.records import GuaranteedSolution
from auclab.solvers.monitor import monitored
from auclab.solvers.solution import Certificate, Solution
from auclab.solvers.threads import one_thread_each
from auclab.types import Array, AuclabError, Status


def least_norm(
    X: Any,
    y: ArrayLike,
    bauc: float,
    *,
    cost: ArrayLike | None = None,
    constraints: Constraints | ColumnConstraints | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> GuaranteedSolution:
    """The scorer with the least ``Σ_k cost_k |w_k|`` among those with a buffered AUC of at least `bauc`, certified.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans, of which the larger is positive, or any two values with `pos_label`.
    bauc : float in (0, 1)
        The level α.
    cost : array of shape (n_features,), optional
        Price of a unit of each coefficient, > 0; ones, the l1 norm, if not given. Norms depend on the units of the
        features: scale them, or give their spreads as costs.
    constraints : Constraints or ColumnConstraints, optional
        On w, without `max_features`.
    tolerance : float
        Relative gap, > 0.
    time_limit : float, optional
        Seconds, > 0.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; equal to repeating observations.
    pos_label : optional
        The label of the positive class.

    Returns
    -------
    GuaranteedSolution

    Raises
    ------
    AuclabError
        No linear scorer has that level (with the largest bAUC that is possible, proved), and what `auclab.solve`
        refuses.

    See Also
    --------
    auclab.solvers.guaranteed.frontier.frontier : For many levels.
    auclab.solvers.guaranteed.groups.with_groups : Levels for groups.

    Examples
    --------
    Margins 3, 1, 1 and −1 times w. For w ≤ ⅓ all hinges are on: ``1 − w``; the least w with ``1 − w ≤ 0.7`` is 0.3.

    >>> found = least_norm([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], 0.3)
    >>> found.coef.round(6).tolist(), round(found.multiplier, 6), str(found.status)
    ([0.3], 1.0, 'optimal')

    The direction itself has more: with the length that is best for it, 1, its mean hinge is 0.5.

    >>> round(found.bauc, 6)
    0.5
    """
    check_limits(tolerance, time_limit)
    check_level(bauc)
    search = LeastNorm(X, y, cost, constraints, tolerance, time_limit, sample_weight, pos_label)
    return search.at(float(bauc))


class LeastNorm:
    """Least norms for several levels on one sample; the parameters are those of `least_norm`."""

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        cost: ArrayLike | None,
        constraints: Constraints | ColumnConstraints | None,
        tolerance: float,
        time_limit: float | None,
        sample_weight: ArrayLike | None,
        pos_label: Any,
    ) -> None:
        self.tolerance, self.time_limit, self.begin = tolerance, time_limit, perf_counter()
        sample = in_memory(as_sample(X, y, sample_weight, pos_label=pos_label))
        self.weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.constraints = convex_constraints(constraints, sample)
        self.part = Part("all pairs", sample)
        self.cost = checked_cost(cost, sample.n_features)
        problem = Problem(self.part.problem.program, sample, self.constraints)
        self.best: Solution = solve_problem(
            problem, "auto", tolerance=tolerance, time_limit=left_of(self.time_limit, self.begin)
        )
        starts = [np.zeros(sample.n_features), self.best.coef]
        self.allowed = ColumnConstraints.of(sample.n_features) if self.constraints is None else self.constraints
        self.search = OuterApproximation([self.part], [1.0], self.cost, self.allowed, starts)
        self.start: Array = self.best.coef

    @property
    def largest_level(self) -> float:
        """The bAUC that the best scorer has at its own length."""
        return 1.0 - self.best.objective

    def at(self, level: float) -> GuaranteedSolution:
        """The shortest scorer of a level; from the second level on it should be lower than the one before."""
        begin, limit, part = perf_counter(), limit_of(level), self.part
        if self.best.objective >= limit:
            raise AuclabError(_out_of_reach(level, self.best, self.constraints is not None))
        if part.value(self.start) >= limit:  # of a lower level than this
            self.start = self.best.coef
        self.search.set_limits([limit])
        with one_thread_each(), monitored(self.tolerance, left_of(self.time_limit, self.begin)) as monitor:
            found = self.search.solve(self.start, self.tolerance, monitor)
        coef = self.start = kept_inside([part], [limit], found.coef, self.best.coef)
        hinge, norm, bound = part.value(coef), float(self.cost @ abs(coef)), max(0.0, found.lower_bound)
        certificate = Certificate(
            norm, bound, norm - bound, relative_gap(norm, bound), 0.0, violation=self.allowed.violation(coef)
        )  # fmt: skip
        (proof,) = found.weights or (None,)
        notes = [f"bAUC ≥ {level:.6g} is guaranteed for these data: the mean hinge of w is {hinge:.6g}"]
        if not self.allowed.is_cone:
            notes.append(
                "the constraints fix lengths: the bound is for scorers whose mean hinge is at most "
                f"{1 - level:.6g} at their own length; others with the same bAUC may be shorter"
            )
        return GuaranteedSolution(
            coef=coef,
            minimised="Σ cost·|w|",
            at_least=level,
            norm=norm,
            mean_hinge=hinge,
            bauc=part_bauc(part, coef),
            multiplier=math.nan if proof is None else proof.weight,
            certificate=certificate,
            status=found.status,
            multipliers=None if proof is None else part.sample.join(proof.pos, proof.neg),
            iterations=found.iterations,
            seconds=perf_counter() - begin,
            notes=tuple(notes),
            columns=part.sample.columns,
        )


def part_bauc(part: Part, coef: Array) -> float:
    """The buffered AUC of the scores on the pairs of a part."""
    sample = part.sample
    pos, neg = sample.scores(coef)
    labels = np.r_[np.ones(pos.size), np.zeros(neg.size)]
    weight = np.r_[sample.share_pos, sample.share_neg] if sample.weighted else None
    return bauc_score(labels, np.r_[pos, neg], sample_weight=weight)


def check_level(level: Any, name: str = "bauc") -> None:
    """Raise `AuclabError` unless a level of bAUC is between 0 and 1."""
    if not (isinstance(level, Real) and 0.0 < float(level) < 1.0):
        raise AuclabError(
            f"{name} must be a number above 0 and below 1, got {level!r}; every scorer has a bAUC of at least 0, and 1 "
            "needs separable classes"
        )


def checked_cost(cost: ArrayLike | None, n_features: int) -> Array:
    """Costs, or ones."""
    if cost is None:
        return np.ones(n_features)
    values = np.asarray(cost, dtype=np.float64)
    if values.shape != (n_features,):
        raise AuclabError(f"cost has shape {values.shape}, but there are {n_features} features")
    if not (np.isfinite(values) & (values > 0)).all():
        raise AuclabError("every cost must be a positive number; exclude a feature with Constraints(excluded=[...])")
    return values


def convex_constraints(constraints: Constraints | ColumnConstraints | None, sample: Sample) -> ColumnConstraints | None:
    """Constraints on the columns of a sample."""
    found = constraints_on_columns(constraints, sample)
    if found is not None and not found.is_convex:
        raise AuclabError(
            f"max_features={found.max_features} makes the problem not convex, which is not solved together with a "
            "guaranteed bAUC; leave it out: a least norm l1 uses few features already"
        )
    return found


def in_memory(sample: Any) -> Any:
    """The sample."""
    if sample.in_blocks:
        raise AuclabError("guarantees as constraints need the rows in memory; take a part of them, or fewer columns")
    return sample


def _out_of_reach(level: float, best: Solution, constrained: bool) -> str:
    bound, reach = 1.0 - best.lower_bound, best.certificate.norm_bound
    for_all = best.status is Status.OPTIMAL or math.isinf(reach)
    scorers = "no linear scorer" if for_all else f"no linear scorer up to the length {reach:.3g}"
    within = " within the constraints" if constrained else ""
    verdict = "impossible" if for_all and limit_of(level) < best.lower_bound else "out of reach"
    return (
        f"bAUC ≥ {level:.9g} is {verdict}: {scorers}{within} has more than {bound:.9g} on these data "
        f"(proved), and the best that was found has {1 - best.objective:.9g}; lower the level"
    )
