"""Checks of rates and of ranges of cost shares."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from auclab.forms import as_array
from auclab.metrics.class_scores import finite_number
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector


def checked_rates(name: str, values: ArrayLike) -> Array:
    """Numbers in [0, 1], of any shape."""
    given = as_array(name, values)
    flat = finite_vector(name, given.ravel())
    array = flat.reshape(given.shape)
    if (flat < 0.0).any() or (flat > 1.0).any():
        raise AuclabError(f"{name} must lie in [0, 1], got {flat[(flat < 0.0) | (flat > 1.0)][0]}")
    return array


def checked_rate(name: str, value: float) -> float:
    """One number in [0, 1]."""
    return float(checked_rates(name, finite_number(name, value)))


def checked_cost_range(cost_range: Sequence[float]) -> tuple[float, float]:
    """Ends of a range of cost shares, checked."""
    try:
        ends = [finite_number("an end of cost_range", end) for end in cost_range]
    except TypeError as error:  # one number
        raise AuclabError(f"cost_range must be a pair 0 ≤ a ≤ b ≤ 1, got {cost_range!r}") from error
    if len(ends) != 2 or not 0.0 <= ends[0] <= ends[1] <= 1.0:
        raise AuclabError(f"cost_range must be a pair 0 ≤ a ≤ b ≤ 1, got {tuple(ends)}")
    return ends[0], ends[1]
