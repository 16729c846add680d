"""
A formulation of your own
=========================

Every program of the package has the form

.. code-block:: text

    minimise over w (and b)    mean_k [ 1 − m_k(w, b) − z‖w‖ ]₊  +  λ Ω(w),

with the margins m of pairs or of points, a value of z and a penalty. A new program is a frozen dataclass that defines z
and the penalty. Solvers, certificates, bounds and the estimator then work without further code.
"""

# %%
# A robust bAUC
# -------------
# Suppose that every row has a measurement error, a vector of length at most ε. The margin of a pair can then fall by
# 2ε‖w‖, and the worst case of the hinge is ``[1 − m + 2ε‖w‖]₊``. This is the program with z = −2ε and without a
# penalty.
from dataclasses import dataclass

from auclab._core.base import AuclabError, Norm
from auclab.formulations import HingeProgram
from auclab.margins import AllPairs


@dataclass(frozen=True)
class RobustAUC(HingeProgram):
    """Buffered AUC against errors of measurement.

        min_w mean_ij [1 − w·(x_i⁺ − x_j⁻) + 2ε‖w‖]₊

    Parameters
    ----------
    radius : float
        ε ≥ 0, the largest error of a row, in the units of the features.
    norm : {"l1", "l2", "linf"}
        The norm of w; errors are measured in its dual norm.
    """

    radius: float = 0.1
    norm: Norm = "l2"

    name = "robust_auc"
    comparisons = AllPairs()
    penalty = 0.0
    squared = False

    def __post_init__(self) -> None:
        """Check what the base class does not know."""
        if not self.radius >= 0:
            raise AuclabError(f"radius must be ≥ 0, got {self.radius!r}")
        super().__post_init__()

    @property
    def threshold(self) -> float:
        """The z of the table, −2ε."""
        return -2 * self.radius


print(RobustAUC(0.1).equation())

# %%
# Is the solution correct?
# ------------------------
# Three solvers that share no code must agree, and each solution has a lower bound.
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import auclab

X, y = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X[:, :10]), y == 0
small = np.r_[np.flatnonzero(y)[:40], np.flatnonzero(~y)[:40]]
for solver in ("newton", "cutting_plane", "clarabel"):
    solution = auclab.solve(RobustAUC(0.1), X[small], y[small], solver=solver)
    print(f"{solver:<14} {solution.objective:.8f}, gap {solution.gap:.0e}, {solution.status}")

# %%
# The value can be compared with its definition: the mean over all pairs, each with its worst measurement error.
w = solution.coef
margins = (X[small][y[small]] @ w)[:, None] - X[small][~y[small]] @ w
by_hand = np.maximum(1 - margins + 2 * 0.1 * np.linalg.norm(w), 0).mean()
print(f"by hand {by_hand:.8f}, by the formulation {RobustAUC(0.1).value(w, 0.0, X[small], y[small]):.8f}")

# %%
# It can also be compared with an existing formulation: bAUC_z at z = −0.2 is the same program. If the error is larger
# than half the distance of the class means, the optimum is w = 0.
known = auclab.solve(auclab.GeneralizedBufferedAUC(-0.2), X, y)
same = auclab.solve(RobustAUC(0.1), X, y)
nothing = auclab.solve(RobustAUC(5.0), X, y)
print(f"{known.objective:.8f} = {same.objective:.8f}; with ε = 5 the length of w is {np.linalg.norm(nothing.coef):g}")

# %%
# Does it help?
# -------------
# Errors of increasing length are added to the test rows, in the worst direction for each pair.
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from auclab.metrics import auc_score

train, test = train_test_split(np.arange(len(y)), train_size=0.3, stratify=y, random_state=0)
lengths = np.linspace(0, 0.8, 9)
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for radius in (0.0, 0.1, 0.4):
    w = auclab.solve(RobustAUC(radius), X[train], y[train]).coef
    score = X[test] @ w / np.linalg.norm(w)
    ax.plot(lengths, [auc_score(y[test], score - np.where(y[test], e, -e)) for e in lengths], label=f"ε = {radius}")
