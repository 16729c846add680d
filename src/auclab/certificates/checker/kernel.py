"""Runs with a kernel, and scorecards.

A function is ``h = Σ_k c_k κ(x_k, ·)`` over training rows, and ``Σ q d`` is one, too. Every value κ(x_i, x_k) is
known to `ERROR`, exponentials from their series in integers: scores are known to ``ERROR·Σ abs(c_k)`` and squares
of lengths to ``ERROR·(Σ abs(c_k))²``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError
from auclab.certificates.checker.constraints import PLACES, UNIT, Integers, aligned, integers, root, times_power
from auclab.certificates.checker.data import Data, fractions
from auclab.certificates.checker.margins import RankedData
from auclab.certificates.checker.pieces import Interval, Norm, Vector, no_twin
from auclab.certificates.checker.program import Program


def refused_points(
    points: NDArray[np.float64], stated: Mapping[str, Any], features: Sequence[int], signs: Any = None
) -> list[str]:
    """What is wrong with the points; nothing where they are whole, in their range, few enough and of the stated signs.

    Parameters
    ----------
    points : array of shape (n_items,)
    stated : mapping
        ``points``, ``max_items`` and ``max_features`` of the configuration.
    features : sequence of int
        The feature of each item, of the training part that was prepared again.
    signs : optional
        Constraints by the signs of features: arrays lower, upper, matrix and limit.

    Examples
    --------
    >>> refused_points(np.array([2.0, 0.5, 9.0]), {"points": [-5, 5], "max_items": 2}, [0, 0, 1])
    ['0.5 is not a whole number', '9 is not between -5 and 5', '3 items have points, and 2 may']
    """
    low, high = stated["points"]
    wrong = [f"{value:g} is not a whole number" for value in points if value != int(value)]
    wrong += [f"{value:g} is not between {low} and {high}" for value in points if not low <= value <= high]
    used = np.flatnonzero(points)
    counts = {"items": len(used), "features": len(set(np.asarray(features)[used].tolist()))}
    for what, count in counts.items():
        most = stated.get(f"max_{what}")
        if most is not None and count > most:
            wrong.append(f"{count} {what} have points, and {most} may")
    if signs is not None and not (
        (signs.lower <= points).all()
        and (points <= signs.upper).all()
        and (signs.matrix @ points <= signs.limit).all()  # whole numbers times ±1: exact
    ):
        wrong.append("the signs of features are violated")
    return wrong


#: Values are multiples of 2^−`PLACES`, off by at most this.
ERROR = Fraction(2, UNIT)
#: Places of the series of exponentials, whose roundings add up to less than 2^−(_WORKING − 12).
_WORKING = PLACES + 32
#: ``e^−t`` is below 2^−(PLACES + 8), and taken for 0, where t is beyond this many times ln 2.
_FARTHEST = PLACES + 8
#: Number of halvings of the argument, and of terms of the series after them.
_HALVINGS, _TERMS = 8, 20
#: ln 2 = Σ 1/(k 2^k), rounded down, with 64 places more than arguments have.
_LN2 = sum((1 << (_WORKING + 64)) // (k << k) for k in range(1, _WORKING + 80))


@dataclass(frozen=True)
class KernelData(Data):
    """Training rows of which only the kernel values are known.

    Attributes
    ----------
    X : array of integers of shape (n_samples, n_samples)
        ``κ(x_i, x_k)`` in units of 2^−`PLACES`.
    """

    has_columns: ClassVar[bool] = False

    def scores(self, coef: NDArray[np.float64]) -> tuple[Integers, int]:
        """``Σ_k c_k κ(x_k, x_i)`` for every row, up to `score_error`."""
        used = np.flatnonzero(coef)
        factors, exponent = integers(coef[used])
        found = np.zeros(self.X.shape[0], dtype=np.int64).astype(object)
        return found + (self.X[:, used] @ factors if used.size else 0), exponent + PLACES

    def score_error(self, coef: NDArray[np.float64]) -> Fraction:
        """By how much a score may be off."""
        return ERROR * sum(map(abs, fractions(coef)), Fraction(0))

    def combine(self, values: Integers, unit: int) -> list[Fraction]:
        """The coefficients of ``Σ_positives q κ(x, ·) − Σ_negatives q κ(x, ·)``."""
        return [Fraction(int(value), unit) for value in np.where(self.positive, values, -values)]

    def length(self, coefficients: Vector) -> Interval:
        """``‖Σ_k c_k κ(x_k, ·)‖``, a root between two rationals."""
        unit = math.lcm(*(entry.denominator for entry in coefficients))
        entries = np.array([int(entry * unit) for entry in coefficients], dtype=object)
        used = np.flatnonzero(entries != 0)
        if not used.size:
            return Fraction(0), Fraction(0)
        entries = entries[used]
        square = times_power(int(entries @ (self.X[np.ix_(used, used)] @ entries)), PLACES) / unit**2
        error = ERROR * Fraction(int(abs(entries).sum()), unit) ** 2
        return root(max(Fraction(0), square - error))[0], root(max(Fraction(0), square + error))[1]

    def in_space(self, program: Program) -> Program:
        """The program with ‖h‖ in place of ‖w‖.

        Raises
        ------
        AuclabError
            A program with another norm than the Euclidean.
        """
        if program.uses_norm and not program.norm.is_euclidean:
            raise AuclabError("the space of a kernel has the norm l2, but the stored program has another one")
        length = Norm(self.length, self.length)
        return replace(program, regulariser=replace(program.regulariser, norm=length))


@dataclass(frozen=True, kw_only=True)
class RankedKernelData(KernelData, RankedData):
    """Rows of which some are compared, and only the kernel values are known."""


@dataclass(frozen=True)
class StoredKernel:
    """A kernel with numbers for its parameters, as ``certificate.json`` has it."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> StoredKernel:
        """The kernel of a stored run.

        Raises
        ------
        AuclabError
            An unknown kernel, or a parameter outside its range.
        """
        name = str(stored.get("name"))
        if name not in _VALUES:
            raise no_twin("kernel", name, _VALUES)
        found = {}
        for key in _PARAMETERS[name]:
            value = stored.get(key)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise AuclabError(f"the stored kernel {name} has {key}={value!r}; a number was needed")
            if value < 0 or (key != "coef0" and value == 0) or (key == "degree" and value != int(value)):
                raise AuclabError(f"the stored kernel {name} has {key}={value!r}, with which it is not a kernel")
            found[key] = value
        return cls(name, found)

    @property
    def words(self) -> str:
        """Name and parameters."""
        return ", ".join([self.name, *(f"{key} {value:.12g}" for key, value in self.parameters.items())])

    def values(self, X: Any) -> Integers:
        """κ of every two rows, in units of 2^−`PLACES`.

        Examples
        --------
        >>> values = StoredKernel("rbf", {"gamma": 1.0}).values(np.array([[0.0], [1.0]]))
        >>> [float(Fraction(value, 2**PLACES)) for value in values[0]] == [1.0, np.exp(-1.0)]
        True
        """
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        columns, exponent = aligned([integers(column) for column in rows.T])
        entries = np.stack(columns, axis=1) if columns else np.zeros((rows.shape[0], 1), dtype=object)
        found = np.zeros((rows.shape[0], rows.shape[0]), dtype=object)
        for row in range(rows.shape[0]):
            found[row, : row + 1] = _VALUES[self.name](entries, row, exponent, self.parameters)
            found[: row + 1, row] = found[row, : row + 1]
        return found


