"""``tune=kernel``: γ of a kernel and λ, or z, by cross-validation inside the training part.

The columns are prepared once, on the whole training part without its labels, so that all inner folds share one kernel
matrix for each γ: it is computed once, and a fold uses its rows and columns. On a fold the solves proceed from the
simplest scorer to that of largest norm, each starting from the landmarks of the previous one
(`auclab.solvers.kernel.solve`). If the matrix does not fit into ``kernel.memory_gb``, its blocks are recomputed, with a
note in the result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from auclab._core.base import Array
from auclab.datasets.splits import inner_folds
from auclab.datasets.target import Target, as_target
from auclab.estimators import AUCClassifier
from auclab.estimators.inner_choice import simplest
from auclab.formulations import Program
from auclab.formulations.base import parameter_names
from auclab.kernels import Kernel
from auclab.metrics.scorers import MetricScorer, get_scorer
from auclab.runs.config.compose import tuned_parameter
from auclab.runs.config.settings import TuneConfig
from auclab.runs.split.tuning import (
    Tuning,
    compared,
    measure_of,
    on_inner_folds,
    refuse_failure,
    setting_of,
)
from auclab.solvers.kernel.training import KernelMatrix, Training, training_problem
from auclab.solvers.monitor import one_thread_each
from auclab.solvers.path_parameters import along, simplest_first


def tune_kernel(
    preprocessing: Pipeline, classifier: AUCClassifier, X: Any, y: NDArray[np.int64] | Target, config: TuneConfig
) -> tuple[Program, Kernel, Tuning]:
    """Select γ and a parameter of the formulation by stratified cross-validation.

    The largest mean of the measure over the folds wins; ties go to the largest λ (or smallest z), then the smallest γ.
    The one-standard-error rule takes the simplest scorer at the γ of the best.

    `preprocessing`: a clone is fitted once, on all of `X`. `classifier`: its formulation and kernel are objects; not
    changed. `X` (n_samples, n_features): the training part, before preprocessing; for a precomputed kernel its columns
    are the rows. `y` (n_samples,), or Target: 0/1. `config`: ``gammas`` are multiples of the kernel's own γ; a kernel
    without γ, precomputed, has one matrix. Returns: the selected formulation and kernel, with a number for γ, and the
    `Tuning`.
    """
    begin = time.perf_counter()
    program, kernel = cast(Program, classifier.formulation), cast(Kernel, classifier.kernel)
    parameter = tuned_parameter({"parameter": config.parameter}, parameter_names(type(program)))
    values = sorted({float(value) for value in config.values})
    along(program, str(parameter), values)
    multiples = sorted({float(value) for value in config.gammas}) if kernel.has_width else [math.nan]
    prepared = clone(preprocessing).fit_transform(X)  # labels of held-out rows are not seen
    model = on_inner_folds(classifier, config)
    search = _Search(
        *(program, str(parameter), values, prepared, as_target(y), model),
        *(get_scorer(config.metric, **config.options), config),
    )
    own = search.training(kernel).kernel
    kernels = [own.widened(each) for each in multiples]
    with one_thread_each():
        scores, gaps, note = search.all_of(kernels)
    tuning = _choose(config, str(parameter), kernels, values, scores, gaps)
    seconds = max(0.0, time.perf_counter() - begin - search.compiling)
    tuning = replace(tuning, seconds=seconds, note=note)
    taken = next((each for each in kernels if each.width == tuning.gamma), own)
    return along(program, str(parameter), [tuning.selected])[0], taken, tuning


@dataclass
class _Search:
    """The inner folds, and what is fitted on them."""

    program: Program
    parameter: str
    values: list[float]
    X: Any
    target: Target
    classifier: AUCClassifier
    scorer: MetricScorer
    config: TuneConfig
    compiling: float = 0.0

    def training(self, kernel: Kernel) -> Training:
        """The whole training part, whose matrix the folds share."""
        memory = 1e9 * float((self.classifier.solver_options or {}).get("memory_gb", 2.0))
        return training_problem(self.program, self.X, self.target.y, kernel, memory=memory)

    def all_of(self, kernels: Sequence[Kernel]) -> tuple[Array, Array, str]:
        """Scores and relative gaps, shape (kernels, values, folds), and a note."""
        folds = inner_folds(self.target, n_folds=self.config.folds, seed=self.config.seed, setting="tune.folds")
        shape = (len(kernels), len(self.values), len(folds))
        scores, gaps, note = np.empty(shape), np.empty(shape), ""
        for g, kernel in enumerate(kernels):
            whole = self.training(kernel)
            for k, fold in enumerate(folds):
                matrix = whole.rows_in_data_order(fold.train)
                scores[g, :, k], gaps[g, :, k] = self.on_fold(kernel, matrix, fold.train, fold.test)
            if not (whole.matrix.is_kept or kernel.is_given):
                note = _memory_note(whole.matrix)
        return scores, gaps, note

    def on_fold(
        self, kernel: Kernel, matrix: KernelMatrix, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[list[float], list[float]]:
        """The measure on held-out rows, and the certified gap, for each value."""
        X_train, X_test = (kernel.columns_of(self.X[rows], train) for rows in (train, test))
        model = clone(self.classifier).set_params(kernel=kernel)
        y = self.target.y[train]
        fitted = model.fit_path(X_train, y, self.values, parameter=self.parameter, kernel_matrix=matrix)
        for each in fitted:
            refuse_failure(each.solution_, self.parameter)
            self.compiling += each.solution_.timings.compile
        scores = [self.scorer(each, X_test, self.target.y[test]) for each in fitted]
        return scores, [each.solution_.gap for each in fitted]


def _choose(
    config: TuneConfig, parameter: str, kernels: Sequence[Kernel], values: list[float], scores: Array, gaps: Array
) -> Tuning:
    """The table of all γ and values, and the choice."""
    gammas = [kernel.width for kernel in kernels]
    tried = {"gamma": np.repeat(gammas, len(values)), "value": np.tile(values, len(kernels))}
    table = compared(tried, scores, gaps)
    means, errors = (table[name].to_numpy().reshape(scores.shape[:2]) for name in ("mean", "standard_error"))
    at_best, order = means >= means.max(), simplest_first(parameter, values)
    best = simplest(at_best.any(axis=0), order)
    g = int(np.flatnonzero(at_best[:, best])[0])  # kernels are in ascending order of γ
    allowed = means[g] >= means[g, best] - errors[g, best]
    at = simplest(allowed, order) if config.one_standard_error else best
    if math.isnan(gammas[g]):
        table = table.drop(columns="gamma")
    label = measure_of(config)
    return Tuning(
        *(parameter, label, table, values[best], values[at], config.one_standard_error),
        gamma=gammas[g],
        setting=setting_of(config, parameter),
        multiples=tuple(sorted({float(value) for value in config.gammas})),
    )


def _memory_note(matrix: KernelMatrix) -> str:
    size = 8e-9 * matrix.size**2
    return (
        f"the kernel matrix of {matrix.size:,} rows takes {size:.3g} GB, more than half of kernel.memory_gb: it was "
        f"computed again for the inner folds; kernel.memory_gb={math.ceil(2 * size)} would keep it"
    )
