"""
The hinge and its square
========================

With the squared hinge a pair with a large error costs much more, so one outlier changes its scorer more. On the other
hand the objective has no kinks, and Newton's method ends at the exact minimum.
"""

import matplotlib.pyplot as plt
import numpy as np

import auclab
from auclab import RankSVM
from auclab.losses import LOSSES

generator = np.random.default_rng(0)
y = np.repeat([1, 0], [40, 80])
X = generator.normal(size=(120, 2)) + np.outer(y, [1.5, 0.5])
outlier = np.array([[6.0, -4.0]])  # a negative where positives are expected

fig, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
a = np.linspace(-1, 3, 200)
angles = {}
for name, loss in LOSSES.items():
    left.plot(a, loss.value(a), label=loss.symbol.format("a"))
    with_and_without = []
    for rows, labels in ((X, y), (np.r_[X, outlier], np.r_[y, 0])):
        solution = auclab.solve(RankSVM(0.01, squared=True, loss=name), rows, labels)
        print(f"{name}: objective {solution.objective:.6f}, certified gap {solution.gap:.0e}")
        with_and_without.append(np.degrees(np.arctan2(solution.coef[1], solution.coef[0])))
    angles[name] = with_and_without
left.set(xlabel="1 − margin, a", ylabel="loss")
left.legend(frameon=False)

# %%
# The direction of w without and with the outlier.
for k, (before, after) in enumerate(angles.values()):
    right.plot([k, k], [before, after], color=f"C{k}")
    right.plot(k, before, "o", color=f"C{k}")
    right.plot(k, after, "x", color=f"C{k}")
right.set(xlim=(-0.5, 1.5), xticks=[0, 1], xticklabels=["hinge", "squared hinge"], ylabel="direction of w, degrees")
