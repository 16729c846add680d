"""
The weight of a pair in variants of AUC
=======================================

AUC is a step function: only the sign of the difference of two scores counts. The variants replace the step by other
functions. They differ from AUC if many pairs (grey) are near 0 (Vanderlooy & Hüllermeier 2008, Fig. 1).
``ModifierDisplay.from_parameters()`` draws the functions alone.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.displays import ModifierDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
display = ModifierDisplay.from_estimator(logistic, X_test, y_test, response_method="predict_proba", name="logistic")
