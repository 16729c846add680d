"""Formulations: the programs that can be solved, named as in the configuration."""

from auclab.formulations.base import Optimum, Program
from auclab.formulations.equivalence import ranksvm_to_threshold, read_optimum, threshold_to_ranksvm
from auclab.formulations.hinge_program import HingeProgram
from auclab.formulations.programs import (
    CSVM,
    ECSVM,
    FORMULATIONS,
    BufferedAUC,
    Composed,
    ExactAUC,
    GeneralizedBufferedAUC,
    PartialAUC,
    RankSVM,
    as_formulation,
    formulation_named,
)
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
