"""
Ranking errors of all pairs
===========================

The dark tail right of 0 has the mass 1 − AUC. The light area starts at γ*, so that the mean error of both areas is 0;
together they have the mass 1 − bAUC (Norton & Uryasev 2018, Figs. 2, 3). All pairs are counted, and none is formed.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auclab.displays import RankingErrorDisplay, ScoreHistogramDisplay
from auclab.estimators import AUCClassifier
from auclab.metrics import auc_score, buffered_auc

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]]  # the others separate too well
X, X_test, y, y_test = train_test_split(X, y == 0, test_size=0.5, stratify=y, random_state=0)
model = make_pipeline(StandardScaler(), AUCClassifier("bauc")).fit(X, y)
score = model.decision_function(X_test)
display = RankingErrorDisplay.from_predictions(y_test, score)

# %%
found = buffered_auc(y_test, score)
print(f"AUC {auc_score(y_test, score):.4f}, bAUC {found.value:.4f}, the buffer starts at {found.gamma_left:.4f}")

# %%
# The scores themselves: where the two histograms overlap, pairs are ranked wrongly (Fig. 6).
display = ScoreHistogramDisplay.from_predictions(y_test, score)
