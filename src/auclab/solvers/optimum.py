"""How an optimum is read (Prop. 5) and how RankSVM and bAUC_z, C-SVM and EC-SVM are the same (Props. 6, 7)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from auclab.formulations.base import Program
from auclab.formulations.csvm import CSVM
from auclab.formulations.ecsvm import ECSVM
from auclab.formulations.exact_auc import ExactAUC
from auclab.formulations.generalized_bauc import GeneralizedBufferedAUC
from auclab.formulations.norms import norm_of
from auclab.formulations.partial_auc import PartialAUC
from auclab.formulations.ranksvm import RankSVM
from auclab.solvers.solution import Solution
from auclab.types import AuclabError


@dataclass(frozen=True)
class Optimum:
    """What an optimal value says about the error ξ of the scorer scaled to norm 1.

    Attributes
    ----------
    threshold
        z: the superquantile of the error at `level` equals it. For a penalised program, the equivalent one.
    bpoe
        The optimal value of the bAUC_z (EC-SVM) program: buffered probability that the error exceeds z. NaN where
        pairs are counted.
    level
        α* = 1 − bpoe; for pairs this is the bAUC_z of the scorer, over the hardest negatives a lower bound of the
        partial AUC divided by its band; where pairs are counted, the AUC.
    quantile, superquantile
        ``z − 1/‖w‖`` and ``z``: an element of [q_α*, q_α*⁺] and the superquantile of the normalised error at
        α* (Norton & Uryasev 2018, Prop. 5, with atoms as in the interval). NaN where w = 0 or the value is 0 or 1.
    statement
        The same in a sentence.
    """

    threshold: float
    bpoe: float
    level: float
    quantile: float
    superquantile: float
    statement: str


def read_optimum(solution: Solution) -> Optimum:
    """Read a solution of any hinge program as a statement on buffered probability (Prop. 5).

    A penalised program is first mapped to its threshold form by 7.4: ``z = −λ/V``. The hinge over the hardest
    negatives bounds the partial AUC, and a count of pairs is the AUC itself.
    """
    program, size = solution.formulation, norm_of(solution.coef, solution.formulation.norm)
    if isinstance(program, ExactAUC):
        return _read_count(solution)
    if isinstance(program, PartialAUC):
        return _read_hardest(solution, program.max_fpr)
    error = "ranking error" if program.over == "pairs" else "misclassification error"
    if size == 0:
        return Optimum(
            program.threshold, solution.objective, 1 - solution.objective, math.nan, math.nan,
            f"w = 0: no linear scorer has a buffered probability below {solution.objective:.4g} here",
        )  # fmt: skip
    if _is_separated(solution):
        return Optimum(
            program.threshold, 0.0, 1.0, math.nan, math.nan,
            f"separated: no {error} exceeds the threshold, every margin is at least 1",
        )  # fmt: skip
    form = _threshold_form(solution) if program.penalty > 0 else solution
    z, bpoe = form.formulation.threshold, form.objective
    length = norm_of(form.coef, program.norm)
    quantile = z - 1.0 / length if 0 < bpoe < 1 and length > 0 else math.nan
    score = "bAUC" if program.over == "pairs" else "buffered accuracy"
    at = "" if z == 0 else f" at z = {z:.4g}"
    return Optimum(
        z, bpoe, 1 - bpoe, quantile, z if math.isfinite(quantile) else math.nan,
        f"{score}{at} is α* = {1 - bpoe:.4f}: the worst {bpoe:.2%} of the {error}s of w/‖w‖ average {z:.4g} "
        f"and start at about {quantile:.4g}",
    )  # fmt: skip


def _read_count(solution: Solution) -> Optimum:
    auc, best = 1.0 - solution.objective, 1.0 - solution.lower_bound
    words = f"AUC is {auc:.4f} with tied pairs counted 0; no linear scorer has more than {best:.4f}"
    return Optimum(0.0, math.nan, auc, math.nan, math.nan, words)


def _read_hardest(solution: Solution, max_fpr: float) -> Optimum:
    loss, band = _hinge(solution), f"up to FPR {max_fpr:g}"
    if not solution.coef.any():
        words = f"w = 0: the hinge over the hardest {100 * max_fpr:g}% of the negatives promises no partial AUC {band}"
    else:
        words = f"the partial AUC {band}, divided by {max_fpr:g}, is at least {1 - loss:.4f} (a hinge bound)"
    return Optimum(0.0, loss, 1.0 - loss, math.nan, math.nan, words)


def ranksvm_to_threshold(solution: Solution) -> Solution:
    """The bAUC_z (EC-SVM) solution that a RankSVM (C-SVM) solution is.

    With V = H(v) + λ‖v‖ and H(v) > 0:  ``z = −λ/V``, ``w = v/(1 + z‖v‖)``, value V (formulas derived from Norton
    & Uryasev 2018, Props. 6 and 7). For the squared penalty the equivalent λ is ``2λ‖v‖``.

    Returns
    -------
    Solution
        Its `formulation` carries the threshold, also as `.threshold`; `objective` is V, `gap` is carried over.

    Raises
    ------
    AuclabError
        Not a RankSVM or C-SVM solution, or the hinge is 0 (separable data: z = −1/‖v‖ is constant there, the
        infimum is not attained), or v = 0.
    """
    if not isinstance(solution.formulation, RankSVM | CSVM):
        raise AuclabError(f"a RankSVM or C-SVM solution is needed, got {solution.formulation.name}")
    if norm_of(solution.coef, solution.formulation.norm) == 0:
        raise AuclabError("w = 0 has no direction to carry over; choose a penalty below null_penalty(X, y)")
    if _is_separated(solution):
        raise AuclabError(
            "the hinge loss is 0 (separable data): for all such penalties the threshold is z = −1/‖v‖ and the "
            "bAUC_z infimum is not attained; choose a larger penalty"
        )
    return _threshold_form(solution)


def threshold_to_ranksvm(solution: Solution) -> Solution:
    """The RankSVM (C-SVM) solution, unsquared, that a bAUC_z (EC-SVM) solution with z < 0 is.

    ``λ = −zV``, ``v = w/(1 − z‖w‖)``, value V.

    Raises
    ------
    AuclabError
        Not such a solution, z ≥ 0, w = 0, or value 0 (no penalty corresponds to it).
    """
    program = solution.formulation
    if not isinstance(program, GeneralizedBufferedAUC | ECSVM):
        raise AuclabError(f"a generalised bAUC or EC-SVM solution is needed, got {program.name}")
    length, z = norm_of(solution.coef, program.norm), program.threshold
    if z >= 0:
        raise AuclabError(f"z = {z:g}: only z < 0 corresponds to a penalty")
    if length == 0 or solution.objective <= 0:
        raise AuclabError(
            f"no penalty corresponds to ‖w‖ = {length:g} with value {solution.objective:g}; "
            "0 < value and w ≠ 0 are needed"
        )
    family = RankSVM if isinstance(program, GeneralizedBufferedAUC) else CSVM
    counterpart = family(penalty=-z * solution.objective, norm=program.norm)
    scale = 1.0 / (1.0 - z * length)
    return _carried(solution, counterpart, scale, solution.objective)


def _is_separated(solution: Solution) -> bool:
    """Whether no hinge is left but rounding noise."""
    return _hinge(solution) <= 1e-9 * (solution.objective if solution.penalty > 0 else 1.0)


def _hinge(solution: Solution) -> float:
    """The loss part of a penalised objective."""
    program, size = solution.formulation, norm_of(solution.coef, solution.formulation.norm)
    return solution.objective - program.penalty * (size * size if program.squared else size)


def _threshold_form(solution: Solution) -> Solution:
    program, length = solution.formulation, norm_of(solution.coef, solution.formulation.norm)
    penalty = 2 * program.penalty * length if program.squared else program.penalty
    value = _hinge(solution) + penalty * length
    z = -penalty / value
    family = GeneralizedBufferedAUC if program.over == "pairs" else ECSVM
    return _carried(solution, family(threshold=z, norm=program.norm), 1.0 / (1.0 + z * length), value)


def _carried(solution: Solution, formulation: Program, scale: float, value: float) -> Solution:
    """`solution` in another dress: same direction and multipliers, value `value`, the gap carried over."""
    certificate = solution.certificate
    return replace(
        solution,
        coef=solution.coef * scale,
        intercept=solution.intercept * scale,
        formulation=formulation,
        certificate=replace(
            certificate, objective=value, lower_bound=value - certificate.absolute_gap, dual_residual=math.nan
        ),
        notes=(*solution.notes, f"carried over from {solution.formulation.name} by the map λ = −zV"),
        history=(),
    )
