"""Scorers of other libraries, to compare with: any classifier of scikit-learn's interface.

They are chosen like formulations (``formulation=logistic``), so that one sweep and one table have both. What they
minimise is not verified: a baseline has no objective, no lower bound and no certificate.
"""

from __future__ import annotations

import math
import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from importlib.metadata import packages_distributions, version
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags

from auclab._core.base import Array, AuclabError, Status
from auclab._core.forms import row_scores
from auclab._core.words import did_you_mean, few
from auclab.estimators.checked import ClassWeight, class_weights
from auclab.models.timings import Timings
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
        """The unfitted classifier for labels y, which class weights may depend on."""

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


class ScoredClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of two classes with `decision_function`: its own, or the probability of the second class.

    Matrices of mostly zeros are given to a classifier that takes no sparse ones as dense arrays.

    Parameters
    ----------
    estimator : classifier of scikit-learn's interface

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> fit = ScoredClassifier(DecisionTreeClassifier()).fit(np.array([[0.0], [1.0]]), np.array([0, 1]))
    >>> fit.decision_function(np.array([[0.2], [0.9]])).tolist()
    [0.0, 1.0]
    """

    def __init__(self, estimator: Any = None):
        self.estimator = estimator

    def fit(self, X: Any, y: NDArray[Any], sample_weight: Array | None = None) -> Self:
        """Fit a clone."""
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(self._taken(X), y, **weight)
        self.classes_ = self.estimator_.classes_
        self.n_features_in_ = X.shape[1]
        if not (hasattr(self.estimator_, "decision_function") or hasattr(self.estimator_, "predict_proba")):
            raise AuclabError(
                f"{type(self.estimator).__name__} has no decision_function and no predict_proba; AUC needs scores"
            )
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,), larger for the second class."""
        if hasattr(self.estimator_, "decision_function"):
            return np.asarray(self.estimator_.decision_function(self._taken(X)), dtype=float)
        return np.asarray(self.estimator_.predict_proba(self._taken(X)), dtype=float)[:, 1]

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels of the classifier itself."""
        return np.asarray(self.estimator_.predict(self._taken(X)))

    def _taken(self, X: Any) -> Any:
        """The rows as the classifier takes them."""
        dense = sp.issparse(X) and not get_tags(self.estimator).input_tags.sparse
        return sp.csr_array(X).toarray() if dense else X

    @property
    def n_iter_(self) -> Any:
        """Iterations; 0 where the fit has none."""
        return getattr(self.estimator_, "n_iter_", 0)

    @property
    def coef_(self) -> Array:
        """Coefficients of shape (1, n_features), of a linear classifier."""
        return np.asarray(self.estimator_.coef_, dtype=float)

    @property
    def intercept_(self) -> Array:
        """Intercept of shape (1,), of a linear classifier."""
        return np.ravel(self.estimator_.intercept_)


@dataclass(frozen=True, kw_only=True)
class AnyClassifier(Baseline):
    """A classifier of scikit-learn's interface, of any library.

    Parameters
    ----------
    estimator : classifier
        With ``decision_function`` or ``predict_proba``; a search over its own grid too, such as ``GridSearchCV``.
    tunable : str, optional
        Its parameter that ``tune=auto`` selects, of which a smaller value makes the simpler scorer.

    Raises
    ------
    AuclabError
        An object without ``fit`` and ``predict``, or without the parameter.

    See Also
    --------
    Logistic : With its equation, and a parameter that is tuned.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = AnyClassifier(estimator=DecisionTreeClassifier(max_depth=1), tunable="max_depth")
    >>> tree.at(3.0).estimator.max_depth, tree.equation()
    (3, 'DecisionTreeClassifier(max_depth=1)')
    """

    estimator: Any
    tunable: str = ""  # type: ignore[misc]

    def __post_init__(self) -> None:
        if isinstance(self.estimator, type) or not all(hasattr(self.estimator, part) for part in ("fit", "predict")):
            raise AuclabError(
                f"formulation.estimator is {self.estimator!r}, which is not a classifier with fit and predict; name "
                "one by formulation.estimator._target_, such as sklearn.ensemble.RandomForestClassifier"
            )
        if self.tunable and self.tunable not in self.estimator.get_params():
            known = sorted(self.estimator.get_params())
            raise AuclabError(
                f"formulation.tunable is {self.tunable!r}, which is not a parameter of {self.name}"
                f"{did_you_mean(self.tunable, known)}; it has {few(known)}"
            )

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of its class."""
        return type(self.estimator).__name__

    def equation(self) -> str:
        """The classifier with its parameters that are not usual ones."""
        return " ".join(repr(self.estimator).split())

    def get_params(self) -> dict[str, Any]:
        """Numbers and words among its parameters."""
        given = self.estimator.get_params(deep=False)
        return {key: value for key, value in given.items() if isinstance(value, str | int | float)}

    def classifier(self, y: NDArray[np.int64], class_weight: ClassWeight = None) -> Any:
        """The unfitted classifier, with weights of classes where it has them."""
        if class_weight is None:
            return ScoredClassifier(clone(self.estimator))
        if "class_weight" not in self.estimator.get_params():
            raise AuclabError(f"{self.name} has no parameter class_weight; leave class_weight out")
        return ScoredClassifier(clone(self.estimator).set_params(class_weight=class_weight))

    def at(self, value: float) -> Self:
        """With another value of the parameter `tunable`; whole numbers are given as such."""
        number = int(value) if float(value).is_integer() else value
        return replace(self, estimator=clone(self.estimator).set_params(**{self.tunable: number}))


def as_baseline(made: Any) -> Any:
    """What a configuration has made as a formulation: a classifier of scikit-learn's interface is a baseline."""
    return made if hasattr(made, "kind") else AnyClassifier(estimator=made)


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
        fitted = getattr(self.classifier, "estimator_", self.classifier)
        package = type(fitted).__module__.partition(".")[0]
        for name in packages_distributions().get(package, ()):
            return f"{name} {version(name)}"
        return package

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
        """Coefficients of shape (n_features,); None where the scorer is not linear or has no intercept_."""
        coef = getattr(self.classifier, "coef_", None) if hasattr(self.classifier, "intercept_") else None
        return None if coef is None or np.atleast_2d(coef).shape[0] != 1 else np.ravel(np.asarray(coef, dtype=float))

    @property
    def intercept(self) -> float:
        """Intercept; NaN where the scorer is not linear."""
        return float(np.ravel(getattr(self.classifier, "intercept_", math.nan))[0])

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,), larger for the positive class; equal rows have equal scores."""
        if self.coef is None:
            return np.asarray(self.classifier.decision_function(X), dtype=float)
        return row_scores(new_rows(X, self.coef.size), self.coef) + self.intercept
