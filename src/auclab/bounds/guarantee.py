"""A generalization bound, and the checks of its inputs."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import EQUAL
from auclab._core.validation import finite_array
from auclab.samples.as_sample import as_sample


@dataclass(frozen=True)
class Bound:
    """A guarantee that holds with probability at least ``1 − ρ``.

    `lower` bounds the unknown quantity from below; two-sided statements give `half_width` instead (the other
    one is NaN). `slack` is what was subtracted from the empirical value. `vacuous` says that the statement
    excludes nothing. `assumptions` are sentences to be shown with the number.

    See Also
    --------
    auclab.bounds : The functions that return it.

    Examples
    --------
    >>> from auclab.bounds import fixed_scorer_auc_bound
    >>> bound = fixed_scorer_auc_bound(0.9, n_pos=100, n_neg=100, rho=0.05)  # √(0.02 ln 40 / 2)
    >>> round(bound.half_width, 4), bound.vacuous
    (0.1921, False)
    """

    lower: float
    slack: float
    vacuous: bool
    assumptions: tuple[str, ...]
    half_width: float = math.nan


INDEPENDENT = "positives are independent draws from one distribution and negatives from another, class sizes fixed"
OBSERVED = "conditional on the support lying within the observed radius"

#: Smaller chances of failure cannot be divided among the levels of a grid.
LEAST_PROBABILITY = 1e-300


def from_below(lower: float, slack: float, assumptions: tuple[str, ...]) -> Bound:
    """A lower bound on something in [0, 1], in plain numbers whatever the arguments were.

    A slack that left the range of doubles, as ∞ or as ∞ · 0, counts as ∞, which no bound can profit from.
    """
    if math.isnan(slack) or math.isnan(lower):
        lower, slack = -math.inf, math.inf
    return Bound(float(lower), float(slack), bool(lower <= 0.0), assumptions)


def check_numbers(**values: Any) -> None:
    """Real numbers no larger than doubles."""
    for name, value in values.items():
        if not isinstance(value, int | float | np.integer | np.floating):
            raise AuclabError(f"{name} must be a number, got {value!r}")
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            raise AuclabError(f"{name} must fit into a double, got an integer of {value.bit_length()} bits")


def check_sizes(n_pos: int, n_neg: int) -> None:
    """Both classes present, in whole numbers that doubles hold."""
    check_numbers(n_pos=n_pos, n_neg=n_neg)
    if not (n_pos >= 1 and n_neg >= 1):
        raise AuclabError(f"both classes are needed, got n_pos={n_pos}, n_neg={n_neg}")
    if not (math.isfinite(n_pos) and math.isfinite(n_neg)) or n_pos != int(n_pos) or n_neg != int(n_neg):
        raise AuclabError(f"class sizes are whole numbers, got n_pos={n_pos}, n_neg={n_neg}")


def check_probability(**values: float) -> None:
    """A probability of failure, strictly between 0 and 1."""
    check_numbers(**values)
    for name, value in values.items():
        if not 0.0 < value < 1.0:
            raise AuclabError(f"{name} must lie strictly between 0 and 1, got {value}; it is 1 − confidence, e.g. 0.05")
        if value < LEAST_PROBABILITY:
            raise AuclabError(f"{name} must be at least {LEAST_PROBABILITY}, got {value}: smaller values underflow")


def check_nonnegative(**values: float) -> None:
    """Finite and ≥ 0."""
    check_numbers(**values)
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0.0):
            raise AuclabError(f"{name} must be finite and ≥ 0, got {value}")


def check_positive(**values: float) -> None:
    """Finite and > 0."""
    check_numbers(**values)
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0.0):
            raise AuclabError(f"{name} must be finite and > 0, got {value}")


def class_scores(X: Any, y: ArrayLike, coef: ArrayLike) -> tuple[Array, Array, Array]:
    """``w·x`` of the positives, of the negatives, and w."""
    sample = as_sample(X, y)
    vector = finite_array("coef", coef, (sample.n_features,))
    with np.errstate(over="ignore", invalid="ignore"):
        pos, neg = np.asarray(sample.X_pos @ vector), np.asarray(sample.X_neg @ vector)
    largest = max(float(np.abs(part).max()) for part in (pos, neg))
    if not math.isfinite(2.0 * largest):
        raise AuclabError("differences of the scores X @ coef exceed the largest double; divide coef or X")
    return pos, neg, vector


def check_reach(pos: Array, neg: Array, diameter: float, size: float) -> None:
    """Refuse a diameter D that the sample itself contradicts: no ``|w·(x⁺ − x⁻)|`` exceeds D‖w‖."""
    reach = max(float(pos.max() - neg.min()), float(neg.max() - pos.min()))
    if reach > diameter * size * (1.0 + EQUAL) + EQUAL * float(max(abs(pos).max(), abs(neg).max())):
        raise AuclabError(
            f"diameter={diameter:.6g} is too small: two observations of this sample are at least {reach / size:.6g} "
            "apart (their scores differ by more than diameter · ‖coef‖); give the diameter of the support"
        )
