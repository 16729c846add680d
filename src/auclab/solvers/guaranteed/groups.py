"""The scorer with the largest buffered AUC among those with a guaranteed one for each of several groups.

With ``h(w) = mean_ij [1 − w·d_ij]₊`` over all pairs and h_g over the pairs of group g:

    minimise  h(w)     subject to     h_g(w) ≤ 1 − α_g   for every group g,

which is convex. ``1 − h(w)`` is bAUC at the length of w, at most ``bAUC(w) = 1 − min_{a ≥ 0} h(a w)``. What is exact,
and what is a restriction:

* ``bAUC_g(w) ≥ α_g`` says that ``h_g(a w) ≤ 1 − α_g`` for some length a > 0, for each group its own. Here all groups
  and the objective share the length of w, so ``h_g(w) ≤ 1 − α_g`` is sufficient for ``bAUC_g(w) ≥ α_g``, not
  necessary: a restriction. (The directions with ``bAUC_g(w) ≥ α_g`` for all groups are an intersection of convex
  cones, but the mean hinge of all pairs at the best length of w is not a convex function of the direction.)
* A difference of at most δ, ``h_g(w) − h_k(w) ≤ δ`` for all groups g and k, is a difference of convex functions: not
  convex. With V_k a proved lower bound of the least h_k over all w,

      h_g(w) ≤ min_{k ≠ g} V_k + δ   for every g

  is convex and sufficient: ``h_g(w) ≤ V_k + δ ≤ h_k(w) + δ``. As V_k is also below ``min_a h_k(a w)``, it guarantees
  the same of the groups' buffered AUCs, each with its best length: ``|bAUC_g(w) − bAUC_k(w)| ≤ δ``. It is a
  restriction: every group has to be within δ of the best that any scorer reaches in the others. It cannot be kept where
  ``V_g > V_k + δ`` for two groups; scorers with a small difference exist then, too (w = 0 has none), at the expense of
  the group that is easy to rank.

The lower bound is that of the convex program. Derived.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.forms import as_column, distinct
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.samples.memory import Sample
from auclab.solvers.budget import left_of
from auclab.solvers.certificate import relative_gap
from auclab.solvers.dispatch import check_limits, solve_problem
from auclab.solvers.guaranteed.least_norm import check_level, convex_constraints, in_memory, part_bauc
from auclab.solvers.guaranteed.outer_approximation import Found, OuterApproximation
from auclab.solvers.guaranteed.parts import Part, kept_inside, limit_of
from auclab.solvers.guaranteed.records import GroupValue, GuaranteedSolution
from auclab.solvers.monitor import monitored
from auclab.solvers.solution import Certificate, Solution
from auclab.solvers.threads import one_thread_each
from auclab.types import Array, AuclabError
from auclab.validation import check_choice, same_length

#: Which pairs are those of a group.
Pairs = Literal["within", "positives", "negatives"]


def with_groups(
    X: Any,
    y: ArrayLike,
    groups: ArrayLike,
    *,
    at_least: float | Mapping[Any, float] | None = None,
    max_difference: float | None = None,
    pairs: Pairs = "within",
    constraints: Constraints | ColumnConstraints | None = None,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> GuaranteedSolution:
    """Maximise buffered AUC at a common length, with a required level for each group.

    Parameters
    ----------
    X : array, table or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        As in `auclab.solve`.
    groups : array of shape (n_samples,)
        Group of every observation.
    at_least : float or mapping from labels to floats in (0, 1), optional
        The least bAUC of every group, or of some: their mean hinges are at most 1 minus that, at the length of w.
    max_difference : float > 0, optional
        δ: the mean hinges of two groups differ by at most δ, and so do their bAUCs.
    pairs : {"within", "positives", "negatives"}
        The pairs of a group: its positives and its negatives; its positives and all negatives; all positives and its
        negatives.
    constraints, tolerance, time_limit, sample_weight, pos_label
        As in `auclab.solvers.guaranteed.least_norm`.

    Returns
    -------
    GuaranteedSolution
        `objective` is the mean hinge of all pairs, `groups` has the values of each group. The bound holds for all w
        that keep the limits, with coefficients up to ``certificate.norm_bound`` in units of the spreads.

    Raises
    ------
    AuclabError
        A group without the pairs it needs, a level that no scorer reaches in that group, levels that no scorer reaches
        in all groups at one length, and what `auclab.solve` refuses; the message has what is proved.

    See Also
    --------
    auclab.solvers.guaranteed.least_norm.least_norm : One level, for all pairs.

    Examples
    --------
    Group a is ranked by w > 0 (margin w), group b, and most pairs, by w < 0 (−3w; −2w and 0 between the groups). The
    least w with the required level for a is 0.3:

    >>> X, y, groups = [[0.0], [1.0], [3.0], [0.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> found = with_groups(X, y, groups, at_least={"a": 0.3})
    >>> found.coef.round(4).tolist(), round(found.objective, 4), round(found.groups["b"].mean_hinge, 4)
    ([0.3], 1.3, 1.9)
    """
    check_limits(tolerance, time_limit)
    begin = perf_counter()
    sample = in_memory(as_sample(X, y, sample_weight, pos_label=pos_label))
    allowed = convex_constraints(constraints, sample)
    labels = as_column("groups", groups)
    same_length(X=sample.positive, groups=labels)
    names = distinct("groups", labels).tolist()
    levels = _levels(at_least, max_difference, names)
    everyone = Part("all pairs", sample)
    parts = [Part(f"group {name!r}", part_of_sample(sample, labels == name, pairs, name)) for name in names]

    best = [
        solve_problem(
            Problem(part.problem.program, part.sample, allowed),
            "auto",
            tolerance=tolerance,
            time_limit=left_of(time_limit, begin),
        )
        for part in (everyone, *parts)
    ]
    limits = _limits(names, levels, best[1:], max_difference)
    zeros = np.zeros(sample.n_features)
    starts = [zeros, *(solution.coef for solution in best)]
    inside = ColumnConstraints.of(sample.n_features) if allowed is None else allowed
    with one_thread_each(), monitored(tolerance, left_of(time_limit, begin)) as monitor:
        kept = [k for k, limit in enumerate(limits) if math.isfinite(limit)]
        bounded, their_limits = [parts[k] for k in kept], [limits[k] for k in kept]
        search = OuterApproximation([everyone, *bounded], [math.inf, *their_limits], zeros, inside, starts)
        first = search.interior(best[0].coef, tolerance, monitor)
        if first.value >= 0.0:
            raise AuclabError(_cannot(first, dict(zip(names, limits, strict=True)), max_difference))
        found = search.solve(first.coef, tolerance, monitor)
    coef = kept_inside(bounded, their_limits, found.coef, first.coef)
    values = {}
    for name, part, level, solution in zip(names, parts, levels, best[1:], strict=True):
        weights = [each.weight for each in found.weights if each.part is part]
        values[name] = GroupValue(
            part.sample.n_pos, part.sample.n_neg, level, part.value(coef), part_bauc(part, coef),
            1.0 - solution.lower_bound, weights[0] if weights else 0.0,
        )  # fmt: skip
    return _solution(everyone, coef, found, values, allowed, max_difference, perf_counter() - begin)


def part_of_sample(sample: Sample, members: NDArray[np.bool_], pairs: Pairs, name: Any) -> Sample:
    """The observations that make up the pairs of a group.

    `sample`: in memory. `name`: of the group, for messages.
    """
    check_choice("pairs", pairs, get_args(Pairs))
    pos = members[sample.positive] if pairs != "negatives" else np.ones(sample.n_pos, bool)
    neg = members[~sample.positive] if pairs != "positives" else np.ones(sample.n_neg, bool)
    weight_pos, weight_neg = float(sample.share_pos[pos].sum()), float(sample.share_neg[neg].sum())
    for weight, side in ((weight_pos, "positives"), (weight_neg, "negatives")):
        if weight <= 0.0:
            raise AuclabError(
                f"group {name!r} has no {side} with weight, so it has no pairs ({pairs}); merge it with another group, "
                f"leave its rows out, or use pairs={'negatives' if side == 'positives' else 'positives'!r}"
            )
    positive = np.r_[np.ones(int(pos.sum()), bool), np.zeros(int(neg.sum()), bool)]
    return Sample(
        sample.X_pos[pos], sample.X_neg[neg], sample.share_pos[pos] / weight_pos, sample.share_neg[neg] / weight_neg,
        float(pos.sum() / positive.size), positive, sample.weighted,
    )  # fmt: skip


def _levels(at_least: Any, max_difference: float | None, names: Sequence[Any]) -> list[float]:
    """The level of every group, −∞ for none."""
    if max_difference is None and (at_least is None or (isinstance(at_least, Mapping) and not at_least)):
        raise AuclabError("give at_least, the bAUC required in groups, or max_difference, the largest difference")
    if max_difference is not None and not (math.isfinite(max_difference) and max_difference > 0.0):
        raise AuclabError(f"max_difference must be a positive number, got {max_difference}")
    if max_difference is not None and len(names) < 2:
        raise AuclabError(f"max_difference needs at least two groups, but all observations are in {names[0]!r}")
    if at_least is None:
        return [-math.inf] * len(names)
    if not isinstance(at_least, Mapping):
        check_level(at_least, "at_least")
        return [float(at_least)] * len(names)
    unknown = [name for name in at_least if name not in names]
    if unknown:
        raise AuclabError(f"at_least names {unknown}, which are not groups; the groups are {names}")
    for name, level in at_least.items():
        check_level(level, f"at_least[{name!r}]")
    return [float(at_least.get(name, -math.inf)) for name in names]


def _limits(
    names: Sequence[Any], levels: Sequence[float], best: Sequence[Solution], max_difference: float | None
) -> list[float]:
    """The largest mean hinge of each group; refuses what no scorer has in that group alone."""
    limits = [limit_of(level) if math.isfinite(level) else math.inf for level in levels]
    for name, level, limit, solution in zip(names, levels, limits, best, strict=True):
        if solution.objective >= limit:
            raise AuclabError(
                f"group {name!r} cannot have a bAUC of {level:.6g}: the best that was found for its pairs alone is "
                f"{1 - solution.objective:.6g}, and no scorer has more than {1 - solution.lower_bound:.6g} (proved)"
            )
    if max_difference is None:
        return limits
    for g in range(len(names)):
        of_others = min(solution.lower_bound for k, solution in enumerate(best) if k != g)
        restricted = of_others + math.nextafter(max_difference, 0.0)
        if best[g].objective >= restricted:
            values = ", ".join(f"{name!r}: {1 - each.objective:.4g}" for name, each in zip(names, best, strict=True))
            raise AuclabError(
                f"a difference of at most {max_difference:g} cannot be guaranteed: that asks every group to be within "
                f"{max_difference:g} of the best bAUC that any scorer has in the others, and the best are {values}; "
                "allow a larger difference, or set levels with at_least"
            )
        limits[g] = min(limits[g], restricted)
    return limits


def _cannot(found: Found, limits: Mapping[Any, float], max_difference: float | None) -> str:
    asked = ", ".join(f"{1 - limit:.6g} in group {name!r}" for name, limit in limits.items() if math.isfinite(limit))
    if max_difference is not None:
        asked += f" (for a difference of at most {max_difference:g})"
    if found.lower_bound > 0.0:
        return (
            f"no scorer has, at one length for all, a bAUC of at least {asked}: some group lacks "
            f"{found.lower_bound:.6g} or more (proved for coefficients up to {found.radius:.3g} in units of the "
            "spreads); lower the level of one of them"
        )
    return (
        f"no scorer that has, at one length for all, a bAUC of at least {asked} was found ({found.status}); the "
        f"nearest lacks {found.value:.3g}; lower the level of one group, or raise time_limit"
    )


def _solution(
    part: Part,
    coef: Array,
    found: Found,
    groups: Mapping[Any, GroupValue],
    constraints: ColumnConstraints | None,
    max_difference: float | None,
    seconds: float,
) -> GuaranteedSolution:
    objective, bound = part.value(coef), max(0.0, found.lower_bound)
    violation = 0.0 if constraints is None else constraints.violation(coef)
    certificate = Certificate(
        objective, bound, objective - bound, relative_gap(objective, bound), 0.0, found.radius, violation=violation
    )  # fmt: skip
    proof = found.weights[0] if found.weights else None
    notes = [
        f"group {name!r}: bAUC ≥ {value.at_least:.6g} is guaranteed for these data (mean hinge {value.mean_hinge:.6g})"
        for name, value in groups.items()
        if math.isfinite(value.at_least)
    ]
    if max_difference is not None:
        notes.append(f"neither the mean hinges nor the bAUCs of two groups differ by more than {max_difference:g}")
    notes.append(
        "the bound is for scorers that keep the limits at their own length: with a length for each group, others may "
        "have the same bAUCs in the groups"
    )
    return GuaranteedSolution(
        coef=coef,
        minimised="mean hinge of all pairs",
        at_least=-math.inf,
        norm=float(abs(coef).sum()),
        mean_hinge=objective,
        bauc=part_bauc(part, coef),
        multiplier=0.0,
        certificate=certificate,
        status=found.status,
        groups=groups,
        multipliers=None if proof is None else part.sample.join(proof.pos, proof.neg),
        iterations=found.iterations,
        seconds=seconds,
        notes=tuple(notes),
        columns=part.sample.columns,
    )
