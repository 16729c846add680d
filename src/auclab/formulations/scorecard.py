"""Integer scorecards: whole points, chosen by the hinge of pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab._core.base import Array, AuclabError
from auclab._core.hinge import pair_hinge_value
from auclab.formulations.base import FixedNull, Optimum, Program
from auclab.regularisers import Norm
from auclab.samples.memory import Sample

#: The range of the points, and the margins: whole numbers, few of which are enough (docs/scorecards.md).
POINTS, MARGINS = (-5, 5), (1, 2, 3, 5, 8)


@dataclass(frozen=True)
class Scorecard(Program):
    """Integer points of few items that maximise buffered AUC over a grid of margins.

        min over integer w and margins γ    mean_ij [γ − w·(x_i⁺ − x_j⁻)]₊ / γ,     lowest ≤ w_k ≤ highest

    A real w can have any length, so γ = 1 restricts only an integer w. The least value over *all* γ > 0
    is 1 − bAUC of the direction w, and it is attained at a difference of two totals. So the value over a grid of
    margins is an upper bound of 1 − bAUC(w), and equal to it where the best margin is in the grid. What is certified is
    the minimum over all w and all margins of the grid at once.

    Parameters
    ----------
    points : (int, int)
        The lowest and the highest number of points of an item, ≤ 0 and ≥ 0.
    max_items : int, optional
        Largest number of items (columns) with points.
    max_features : int, optional
        Largest number of features with points; a feature is a group of columns (`features`).
    margins : sequence of int
        Margins γ ≥ 1 to try.
    signs : mapping or sequence, optional
        +1 or −1 for items that must not lower or not raise the total: by number of the column, or one for each column
        (0: either). `auclab.ScorecardClassifier` and the command line accept names.
    features : sequence of int, optional
        Feature of each column, numbered from 0; by default each column is its own feature.

    Examples
    --------
    One item, in half of the positives: with 1 point and γ = 1 the hinges are 1 and 0.

    >>> Scorecard().value([1], 0.0, [[0], [1], [0]], [1, 1, 0])
    0.5

    See Also
    --------
    auclab.ScorecardClassifier : From a table to a card: binning, points, and the share of positives at each total.
    auclab.metrics.bauc_score : The buffered AUC of the totals.
    """

    points: tuple[int, int] = POINTS
    max_items: int | None = None
    max_features: int | None = None
    margins: tuple[int, ...] = MARGINS
    signs: Any = None
    features: tuple[int, ...] | None = None

    name = "scorecard"
    kind = "integer"
    regulariser = Norm("linf")
    threshold = 0.0

    def __post_init__(self) -> None:
        ends = _whole(self.points, "points", 2)
        if len(ends) != 2 or not ends[0] <= 0 <= ends[1] or ends[0] == ends[1]:
            raise AuclabError(
                f"points are the lowest and the highest number, ≤ 0 and ≥ 0, got {list(ends)}; try [-5,5]"
            )
        margins = tuple(sorted(set(_whole(self.margins, "margins", 1))))
        if margins[0] < 1:
            raise AuclabError(f"margins must be at least 1, got {margins[0]}")
        for name in ("max_items", "max_features"):
            value = getattr(self, name)
            if value is not None and (value != int(value) or value < 1):
                raise AuclabError(f"{name} must be a whole number of at least 1, or null for no limit, got {value}")
        signs = None if self.signs is None else _signs(self.signs)
        changed = {"points": ends, "margins": margins, "signs": signs}
        if self.features is not None:
            changed["features"] = _whole(self.features, "features", 1)
        for name, value in changed.items():
            given = getattr(self, name)
            if type(given) is not type(value) or given != value:  # `sklearn.base.clone` needs parameters kept as given
                object.__setattr__(self, name, value)

    @property
    def is_convex(self) -> bool:
        """Whether the program is convex: it is not."""
        return False

    def hinges(self, coef: Array, sample: Sample) -> Array:
        """The mean hinge divided by the margin, for each of the margins; shape (n_margins,)."""
        scores, weights = sample.scores(coef), sample.weights
        return np.array([pair_hinge_value(*scores, float(margin), *weights) / margin for margin in self.margins])

    def objective(self, coef: Array, intercept: float, sample: Sample) -> float:
        """The least of the hinges, on a sample that was checked before."""
        return float(self.hinges(coef, sample).min())

    def margin(self, coef: Array, sample: Sample) -> int:
        """The margin with the least value at w; of several the smallest."""
        return self.margins[int(self.hinges(coef, sample).argmin())]

    def bounds(self, n_features: int) -> tuple[Array, Array]:
        """The lowest and the highest points of each column, signs included.

        Raises
        ------
        AuclabError
            A sign of a column that the sample does not have.
        """
        lower, upper = np.full(n_features, float(self.points[0])), np.full(n_features, float(self.points[1]))
        for column, sign in self.signs or ():
            if not isinstance(column, int) or not 0 <= column < n_features:
                raise AuclabError(f"signs name column {column!r}; the columns are 0 to {n_features - 1}")
            if sign > 0:
                lower[column] = 0.0
            if sign < 0:
                upper[column] = 0.0
        return lower, upper

    @property
    def null(self) -> FixedNull:
        """The solution w = 0."""
        return FixedNull("no points rank the classes: the value is 1, that of a card without points")

    def read_optimum(self, objective: float, lower_bound: float, coef: Array) -> Optimum:
        """A lower bound of the card's buffered AUC, and the largest that any card may have."""
        sentence = (
            f"bAUC is at least {1 - objective:.4f}; with these margins no card has more than {1 - lower_bound:.4f}"
        )
        return Optimum(0.0, objective, 1.0 - objective, math.nan, math.nan, sentence)

    def equation(self) -> str:
        """The program in one line."""
        sparse = "".join(
            f", at most {value} {what}"
            for value, what in ((self.max_items, "items"), (self.max_features, "features"))
            if value is not None
        )
        margins = ", ".join(map(str, self.margins))
        low, high = self.points
        return f"min  mean_ij [γ − w·(x_i⁺ − x_j⁻)]₊/γ,  w in {{{low}, …, {high}}}, γ in {{{margins}}}{sparse}"


def _signs(given: Any) -> tuple[tuple[Any, int], ...]:
    """Signs as pairs of a column, or a name, and ±1 or 0."""
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        pairs = [
            tuple(each) if isinstance(each, Sequence) and not isinstance(each, str) else (at, each)
            for at, each in enumerate(given)
        ]
    for name, sign in pairs:
        if sign not in (-1, 0, 1):
            raise AuclabError(f"the sign of {name} must be 1, −1 or 0, got {sign!r}")
    return tuple((name if isinstance(name, str) else int(name), int(sign)) for name, sign in pairs)


def _whole(values: Any, name: str, at_least: int) -> tuple[int, ...]:
    """A sequence of whole numbers."""
    try:
        numbers = tuple(int(value) for value in values)
        exact = all(number == float(value) for number, value in zip(numbers, values, strict=True))
    except (TypeError, ValueError):
        exact, numbers = False, ()
    if not exact or len(numbers) < at_least:
        raise AuclabError(f"{name} must be a list of whole numbers, got {values!r}")
    return numbers
