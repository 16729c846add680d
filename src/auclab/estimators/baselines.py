"""Scorers of other libraries, to compare with: logistic regression, linear discriminant analysis, boosted trees.

They are chosen like formulations (``formulation=logistic``), so that one sweep and one table have both. What they
minimise is not verified: a baseline has no objective, no lower bound and no certificate.
"""

from __future__ import annotations

import math
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from auclab.estimators.class_weights import ClassWeight, class_weights
from auclab.models.timings import Timings
from auclab.samples.row_scores import row_scores
from auclab.samples.tables import in_memory, new_rows
from auclab.solvers.fitted import InFeatures
from auclab.solvers.solution import Certificate
from auclab.solvers.threads import one_thread_each
from auclab.types import Array, AuclabError, Status

if TYPE_CHECKING:
    from auclab.samples.blocks.table import BlockTable


class MissingLibraryError(AuclabError):
    """A baseline of a library that is not installed; a sweep leaves its jobs out."""


@dataclass(frozen=True)
class Baseline(ABC):
    """A scorer of another library, by the name it has in the configuration."""

    name: ClassVar[str]
    #: What fits it, as the `kind` of a formulation is what a solver must be able to minimise.
    kind: ClassVar[str] = "baseline"
    #: Package that fits it, and the extra of auclab that installs it, if one does.
    package: ClassVar[str]
    extra: ClassVar[str] = ""
    #: Whether rows in blocks are fitted too, from sums over the blocks (`auclab.estimators.block_baselines`).
    takes_blocks: ClassVar[bool] = False
    #: The parameter that ``tune=auto`` selects, of which a smaller value makes the simpler scorer.
    tunable: ClassVar[str] = ""

    @abstractmethod
    def equation(self) -> str:
        """What is fitted, in one line."""

    def get_params(self) -> dict[str, Any]:
        """The parameters by name."""
        return asdict(self)

    @abstractmethod
    def classifier(self, class_weight: ClassWeight = None) -> Any:
        """The unfitted scikit-learn classifier."""

    @property
    def library(self) -> str:
        """Package and version, such as ``scikit-learn 1.7.2``."""
        try:
            return f"{self.package} {version(self.package)}"
        except PackageNotFoundError:
            raise MissingLibraryError(
                f"formulation={self.name} needs {self.package}, which is not installed: "
                f"pip install 'auclab[{self.extra}]'"
            ) from None

    def fit(self, X: Any, y: NDArray[np.int64], class_weight: ClassWeight = None) -> BaselineFit:
        """Fit the classifier.

        `y` (n_samples,): 0/1. `class_weight`: as of `auclab.estimators.AUCClassifier`: a row counts as many times as
        the weight of its class says.
        """
        library = self.library if in_memory(X) else f"auclab {version('auclab')}"
        with warnings.catch_warnings(record=True) as said, one_thread_each():
            warnings.simplefilter("always")
            start = time.perf_counter()
            classifier = (
                self.classifier(class_weight).fit(X, y) if in_memory(X) else self.fit_blocks(X, y, class_weight)
            )
            seconds = time.perf_counter() - start
        notes = dict.fromkeys(" ".join(str(each.message).split())[:200] for each in said)
        return BaselineFit(classifier, self, library, Timings(solve=seconds), tuple(notes))

    def fit_path(
        self, X: Any, y: NDArray[np.int64], values: Sequence[float], class_weight: ClassWeight = None
    ) -> tuple[Any, ...]:
        """Fitted classifiers for each of `values` of the parameter `tunable`, in their order."""
        return tuple(self.at(value).fit(X, y, class_weight).classifier for value in values)

    def at(self, value: float) -> Self:
        """The baseline with another value of the parameter `tunable`."""
        return replace(self, **{self.tunable: value})

    def fit_blocks(self, table: BlockTable, y: NDArray[np.int64], class_weight: ClassWeight = None) -> Any:
        """The classifier, fitted to rows in blocks; only of baselines with `takes_blocks`."""
        raise AuclabError(
            f"formulation={self.name} is fitted by {self.package}, which needs all rows in memory; "
            "dataset=blocks works with logistic, lda and the formulations of auclab"
        )


