"""auclab: maximise and measure AUC and buffered AUC.

>>> import auclab
>>> solution = auclab.solve(auclab.BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
>>> round(1 - solution.objective, 6)          # the largest buffered AUC of any linear scorer
0.5
"""

from auclab.formulations import (
    CSVM,
    ECSVM,
    BufferedAUC,
    GeneralizedBufferedAUC,
    RankSVM,
    ranksvm_to_threshold,
    threshold_to_ranksvm,
)
from auclab.solvers.referee import solve
from auclab.types import AuclabError, Bound, Certificate, Dataset, Solution, Split, Status

__version__ = "0.1.0"

__all__ = [
    "CSVM",
    "ECSVM",
    "AuclabError",
    "Bound",
    "BufferedAUC",
    "Certificate",
    "Dataset",
    "GeneralizedBufferedAUC",
    "RankSVM",
    "Solution",
    "Split",
    "Status",
    "ranksvm_to_threshold",
    "solve",
    "threshold_to_ranksvm",
]
