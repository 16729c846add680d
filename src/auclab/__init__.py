"""auclab: maximise and measure AUC and buffered AUC.

>>> import auclab
>>> solution = auclab.solve(auclab.BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
>>> round(1 - solution.objective, 6)          # the largest buffered AUC of any linear scorer
0.5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auclab._core.base import AuclabError, Status
    from auclab.bounds.guarantee import Bound
    from auclab.datasets.records import Dataset, Split
    from auclab.estimators.scorecard_classifier import ScorecardClassifier
    from auclab.formulations import (
        CSVM,
        ECSVM,
        BufferedAUC,
        ExactAUC,
        GeneralizedBufferedAUC,
        PartialAUC,
        RankSVM,
        ranksvm_to_threshold,
        threshold_to_ranksvm,
    )
    from auclab.formulations.constraints import Constraints
    from auclab.inference import compare_scorers, estimate, measure, validate
    from auclab.solvers.certify import certify
    from auclab.solvers.dispatch import explain, solve
    from auclab.solvers.kernel.solution import KernelSolution
    from auclab.solvers.solution import Certificate, Solution

__version__ = "0.3.0.dev0"

__all__ = [
    "CSVM",
    "ECSVM",
    "AuclabError",
    "Bound",
    "BufferedAUC",
    "Certificate",
    "Constraints",
    "Dataset",
    "ExactAUC",
    "GeneralizedBufferedAUC",
    "KernelSolution",
    "PartialAUC",
    "RankSVM",
    "ScorecardClassifier",
    "Solution",
    "Split",
    "Status",
    "certify",
    "compare_scorers",
    "estimate",
    "explain",
    "measure",
    "ranksvm_to_threshold",
    "solve",
    "threshold_to_ranksvm",
    "validate",
]

#: The public names of each module, imported on first use: `auclab --help` does not wait for the numerical libraries.
_NAMES = {
    "bounds.guarantee": "Bound",
    "datasets.records": "Dataset Split",
    "estimators.scorecard_classifier": "ScorecardClassifier",
    "formulations": "CSVM ECSVM BufferedAUC ExactAUC GeneralizedBufferedAUC PartialAUC RankSVM "
    "ranksvm_to_threshold threshold_to_ranksvm",
    "formulations.constraints": "Constraints",
    "inference": "compare_scorers estimate measure validate",
    "solvers.certify": "certify",
    "solvers.dispatch": "explain solve",
    "solvers.kernel.solution": "KernelSolution",
    "solvers.solution": "Certificate Solution",
    "_core.base": "AuclabError Status",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

#: Packages that are imported on first use too: ``import auclab; auclab.metrics.auc_score(…)``.
_PACKAGES = frozenset(
    [
        "bounds",
        "datasets",
        "displays",
        "estimators",
        "export",
        "formulations",
        "inference",
        "kernels",
        "losses",
        "margins",
        "metrics",
        "models",
        "regularisers",
        "runs",
        "scorecards",
        "solvers",
        "testing",
    ]
)


if not TYPE_CHECKING:  # a type checker would take every misspelt name for one of unknown type

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return import_module(f"auclab.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module 'auclab' has no attribute {name!r}")
        return getattr(import_module(f"auclab.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
