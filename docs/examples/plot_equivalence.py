"""
RankSVM and bAUC_z have the same optima
=======================================

RankSVM with λ‖w‖ has the same optimum, up to its length, as bAUC_z at z = −λ/V, where V is its optimal value (Norton &
Uryasev 2018, Prop. 7). This example solves both.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import auclab

X, y = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X), y == 0
ranksvm = auclab.solve(auclab.RankSVM(0.1), X, y)
shifted = auclab.ranksvm_to_threshold(ranksvm)
print(f"RankSVM at λ = 0.1 is bAUC_z at z = {shifted.threshold:.4f}")

# %%
bauc = auclab.solve(auclab.GeneralizedBufferedAUC(shifted.threshold), X, y)
cosine = ranksvm.coef @ bauc.coef / np.linalg.norm(ranksvm.coef) / np.linalg.norm(bauc.coef)
print(f"cosine of the two coefficient vectors {cosine:.8f}")
print(f"1 − objective: bAUC_z = {1 - bauc.objective:.6f}")

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(3.4, 3.2), layout="constrained")
ax.plot(ranksvm.coef / np.linalg.norm(ranksvm.coef), bauc.coef / np.linalg.norm(bauc.coef), "o", markersize=4)
ax.axline((0, 0), slope=1, color="grey", linewidth=0.8)
ax.set(xlabel="w of RankSVM, length 1", ylabel="w of bAUC_z, length 1")
