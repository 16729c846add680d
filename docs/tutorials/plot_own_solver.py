"""
A solver of your own
====================

A solver gets a problem and returns a point and multipliers. It need not compute the objective or a bound: separate code
computes both from the point and the multipliers, so a mistake in a solver shows up as a gap. This page writes a solver
in thirty lines.
"""

# %%
# The dual of RankSVM with λ‖w‖²
# ------------------------------
# With weights ``0 ≤ q_ij ≤ 1/(n₊n₋)`` of the pairs, ``S = Σ q`` and ``g = Σ q_ij (x_i⁺ − x_j⁻)``, the dual is
#
# .. code-block:: text
#
#     maximise over q    S − ‖g‖²/(4λ),        and w = g/(2λ).
#
# S and g depend only on the sums of q for each observation. The Frank–Wolfe method needs only these sums: at w, the
# best vertex gives each pair with a margin below 1 its full weight, and two sorted searches count these pairs.
import numpy as np

from auclab._core.base import Status
from auclab.solvers.solution import RawSolution


def solve(problem, *, tolerance=1e-6, time_limit=None, max_iters=2000):
    """Frank–Wolfe on the dual of RankSVM with a squared l2 penalty."""
    pos, neg, penalty = problem.sample.X_pos, problem.sample.X_neg, problem.program.penalty
    share = 1 / (len(pos) * len(neg))
    alpha, beta = np.zeros(len(pos)), np.zeros(len(neg))  # sums of q by observation
    g = np.zeros(pos.shape[1])
    history = []
    for iteration in range(1, max_iters + 1):
        scores_pos, scores_neg = pos @ g / (2 * penalty), neg @ g / (2 * penalty)
        above = share * (len(neg) - np.searchsorted(np.sort(scores_neg), scores_pos - 1, side="right"))
        below = share * np.searchsorted(np.sort(scores_pos), scores_neg + 1, side="left")
        toward = above @ pos - below @ neg
        # where the dual is a parabola in the step
        d_sum, d_g = above.sum() - alpha.sum(), toward - g
        slope = d_sum - g @ d_g / (2 * penalty)
        dual = alpha.sum() - g @ g / (4 * penalty)
        history.append((iteration, problem.objective(g / (2 * penalty), 0.0), dual))
        if slope <= tolerance * history[-1][1]:  # the gap of Frank and Wolfe
            break
        step = min(1.0, slope / (d_g @ d_g / (2 * penalty)))
        alpha, beta, g = alpha + step * (above - alpha), beta + step * (below - beta), g + step * d_g
    status = Status.OPTIMAL if iteration < max_iters else Status.ITERATION_LIMIT
    return RawSolution(g / (2 * penalty), 0.0, status, (alpha, beta), iteration, history=tuple(history))


# %%
# Register it
# -----------
# The registry has the module of a solver and its capabilities. Here the module is created at run time; in a project it
# is a file.
import sys
from types import ModuleType

from auclab.solvers.registry import SOLVERS, Capabilities, SolverEntry

module = ModuleType("frank_wolfe")
module.solve = solve
sys.modules["frank_wolfe"] = module
SOLVERS["frank_wolfe"] = SolverEntry("frank_wolfe", Capabilities())

# %%
# Check it
# --------
import auclab
from auclab.datasets.artificial import make_artificial

data = make_artificial(n_pos=2000, n_neg=3000, n_features=10, seed=0)
program = auclab.RankSVM(0.1, squared=True)
for name in ("frank_wolfe", "newton"):
    solution = auclab.solve(program, data.X, data.y, solver=name)
    print(f"{name:<12} objective {solution.objective:.8f}, gap {solution.gap:.1e}, {solution.iterations} iterations")

# %%
import matplotlib.pyplot as plt

found = auclab.solve(program, data.X, data.y, solver="frank_wolfe")
steps, objectives, duals = np.array(found.history).T
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.loglog(steps, objectives - solution.lower_bound, label="objective above the optimum")
ax.loglog(steps, solution.objective - duals, label="dual value below it")
ax.set(xlabel="iteration", ylabel="distance")
ax.legend(frameon=False)

# %%
# newton solves the same program with second derivatives.
#
# What a mistake looks like
# -------------------------
# The first of these solvers reports "optimal" too early, and the second returns wrong multipliers. The gap shows both
# mistakes: wrong multipliers are scaled until they are feasible, and then prove only a weak bound.


def careless(problem, *, tolerance=1e-6, time_limit=None):
    """Ten steps, and certain of itself."""
    raw = solve(problem, tolerance=tolerance, max_iters=10)
    return RawSolution(raw.coef, 0.0, Status.OPTIMAL, raw.multipliers, 10)


def swapped(problem, *, tolerance=1e-6, time_limit=None):
    """The right point, with weights in the wrong order."""
    raw = solve(problem, tolerance=tolerance)
    return RawSolution(raw.coef, 0.0, Status.OPTIMAL, tuple(part[::-1] for part in raw.multipliers), 10)


for wrong in (careless, swapped):
    module.solve = wrong
    solution = auclab.solve(program, data.X, data.y, solver="frank_wolfe")
    print(f"{wrong.__name__:<9} says optimal; status {solution.status}, gap {solution.gap:.1e}")

# %%
del SOLVERS["frank_wolfe"]

# %%
# In the package a solver also needs a yaml in ``conf/solver/`` and a record of its options.
# ``tests/solvers/test_agreement.py`` compares it with all other solvers. The page on contributing has the complete
# list.
