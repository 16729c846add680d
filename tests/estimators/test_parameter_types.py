"""Every parameter of every estimator: a value of another type is refused in one line that names it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, get_type_hints

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedShuffleSplit

import auclab.estimators
from auclab._core.base import AuclabError
from auclab._core.validation import check_type
from auclab.estimators import AUCClassifier, AUCClassifierCV, AUCRanker, PolynomialAUCClassifier, ScorecardClassifier
from auclab.formulations import ExactAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab.kernels import RBF, Kernel, Polynomial
from auclab.solvers.dispatch import solve

ESTIMATORS = [
    kind
    for name in auclab.estimators.__all__
    if inspect.isclass(kind := getattr(auclab.estimators, name)) and issubclass(kind, BaseEstimator)
]
PARAMETERS = [(kind, name) for kind in ESTIMATORS for name in inspect.signature(kind).parameters]
X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.arange(20) % 2
TIMES = np.array([(k % 2 == 1, float(k)) for k in range(20)], dtype=[("event", bool), ("time", float)])


def fit(kind, **parameters):
    return kind(**parameters).fit(X, TIMES if kind.__name__ == "SurvivalRanker" else Y)


@pytest.mark.parametrize(("kind", "name"), PARAMETERS)
def test_a_complex_number_and_bytes_are_no_parameter(kind, name):
    assert get_type_hints(kind.__init__)[name] is not Any
    for value in (1j, b"x"):
        with pytest.raises(AuclabError, match=rf"^{name} must be .*, got {value!r}"):
            fit(kind, **{name: value})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fit(AUCClassifier, penalty="l1"),
            "penalty must be a number or None, got 'l1'; did you mean norm='l1'?",
        ),
        (lambda: fit(AUCClassifier, squared="yes"), "squared must be True or False or None, got 'yes'"),
        (lambda: fit(AUCClassifier, tolerance="low"), "tolerance must be a number or None, got 'low'"),
        (lambda: fit(AUCClassifier, degree=2.5), "degree must be a whole number, got 2.5"),
        (lambda: fit(AUCClassifier, max_fpr=[0.1]), "max_fpr must be a number or None, got [0.1]"),
        (
            lambda: fit(AUCClassifier, class_weight={0: "a"}),
            "class_weight must be a mapping, 'balanced' or None, got {0: ",
        ),
        (lambda: fit(AUCClassifier, solver_options="x"), "solver_options must be a mapping or None, got 'x'"),
        (
            lambda: fit(AUCClassifierCV, penalties=["a"]),
            "penalties must be a whole number or a sequence of numbers, got",
        ),
        (lambda: fit(AUCClassifierCV, scoring=3), "scoring must be a name or a function, got 3"),
        (lambda: fit(AUCClassifierCV, scoring="rocauc"), "scoring='rocauc' is neither a metric of auclab nor a scorer"),
        (lambda: fit(AUCClassifierCV, cv="five"), "cv must be a whole number, BaseCrossValidator, a sequence or None"),
        (lambda: fit(AUCClassifierCV, cv=[1, 2]), "cv=[1, 2] has no folds (train, test): "),
        (lambda: fit(AUCRanker, loss=2), "loss must be a name or None, got 2"),
        (lambda: fit(AUCRanker, group_weights=None), "group_weights must be 'pairs' or 'groups', got None"),
        (lambda: fit(PolynomialAUCClassifier, max_iter=True), "max_iter must be a whole number, got True"),
        (lambda: fit(ScorecardClassifier, points=5), "points must be 2 values of whole numbers, got 5"),
        (lambda: fit(ScorecardClassifier, cut_points={0: 1}), "cut_points must be a mapping or None, got {0: 1}"),
        (lambda: RankSVM("l1"), "penalty must be a number, got 'l1'; did you mean norm='l1'?"),
        (lambda: RankSVM(0.1, squared=np.nan), "squared must be True or False, got nan"),
        (lambda: PartialAUC("0.1"), "max_fpr must be a number, got '0.1'"),
        (lambda: GeneralizedBufferedAUC(None), "threshold must be a number, got None"),
        (lambda: ExactAUC("1"), "norm_bound must be a number, got '1'"),
        (lambda: Polynomial("2"), "degree must be a whole number, got '2'"),
        (lambda: RBF([0.5]), "gamma must be a number or 'scale' or 'auto', got [0.5]"),
        (lambda: solve("bauc", X, Y, time_limit="a minute"), "time_limit must be a number or None, got 'a minute'"),
    ],
)
def test_one_line_names_the_parameter(call, message):
    with pytest.raises(AuclabError) as refused:
        call()
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "able", "wrong"),
    [
        (bool, [True, np.False_], [0, 1.0, "yes", None, np.nan]),
        (int, [3, np.int64(3), np.uint8(3), np.array(3)], [3.0, True, np.True_, "3", None]),
        (
            float,
            [3, 0.5, np.float32(0.5), np.int64(3), Fraction(1, 2), np.array(0.5), np.nan],
            [True, "0.5", 1j, None, [1]],
        ),
        (str, ["a", np.str_("a")], [b"a", 1, None]),
        (Literal["a", "b"], ["a", "c"], [1, None]),  # which name it is, is looked up elsewhere
        (float | None, [None, 1.0], ["a"]),
        (Mapping[Any, float], [{}, {"a": 1}], [{"a": "b"}, [("a", 1)], None]),
        (Sequence[float], [[], [1.0, 2], (1,), np.arange(3.0), range(3)], ["12", b"12", ["a"], {1: 2}, 3]),
        (tuple[int, int], [(1, 2), [1, 2], np.array([1, 2])], [(1,), (1, 2, 3), (1, "a"), 5]),
        (tuple[Any, ...], [(), ("a", 1)], ["a", 1]),
        (Callable[..., float], [len, np.sum], ["len", None]),
        (Kernel | str, ["rbf", RBF(), object()], [1.0, None, ["rbf"]]),  # an object may look like one
        (Any, [None, object()], []),
    ],
)
def test_what_is_of_a_type(kind, able, wrong):
    for value in able:
        check_type("x", value, kind)
    for value in wrong:
        with pytest.raises(AuclabError, match=r"^x must be "):
            check_type("x", value, kind)


def test_numbers_of_numpy_and_splitters_are_taken():
    model = fit(
        AUCClassifier, formulation="ranksvm", penalty=np.float32(0.5), squared=np.True_, time_limit=np.int64(60)
    )
    assert model.solution_.formulation == RankSVM(0.5, squared=True)
    assert fit(
        AUCClassifierCV, penalties=np.array([0.1, 1.0]), cv=StratifiedShuffleSplit(2, random_state=0)
    ).penalty_ in (
        0.1,
        1.0,
    )
