"""What estimators check, and the base of linear classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_array, as_column, as_matrix, distinct, row_scores
from auclab._core.validation import both_classes_weighted, check_types
from auclab._core.words import did_you_mean
from auclab.datasets.records import Split
from auclab.datasets.splits import kfold
from auclab.estimators.inner_choice import InnerFold, choose
from auclab.formulations import FORMULATIONS, Program, RankSVM, as_formulation, formulation_named
from auclab.formulations.base import parameter_names
from auclab.formulations.constraints import ColumnConstraints, Constraints
from auclab.kernels import Kernel, Polynomial, as_kernel, kernel_named
from auclab.metrics.scorers import get_scorer
from auclab.samples.as_sample import as_sample
from auclab.samples.tables import by_partition, in_memory, is_collection, opened, opened_rows, require_memory
from auclab.solvers.path_parameters import penalty_series, series_below
from auclab.solvers.solution import Solution

_FORM: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}


def checked_rows(estimator: BaseEstimator, X: Any, *, reset: bool = False, **options: Any) -> Any:
    """Rows of any library as an array or a CSR matrix of float64; those of blocks are checked when they are read.

    `reset`: whether `fit` calls: types of the parameters are checked, and the estimator remembers number and names of
    the columns, or else compares them.
    `options`: of `sklearn.utils.validation.check_array`.
    """
    if reset:
        check_types(estimator)
    if is_collection(X):
        raise AuclabError(f"{type(estimator).__name__} takes no Dask collection here; give X.compute()")
    given, X = X, opened_rows(X, getattr(estimator, "feature_names_in_", None))
    if not in_memory(X):
        return _remembered(estimator, _named(X, given), X, reset=reset)
    rows = check_array(as_matrix(X), estimator=estimator, input_name="X", **_FORM, **options)
    return _remembered(estimator, X, rows, reset=reset)


def checked_sample(estimator: BaseEstimator, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """`checked_rows` of `fit`, and their labels or grades; the types of the parameters are checked too.

    `options`: of `sklearn.utils.validation.check_X_y`.
    """
    check_types(estimator)
    rows, (X, y) = X, opened(X, y)
    if not in_memory(X):
        return _remembered(estimator, _named(X, rows), X, reset=True), as_column("y", y)
    given = None if y is None else as_array("y", y)
    rows, labels = check_X_y(as_matrix(X), given, estimator=estimator, **_FORM, **options)
    return _remembered(estimator, X, rows, reset=True), labels


def _named(table: Any, given: Any) -> Any:
    """A table in blocks as scikit-learn reads names from it: with those of the rows it was opened from, if they had."""
    if table is given or hasattr(given, "chunks"):  # a Dask Array has none
        return table
    import pandas as pd

    return pd.DataFrame(columns=list(table.columns))


def named(estimator: BaseEstimator, solution: Solution) -> Solution:
    """A solution for checked rows with the names of the columns that the estimator remembers."""
    names = getattr(estimator, "feature_names_in_", None)
    return solution if names is None else replace(solution, columns=tuple(names))


def _remembered(estimator: BaseEstimator, X: Any, rows: Any, *, reset: bool) -> Any:
    """The rows, whose columns the estimator remembers or compares with those that it remembers."""
    validate_data(estimator, X, skip_check_array=True, reset=reset)
    return rows


#: Parameters of kernels given by name, and their defaults.
_DEFAULTS = Polynomial().get_params()
#: Prefix of parameters of the formulation in a search.
_NESTED = "formulation__"


class TakesFormulation(BaseEstimator):
    """Base class of estimators that take a formulation by name, with parameters of its own, or as an object."""

    #: None for the default of an estimator that has one.
    formulation: str | Program | None
    #: Parameters that belong to a formulation given by name.
    _of_formulations: tuple[str, ...]

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``formulation__penalty=0.1`` puts a formulation with that penalty in place of the one here.

        Formulations do not change, so that no other estimator that holds the same one is affected.

        Raises
        ------
        AuclabError
            A parameter that the formulation does not have.
        ValueError
            A parameter that the estimator does not have.
        """
        nested = {name.removeprefix(_NESTED): params.pop(name) for name in list(params) if name.startswith(_NESTED)}
        super().set_params(**params)
        if nested:
            program = default_program() if self.formulation is None else as_formulation(self.formulation)
            self.formulation = program.with_params(**nested)
        return self

    def _given_program(self) -> tuple[Program, tuple[str, ...]]:
        """The program, and the parameters that were given and that it does not have."""
        given = self._given_parameters()
        if self.formulation is None:
            return default_program(**given), tuple(set(given) - set(parameter_names(RankSVM)))
        return as_given_program(self.formulation, given)

    def _given_parameters(self) -> dict[str, Any]:
        """The parameters of the formulation that are not left out."""
        return {name: value for name in self._of_formulations if (value := getattr(self, name)) is not None}