@dataclass(frozen=True)
class Logistic(Baseline):
    """Logistic regression with an l2 penalty: ``min_w,b ½‖w‖₂² + C Σ_k log(1 + exp(−y_k (w·x_k + b)))``.

    Parameters
    ----------
    C : float > 0
        Weight of the losses, whose sum it multiplies.

    See Also
    --------
    auclab.formulations.CSVM : The hinge in place of the logistic loss, with a certificate.

    Examples
    --------
    >>> fit = Logistic(C=0.5).fit(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1]))
    >>> float(fit.coef[0]) > 0, float(fit.decision_function(np.array([[1.5]]))[0].round(4))   # by symmetry
    (True, 0.0)
    """

    C: float = 1.0

    name = "logistic"
    package = "scikit-learn"
    takes_blocks = True
    tunable = "C"

    def __post_init__(self) -> None:
        if not (self.C > 0 and math.isfinite(self.C)):
            raise AuclabError(f"C of logistic regression is a number > 0; it is {self.C}")

    def equation(self) -> str:
        """What is fitted, in one line."""
        return f"min  ½‖w‖₂² + C Σ_k log(1 + exp(−y_k (w·x_k + b))),  C = {self.C:g}"

    def classifier(self, class_weight: ClassWeight = None) -> Any:
        """The unfitted scikit-learn classifier."""
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=self.C, max_iter=2_000, class_weight=class_weight)

    def fit_blocks(self, table: BlockTable, y: NDArray[np.int64], class_weight: ClassWeight = None) -> Any:
        """By Newton's method, a pass over the rows for each step."""
        from auclab.estimators.block_baselines import fit_logistic

        weights = class_weights(class_weight, [0, 1], y == 1, None)
        coef, intercept, passes = fit_logistic(table, y, weights, self.C)
        classifier = self.classifier(class_weight)
        classifier.n_iter_ = np.array([passes])
        return _fitted(classifier, coef, intercept)


@dataclass(frozen=True)
class LinearDiscriminant(Baseline):
    """Linear discriminant analysis: ``w = Σ⁻¹ (μ₊ − μ₋)`` with the covariance Σ that both classes share (Fisher 1936).

    Directions in which the training part does not vary are left out.

    Examples
    --------
    Both classes have variance 1 (of n) and means 0 and 4, so w = 4, and b = −8 puts the border in the middle:

    >>> fit = LinearDiscriminant().fit(np.array([[-1.0], [1.0], [3.0], [5.0]]), np.array([0, 0, 1, 1]))
    >>> float(fit.coef[0].round(6)), round(fit.intercept, 6)
    (4.0, -8.0)
    """

    name = "lda"
    package = "scikit-learn"
    takes_blocks = True

    def equation(self) -> str:
        """What is fitted, in one line."""
        return "w = Σ⁻¹ (μ₊ − μ₋), Σ the covariance within the classes"

    def classifier(self, class_weight: ClassWeight = None) -> Any:
        """The unfitted scikit-learn classifier."""
        from auclab.estimators.discriminant_classifier import DiscriminantClassifier

        return DiscriminantClassifier(class_weight=class_weight)

    def fit_blocks(self, table: BlockTable, y: NDArray[np.int64], class_weight: ClassWeight = None) -> Any:
        """From the moments of the classes, in one pass over the rows."""
        from auclab.estimators.block_baselines import fit_discriminant

        weights = class_weights(class_weight, [0, 1], y == 1, None)
        return _fitted(self.classifier(class_weight), *fit_discriminant(table, y, weights))


@dataclass(frozen=True)
class BoostedTrees(Baseline):
    """Gradient boosted trees of LightGBM on the logistic loss (Ke et al. 2017).

    Deterministic: the same data give the same trees.

    Parameters
    ----------
    n_estimators : int ≥ 1
        Trees.
    learning_rate : float > 0
        Factor of every tree.
    num_leaves : int ≥ 2
        Leaves of a tree.
    min_child_samples : int ≥ 1
        Observations in a leaf.
    """

    n_estimators: int = 100
    learning_rate: float = 0.05
    num_leaves: int = 31
    min_child_samples: int = 20

    name = "lightgbm"
    package = "lightgbm"
    extra = "lightgbm"
    tunable = "n_estimators"

    def __post_init__(self) -> None:
        least = {"n_estimators": 1, "num_leaves": 2, "min_child_samples": 1}
        for key, low in least.items():
            value = getattr(self, key)
            if value != int(value) or value < low:
                raise AuclabError(f"{key} of lightgbm is a whole number ≥ {low}; it is {value}")
        if not (self.learning_rate > 0 and math.isfinite(self.learning_rate)):
            raise AuclabError(f"learning_rate of lightgbm is a number > 0; it is {self.learning_rate}")

    def equation(self) -> str:
        """What is fitted, in one line."""
        return f"sum of {self.n_estimators} trees of {self.num_leaves} leaves, each × {self.learning_rate:g}"

    def classifier(self, class_weight: ClassWeight = None) -> Any:
        """The unfitted scikit-learn classifier."""
        from auclab.estimators.lightgbm_classifier import LightGBMClassifier

        return LightGBMClassifier(
            int(self.n_estimators), self.learning_rate, self.num_leaves, self.min_child_samples, class_weight
        )

    def at(self, value: float) -> BoostedTrees:
        """With another number of trees."""
        return replace(self, n_estimators=int(value))

    def fit_path(
        self, X: Any, y: NDArray[np.int64], values: Sequence[float], class_weight: ClassWeight = None
    ) -> tuple[Any, ...]:
        """One fit with the most trees; the others take the first of them."""
        longest = self.at(max(values)).fit(X, y, class_weight).classifier
        return tuple(longest.first_trees(int(value)) for value in values)


