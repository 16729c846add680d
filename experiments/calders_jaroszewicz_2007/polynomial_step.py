"""Polynomials that approximate the step in polynomial AUC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from matplotlib.axes import Axes

from auclab.displays.pair_functions import PairFunctionDisplay, pair_density
from auclab.displays.style import POINTS
from auclab.metrics import ScoredPart, polynomial_auc
from auclab.metrics.series import step_series
from auclab.types import Array

Kind = Literal["chebyshev", "legendre"]
_NAMES: dict[Kind, str] = {"chebyshev": "Chebyshev", "legendre": "Legendre"}
#: The polynomials diverge beyond ±1.
_REACH = 1.04


class PolynomialStepDisplay(PairFunctionDisplay):
    """Polynomials of some degrees for the step, over ``t/s`` (Calders & Jaroszewicz 2007, Fig. 1; derivations 10.1).

    They approximate the step on [−1, 1] only, where all differences lie after division by the largest one, s. The
    truncated Chebyshev and Legendre series have the value ½ at 0; even degrees add nothing. Parameters and
    attributes are those of `PairFunctionDisplay`. `from_predictions` draws them over the distribution of ``t/s`` of all
    pairs, with the values of polynomial AUC.

    Other Parameters
    ----------------
    degrees, series
        As in `from_parameters`.
    bins : int
        Of `from_predictions`: bins of the histogram, ≥ 1; 60 by default.

    See Also
    --------
    auclab.metrics.polynomial_auc : The metric.
    auclab.displays.ModifierDisplay : Other functions of a difference.

    Examples
    --------
    >>> display = PolynomialStepDisplay.from_parameters(degrees=(3,))
    >>> sorted(display.functions)
    ['Chebyshev d = 3', 'Legendre d = 3', 'step']
    """

    _xlabel: ClassVar[str] = "score difference over the largest one, t/s"
    _ylim: ClassVar[tuple[float, float]] = (-0.2, 1.2)

    @classmethod
    def from_parameters(
        cls,
        *,
        degrees: Sequence[int] = (5, 29),
        series: Sequence[Kind] = ("chebyshev", "legendre"),
        ax: Axes | None = None,
    ) -> Self:
        """Draw the polynomials alone.

        Parameters
        ----------
        degrees : sequence of int
            ≥ 1.
        series : sequence of {"chebyshev", "legendre"}
            Least squares in the Chebyshev weight, ordinary least squares.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.polynomial_auc`.

        Examples
        --------
        Degree 1 is ``½ + (2/π) t`` or ``½ + ¾ t``:

        >>> display = PolynomialStepDisplay.from_parameters(degrees=[1])
        >>> [(name, round(float(np.interp(0.5, display.differences, w)), 6)) for name, w in display.functions.items()]
        [('step', 1.0), ('Chebyshev d = 1', 0.81831), ('Legendre d = 1', 0.875)]
        """
        for kind in series:
            for degree in degrees:
                polynomial_auc([1, 0], [1.0, 0.0], degree=degree, series=kind)  # checks both
        differences = np.linspace(-_REACH, _REACH, POINTS)
        return cls(differences=differences, functions=_polynomials(degrees, series, differences)).plot(ax)

    @classmethod
    def _numbers(
        cls,
        part: ScoredPart,
        *,
        degrees: Sequence[int] = (5, 29),
        series: Sequence[Kind] = ("chebyshev", "legendre"),
        bins: int = 60,
    ) -> dict[str, Any]:
        values = {"step": part.value("auc")}
        for kind in series:
            for degree in degrees:
                values[_label(kind, degree)] = part.value(polynomial_auc, degree=degree, series=kind)
        scores = part.finite_classes
        largest = float(max(scores.neg[-1] - scores.pos[0], scores.pos[-1] - scores.neg[0]))
        edges, density = pair_density(scores, bins, largest or 1.0)
        differences = np.linspace(-_REACH, _REACH, POINTS)
        functions = {"differences": differences, "functions": _polynomials(degrees, series, differences)}
        return {**functions, "values": values, "edges": edges, "density": density}


def _polynomials(degrees: Sequence[int], series: Sequence[Kind], differences: Array) -> dict[str, Array]:
    """The step and the polynomials by name."""
    functions = {"step": np.heaviside(differences, 0.5)}
    for kind in series:
        for degree in degrees:
            functions[_label(kind, degree)] = step_series(degree, kind)(differences)
    return functions


def _label(kind: Kind, degree: int) -> str:
    return f"{_NAMES[kind]} d = {degree}"
