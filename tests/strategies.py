"""Hypothesis strategies for two classes of scores, made to tie, to spread and to sit on an offset."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import reference
from auclab._core.base import AuclabError

GRID = st.integers(-4, 4).map(float)
_DECIMAL = st.integers(-9, 9).map(lambda k: k * 0.1)  # ties of scores, but no exact ties of differences
WIDE = st.tuples(st.floats(0.1, 1), st.sampled_from([-1.0, 1.0]), st.integers(-9, 9)).map(
    lambda t: t[0] * t[1] * 10.0 ** t[2]  # 19 orders of magnitude
)
# sums over pairs carry 30 digits: no score of 10⁻¹²⁶ beside one of 1
_FLOAT = st.floats(-10, 10).map(lambda s: s if abs(s) > 1e-9 else 0.0)


@dataclass(frozen=True)
class Problem:
    """Scores of either class with weights, or None."""

    pos: list[float]
    neg: list[float]
    weight_pos: list[float] | None = None
    weight_neg: list[float] | None = None

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores as the metrics take them."""
        return np.repeat([1, 0], [len(self.pos), len(self.neg)]), np.array(self.pos + self.neg)

    @property
    def sample_weight(self) -> np.ndarray | None:
        """Weights as the metrics take them."""
        return None if self.weight_pos is None else np.array([*self.weight_pos, *self.weight_neg])

    @property
    def errors(self) -> reference.Errors:
        """Exact errors of all pairs."""
        return reference.pair_errors(self.pos, self.neg, self.weight_pos, self.weight_neg)


_INTEGER_WEIGHT = st.integers(0, 3).map(float)
_REAL_WEIGHT = st.floats(0.01, 5)


@st.composite
def problems(draw, *, scores=None, weights="any", most=7):
    """Small two-class problems, on an offset of 10⁹ now and then; weights "none", "integer" or "any"."""
    kind = draw(st.sampled_from([GRID, _DECIMAL, _FLOAT])) if scores is None else scores
    offset = draw(st.sampled_from([0.0, 0.0, 1e9, -1e9]))
    values = st.lists(kind.map(lambda s: s + offset), min_size=1, max_size=most)
    lead = draw(st.sampled_from([0.0, 2.0, 5.0]))  # γ* exists only where positives lead on average
    pos, neg = [s + lead for s in draw(values)], draw(values)
    choices = [None, _INTEGER_WEIGHT, _REAL_WEIGHT][: {"none": 1, "integer": 2, "any": 3}[weights]]
    weight = draw(st.sampled_from(choices))
    if weight is None:
        return Problem(pos, neg)
    u = draw(st.lists(weight, min_size=len(pos), max_size=len(pos)).filter(any))
    v = draw(st.lists(weight, min_size=len(neg), max_size=len(neg)).filter(any))
    return Problem(pos, neg, u, v)


def grid_problems(*, weights="none"):
    """Scores on a grid of integers: all differences, sums and comparisons are exact in doubles."""
    return problems(scores=GRID, weights=weights)


@contextmanager
def refused_if_far():
    """An error says that the scores are too large, or too far apart."""
    try:
        yield
    except AuclabError as error:
        words = "largest double", "count as 0", "leaves the range of doubles"
        if not any(word in str(error) for word in words):
            raise