def _of_distance(
    power: int,
) -> Callable[[Integers, int, int, Mapping[str, float]], Integers]:
    """``exp(−γ Σ abs(x − y)^power)`` of a row with those up to it."""

    def values(entries: Integers, row: int, exponent: int, parameters: Mapping[str, float]) -> Integers:
        distances = (abs(entries[: row + 1] - entries[row]) ** power).sum(axis=1)
        factor, place = integers(np.array([parameters["gamma"]]))
        shift = power * exponent + place - _WORKING
        arguments = distances * factor[0]
        return exponential(arguments >> shift if shift > 0 else arguments << -shift)

    return values


def _polynomial(entries: Integers, row: int, exponent: int, parameters: Mapping[str, float]) -> Integers:
    """``(γ x·y + c₀)^degree`` of a row with those up to it, rounded down."""
    factor, place = integers(np.array([parameters["gamma"]]))
    products = (entries[: row + 1] @ entries[row]) * factor[0]
    (products, constant), place = aligned([(products, 2 * exponent + place), integers(np.array([parameters["coef0"]]))])
    degree = int(parameters["degree"])
    shift = degree * place - PLACES
    powers = (products + constant[0]) ** degree
    return np.asarray(powers >> shift if shift > 0 else powers << -shift)


#: A row of values up to the diagonal, by the name of the kernel, and the least value of each parameter.
_VALUES = {"rbf": _of_distance(2), "laplacian": _of_distance(1), "polynomial": _polynomial}
_PARAMETERS = {"rbf": ("gamma",), "laplacian": ("gamma",), "polynomial": ("gamma", "degree", "coef0")}


def exponential(arguments: Integers) -> Integers:
    """``e^−t`` in units of 2^−`PLACES`, off by at most `ERROR`, for t ≥ 0 in units of 2^−`_WORKING`, rounded down.

    With ``t = k ln 2 + 2^8 s`` it is ``2^−k (e^−s)^256``, and 0 ≤ s < .003, where 20 terms of the series leave 2^−220.
    """
    halvings = (arguments << 64) // _LN2
    near = halvings <= _FARTHEST
    arguments, halvings = np.where(near, arguments, 0), np.where(near, halvings, 0)
    small = (arguments - ((halvings * _LN2) >> 64)) >> _HALVINGS
    one = 1 << _WORKING
    value = np.full(arguments.shape, one, dtype=object)
    for term in range(_TERMS, 0, -1):
        value = one - ((small * value) >> _WORKING) // term
    for _ in range(_HALVINGS):
        value = (value * value) >> _WORKING
    return np.where(near, value >> (halvings + (_WORKING - PLACES)), 0)
