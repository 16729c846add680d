"""Regularisers: the cost R(w) of the coefficients, and the norms it is made of.

A program is ``minimise loss + R(w)``; see `auclab.formulations.Composed`.
"""

from auclab.regularisers.group_lasso import GroupLasso
from auclab.regularisers.norms import EUCLIDEAN, L1, L2, NORMS, Epigraph, Linf, VectorNorm, norm_named
from auclab.regularisers.regulariser import ElasticNet, Norm, Regulariser, Zero

__all__ = [
    "EUCLIDEAN",
    "L1",
    "L2",
    "NORMS",
    "ElasticNet",
    "Epigraph",
    "GroupLasso",
    "Linf",
    "Norm",
    "Regulariser",
    "VectorNorm",
    "Zero",
    "norm_named",
]
