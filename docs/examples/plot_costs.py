"""
Unknown costs: hull, surface, volume
====================================

Each line joins points of equal cost. The dot is the cheapest point of the curve if false positives have the share t of
the cost; every point below its line costs more (Ratigan & Cowen 2025, Fig. 1).
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.displays import LesserAreaDisplay, ROCHullDisplay, VOROSDisplay
from auclab.estimators import AUCClassifier
from auclab.metrics import cost_range, voros_score

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm")).fit(X, y)
score = model.decision_function(X_test)
display = ROCHullDisplay.from_predictions(y_test, score, cost_shares=(0.2, 0.5, 0.8))

# %%
# These lines, stacked over t, are the ROC surface; VOROS is the volume on the side of the point (1, 0), which faces the
# reader (Figs. 3, 4).
display = VOROSDisplay.from_predictions(y_test, score)

# %%
# The figure shows the area below the line as a function of t. VOROS is its mean, weighted with a measure of t. The
# distance to the dashed curve is the gain over calling all rows positive or all rows negative (Fig. 3).
display = LesserAreaDisplay.from_predictions(y_test, score, measure=("beta", 2, 5))

# %%
# Ranges of class ratios and of cost ratios give a range of t. Here a missed tumour costs 5 to 20 times as much as an
# unnecessary operation, and there are 5 to 10 healthy patients for each ill one:
low, high = cost_range((5, 10), (1 / 20, 1 / 5))
print(f"t from {low:.3f} to {high:.3f}: VOROS {voros_score(y_test, score, cost_range=(low, high)):.4f}")
