"""One split: preprocess, solve, measure, bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from auclab.datasets.checksum import part_sha256
from auclab.datasets.records import Dataset, Split
from auclab.datasets.splits import take_rows
from auclab.estimators import AUCClassifier
from auclab.estimators.baselines import Baseline, BaselineFit
from auclab.formulations import Program, Scorecard, read_optimum
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.optimum import Optimum
from auclab.inference import estimate_part
from auclab.inference.catalogue import estimable
from auclab.metrics import ScoredPart
from auclab.pipeline.config.kernel_settings import KernelConfig
from auclab.pipeline.config.settings import BoundsConfig, DecisionConfig, SolverConfig, TuneConfig
from auclab.pipeline.split.constrained import DataConstraints
from auclab.pipeline.split.decision import Decision, decide, decide_from_cuts
from auclab.pipeline.split.formula import describe_scorer, explain
from auclab.pipeline.split.guarantees import Guarantee, find_guarantees
from auclab.pipeline.split.results import Fold, PartResult
from auclab.pipeline.split.scorecards import card_of_split, on_items
from auclab.pipeline.split.summarised_part import SummarisedPart, estimable_by_summary, is_summarised, part_of
from auclab.pipeline.split.tuning import Tuning, tune_baseline, tune_formulation
from auclab.samples.as_sample import as_sample
from auclab.samples.tables import in_memory
from auclab.solvers.interrupt import interruptible
from auclab.solvers.kernel.approximations import RandomFeatureSolution
from auclab.solvers.kernel.solution import KernelSolution
from auclab.solvers.solution import Solution
from auclab.types import Array, AuclabError, Status

Metrics = Mapping[str, Callable[[NDArray[np.int64], Array], float]]

#: ``balanced``, or weights of the labels 0 and 1.
ClassWeight = Mapping[int, float] | Literal["balanced"] | None

#: Confidence level of the intervals beside the metrics of the held-out part.
LEVEL = 0.95


def solve_split(
    dataset: Dataset,
    split: Split,
    preprocessing: Pipeline,
    formulation: Program | Baseline,
    metrics: Metrics,
    *,
    solver: SolverConfig,
    tune: TuneConfig,
    bounds: BoundsConfig,
    decision: DecisionConfig | None = None,
    class_weight: ClassWeight = None,
    constraints: DataConstraints | None = None,
    kernel: KernelConfig | None = None,
) -> Fold:
    """Fit preprocessing and scorer on the training part, measure on both parts.

    Without a `decision` the scores are cut by the share of positives, and not calibrated. Weights of the classes, by 0
    and 1, are those of `auclab.estimators.AUCClassifier`. Constraints hold on the inner folds too, each in the units of
    its own preprocessing.

    Each part is transformed once.

    Raises
    ------
    AuclabError
        The solver found no usable point; what preprocessing, solver, metrics and bounds raise.
    KeyboardInterrupt
        Ctrl-C while a solver ran that cannot end with what it has.
    """
    if class_weight is not None and isinstance(formulation, Baseline):
        raise AuclabError(f"class_weight is for our own formulations, and {formulation.name} is none; leave it out")
    if constraints is not None and isinstance(formulation, Baseline):
        raise AuclabError(f"constraints are for our own formulations, and {formulation.name} is none; leave them out")
    if kernel is not None:
        refuse_linear_only(formulation, constraints)
    rows, y = take_rows(dataset.X, split.train), dataset.y[split.train]
    chosen = _tune(preprocessing, formulation, rows, y, tune, solver, class_weight, constraints, kernel)
    formulation, kernel, tuning = chosen
    X = {"train": preprocessing.fit_transform(rows, y)}
    on_columns = None if constraints is None else constraints.on(preprocessing)
    if isinstance(formulation, Scorecard):
        formulation, on_columns = on_items(formulation, preprocessing, dataset, on_columns)
    classifier, solution = _fit(formulation, solver, X["train"], y, class_weight, on_columns, kernel)
    if solution.status is Status.FAILED:
        reason = "; ".join(solution.notes) or solution.status.advice
        raise AuclabError(f"{solution.solver} found no usable point ({reason})")
    if len(split.test):
        X["test"] = preprocessing.transform(take_rows(dataset.X, split.test))
    labels = {"train": y, "test": dataset.y[split.test]}
    parts = {name: part_of(labels[name], X[name], solution) for name in X}
    measured = {name: _measure(part, metrics, held_out=name == "test") for name, part in parts.items()}
    guarantees, remarks = _guarantee(solution, parts, X["train"], bounds, preprocessing, tuning)
    model = Pipeline([("preprocess", preprocessing), ("scorer", classifier)])
    features = tuple(str(name) for name in preprocessing.get_feature_names_out())
    sha256, spread = part_sha256(X["train"], y), _spread(solution, X["train"], y)
    optimum = _optimum(solution)
    reading = decision or DecisionConfig(probability="none")
    constrain = None if constraints is None else constraints.on
    decided = _decide(preprocessing, classifier, rows, y, parts["train"], reading, constrain)
    scorer = describe_scorer(dataset, split, preprocessing, solution, decided)
    return Fold(
        *(split, model, features, solution, optimum, measured, guarantees, remarks, tuning, sha256, spread),
        decision=decided,
        scorer=scorer,
        effects=explain(scorer, rows),
        card=card_of_split(solution, preprocessing, X["train"], y, dataset),
        constraints=None if constraints is None else constraints.solved(solution, preprocessing),
        in_blocks=None if in_memory(X["train"]) else X["train"],
    )


def refuse_linear_only(formulation: Program | Baseline, constraints: DataConstraints | None) -> None:
    """Raise `AuclabError` for what has no meaning over a kernel's space."""
    if isinstance(formulation, Baseline | Scorecard):
        raise AuclabError(f"a kernel is for bauc, ranksvm, csvm and the like, and not for {formulation.name}")
    if constraints is not None:
        raise AuclabError("constraints are on the coefficients of columns, which a kernel has none of; leave one out")


