"""What fits a scorer to the training part of a split: a formulation, one with a kernel, a scorecard, a baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.pipeline import Pipeline

from auclab.datasets.records import Dataset
from auclab.datasets.target import Target
from auclab.estimators import AUCClassifier, AUCRanker, SurvivalRanker
from auclab.estimators.baselines import Baseline
from auclab.estimators.checked import ClassWeight, class_weights
from auclab.estimators.linear_ranker import LinearRanker
from auclab.formulations import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.formulations.ranked import Ranking
from auclab.models.algebra import MOST_ROWS
from auclab.pipeline.config.checks import refuse
from auclab.pipeline.config.settings import KernelConfig, SolverConfig, TuneConfig
from auclab.pipeline.split.constrained import DataConstraints, on_prepared
from auclab.pipeline.split.formula import card_of_split, on_items
from auclab.pipeline.split.tuning import Tuning, tune_baseline, tune_formulation
from auclab.scorecards import Card
from auclab.solvers.encodings import check_exportable
from auclab.solvers.fitted import Fitted
from auclab.types import AuclabError


class Method(Protocol):
    """What fits a scorer.

    See Also
    --------
    method_of : The method of a formulation.
    """

    @property
    def kind(self) -> str:
        """Its key in `auclab.pipeline.config.checks.REFUSED`."""

    @property
    def formulation(self) -> Program | Baseline:
        """What is fitted."""

    def tuned(
        self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig, constraints: DataConstraints | None
    ) -> tuple[Method, Tuning]:
        """The method with what is selected on inner folds of the training part, before preprocessing, and how."""

    def prepared(
        self, preprocessing: Pipeline, dataset: Dataset, constraints: ColumnConstraints | None
    ) -> tuple[Method, ColumnConstraints | None]:
        """The method and the constraints behind a fitted preprocessing."""

    def fit(self, X: Any, y: Target, constraints: ColumnConstraints | None) -> tuple[Any, Fitted]:
        """A fitted classifier of scikit-learn, and what is known about its scorer."""

    def card(self, fitted: Fitted, preprocessing: Pipeline, X: Any, y: Target, dataset: Dataset) -> Card | None:
        """The scorecard, if it is one."""


@dataclass(frozen=True)
class ProgramMethod:
    """A formulation and a solver."""

    formulation: Program
    solver: SolverConfig
    class_weight: ClassWeight = None

    kind: ClassVar[str] = "program"

    def classifier(self, constraints: ColumnConstraints | None = None) -> AUCClassifier:
        """Unfitted, with threshold 0: `decision.threshold` chooses that of a run."""
        return AUCClassifier(
            formulation=self.formulation,
            solver=self.solver.name,
            tolerance=self.solver.tolerance,
            time_limit=self.solver.time_limit,
            solver_options=self.solver.options,
            class_weight=self.class_weight,
            constraints=constraints,
            decision_threshold=0.0,
        )

    def tuned(
        self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig, constraints: DataConstraints | None
    ) -> tuple[Self, Tuning]:
        """The method with what is selected on inner folds of the training part, before preprocessing, and how."""
        program, tuning = tune_formulation(preprocessing, self.classifier(), X, y, config, constraints)
        return replace(self, formulation=program), tuning

    def prepared(
        self, preprocessing: Pipeline, dataset: Dataset, constraints: ColumnConstraints | None
    ) -> tuple[Self, ColumnConstraints | None]:
        """The constraints unchanged, and the formulation with the groups of the prepared columns if it has any."""
        return replace(self, **on_prepared(self.formulation, None, dataset.X, preprocessing)), constraints

    def fit(self, X: Any, y: Target, constraints: ColumnConstraints | None) -> tuple[AUCClassifier, Fitted]:
        """A fitted classifier of scikit-learn, and its solution."""
        classifier = self.classifier(constraints).fit(X, y.y)
        return classifier, classifier.solution_

    def card(self, fitted: Fitted, preprocessing: Pipeline, X: Any, y: Target, dataset: Dataset) -> Card | None:
        """None."""
        return None


@dataclass(frozen=True, kw_only=True)
class KernelMethod(ProgramMethod):
    """A formulation over the space of a kernel."""

    kernel: KernelConfig

    kind: ClassVar[str] = "kernel"

    def classifier(self, constraints: ColumnConstraints | None = None) -> AUCClassifier:
        """Unfitted, with the kernel and its own tolerance."""
        kernel = self.kernel
        return (
            super()
            .classifier()
            .set_params(kernel=kernel.kernel(), tolerance=kernel.tolerance, solver_options=kernel.options)
        )

    def tuned(
        self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig, constraints: DataConstraints | None
    ) -> tuple[Self, Tuning]:
        """γ too if it is tuned; a precomputed kernel is subset in rows and columns."""
        if config.parameter != "kernel" and self.kernel.name != "precomputed":
            return super().tuned(preprocessing, X, y, config, constraints)
        from auclab.pipeline.split.kernel_tuning import tune_kernel

        program, taken, tuning = tune_kernel(preprocessing, self.classifier(), X, y, config)
        return replace(self, formulation=program, kernel=self.kernel.taking(taken)), tuning


@dataclass(frozen=True)
class ScorecardMethod(ProgramMethod):
    """A scorecard on the items of a training part."""

    kind: ClassVar[str] = "integer"

    def prepared(
        self, preprocessing: Pipeline, dataset: Dataset, constraints: ColumnConstraints | None
    ) -> tuple[Self, ColumnConstraints | None]:
        """On the items that the preprocessing has made."""
        program, on_columns = on_items(self.formulation, preprocessing, dataset, constraints)
        return replace(self, formulation=program), on_columns

    def card(self, fitted: Fitted, preprocessing: Pipeline, X: Any, y: Target, dataset: Dataset) -> Card | None:
        """The card with its points and what each total means."""
        return card_of_split(fitted, preprocessing, X, y.y, dataset)


@dataclass(frozen=True)
class RankedMethod(ProgramMethod):
    """A formulation over the pairs within groups, of grades, or of times; `kernel`: over its space."""

    kernel: KernelConfig | None = None

    kind: ClassVar[str] = "ranked"

    def ranker(self, y: Target, constraints: ColumnConstraints | None = None) -> LinearRanker:
        """Unfitted."""
        kind, kernel = AUCRanker if y.event is None else SurvivalRanker, self.kernel
        return kind(
            formulation=self.formulation,
            group_weights=y.weights,
            solver=self.solver.name,
            kernel=None if kernel is None else kernel.kernel(),
            tolerance=self.solver.tolerance if kernel is None else kernel.tolerance,
            time_limit=self.solver.time_limit,
            solver_options=self.solver.options if kernel is None else kernel.options,
            constraints=constraints,
        )

    def tuned(
        self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig, constraints: DataConstraints | None
    ) -> tuple[Self, Tuning]:
        """Selected by AUC or bAUC over the pairs of the inner folds."""
        program, tuning = tune_formulation(preprocessing, self.ranker(y), X, y, config, constraints)
        return replace(self, formulation=program), tuning

    def fit(self, X: Any, y: Target, constraints: ColumnConstraints | None) -> tuple[Any, Fitted]:
        """A fitted ranker of scikit-learn, and its solution."""
        ranker: Any = self.ranker(y, constraints)
        outcome: Any = y.y
        if y.event is not None:
            outcome = np.empty(y.y.size, dtype=[("event", bool), ("time", float)])
            outcome["event"], outcome["time"] = y.event, y.y
        ranker.fit(X, outcome, groups=y.groups)
        return ranker, ranker.solution_


@dataclass(frozen=True)
class BaselineMethod:
    """A scorer of another library."""

    formulation: Baseline
    class_weight: ClassWeight = None

    kind: ClassVar[str] = "baseline"

    def tuned(
        self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig, constraints: DataConstraints | None
    ) -> tuple[Self, Tuning]:
        """The method with what is selected on inner folds of the training part, before preprocessing, and how."""
        baseline, tuning = tune_baseline(preprocessing, self.formulation, X, y, config, self.class_weight)
        return replace(self, formulation=baseline), tuning

    def prepared(
        self, preprocessing: Pipeline, dataset: Dataset, constraints: ColumnConstraints | None
    ) -> tuple[Self, ColumnConstraints | None]:
        """As they are."""
        return self, constraints

    def fit(self, X: Any, y: Target, constraints: ColumnConstraints | None) -> tuple[Any, Fitted]:
        """A fitted classifier of the library, and what is known of it."""
        fitted = self.formulation.fit(X, y.y, self.class_weight)
        return fitted.classifier, fitted

    def card(self, fitted: Fitted, preprocessing: Pipeline, X: Any, y: Target, dataset: Dataset) -> Card | None:
        """None."""
        return None


def problem_to_write(method: Method, X: Any, y: Target, constraints: ColumnConstraints | None) -> Problem:
    """The program that `fit` solves on these rows, as a model of a row for every pair can be written of it."""
    program, weight = check_exportable(method.formulation), None
    if (of_classes := getattr(method, "class_weight", None)) is not None:
        of_negative, of_positive = class_weights(of_classes, [0, 1], y.y == 1, None)
        weight = np.where(y.y == 1, of_positive, of_negative)
    problem = Problem(*Ranking(**y.for_solve).problem_parts(program, X, y.y, weight), constraints)
    if problem.n_margins > MOST_ROWS["pyomo"]:
        raise AuclabError(
            f"solver.export writes one row a pair, and there are {problem.n_margins:,} (at most "
            f"{MOST_ROWS['pyomo']:,}); use fewer observations"
        )
    return problem


def method_of(
    formulation: Any,
    solver: SolverConfig,
    *,
    class_weight: ClassWeight = None,
    kernel: KernelConfig | None = None,
    ranked: bool = False,
    **given: bool,
) -> Method:
    """The method of a formulation.

    `ranked`: whether rows are compared within groups, by grades or by times. `**given`: flags ``constraints`` and
    ``blocks`` (rows in blocks).
    """
    given |= {"class_weight": class_weight is not None, "kernel": kernel is not None, "ranked": ranked}
    refuse(formulation.kind, formulation.name, **given)
    if kernel is not None:
        refuse(KernelMethod.kind, formulation.name, **given)
    if ranked:
        refuse(RankedMethod.kind, formulation.name, **given)
        return RankedMethod(formulation, solver, kernel=kernel)
    if kernel is not None:
        return KernelMethod(formulation, solver, class_weight, kernel=kernel)
    if formulation.kind == BaselineMethod.kind:
        return BaselineMethod(formulation, class_weight)
    kind = ScorecardMethod if formulation.kind == ScorecardMethod.kind else ProgramMethod
    return kind(formulation, solver, class_weight)
