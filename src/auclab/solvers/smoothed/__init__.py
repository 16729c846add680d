"""The smoothed losses of programs: values, multipliers and Hessians, without forming pairs."""

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