def _tune(
    preprocessing: Pipeline,
    formulation: Program | Baseline,
    X: Any,
    y: NDArray[np.int64],
    tune: TuneConfig,
    solver: SolverConfig,
    class_weight: ClassWeight,
    constraints: DataConstraints | None,
    kernel: KernelConfig | None,
) -> tuple[Program | Baseline, KernelConfig | None, Tuning | None]:
    """The formulation and the kernel with what is selected on inner folds of the training part, if anything is."""
    if tune.parameter is None:
        return formulation, kernel, None
    if isinstance(formulation, Baseline):
        baseline = formulation
        return _with_kernel(None, interruptible(lambda: tune_baseline(preprocessing, baseline, X, y, tune)))
    classifier = _classifier(formulation, solver, class_weight, kernel)
    if kernel is None or (tune.parameter != "kernel" and kernel.name != "precomputed"):
        tuned = interruptible(lambda: tune_formulation(preprocessing, classifier, X, y, tune, constraints))
        return _with_kernel(kernel, tuned)
    from auclab.pipeline.split.kernel_tuning import tune_kernel

    program, taken, tuning = interruptible(lambda: tune_kernel(preprocessing, classifier, X, y, tune))
    return program, kernel.taking(taken), tuning


def _with_kernel(
    kernel: KernelConfig | None, tuned: tuple[Program | Baseline, Tuning]
) -> tuple[Program | Baseline, KernelConfig | None, Tuning]:
    """The kernel as it is given."""
    return tuned[0], kernel, tuned[1]


def _fit(
    formulation: Program | Baseline,
    solver: SolverConfig,
    X: Any,
    y: NDArray[np.int64],
    class_weight: ClassWeight,
    constraints: ColumnConstraints | None,
    kernel: KernelConfig | None,
) -> tuple[Any, Solution | BaselineFit]:
    """The fitted classifier, and its solution or what a baseline has in its place."""
    if isinstance(formulation, Baseline):
        baseline = formulation
        fitted = interruptible(lambda: baseline.fit(X, y))
        return fitted.classifier, fitted
    classifier = _classifier(formulation, solver, class_weight, kernel).set_params(constraints=constraints)
    if is_summarised(X):  # the threshold comes from the summary
        classifier.set_params(decision_threshold=0.0)
    interruptible(lambda: classifier.fit(X, y))
    return classifier, classifier.solution_


def _optimum(solution: Solution | BaselineFit) -> Optimum | None:
    """What the optimal value says; None where nothing is proved about it."""
    if isinstance(solution, BaselineFit | RandomFeatureSolution):
        return None
    return solution.read_optimum() if isinstance(solution, KernelSolution) else read_optimum(solution)


