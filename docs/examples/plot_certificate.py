"""
Objective and lower bound while a solver runs
=============================================

A solver reports points. auclab evaluates each objective again, and computes a lower bound for every w from the
multipliers. The solve ends when the two meet. There are 25 million pairs here, and none of them is formed.
"""

import matplotlib.pyplot as plt
import numpy as np

import auclab
from auclab.datasets.artificial import make_artificial

data = make_artificial(n_pos=5000, n_neg=5000, n_features=10, seed=0)
solution = auclab.solve(auclab.RankSVM(0.01, squared=True), data.X, data.y, solver="cutting_plane")
print(f"{solution.status}: objective {solution.objective:.8f}, lower bound {solution.lower_bound:.8f}")

# %%
history = np.array(solution.history)  # seconds, objective, lower bound
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(history[:, 0], np.minimum.accumulate(history[:, 1]), label="best objective")
ax.plot(history[:, 0], np.maximum.accumulate(history[:, 2]), label="best lower bound")
ax.set(xlabel="seconds", ylabel="mean hinge + λ‖w‖²", ylim=(0.9 * solution.objective, 1.2 * solution.objective))
ax.legend(frameon=False)

# %%
# `auclab.certify` does the same for any point, such as the direction of a logistic regression at its best length.
from sklearn.linear_model import LogisticRegression

formulation = auclab.RankSVM(0.01, squared=True)
direction = LogisticRegression().fit(data.X, data.y).coef_[0]
found = [auclab.certify(formulation, data.X, data.y, length * direction) for length in np.geomspace(0.01, 10, 60)]
best = min(each.objective for each in found)
print(f"logistic regression: objective {best:.6f}, {best / solution.objective - 1:.2%} above the optimum")
