"""Modifier functions: the weight of a pair in AUC, sAUC, softAUC and probAUC by the difference of its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from auclab.displays.pair_functions import PairFunctionDisplay, pair_density
from auclab.displays.style import number
from auclab.metrics import auc_score, probabilistic_auc, scored_auc, soft_auc
from auclab.metrics.class_scores import difference_scores, positive_number
from auclab.types import Array

_POINTS = 401


class ModifierDisplay(PairFunctionDisplay):
    """Modifiers ``w(t)`` of the metrics ``mean_ij w(p_i − n_j)`` (Vanderlooy & Hüllermeier 2008, eq. 1, Fig. 1).

    A modifier is the metric of a single pair, and is computed as such: the step of AUC, the positive part of sAUC, the
    sigmoids of softAUC and the parabolas of probAUC (in the corrected form, derivations 4). Parameters
    and attributes are those of `PairFunctionDisplay`.

    See Also
    --------
    auclab.metrics.soft_auc : One of the metrics.
    auclab.metrics.scored_auc : Another metric.
    auclab.displays.PolynomialStepDisplay : Polynomials in place of the step.

    Examples
    --------
    >>> display = ModifierDisplay.from_parameters(betas=(2.0,), widths=(0.5,))
    >>> sorted(display.functions)
    ['AUC', 'probAUC h = 0.5', 'sAUC', 'softAUC β = 2']
    """

    _xlabel: ClassVar[str] = "score difference t = p − n of a pair"
    _ylim: ClassVar[tuple[float, float]] = (-0.02, 1.05)

    @classmethod
    def from_parameters(
        cls,
        *,
        betas: Sequence[float] = (5.0, 20.0),
        widths: Sequence[float] = (0.25, 1.0),
        reach: float = 1.0,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the modifiers alone, for differences in [−reach, reach].

        Parameters
        ----------
        betas : sequence of float
            β > 0 of softAUC, per unit of the scores.
        widths : sequence of float
            h > 0 of probAUC, in units of the scores.
        reach : float
            Largest difference, > 0; 1 for scores in [0, 1].
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.soft_auc` and `auclab.metrics.probabilistic_auc`, and for ``reach ≤ 0``.

        Examples
        --------
        >>> display = ModifierDisplay.from_parameters(betas=[1.0], widths=[1.0])
        >>> [(name, round(float(w[-1]), 4)) for name, w in display.functions.items()]
        [('AUC', 1.0), ('sAUC', 1.0), ('softAUC β = 1', 0.7311), ('probAUC h = 1', 0.875)]
        """
        reach = positive_number("reach", reach, "the largest difference that is drawn")
        differences = np.linspace(-reach, reach, _POINTS)
        return cls(differences=differences, functions=_modifiers(_metrics(betas, widths), differences)).plot(ax)

    @classmethod
    def from_predictions(  # type: ignore[override]  # a display of its own options
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        betas: Sequence[float] = (5.0, 20.0),
        widths: Sequence[float] = (0.25, 1.0),
        bins: int = 60,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the modifiers over the distribution of the differences of all pairs, with the values of the metrics.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in `auclab.metrics.gauc_score`.
        betas, widths, ax
            As in `from_parameters`; mind the units of the scores.
        bins : int
            Bins of the histogram, ≥ 1.
        name : str, optional
            Name of the scorer.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.gauc_score` and `from_parameters`, and for ``bins < 1``.
        """
        weights: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label}
        metrics = _metrics(betas, widths)
        values = {label: metric(y_true, y_score, **weights) for label, metric in metrics.items()}
        edges, density = pair_density(difference_scores(y_true, y_score, sample_weight, pos_label), bins)
        reach = float(np.abs(edges).max())
        differences = np.linspace(-reach, reach, _POINTS)
        functions = _modifiers(metrics, differences)
        display = cls(
            differences=differences, functions=functions, values=values, edges=edges, density=density, name=name
        )
        return display.plot(ax)


def _metrics(betas: Sequence[float], widths: Sequence[float]) -> dict[str, Callable[..., float]]:
    """The metrics by name."""
    soft = {f"softAUC β = {number(b)}": partial(soft_auc, beta=b) for b in betas}
    probabilistic = {f"probAUC h = {number(h)}": partial(probabilistic_auc, width=h) for h in widths}
    return {"AUC": auc_score, "sAUC": scored_auc, **soft, **probabilistic}


def _modifiers(metrics: Mapping[str, Callable[..., float]], differences: Array) -> dict[str, Array]:
    """Each metric of one positive and one negative with the given differences of their scores."""
    return {label: np.array([metric([1, 0], [t, 0.0]) for t in differences]) for label, metric in metrics.items()}
