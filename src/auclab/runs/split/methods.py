"""What fits a scorer to the training part of a split: a formulation, one with a kernel, a scorecard, a baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from auclab._core.base import AuclabError
from auclab.datasets.records import Dataset
from auclab.datasets.target import Target
from auclab.estimators import AUCClassifier, AUCRanker, SurvivalRanker
from auclab.estimators.checked import ClassWeight, class_weights
from auclab.estimators.linear_ranker import LinearRanker
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem, Ranking
from auclab.models.algebra import MOST_ROWS
from auclab.runs.config.checks import refuse
from auclab.runs.config.settings import KernelConfig, SolverConfig, TuneConfig
from auclab.runs.split.constrained import DataConstraints, SolvedConstraints, on_prepared
from auclab.runs.split.formula import card_of_split, on_items
from auclab.runs.split.tuning import Tuning, tune_baseline, tune_formulation
from auclab.scorecards import Card
from auclab.solvers.registry import check_exportable
from auclab.solvers.solution import Fitted


@dataclass(frozen=True)
class Method:
    """What fits a scorer; each kind of fit is a class that does what is its own.

    `formulation`: what is fitted. `constraints`: in the units of the data. `on_columns`: the same behind a fitted
    preprocessing.

    See Also
    --------
    method_of : The method of a formulation.
    """

    formulation: Any
    solver: SolverConfig
    class_weight: ClassWeight = None
    constraints: DataConstraints | None = None
    on_columns: ColumnConstraints | None = None

    #: Its key in `auclab.runs.config.checks.REFUSED`.
    kind: ClassVar[str]

    def tuned(self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig) -> tuple[Self, Tuning | None]:
        """The method with what is selected on inner folds of the training part, before preprocessing, and how."""
        return (self, None) if config.parameter is None else self._select(preprocessing, X, y, config)

    def _select(self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig) -> tuple[Self, Tuning]:
        program, tuning = tune_formulation(preprocessing, self.estimator(y), X, y, config, self.constraints)
        return replace(self, formulation=program), tuning

    def loosened(self, tolerance: float | None) -> Self:
        """With tolerances of at least this one."""
        settings = {name: getattr(self, name, None) for name in ("solver", "kernel") if tolerance is not None}
        known = {name: each for name, each in settings.items() if each is not None}
        return replace(
            self,
            **{name: replace(each, tolerance=max(each.tolerance, tolerance)) for name, each in known.items()},
        )

    def parameters(self, X: Any, preprocessing: Pipeline) -> dict[str, Any]:
        """The parameters of the estimator that depend on a fitted preprocessing; `X`: rows before it."""
        return on_prepared(self.formulation, self.constraints, X, preprocessing)

    def prepared(self, preprocessing: Pipeline, dataset: Dataset) -> Self:
        """The method behind a fitted preprocessing."""
        found = self.parameters(dataset.X, preprocessing)
        formulation = found.get("formulation", self.formulation)
        return replace(self, formulation=formulation, on_columns=found.get("constraints"))

    def estimator(self, y: Target) -> Any:
        """Of scikit-learn, unfitted, with threshold 0: `decision.threshold` chooses that of a run."""
        return AUCClassifier(
            formulation=self.formulation,
            solver=self.solver.name,
            tolerance=self.solver.tolerance,
            time_limit=self.solver.time_limit,
            solver_options=self.solver.options,
            class_weight=self.class_weight,
            constraints=self.on_columns,
            decision_threshold=0.0,
        )

    def fit(self, X: Any, y: Target) -> tuple[Any, Fitted]:
        """A fitted estimator of scikit-learn, and what is known about its scorer."""
        classifier = self.estimator(y).fit(X, y.y)
        return classifier, classifier.solution_

    def problem(self, X: Any, y: Target) -> Problem:
        """The linear program that `fit` solves on these rows, as ``solver.export`` writes it."""
        check_exportable(self.formulation)
        return self.stated(X, y)

    def stated(self, X: Any, y: Target) -> Problem:
        """The program that `fit` solves on these rows, as a model of a row for every pair can be written of it."""
        parts = Ranking(**y.for_solve).problem_parts(self.formulation, X, y.y, self.row_weights(y))
        problem = Problem(*parts, self.on_columns)
        if problem.n_margins > MOST_ROWS["pyomo"]:
            raise AuclabError(
                f"the file of a program has one row a pair, and there are {problem.n_margins:,} (at most "
                f"{MOST_ROWS['pyomo']:,}); use fewer observations"
            )
        return problem

    def row_weights(self, y: Target) -> NDArray[np.float64] | None:
        """The weight of the class of every row; None where all count alike."""
        if self.class_weight is None:
            return None
        of_negative, of_positive = class_weights(self.class_weight, [0, 1], y.y == 1, None)
        return np.where(y.y == 1, of_positive, of_negative)

    def solved(self, fitted: Fitted, preprocessing: Pipeline) -> SolvedConstraints | None:
        """The constraints of a solution with the active ones; None without constraints."""
        return None if self.constraints is None else self.constraints.solved(fitted, preprocessing)

    def card(self, fitted: Fitted, preprocessing: Pipeline, X: Any, y: Target, dataset: Dataset) -> Card | None:
        """The scorecard; None if it is none."""
        return None


class ProgramMethod(Method):
    """A formulation and a solver."""

    kind = "program"


@dataclass(frozen=True, kw_only=True)
class KernelMethod(Method):
    """A formulation over the space of a kernel."""

    kernel: KernelConfig

    kind: ClassVar[str] = "kernel"

    def estimator(self, y: Target) -> Any:
        """With the kernel and its own tolerance."""
        of_kernel = {"tolerance": self.kernel.tolerance, "solver_options": self.kernel.options}
        return super().estimator(y).set_params(kernel=self.kernel.kernel(), **of_kernel)

    def _select(self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig) -> tuple[Self, Tuning]:
        """γ too if it is tuned; a precomputed kernel is subset in rows and columns."""
        if config.parameter != "kernel" and self.kernel.name != "precomputed":
            return super()._select(preprocessing, X, y, config)
        from auclab.runs.split.kernel_tuning import tune_kernel

        program, taken, tuning = tune_kernel(preprocessing, self.estimator(y), X, y, config)
        return replace(self, formulation=program, kernel=self.kernel.taking(taken)), tuning


class ScorecardMethod(Method):
    """A scorecard on the items of a training part."""

    kind = "integer"

    def prepared(self, preprocessing: Pipeline, dataset: Dataset) -> Self:
        """On the items that the preprocessing has made."""
        stated = None if self.constraints is None else self.constraints.on(preprocessing)
        program, on_columns = on_items(self.formulation, preprocessing, dataset, stated)
        return replace(self, formulation=program, on_columns=on_columns)

    def card(self, fitted: Fitted, preprocessing: Pipeline, X: Any, y: Target, dataset: Dataset) -> Card | None:
        """The card with its points and what each total means."""
        return card_of_split(fitted, preprocessing, X, y.y, dataset)


@dataclass(frozen=True)
class RankedMethod(Method):
    """A formulation over the pairs within groups, of grades, or of times; `kernel`: over its space."""

    kernel: KernelConfig | None = None

    kind: ClassVar[str] = "ranked"

    def estimator(self, y: Target) -> LinearRanker:
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
            constraints=self.on_columns,
        )

    def fit(self, X: Any, y: Target) -> tuple[Any, Fitted]:
        """A fitted ranker of scikit-learn, and its solution."""
        ranker: Any = self.estimator(y)
        outcome: Any = y.y
        if y.event is not None:
            outcome = np.empty(y.y.size, dtype=[("event", bool), ("time", float)])
            outcome["event"], outcome["time"] = y.event, y.y
        ranker.fit(X, outcome, groups=y.groups)
        return ranker, ranker.solution_


class BaselineMethod(Method):
    """A scorer of another library."""

    kind = "baseline"

    def _select(self, preprocessing: Pipeline, X: Any, y: Target, config: TuneConfig) -> tuple[Self, Tuning]:
        baseline, tuning = tune_baseline(preprocessing, self.formulation, X, y, config, self.class_weight)
        return replace(self, formulation=baseline), tuning

    def fit(self, X: Any, y: Target) -> tuple[Any, Fitted]:
        """A fitted classifier of the library, and what is known of it."""
        fitted = self.formulation.fit(X, y.y, self.class_weight)
        return fitted.classifier, fitted


def method_of(
    formulation: Any,
    solver: SolverConfig,
    *,
    class_weight: ClassWeight = None,
    kernel: KernelConfig | None = None,
    ranked: bool = False,
    constraints: DataConstraints | None = None,
) -> Method:
    """The method of a formulation.

    `ranked`: whether rows are compared within groups, by grades or by times.
    """
    given = {"class_weight": class_weight is not None, "kernel": kernel is not None, "ranked": ranked}
    given |= {"constraints": constraints is not None}
    refuse(formulation.kind, formulation.name, **given)
    if kernel is not None:
        refuse(KernelMethod.kind, formulation.name, **given)
    if ranked:
        refuse(RankedMethod.kind, formulation.name, **given)
        return RankedMethod(formulation, solver, constraints=constraints, kernel=kernel)
    if kernel is not None:
        return KernelMethod(formulation, solver, class_weight, constraints, kernel=kernel)
    kinds: dict[str, type[Method]] = {kind.kind: kind for kind in (BaselineMethod, ScorecardMethod)}
    return kinds.get(formulation.kind, ProgramMethod)(formulation, solver, class_weight, constraints)
