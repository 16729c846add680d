"""Notes before a solve: how a file was read, settings without effect, a search that may not finish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape

from auclab.pipeline.screen.console import err, print_row
from auclab.sizes import ENOUGH, FEW
from auclab.tracking.address import in_sweep

if TYPE_CHECKING:
    from auclab.datasets.columns import Columns
    from auclab.datasets.records import Dataset
    from auclab.pipeline.config.compose import Experiment

#: Label of the number of columns.
ENCODED = "encoded"


def show_data(dataset: Dataset, columns: Columns | None) -> None:
    """Print the encoded width and notes, a line each; nothing for numeric tables without notes."""
    for word, text in data_notes(dataset, columns):
        style = "cyan" if word == ENCODED else "yellow"
        print_row(word, text, 9, style=style)


def data_notes(dataset: Dataset, columns: Columns | None) -> list[tuple[str, str]]:
    """The lines of `show_data`: `ENCODED` or ``note:``, and a sentence."""
    notes: list[tuple[str, str]] = []
    if columns is not None and columns.widths and (columns.nominal or columns.dates):
        widest = [item for item in sorted(columns.widths.items(), key=lambda item: -item[1]) if item[1] > 1][:FEW]
        named = ", ".join(f"{name} {width}" for name, width in widest)
        total = sum(columns.widths.values())
        several = f"; the widest: {named}" if named else ""
        notes.append((ENCODED, f"{len(columns.widths)} columns as {total} features{several}"))
        if total * ENOUGH > len(dataset.y):
            text = (
                f"{total} features are many for {len(dataset.y)} rows, and a scorer may learn the training part by "
                "heart: leave out wide columns with dataset.drop, or lower preprocess.max_categories"
            )
            notes.append(("note:", text))
    return notes + [("note:", note) for note in (*dataset.notes, *(columns.notes if columns else ()))]


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
    >>> import numpy as np
    >>> from auclab.formulations import CSVM, ExactAUC, RankSVM
    >>> foreseen(CSVM(), np.array([0, 1]), 5, weighted=True), foreseen(RankSVM(), np.array([0, 1]), 5)
    ([], [])
    >>> foreseen(ExactAUC(), np.repeat([0, 1], [90, 15]), 8)[0][:64]
    'exact_auc counts 1,350 pairs in 8 features by branch and bound, '
    >>> foreseen(ExactAUC(), np.repeat([0, 1], [900, 15]), 8)  # 13,500 pairs, which the solver refuses
    []
    """
    from auclab.estimators.checked import CANCELS, cancels  # with scikit-learn

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


def show_formulation(experiment: Experiment, dataset: Dataset, train: NDArray[np.intp], formulation: Any) -> None:
    """Print what is foreseen of a formulation; `train`: rows of the first training part."""
    from auclab.datasets.columns import sort_columns

    n_features = dataset.X.shape[1]
    if formulation.kind == "mip" and hasattr(dataset.X, "iloc"):  # categories and dates have several features
        n_features = sum(sort_columns(dataset, **experiment.encoding).widths.values())
    weighted = experiment.class_weight is not None
    untuned = experiment.given_tune.parameter is not None and experiment.tune.parameter is None
    show_foreseen(foreseen(formulation, dataset.y[train], n_features, weighted=weighted, untuned=untuned))


def show_foreseen(notes: list[str]) -> None:
    """Print a line per note, unless the run is part of a sweep."""
    if not in_sweep():
        for note in notes:
            err.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)
