"""
The smallest norm for a required bAUC
=====================================

Here bAUC is the constraint: the least norm of w with a bAUC of at least α, for several α. Each point is certified. A
level that no scorer reaches is refused, and the message gives the largest possible level.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from auclab.solvers import frontier

X, y = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X[:, :10]), y == 0
found = frontier(X, y, n_points=8)
table = pd.DataFrame(found.table())
print(table[["at_least", "norm", "gap", "bauc", "features_used"]].to_string(index=False))

# %%
# The required bAUC, the bAUC of the scores, and the largest bAUC of any scorer:
figure, axes = plt.subplots()
axes.semilogy(table["at_least"], table["norm"], "o-", label="required bAUC, α")
axes.semilogy(table["bauc"], table["norm"], "D", label="bAUC of the scores")
axes.axvline(found.best_bauc, color="grey", linestyle="--", label="largest bAUC")
axes.set(xlabel="bAUC on the rows that were solved", ylabel="least ‖w‖₁")
axes.legend()