def default_program(**given: Any) -> RankSVM:
    """The formulation of `auclab run` where none is named, with those of `given` that it has.

    Examples
    --------
    >>> default_program(penalty=0.1, max_fpr=0.3)
    RankSVM(penalty=0.1, norm='l2', squared=True, loss=Hinge())
    """
    known = {name: value for name, value in given.items() if name in parameter_names(RankSVM)}
    return RankSVM(**({"squared": True} | known))


def as_given_program(formulation: str | Program, given: Mapping[str, Any]) -> tuple[Program, tuple[str, ...]]:
    """The program, and the parameters among `given` that it does not have.

    Examples
    --------
    >>> as_given_program("bauc", {"penalty": 0.1})
    (BufferedAUC(), ('penalty',))
    """
    if not isinstance(formulation, str):
        if given:
            raise AuclabError(f"{', '.join(given)}: only for a formulation given by name; set it on {formulation}")
        return as_formulation(formulation), ()
    known = parameter_names(FORMULATIONS[formulation]) if formulation in FORMULATIONS else ()
    ignored = tuple(name for name in given if name not in known)
    return formulation_named(formulation, **{name: given[name] for name in given if name in known}), ignored


def as_given_kernel(kernel: str | Kernel | None, **given: Any) -> Kernel | None:
    """The kernel, by name with those of γ, degree and c₀ that it has.

    Examples
    --------
    >>> as_given_kernel("polynomial", gamma=1.0, degree=2, coef0=0.0)
    Polynomial(degree=2, gamma=1.0, coef0=0.0)
    >>> as_given_kernel(None, gamma=1.0)
    """
    if kernel is None:
        return None
    if isinstance(kernel, str):
        known = as_kernel(kernel).get_params()
        return kernel_named(kernel, **{name: given[name] for name in known})
    found = as_kernel(kernel)
    if beside := [f"{name}={value!r}" for name, value in given.items() if value != _DEFAULTS[name]]:
        raise AuclabError(
            f"{', '.join(beside)}: only for a kernel given by name; set it on {found}, or give kernel={found.name!r}"
        )
    return found


