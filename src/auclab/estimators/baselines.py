"""Scorers of scikit-learn, to compare with: logistic regression and linear discriminant analysis.

They are chosen like formulations (``formulation=logistic``), so that one sweep and one table have both. What they
minimise is not verified: a baseline has no objective, no lower bound and no certificate.
"""

from __future__ import annotations

import math
import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError, Status
from auclab.estimators.checked import ClassWeight, class_weights
from auclab.models.timings import Timings
from auclab.samples.row_scores import row_scores
from auclab.samples.tables import new_rows
from auclab.solvers.monitor import one_thread_each
from auclab.solvers.solution import Certificate, InFeatures


@dataclass(frozen=True)
class Baseline(ABC):
    """A scorer of scikit-learn, by the name it has in the configuration."""

    name: ClassVar[str]
    #: What fits it, as the `kind` of a formulation is what a solver must be able to minimise.
    kind: ClassVar[str] = "baseline"
    #: The parameter that ``tune=auto`` selects, of which a smaller value makes the simpler scorer.
    tunable: ClassVar[str] = ""

    @abstractmethod
    def equation(self) -> str:
        """What is fitted, in one line."""

    def get_params(self) -> dict[str, Any]:
        """The parameters by name."""
        return asdict(self)

    @abstractmethod
    def classifier(self, y: NDArray[np.int64], class_weight: ClassWeight = None) -> Any:
        """The unfitted scikit-learn classifier for labels y, which class weights may depend on."""

    def fit(self, X: Any, y: NDArray[np.int64], class_weight: ClassWeight = None) -> BaselineFit:
        """Fit the classifier.

        `y` (n_samples,): 0/1. `class_weight`: as of `auclab.estimators.AUCClassifier`: a row counts as many times as
        the weight of its class says.
        """
        with warnings.catch_warnings(record=True) as said, one_thread_each():
            warnings.simplefilter("always")
            start = time.perf_counter()
            classifier = self.classifier(y, class_weight).fit(X, y)
            seconds = time.perf_counter() - start
        notes = dict.fromkeys(" ".join(str(each.message).split())[:200] for each in said)
        return BaselineFit(classifier, self, Timings(solve=seconds), tuple(notes))

    def at(self, value: float) -> Self:
        """The baseline with another value of the parameter `tunable`."""
        return replace(self, **{self.tunable: value})


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
    tunable = "C"

    def __post_init__(self) -> None:
        if not (self.C > 0 and math.isfinite(self.C)):
            raise AuclabError(f"C of logistic regression is a number > 0; it is {self.C}")

    def equation(self) -> str:
        """What is fitted, in one line."""
        return f"min  ½‖w‖₂² + C Σ_k log(1 + exp(−y_k (w·x_k + b))),  C = {self.C:g}"

    def classifier(self, y: NDArray[np.int64], class_weight: ClassWeight = None) -> Any:
        """The unfitted scikit-learn classifier."""
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=self.C, max_iter=2_000, class_weight=class_weight)


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

    def equation(self) -> str:
        """What is fitted, in one line."""
        return "w = Σ⁻¹ (μ₊ − μ₋), Σ the covariance within the classes"

    def classifier(self, y: NDArray[np.int64], class_weight: ClassWeight = None) -> Any:
        """The unfitted scikit-learn classifier; weights are factors of the shares of the classes."""
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        if class_weight is None:
            return LinearDiscriminantAnalysis()
        shares = np.bincount(y) * np.array(class_weights(class_weight, [0, 1], y == 1, None))
        # Of its solvers the one whose covariance has the shares as factors.
        return LinearDiscriminantAnalysis(solver="lsqr", priors=shares / shares.sum())


#: Baselines by the name they have in the configuration.
BASELINES: dict[str, type[Baseline]] = {kind.name: kind for kind in (Logistic, LinearDiscriminant)}


@dataclass(frozen=True)
class BaselineFit:
    """A fitted baseline, with the fields of a `Solution` that a scorer without a certificate has.

    `classifier` is fitted; `notes` are the warnings of scikit-learn. Numbers of a certificate are NaN.
    """

    classifier: Any
    formulation: Baseline
    timings: Timings
    notes: tuple[str, ...] = ()

    status: ClassVar[Status] = Status.BASELINE
    certificate: ClassVar[Certificate] = Certificate(*(5 * [math.nan]))
    objective: ClassVar[float] = math.nan
    lower_bound: ClassVar[float] = math.nan
    gap: ClassVar[float] = math.nan
    history: ClassVar[tuple[tuple[float, float, float], ...]] = ()
    steps: ClassVar[tuple[Any, ...]] = ()
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
        """What fitted it, such as ``scikit-learn 1.7.2``."""
        return f"scikit-learn {version('scikit-learn')}"

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
        """Iterations; 0 where the fit has none."""
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