def _fitted(classifier: Any, coef: Array, intercept: float) -> Any:
    """A linear classifier of scikit-learn with what it needs for scores, labels and probabilities."""
    classifier.classes_, classifier.n_features_in_ = np.array([0, 1]), coef.size
    classifier.coef_, classifier.intercept_ = coef[None, :], np.array([intercept])
    return classifier


#: Baselines by the name they have in the configuration.
BASELINES: dict[str, type[Baseline]] = {kind.name: kind for kind in (Logistic, LinearDiscriminant, BoostedTrees)}


@dataclass(frozen=True)
class BaselineFit:
    """A fitted baseline, with the fields of a `Solution` that a scorer without a certificate has.

    `classifier` is fitted; `library` says what fitted it; `notes` are the warnings of the library. Numbers of a
    certificate are NaN.
    """

    classifier: Any
    formulation: Baseline
    library: str
    timings: Timings
    notes: tuple[str, ...] = ()

    status: ClassVar[Status] = Status.BASELINE
    certificate: ClassVar[Certificate] = Certificate(*(5 * [math.nan]))
    objective: ClassVar[float] = math.nan
    lower_bound: ClassVar[float] = math.nan
    gap: ClassVar[float] = math.nan
    history: ClassVar[tuple[tuple[float, float, float], ...]] = ()
    multipliers: ClassVar[None] = None
    shares_neg: ClassVar[None] = None
    bin_multipliers: ClassVar[None] = None
    constraints: ClassVar[None] = None
    constraint_multipliers: ClassVar[None] = None
    spread: ClassVar[None] = None
    has_objective: ClassVar[bool] = False
    on_landmarks: ClassVar[None] = None
    proved_for: ClassVar[str] = ""
    radius_text: ClassVar[str] = ""

    @property
    def solver(self) -> str:
        """What fitted it."""
        return self.library

    @property
    def equation(self) -> str:
        """What is fitted, in one line."""
        return self.formulation.equation()

    def read_optimum(self) -> None:
        """Nothing is known of what it minimised."""

    def in_words(self, statement: str) -> str:
        """A statement, as it is."""
        return statement

    def not_verified(self) -> str:
        """Why there is no certificate."""
        return "a baseline has no certificate"

    def in_features(self, features: Any, radius: float | None) -> InFeatures:
        """What bounds need; those over rows are for linear scorers of pairs."""
        return InFeatures(features, self.coef, None if self.coef is None else radius, remark="")

    @property
    def iterations(self) -> int:
        """Iterations or trees; 0 where the fit has neither."""
        return int(np.max(getattr(self.classifier, "n_iter_", 0)))

    @property
    def coef(self) -> Array | None:
        """Coefficients of shape (n_features,); None where the scorer is not linear."""
        coef = getattr(self.classifier, "coef_", None)
        return None if coef is None else np.asarray(coef, dtype=float)[0]

    @property
    def intercept(self) -> float:
        """Intercept; NaN where the scorer is not linear."""
        return float(np.ravel(getattr(self.classifier, "intercept_", math.nan))[0])

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,), larger for the positive class; equal rows have equal scores."""
        if self.coef is None:
            return np.asarray(self.classifier.decision_function(X), dtype=float)
        return row_scores(new_rows(X, self.coef.size), self.coef) + self.intercept