def as_given_constraints(given: Any, columns: Sequence[str]) -> ColumnConstraints | None:
    """Constraints on columns of these names, from an object or from its parameters by name."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        known = [item.name for item in fields(Constraints)]
        if unknown := [name for name in given if name not in known]:
            meant = did_you_mean(str(unknown[0]), known)
            raise AuclabError(f"constraints have no setting {unknown[0]!r}{meant}; settings are {', '.join(known)}")
        given = Constraints(**given)
    if not hasattr(given, "on_columns"):
        raise AuclabError(f"constraints must be auclab.Constraints, a mapping or None, got {type(given).__name__}")
    found: ColumnConstraints = given.on_columns(columns)
    return found


#: ``balanced``, or weights by label.
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
#: What weights of the classes do in programs over pairs.
CANCELS = (
    "class_weight makes no difference to a scorer over pairs, because every pair has one row of each class; csvm, "
    "ecsvm and the baselines take it"
)


def cancels(formulation: Any) -> bool:
    """Whether weights of the classes make no difference, because every pair has one row of each.

    Examples
    --------
    >>> from auclab.formulations import CSVM, RankSVM
    >>> cancels(RankSVM()), cancels(CSVM())
    (True, False)
    """
    comparisons = getattr(formulation, "comparisons", None)  # a baseline has none
    return comparisons is not None and comparisons.name == "pairs"


def class_weights(
    class_weight: Mapping[Any, float] | Literal["balanced"] | None,
    labels: Sequence[Any],
    positive: NDArray[np.bool_],
    weight: Array | None,
) -> tuple[float, float]:
    """Weights of the negative and of the positive class.

    `class_weight`: by label, 1 for one that is left out; "balanced" gives both classes half of the total weight.
    `labels`: of the negative and of the positive class. `weight` (n_samples,): weights of the observations.

    Examples
    --------
    >>> class_weights("balanced", ["no", "yes"], np.array([True, False, False, False]), None)   # 4/2 : 3 and 4/2 : 1
    (0.6666666666666666, 2.0)
    """
    if class_weight is None:
        return 1.0, 1.0
    if isinstance(class_weight, Mapping):
        if unknown := [label for label in class_weight if label not in labels]:
            raise AuclabError(f"class_weight has the label {unknown[0]!r}; the labels are {list(labels)}")
        of_negative, of_positive = (float(class_weight.get(label, 1.0)) for label in labels)
        if not (0 <= of_negative < np.inf and 0 <= of_positive < np.inf and of_negative + of_positive > 0):
            raise AuclabError(f"class weights must be finite, ≥ 0 and not all 0, got {dict(class_weight)}")
        return of_negative, of_positive
    if class_weight != "balanced":
        raise AuclabError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}")
    every = np.ones(positive.size) if weight is None else weight
    both_classes_weighted(positive, every)
    total, of_positives = float(every.sum()), float(every[positive].sum())
    return total / (2 * (total - of_positives)), total / (2 * of_positives)


#: Of the inner folds, as in conf/tune/penalty.yaml; there are fewer where a class has fewer rows, and two at least.
FOLDS, FEWEST = 5, 2
#: ‖Δ‖ of rows of length 1 in a kernel's space is at most √2.
KERNEL_LEVEL = math.sqrt(2.0)


def default_penalty(model: Any, X: Any, positive: NDArray[np.bool_], weight: Array | None) -> float:
    """The λ with the largest AUC on inner folds, of the series of `auclab.solvers.path_parameters`.

    `model`: with a formulation, whose own λ is not used.
    """
    advice = "give a formulation with its penalty, such as AUCClassifier('ranksvm', squared=True, penalty=0.01)"
    require_memory(X, f"λ is chosen on inner folds, which need rows in memory, and X is in blocks; {advice}")
    labels = positive.astype(np.int64)
    if (smaller := int(np.bincount(labels, minlength=2).min())) < FEWEST:
        raise AuclabError(
            f"λ is chosen on inner folds, which need {FEWEST} rows of each class, and one has 1; {advice}"
        )
    splits = kfold(labels, n_folds=min(FOLDS, smaller))
    rows = splits[0].train
    sample = as_sample(X[rows], positive[rows], None if weight is None else weight[rows])
    values = penalty_series(model.formulation, sample) if model.kernel is None else series_below(KERNEL_LEVEL)
    scorer = get_scorer("auc")

    def fold(split: Split) -> InnerFold:
        parts = [(X[each], positive[each]) for each in (split.train, split.test)]
        weights = [None if weight is None else weight[each] for each in (split.train, split.test)]
        found: InnerFold = model.inner_fold(*parts, values, scorer, weights=tuple(weights))
        return found

    return values[choose([partial(fold, split) for split in splits], len(values)).selected]


def not_binary(kind: str) -> str:
    """Why a target of another kind is refused, and the way out for several classes.

    Examples
    --------
    >>> not_binary("continuous")
    'Only binary classification is supported. The type of the target is continuous.'
    """
    text = f"Only binary classification is supported. The type of the target is {kind}."
    if kind != "multiclass":
        return text
    way = "sklearn.multiclass.OneVsRestClassifier(model) fits a scorer for each, or y == label one of them"
    return f"{text} With several classes, {way}."


def two_classes(y: Any) -> NDArray[Any]:
    """The two labels in ascending order; the words of the errors are those that scikit-learn expects."""
    classes = distinct("y", y)
    if (kind := type_of_target(y, input_name="y", raise_unknown=True)) != "binary":
        check_classification_targets(y)
        raise AuclabError(not_binary(kind))
    if classes.size < 2:
        raise AuclabError("Classifier can't train when only one class is present: two classes are needed")
    return np.asarray(classes)


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """Scores ``X @ coef_[0] + intercept_[0]``; the second of two sorted classes is positive."""

    coef_: Array
    intercept_: Array
    classes_: NDArray[Any]
    n_features_in_: int

    def decision_function(self, X: Any) -> Array:
        """Scores of shape (n_samples,), larger for the positive class; predictions change at 0."""
        check_is_fitted(self)
        return row_scores(checked_rows(self, X), self.coef_[0]) + self.intercept_[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The second class where the score is above 0, else the first; shape (n_samples,)."""
        if is_collection(X):
            return by_partition(self, "predict", X, self.classes_.dtype)
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int)])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of `predict`, the share of correct labels; `auclab.metrics.get_scorer` gives ranking metrics."""
        return float(super().score(X, y, sample_weight))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of a formulation, as ``formulation__penalty``."""
        params: dict[str, Any] = super().get_params(deep)
        return params

    def _two_classes(self, X: Any, y: ArrayLike) -> tuple[Any, NDArray[np.bool_]]:
        """Checked features and which observations are positive; sets `classes_`."""
        X, y = checked_sample(self, X, y)
        self.classes_ = two_classes(y)
        return X, np.asarray(y == self.classes_[1])

    def _columns(self) -> list[str]:
        """Names of the columns that `fit` has seen."""
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
