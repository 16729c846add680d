"""Regularisers: the cost R(w) of the coefficients, and the norms it is made of.

A program is ``minimise loss + R(w)``; see `auclab.formulations.Composed`.
"""

from auclab.regularisers.elastic_net import ElasticNet
from auclab.regularisers.epigraph import Epigraph
from auclab.regularisers.group_lasso import GroupLasso
from auclab.regularisers.lp_norms import EUCLIDEAN, L1, L2, NORMS, Linf, norm_named
from auclab.regularisers.norm import Norm
from auclab.regularisers.regulariser import Regulariser
from auclab.regularisers.vector_norm import VectorNorm
from auclab.regularisers.zero import Zero

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
