"""Formulations: each file is one row of the table in `base` or a program beside it, named as in the configuration."""

from importlib import import_module
from typing import Any

from auclab.formulations.base import HingeProgram, Program
from auclab.formulations.bauc import BufferedAUC
from auclab.formulations.csvm import CSVM
from auclab.formulations.ecsvm import ECSVM
from auclab.formulations.exact_auc import ExactAUC
from auclab.formulations.generalized_bauc import GeneralizedBufferedAUC
from auclab.formulations.partial_auc import PartialAUC
from auclab.formulations.ranksvm import RankSVM

__all__ = [
    "CSVM",
    "ECSVM",
    "BufferedAUC",
    "ExactAUC",
    "GeneralizedBufferedAUC",
    "HingeProgram",
    "PartialAUC",
    "Program",
    "RankSVM",
]

#: Public names of this package that take a solution, which is made one layer above.
_ON_SOLUTIONS = ("Optimum", "ranksvm_to_threshold", "read_optimum", "threshold_to_ranksvm")


def __getattr__(name: str) -> Any:
    if name not in _ON_SOLUTIONS:
        raise AttributeError(f"module 'auclab.formulations' has no attribute {name!r}")
    return getattr(import_module("auclab.solvers.optimum"), name)
