"""Notes before a run starts: a setting without effect, a search that may not finish."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape

from auclab.estimators.class_weights import CANCELS, cancels
from auclab.pipeline.screen.console import err
from auclab.tracking.config import in_sweep

#: Columns and pairs up to which branch and bound over pairs finished in seconds (docs/which_formulation.md).
FEW_COLUMNS, FEW_PAIRS = 3, 3_600


def foreseen(
    formulation: Any, y: NDArray[np.int64], n_features: int, *, weighted: bool = False, untuned: bool = False
) -> list[str]:
    """Notes to print before the run starts.

    `y` (n_samples,): 0/1, of the training part. `n_features`: features that the columns become. `weighted`: whether
    there are weights of the classes. `untuned`: whether inner folds were to choose a parameter, and the formulation has
    none.

    Examples
    --------
    >>> from auclab.formulations import CSVM, ExactAUC, RankSVM
    >>> foreseen(CSVM(), np.array([0, 1]), 5, weighted=True), foreseen(RankSVM(), np.array([0, 1]), 5)
    ([], [])
    >>> foreseen(ExactAUC(), np.repeat([0, 1], [90, 15]), 8)[0][:64]
    'exact_auc counts 1,350 pairs in 8 features by branch and bound, '
    >>> foreseen(ExactAUC(), np.repeat([0, 1], [900, 15]), 8)  # 13,500 pairs, which the solver refuses
    []
    """
    found = []
    if weighted and cancels(formulation):
        found.append(CANCELS)
    if untuned:
        found.append(f"{formulation.name} has no parameter that inner folds could choose: tune=auto leaves it as it is")
    if formulation.kind != "mip":
        return found
    from auclab.solvers.budget import SMALL_MARGINS  # psutil

    pairs = int(y.sum()) * int((1 - y).sum())
    # The solver refuses more pairs than this: no time limit helps.
    if pairs <= SMALL_MARGINS and (n_features > FEW_COLUMNS or pairs > FEW_PAIRS):
        found.append(
            f"exact_auc counts {pairs:,} pairs in {n_features} features by branch and bound, which ends in seconds for "
            f"up to {FEW_PAIRS:,} pairs in {FEW_COLUMNS} features; beyond that expect the time limit and a wide gap "
            "(solver.time_limit=60 ends it earlier), or use formulation=bauc"
        )
    return found


def show_foreseen(notes: list[str]) -> None:
    """Print a line per note, unless the run is part of a sweep."""
    if not in_sweep():
        for note in notes:
            err.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)
