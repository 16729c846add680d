"""Formulations: each file is one row of the table in `base`; its module name is its name in the configuration."""

from auclab.formulations.base import HingeProgram
from auclab.formulations.bauc import BufferedAUC
from auclab.formulations.csvm import CSVM
from auclab.formulations.ecsvm import ECSVM
from auclab.formulations.generalized_bauc import GeneralizedBufferedAUC
from auclab.formulations.optimum import Optimum, ranksvm_to_threshold, read_optimum, threshold_to_ranksvm
from auclab.formulations.ranksvm import RankSVM

__all__ = [
    "CSVM",
    "ECSVM",
    "BufferedAUC",
    "GeneralizedBufferedAUC",
    "HingeProgram",
    "Optimum",
    "RankSVM",
    "ranksvm_to_threshold",
    "read_optimum",
    "threshold_to_ranksvm",
]