ax.set(xlabel="length of the error of each test row", ylabel="AUC in the worst case")
ax.legend(frameon=False)

# %%
# In scikit-learn it works like the other formulations, also in searches.
from sklearn.model_selection import GridSearchCV

from auclab.estimators import AUCClassifier
from auclab.metrics import get_scorer

grid = {"formulation__radius": [0.01, 0.1, 0.4]}
search = GridSearchCV(AUCClassifier(RobustAUC(0.1)), grid, scoring=get_scorer("auc"), cv=3).fit(X[train], y[train])
print(search.best_params_, f"{search.best_score_:.4f}")

# %%
# What the certificate covers
# ---------------------------
# Bounds are proved for every program with z ≤ 0, also with z and a penalty together. To combine measurement errors with
# a penalty, add the fields ``penalty`` and ``squared`` to the class. ``Composed`` builds any such program from its
# pieces:
from auclab.formulations import Composed
from auclab.losses import Hinge
from auclab.regularisers import Norm as Regulariser

both = auclab.solve(Composed("pairs", Hinge(), Regulariser("l2", 0.01, squared=True), threshold=-0.2), X, y)
print(f"{both.formulation.equation()}: {both.objective:.8f}, gap {both.gap:.0e}")

# %%
# A loss and a norm of your own
# -----------------------------
# The other pieces can be replaced too. A loss is a table of breakpoints, with a quadratic ``c₀ + c₁ a + c₂ a²`` to the
# right of each. Slopes, conjugate, smoothing and certificates are derived from it. This one is a Huber hinge, which is
# quadratic for small errors:
from auclab.losses import Loss


@dataclass(frozen=True)
class HuberHinge(Loss):
    """``a²/(2δ)`` for 0 < a < δ, ``a − δ/2`` from δ on."""

    delta: float = 0.5

    symbol = "huber({})"

    def pieces(self):
        """The breakpoints 0 and δ."""
        return [0.0, self.delta], [[0.0, 0.0, 0.5 / self.delta], [-0.5 * self.delta, 1.0, 0.0]]


smooth = auclab.solve(Composed("pairs", HuberHinge(), Regulariser("l2", 0.01, squared=True)), X, y)
print(f"{smooth.formulation.equation()}: {smooth.objective:.8f}, gap {smooth.gap:.0e}")

# %%
# A norm defines its value, its dual, a subgradient and the rows of ``‖w‖ ≤ t``. This one is the l1 norm of ``c∘w``,
# with a weight for each column.
import numpy as np
import scipy.sparse as sp

from auclab.regularisers import Epigraph, VectorNorm


class WeightedL1(VectorNorm):
    """``Σ c_k abs(w_k)``."""

    name, symbol = "weighted_l1", "‖c∘w‖₁"

    def __init__(self, c):
        self.c = np.asarray(c, dtype=float)

    def __call__(self, w):
        return float(self.c @ abs(w))

    def dual(self, g):
        """The largest ``abs(g_k)/c_k``."""
        return float((abs(g) / self.c).max(initial=0.0))

    def subgradient(self, w):
        """The signs of w, weighted."""
        return self.c * np.sign(w)

    def epigraph(self, unit):
        """``x ≤ u``, ``−x ≤ u``, ``Σ c_k unit_k u_k ≤ t``."""
        identity = sp.eye_array(unit.size)
        total = [None, [[-1.0]], sp.csr_array((self.c * unit)[None, :])]
        return Epigraph.polyhedral([identity, None, -identity], [-identity, None, -identity], total)


weighted = auclab.solve(auclab.RankSVM(0.01, norm=WeightedL1(np.linspace(0.5, 2.0, X.shape[1]))), X, y)
print(f"{weighted.formulation.equation()}: {weighted.objective:.8f}, gap {weighted.gap:.0e}")

# %%
# To use the formulation on the command line, put the class into ``src/auclab/formulations/``, its default parameters
# into ``conf/formulation/robust_auc.yaml``, and an instance into ``tests/programs.py``, where all solvers that support
# it must agree. The page on contributing has the complete list.
