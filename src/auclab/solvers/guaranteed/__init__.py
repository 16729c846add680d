"""Guarantees as constraints: scorers whose buffered AUC, or that of groups, is at least a given level."""

from auclab.solvers.guaranteed.frontier import frontier
from auclab.solvers.guaranteed.groups import with_groups
from auclab.solvers.guaranteed.least_norm import least_norm
from auclab.solvers.guaranteed.records import Frontier, GroupValue, GuaranteedSolution

__all__ = ["Frontier", "GroupValue", "GuaranteedSolution", "frontier", "least_norm", "with_groups"]
