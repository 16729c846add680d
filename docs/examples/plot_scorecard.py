"""
A scorecard of whole points
===========================

Points between −3 and 3 for few questions, whose sum ranks: the hinge of all pairs is minimised over whole numbers,
and the bound holds for every card of the same items.
"""

from sklearn.datasets import load_breast_cancer

from auclab import ScorecardClassifier
from auclab.metrics import auc_score

data = load_breast_cancer(as_frame=True)
columns = ["mean radius", "mean texture", "mean concavity", "mean symmetry"]
card = ScorecardClassifier((-3, 3), max_items=4, max_candidates=8).fit(data.data[columns], data.target == 0)
print(card.card_)

# %%
solution = card.solution_
print(f"{solution.status}: objective {solution.objective:.4f}, gap {solution.gap:.1e}")
print(f"AUC {auc_score(data.target == 0, card.total(data.data[columns])):.4f}")
