"""
Elastic net: similar columns
============================

Three columns of the breast cancer data are nearly proportional: radius, perimeter and area of a cell. A penalty with
the norm l1 selects some of them and drops the others. The squared term of the elastic net makes them share their
weight.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from auclab.formulations import Composed
from auclab.regularisers import ElasticNet, Norm
from auclab.solvers.path import solve_path

data = load_breast_cancer()
X, y = StandardScaler().fit_transform(data.data), data.target == 0
alike = [k for k, name in enumerate(data.feature_names) if name in ("worst radius", "worst perimeter", "worst area")]
weights = np.geomspace(0.5, 3e-3, 12)

fig, axes = plt.subplots(1, 2, figsize=(7, 2.8), sharey=True, layout="constrained")
for ax, regulariser, title in (
    (axes[0], Norm("l1", 1.0), "l1"),
    (axes[1], ElasticNet(1.0, 1.0), "elastic net, l2 = l1"),
):
    path = solve_path(Composed("pairs", "hinge", regulariser), X, y, weights)
    print(f"{title}: largest certified gap {max(solution.gap for solution in path):.0e}")
    for k in alike:
        ax.semilogx(weights, [solution.coef[k] for solution in path], label=data.feature_names[k])
    ax.set(xlabel="l1", title=title)
    ax.invert_xaxis()
axes[0].set_ylabel("coefficient")
axes[0].legend(frameon=False)
