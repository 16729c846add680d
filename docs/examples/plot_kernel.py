"""
A kernel, certified over its whole space
========================================

RankSVM over the functions of an RBF kernel. The solution uses a few landmarks. Its bound holds for every function of
the space, not only for those of the span of its landmarks.
"""

from sklearn.datasets import make_moons

import auclab
from auclab.displays import LandmarkGapDisplay
from auclab.kernels import RBF
from auclab.metrics import auc_score

X, y = make_moons(400, noise=0.25, random_state=0)
linear = auclab.solve(auclab.RankSVM(1e-3, squared=True), X, y)
solution = auclab.solve(auclab.RankSVM(1e-3, squared=True), X, y, kernel=RBF(gamma=1.0), tolerance=1e-6)
print(f"{len(solution.landmarks)} landmarks, gap {solution.gap:.1e}, for every function of the {solution.space} space")
for name, scorer in {"linear": linear, "kernel": solution}.items():
    print(f"{name} AUC {auc_score(y, scorer.decision_function(X)):.4f}")

# %%
# Every stage of the solve adds landmarks and divides the gap by about ten.
display = LandmarkGapDisplay.from_solution(solution, tolerance=1e-6)
