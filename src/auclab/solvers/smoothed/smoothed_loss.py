"""The smoothed loss of a hinge program: value, gradient, Hessian and linearised multipliers, without pairs.

Variables are ``θ = (w, b, t)`` with t in place of ‖w‖, so a hinge argument is ``a = 1 − θ·D`` with the direction
``D = (x_i⁺ − x_j⁻, 0, z)`` of a pair or ``D = (y x, y, z)`` of a point, and with ``α = φ'(a)``

    gradient = −Σ q α D,        Hessian = Σ q φ''(a) D Dᵀ,      φ'' = 1/(2h) in the band |a| < h.

φ is the Huber-smoothed hinge (`auclab._core.smooth`). The multipliers ``α − φ''(a) D·δ``, linear in a step δ, are
those at the end of the step if no margin enters or leaves the band: with a Newton step they satisfy the dual
constraint, which those before the step do not.
"""

from __future__ import annotations

from auclab._core.compiling import Family, compile_loops
from auclab._core.hinge import FEW
from auclab._core.rows import Check, never
from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample
from auclab.solvers.smoothed.losses import PointLoss, SmoothedLoss
from auclab.solvers.smoothed.pair_loss import PairLoss
from auclab.solvers.smoothed.partial_loss import PartialLoss

#: By the last family of loops that steps over a set of margins call.
_LOSSES: dict[Family, type[SmoothedLoss]] = {"points": PointLoss, "pairs": PairLoss, "hardest": PartialLoss}


def smooth_loss(problem: Problem, sample: Sample, check: Check = never) -> SmoothedLoss:
    """The smoothed loss of `problem` on `sample`, which may be a subsample of the problem's own."""
    kind = problem.program.comparisons.loops["steps"][-1]
    return _LOSSES[kind](problem, sample, check)


def compile_smoothed(problem: Problem) -> float:
    """Compile the loops that `smooth_loss` calls; the seconds it took, 0 if they were ready."""
    sample, families = problem.sample, list(problem.program.comparisons.loops["steps"])
    if "pairs" in families and max(sample.n_pos, sample.n_neg) >= FEW:
        families.append("sorting")
    if sample.is_sparse:
        families.append("sparse")
    return compile_loops(*families)
