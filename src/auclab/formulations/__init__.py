"""Formulations: the programs that can be solved, one in each file, named as in the configuration."""

from auclab.formulations.base import Program
from auclab.formulations.bauc import BufferedAUC
from auclab.formulations.composed import Composed
from auclab.formulations.csvm import CSVM
from auclab.formulations.ecsvm import ECSVM
from auclab.formulations.equivalence import ranksvm_to_threshold, read_optimum, threshold_to_ranksvm
from auclab.formulations.exact_auc import ExactAUC
from auclab.formulations.generalized_bauc import GeneralizedBufferedAUC
from auclab.formulations.hinge import HingeProgram
from auclab.formulations.named import FORMULATIONS, as_formulation, formulation_named
from auclab.formulations.optimum import Optimum
from auclab.formulations.partial_auc import PartialAUC
from auclab.formulations.ranksvm import RankSVM
from auclab.formulations.scorecard import Scorecard

__all__ = [
    "CSVM",
    "ECSVM",
    "FORMULATIONS",
    "BufferedAUC",
    "Composed",
    "ExactAUC",
    "GeneralizedBufferedAUC",
    "HingeProgram",
    "Optimum",
    "PartialAUC",
    "Program",
    "RankSVM",
    "Scorecard",
    "as_formulation",
    "formulation_named",
    "ranksvm_to_threshold",
    "read_optimum",
    "threshold_to_ranksvm",
]
