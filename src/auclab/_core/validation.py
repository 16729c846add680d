"""Checks of public arguments: each error says what was given, what is needed and what to try.

Internal functions rely on them and check nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from numbers import Integral, Number, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_column, distinct, to_numbers
from auclab._core.words import did_you_mean

#: Squares of larger numbers, and sums of them, come near the largest double, and those of numbers below its inverse
#: underflow: of features, the differences in a column, λ and |z|.
LARGEST_SQUARED = 1e150


def positive_mask(y: ArrayLike, pos_label: Any = None) -> NDArray[np.bool_]:
    """Which observations are positive.

    `y` (n_samples,): labels 0/1, −1/+1, booleans, or any two values with `pos_label`. `pos_label`: the label of the
    positive class.

    Examples
    --------
    >>> positive_mask([-1, 1, 1]).tolist()
    [False, True, True]
    >>> positive_mask(["g", "b", "g"], pos_label="b").tolist()
    [False, True, False]
    """
    labels = as_column("labels", y)
    if pos_label is None and labels.dtype.kind in "biuf":
        # Two passes instead of a sort, which would take longer than the metric.
        low, high = labels.min(), labels.max()
        usual = labels.dtype.kind == "b" or (low, high) in ((0, 1), (-1, 1))
        if usual and low != high and ((labels == low) | (labels == high)).all():
            return np.asarray(labels == high)
    values, counts = distinct("labels", labels, return_counts=True)
    census = ", ".join(f"{v!r}: {c}" for v, c in zip(values.tolist()[:6], counts.tolist()[:6], strict=True))
    if len(values) == 1:
        raise AuclabError(
            f"two classes are needed, but all {labels.size} labels are {values.tolist()[0]!r}; "
            "AUC compares positives with negatives and is undefined without both"
        )
    if len(values) > 2:
        raise AuclabError(
            f"two classes are needed, got {len(values)} ({census}{', …' if len(values) > 6 else ''}); "
            "turn the labels into one class against the rest first"
        )
    if pos_label is None:
        if labels.dtype.kind == "b" or values.tolist() in ([0, 1], [-1, 1]):
            return np.asarray(labels == values[1])
        example = values.tolist()[1]
        raise AuclabError(
            f"which class is positive? labels are {census}; name it with pos_label={example!r}, or pass "
            f"np.asarray(y) == {example!r} in place of y"
        )
    if np.ndim(pos_label):
        raise AuclabError(f"pos_label must be one label, got {pos_label!r}; labels are {census}")
    mask = np.asarray(labels == pos_label)
    if mask.ndim != 1 or not mask.any():
        raise AuclabError(f"pos_label={pos_label!r} does not occur; labels are {census}")
    return mask


def finite_vector(name: str, values: ArrayLike, *, infinite: bool = False) -> Array:
    """`values` as a one-dimensional float64 array without NaN, and without ±∞ unless `infinite`."""
    given = as_column(name, values)
    if is_text(given):
        raise AuclabError(f"{name} must be numeric: text is not a real number; convert it first")
    vector: Array = to_numbers(name, given)
    if not np.isfinite(vector).all():
        bad = np.isnan(vector) if infinite else ~np.isfinite(vector)
        if bad.any():
            where = int(bad.argmax())
            raise AuclabError(
                f"{name}[{where}] is {vector[where]}; remove or replace it (only finite numbers work here)"
            )
    if given.dtype.kind in "iuO" and np.abs(vector).max() >= 2.0**53:
        _refuse_rounded(name, given, vector)
    return vector


def finite_array(name: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """`values` as finite floats, of a shape if one is given."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise AuclabError(f"{name} must be numeric: {error}") from error
    if shape is not None and array.shape != shape:
        raise AuclabError(f"{name} has shape {array.shape}, but shape {shape} is needed")
    if not np.isfinite(array).all():
        raise AuclabError(f"{name} has entries that are not finite; replace them")
    return array


def is_text(column: NDArray[Any]) -> bool:
    """Whether a column has any text."""
    return column.dtype.kind in "SUT" or (
        column.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in column)
    )


def _refuse_rounded(name: str, given: Any, vector: Array) -> None:
    """`AuclabError` where integers became other numbers as doubles, which would tie them."""
    for at, (value, number) in enumerate(zip(np.ravel(given).tolist(), vector.tolist(), strict=True)):
        if isinstance(value, int) and value != number:  # Python compares them exactly
            raise AuclabError(f"{name}[{at}] is {value}, which a double rounds to {number:.0f}; subtract an offset")


def weight_vector(sample_weight: ArrayLike | None, n_samples: int) -> Array | None:
    """Sample weights as float64, shape (n_samples,), or None."""
    if sample_weight is None:
        return None
    weight = finite_vector("sample_weight", sample_weight)
    if weight.size != n_samples:
        raise AuclabError(f"sample_weight has {weight.size} entries for {n_samples} observations")
    if (weight < 0).any():
        where = int((weight < 0).argmax())
        raise AuclabError(f"sample_weight[{where}] is {weight[where]}; weights must be ≥ 0")
    return weight


def same_length(**vectors: NDArray[Any] | None) -> None:
    """Raise `AuclabError` with the lengths unless all vectors that are not None have the same one."""
    lengths = {name: len(vector) for name, vector in vectors.items() if vector is not None}
    if len(set(lengths.values())) > 1:
        raise AuclabError("lengths differ: " + ", ".join(f"{name} has {size}" for name, size in lengths.items()))


def label_for_every_row(n_rows: int, n_labels: int) -> None:
    """Raise `AuclabError` unless X has as many rows as there are labels."""
    if n_rows != n_labels:
        raise AuclabError(f"X has {n_rows} rows, but there are {n_labels} labels")


