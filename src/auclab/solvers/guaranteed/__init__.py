"""A required bAUC: scorers whose buffered AUC, also in each group, is at least a given level."""

from auclab.solvers.guaranteed.fewest_features import FewestFeatures, fewest_features
from auclab.solvers.guaranteed.frontier import frontier
from auclab.solvers.guaranteed.groups import with_groups
from auclab.solvers.guaranteed.least_norm import least_norm
from auclab.solvers.guaranteed.records import Frontier, GroupValue, GuaranteedSolution

__all__ = [
    "FewestFeatures",
    "Frontier",
    "GroupValue",
    "GuaranteedSolution",
    "fewest_features",
    "frontier",
    "least_norm",
    "with_groups",
]
