"""
ROC and buffered ROC
====================

The area under the solid polygon is AUC, and the area under the dashed steps is bAUC. The dashed curve is the ROC curve
after all positive scores were lowered by the distance of γ* from 0 (Norton & Uryasev 2018, Fig. 4).
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.displays import BufferedROCDisplay
from auclab.estimators import AUCClassifier
from auclab.metrics import auc_threshold

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), AUCClassifier("bauc")).fit(X, y)
display = BufferedROCDisplay.from_estimator(model, X_test, y_test)

# %%
# The family of buffered curves rises from bAUC at z = 0 to AUC at the z₀ of `auclab.metrics.auc_threshold`, where the
# buffered curve is the ROC curve itself (Fig. 7).
import numpy as np

score = model.decision_function(X_test)
display = BufferedROCDisplay.from_predictions(y_test, score, thresholds=np.linspace(0, auc_threshold(y_test, score), 4))

# %%
# A scorer with a slightly lower AUC may have a much lower bAUC, because bAUC depends on the size of the errors (Fig.
# 5).
from sklearn.naive_bayes import GaussianNB

bayes = GaussianNB().fit(X, y)
first = BufferedROCDisplay.from_estimator(model, X_test, y_test, name="linear")
display = BufferedROCDisplay.from_estimator(
    bayes, X_test, y_test, name="Bayes", ax=first.ax_, curve_kwargs={"color": "#d55e00"}
)
