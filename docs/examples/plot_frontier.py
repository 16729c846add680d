"""
The smallest norm for a required bAUC
=====================================

Here bAUC is the constraint: the least norm of w with a bAUC of at least α, for several α. Each point is certified. A
level that no scorer reaches is refused, and the message gives the largest possible level.
"""

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from auclab.displays.frontier import draw_frontier
from auclab.solvers.guaranteed import frontier

X, y = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X[:, :10]), y == 0
found = frontier(X, y, n_points=8)
print(pd.DataFrame(found.table())[["at_least", "norm", "gap", "bauc", "features_used"]].to_string(index=False))

# %%
figure = draw_frontier(
    found.levels,
    found.norms,
    baucs=[point.bauc for point in found.points],
    features=[point.n_used for point in found.points],
    best=found.best_bauc,
)
