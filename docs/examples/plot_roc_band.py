"""
A band for the whole ROC curve
==============================

The band contains the whole true ROC curve with a confidence of 95 %. An interval of TPR holds only at its own FPR. The
width depends on the class sizes; with 285 observations it is large.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.displays import ROCBandDisplay
from auclab.estimators import AUCClassifier
from auclab.inference import tpr_at_fpr

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), AUCClassifier("ranksvm")).fit(X, y)
score = model.decision_function(X_test)
display = ROCBandDisplay.from_predictions(y_test, score, at=(0.1, 0.3))

# %%
# The numbers of one of the intervals:
print(tpr_at_fpr(y_test, score, 0.1))

# %%
# ``threshold=0`` gives the band of the buffered curve.
display = ROCBandDisplay.from_predictions(y_test, score, threshold=0.0)
