"""The lower bound of a pass: the optimum of the program of bin means, less all rounding errors."""

from __future__ import annotations

from dataclasses import dataclass

from auclab.formulations.problem import Problem
from auclab.solvers.bin_multipliers import BinMultipliers
from auclab.solvers.binned.binned_loss import BinnedLoss
from auclab.solvers.certificate import verified_certificate
from auclab.solvers.interrupt import progress_to
from auclab.solvers.monitor import Monitor
from auclab.solvers.reformulations import run_solver
from auclab.types import Array


@dataclass(frozen=True)
class BinBound:
    """The lower bound that the bins of one pass prove.

    `bound`, `residual`, `radius`: as `lower_bound`, `dual_residual` and `norm_bound` of
    `auclab.solvers.solution.Certificate`. `coef` (n_features,): where the program of bin means has its minimum.
    `multipliers`: those that prove the bound.
    """

    bound: float
    residual: float
    radius: float
    coef: Array
    intercept: float
    multipliers: BinMultipliers


def bound_of_bins(problem: Problem, loss: BinnedLoss, best: tuple[Array, float], monitor: Monitor) -> BinBound:
    """Minimise the program of bin means, and prove the bound of its multipliers for the rows.

    Multipliers of bins, spread over their rows in proportion to the weights, are feasible for the rows: the same pair
    weighting, the same ``Σ q``, and a ``Σ q d`` that differs by the rounding of the means
    (`auclab.samples.memory.RowRounding`).

    `problem`: of the rows. `loss`: at the point of the last pass. `best`: the best point so far and its objective,
    which determine the lengths of w to cover, and the gap. `monitor`: of the solve, with the required
    relative gap.
    """
    means = Problem(problem.program, loss.bin_means(problem.sample.spread, problem.sample.peaks))
    start = loss.theta[:-2], float(loss.theta[-2])
    with progress_to(lambda progress: None):
        # The small program is solved to this fraction of the tolerance.
        raw = run_solver("newton", means, monitor.part(0.05 * monitor.tolerance), start)
    proved, corrected, _ = verified_certificate(means, best[0][:-2], raw.multipliers, best[1], monitor.tolerance)
    # Errors in the weights of bins may make multipliers exceed their capacities, so all multipliers are scaled down.
    bound = proved.lower_bound * (1.0 - loss.weight_error)
    spread_out = loss.multipliers_of_bins(means.sample, corrected, problem.sample.offset)
    return BinBound(bound, proved.dual_residual, proved.norm_bound, raw.coef, raw.intercept, spread_out)
