"""
Group lasso: a nominal feature enters as a whole
================================================

A nominal feature gives several indicator columns. With the group lasso all of them are selected together, and useless
features are not selected at all.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from auclab.formulations import Composed
from auclab.regularisers import GroupLasso
from auclab.solvers.path import solve_path

generator = np.random.default_rng(0)
m = 300
table = pd.DataFrame({name: generator.choice(list("abcd"), m) for name in ("city", "job", "colour", "day")})
effect = table["city"].map({"a": 1.5, "b": 0.0, "c": -1.0, "d": 0.5}) + (table["job"] == "d")
y = effect + generator.logistic(size=m) > 0.5
columns = pd.get_dummies(table, dtype=float)
groups = [name.split("_")[0] for name in columns]

weights = np.geomspace(0.12, 1e-3, 14)
path = solve_path(Composed("pairs", "hinge", GroupLasso(groups, 1.0)), columns.to_numpy(), y, weights)
print(f"largest certified gap {max(solution.gap for solution in path):.0e}")

# %%
# The length of the coefficients of each feature along the path.
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for name in table:
    members = np.array(groups) == name
    ax.semilogx(weights, [np.linalg.norm(solution.coef[members]) for solution in path], label=name)
ax.set(xlabel="λ", ylabel="length of its coefficients")
ax.invert_xaxis()
ax.legend(frameon=False)