def _spread(solution: Solution | BaselineFit, X: Any, y: NDArray[np.int64]) -> Array | None:
    """The units in which the lengths up to which the bound holds are measured, if it has no norm and is limited."""
    if isinstance(solution, BaselineFit):
        return None
    if isinstance(solution, KernelSolution | RandomFeatureSolution):
        return None
    limited = math.isfinite(solution.certificate.norm_bound)
    return as_sample(X, y).spread if limited and not solution.formulation.uses_norm else None


def _guarantee(
    solution: Solution | BaselineFit,
    parts: Mapping[str, ScoredPart | SummarisedPart],
    features: Any,
    bounds: BoundsConfig,
    preprocessing: Pipeline,
    tuning: Tuning | None,
) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
    """What holds for the solved split.

    A bound on the training part supposes a formulation that was chosen without it. For one selected among K it holds
    if those of all K do, each with ρ/K. Of a baseline, bounds on the held-out part alone hold: the others are for
    linear scorers of pairs.
    """
    known = cast(Solution, solution)  # what is left of the bounds reads the coefficients, and these in a ball alone
    in_ball: Any = preprocessing
    if isinstance(solution, BaselineFit):
        bounds = replace(bounds, stability=None, margin=None)
        in_ball = None if solution.coef is None else preprocessing

    def at_level(rho: float) -> tuple[tuple[Guarantee, ...], tuple[str, ...]]:
        options = {"features": features, "config": replace(bounds, rho=rho), "preprocessing": in_ball}
        return find_guarantees(known, parts["train"], parts.get("test"), **options)

    guarantees, remarks = at_level(bounds.rho)
    if tuning is None or not any(item.sample == "train" for item in guarantees):
        return guarantees, remarks
    count = len(tuning.path)
    shared = [item for item in at_level(bounds.rho / count)[0] if item.sample == "train"]
    were = f"{tuning.symbol} {'were' if tuning.with_gamma else 'was'}"
    remark = f"{were} selected on the training part: its bounds hold for all {count} values at once"
    return (*shared, *(item for item in guarantees if item.sample != "train")), (*remarks, remark)


def _decide(
    preprocessing: Pipeline,
    classifier: Any,
    rows: Any,
    y: NDArray[np.int64],
    part: ScoredPart | SummarisedPart,
    config: DecisionConfig,
    constraints: Any,
) -> Decision:
    """Threshold and calibration from the scores of the training part, or from a summary of them."""
    if isinstance(part, SummarisedPart):
        return decide_from_cuts(part.cuts, config)
    return interruptible(lambda: decide(preprocessing, classifier, rows, y, part.scores, config, constraints))


def _measure(part: ScoredPart | SummarisedPart, metrics: Metrics, *, held_out: bool) -> PartResult:
    """All metrics; on observations the scorer has not seen, with intervals where these need no bootstrap."""
    if isinstance(part, SummarisedPart):
        values = {key: part.value(metric) for key, metric in metrics.items()}
        several = metrics if held_out else {}
        with_error = {key: metric for key, metric in several.items() if estimable_by_summary(metric)}
        estimates = {key: part.estimate(metric, LEVEL) for key, metric in with_error.items()}
        return PartResult(part.labels, None, values, estimates, part)
    values = {key: part.value(metric) for key, metric in metrics.items()}
    estimates = {
        key: estimate_part(part, metric, level=LEVEL)
        for key, metric in metrics.items()
        if held_out and estimable(metric, {}).rows is not None
    }
    return PartResult(part.labels, part.scores, values, estimates)


def _classifier(
    formulation: Program, solver: SolverConfig, class_weight: ClassWeight, kernel: KernelConfig | None
) -> AUCClassifier:
    if kernel is not None:
        return AUCClassifier(
            formulation=formulation,
            solver=solver.name,
            kernel=kernel.kernel(),
            tolerance=kernel.tolerance,
            time_limit=solver.time_limit,
            solver_options=kernel.options,
            class_weight=class_weight,
        )
    return AUCClassifier(
        formulation=formulation,
        solver=solver.name,
        tolerance=solver.tolerance,
        time_limit=solver.time_limit,
        solver_options=solver.options,
        class_weight=class_weight,
    )
