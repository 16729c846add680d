"""
The best scorer of k features
=============================

Branch and bound finds, for each k, the scorer of at most k features with the largest bAUC, and proves it. The usual
alternative is the path of an l1 penalty.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from auclab import BufferedAUC
from auclab.displays.coefficients import draw_feature_path
from auclab.solvers.integer.solver import feature_path

X, y = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X[:, [1, 4, 5, 8, 9, 11, 14, 18]]), y == 0
path = feature_path(BufferedAUC(), X, y, [1, 2, 3, 4], penalties=10)
for k, solution in zip(path.counts, path.solutions, strict=True):
    print(f"{k} features: bAUC {1 - solution.objective:.4f}, at most {1 - solution.lower_bound:.4f}")

# %%
figure = draw_feature_path(path)
