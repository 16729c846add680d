"""
Coefficients with known signs
=============================

An expert knows which columns can only raise the score. The constrained optimum is certified like the free one, and its
multipliers give the cost of each sign constraint.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import auclab

table = load_breast_cancer(as_frame=True).data.iloc[:, :10]
X, y = StandardScaler().fit_transform(table), load_breast_cancer().target == 0
formulation = auclab.RankSVM(1e-3, squared=True)
free = auclab.solve(formulation, X, y)
signed = auclab.solve(formulation, X, y, constraints=auclab.Constraints(nonnegative=range(10)))
print(f"free   {free.objective:.6f}, gap {free.gap:.0e}")
print(f"signed {signed.objective:.6f}, gap {signed.gap:.0e}, multipliers {np.round(signed.constraint_multipliers, 3)}")

# %%
fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
places = np.arange(10)
ax.barh(places + 0.2, free.coef, 0.4, label="free")
ax.barh(places - 0.2, signed.coef, 0.4, label="no coefficient below 0")
ax.axvline(0, color="black", linewidth=0.8)
ax.set(yticks=places, yticklabels=table.columns, xlabel="coefficient")
fig.legend(frameon=False, loc="outside upper center", ncols=2)