def both_classes_weighted(positive: NDArray[np.bool_], weight: Array) -> None:
    """Raise `AuclabError` unless each class has an observation with a weight above 0."""
    for owner, mask in (("positive", positive), ("negative", ~positive)):
        if not weight[mask].any():
            raise AuclabError(f"the weights of the {owner} class are all zero; give one of its rows a weight above 0")


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a value that is not one of some names.

    Examples
    --------
    >>> check_choice("norm", "l3", ["l1", "l2"])
    Traceback (most recent call last):
        ...
    auclab.AuclabError: norm='l3' is unknown; choose one of l1, l2
    """
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        if isinstance(value, type):
            raise AuclabError(f"{name} is the class {value.__name__}; give an object of it, {value.__name__}(…)")
        meant = did_you_mean(str(value), names)
        raise AuclabError(f"{name}={value!r} is unknown{meant}; choose one of {', '.join(names)}")


def check_parameter_range(name: str, value: float) -> None:
    """Refuse a parameter that is neither 0 nor of a size with which one can calculate.

    `name`: for the message. `value`: finite.
    """
    value = float(value)  # of fewer digits, the limits below would overflow
    if 0 < abs(value) < 1.0 / LARGEST_SQUARED:
        raise AuclabError(
            f"{name} = {value:g} is too near 0 to calculate with (at least {1.0 / LARGEST_SQUARED:g}); set it to 0, or "
            "change the unit of the features"
        )
    if abs(value) > LARGEST_SQUARED:
        raise AuclabError(
            f"{name} = {value:g} is too large to calculate with (at most {LARGEST_SQUARED:g}); change the unit of "
            "the features"
        )


def check_types(given: Any) -> None:
    """Refuse parameters of an estimator, or of a dataclass, that are not of the types of their annotations.

    Numbers are those of Python and NumPy, without booleans. Names are looked up, and objects checked, where they are
    used.

    Examples
    --------
    >>> from auclab.formulations import RankSVM
    >>> RankSVM(penalty="l1")
    Traceback (most recent call last):
        ...
    auclab.AuclabError: penalty must be a number, got 'l1'; did you mean norm='l1'?
    """
    owner: type = type(given)
    wanted = _annotations(owner)
    for name, kind in wanted.items():
        value = getattr(given, name)
        if not _is_of(value, kind):
            others = [other for other, its in wanted.items() if isinstance(value, str) and value in _literals(its)]
            raise _of_another_type(name, value, kind, f"; did you mean {others[0]}={value!r}?" if others else "")


def check_type(name: str, value: object, kind: Any) -> None:
    """Refuse an argument that is not of a type.

    Examples
    --------
    >>> check_type("time_limit", "a minute", float | None)
    Traceback (most recent call last):
        ...
    auclab.AuclabError: time_limit must be a number or None, got 'a minute'
    """
    if not _is_of(value, kind):
        raise _of_another_type(name, value, kind)


def _of_another_type(name: str, value: object, kind: Any, meant: str = "") -> AuclabError:
    return AuclabError(f"{name} must be {_in_words(kind)}, got {value!r:.60}{meant}")


@lru_cache(maxsize=256)
def _annotations(owner: Any) -> dict[str, Any]:
    """The parameters of a class with their annotations."""
    if is_dataclass(owner):
        hints = get_type_hints(owner)
        return {field.name: hints[field.name] for field in fields(owner) if field.init}
    return {name: kind for name, kind in get_type_hints(owner.__init__).items() if name != "return"}


def _is_of(value: Any, kind: Any) -> bool:
    """Whether a value may be of an annotated type."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if kind is Any:
        return True
    if origin in (Union, UnionType):
        return any(_is_of(value, each) for each in inner)
    if kind is str:
        return isinstance(value, str)
    if origin is Literal:  # which name it is, is looked up elsewhere; an object may stand for one, such as a norm
        return isinstance(value, str) or not isinstance(value, _PLAIN)
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool | np.bool_)
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind is NoneType:
        return value is None
    if origin is Callable:
        return callable(value)
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_is_of(each, inner[1]) for each in value.values())
    if issubclass(origin, Iterable):
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            return False
        if origin is tuple and inner[-1] is not ...:
            return len(value) == len(inner) and all(map(_is_of, value, inner))
        return not hasattr(value, "__len__") or all(_is_of(each, inner[0]) for each in value)
    # an object, which may only look like one of the class
    return isinstance(value, kind) or not isinstance(value, _PLAIN)


#: Types of plain values, which cannot stand for an object of a class that users write.
_PLAIN = (str, bytes, Number, np.generic, np.ndarray, Mapping, Sequence, NoneType)
_WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a name", NoneType: "None"}


def _in_words(kind: Any) -> str:
    """An annotated type as a message names it."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind in _WORDS:
        return _WORDS[kind]
    if origin in (Union, UnionType):
        words = [_in_words(each) for each in inner]
        return ", ".join(words[:-1]) + f" or {words[-1]}"
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is Callable:
        return "a function"
    if issubclass(origin, Mapping):
        return "a mapping"
    if issubclass(origin, Iterable):
        of = {int: " of whole numbers", float: " of numbers"}.get(inner[0], "")
        return f"{len(inner)} values{of}" if origin is tuple and inner[-1] is not ... else f"a sequence{of}"
    return str(origin.__name__)


def _literals(kind: Any) -> tuple[Any, ...]:
    """The names that an annotation lists."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return tuple(value for part in parts if get_origin(part) is Literal for value in get_args(part))
