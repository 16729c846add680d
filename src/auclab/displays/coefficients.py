"""The coefficients of a scorer, and of a kernel its landmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from auclab._core.base import Array, AuclabError
from auclab.displays.canvas import (
    BLUE,
    COLUMN,
    GREY,
    INK,
    RED,
    SMALLEST_GAP,
    Display,
    canvas,
    despine,
    shortened,
    style,
)
from auclab.solvers.certificate import relative_gap
from auclab.solvers.integer.solver import FeaturePath

if TYPE_CHECKING:
    from auclab.solvers.kernel.solution import KernelSolution, Stage


@dataclass(kw_only=True, eq=False, repr=False)
class LandmarkGapDisplay(Display):
    """Relative gap to the optimum after every stage of a solve, against the number of landmarks.

    The number of landmarks may fall from one stage to the next, when some are dropped again. The line connects the
    stages in order; the labels are seconds since the start.

    Parameters
    ----------
    landmarks : array of shape (n_stages,)
    gaps : array of shape (n_stages,)
        Best objective so far minus best lower bound so far, relative to the objective.
    seconds : array of shape (n_stages,)
    tolerance : float, optional
        Drawn as a limit.
    name : str, optional
        Name of the solve in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_, figure_
        Axes and figure of the last `plot`.

    See Also
    --------
    auclab.KernelSolution : Has the `stages`.

    Examples
    --------
    >>> display = LandmarkGapDisplay(landmarks=[10, 20], gaps=[0.1, 1e-7], seconds=[0.5, 1.5], tolerance=1e-6)
    >>> float(display.gaps[-1]) <= display.tolerance
    True
    """

    landmarks: Array
    gaps: Array
    seconds: Array
    tolerance: float | None = None
    line_: Line2D = field(init=False)

    @classmethod
    def from_solution(cls, solution: KernelSolution, **options: Any) -> Self:
        """Draw the stages of a solution.

        Parameters
        ----------
        solution : KernelSolution
            What `auclab.solve` returns where a kernel is given.
        **options
            Further arguments of `from_stages`.

        Raises
        ------
        AuclabError
            Not a `KernelSolution`, or one without stages.

        Examples
        --------
        >>> import auclab
        >>> x = np.linspace(-1, 1, 60)[:, None]
        >>> program = auclab.RankSVM(0.01, squared=True)
        >>> solution = auclab.solve(program, x, abs(x[:, 0]) < 0.5, kernel="rbf", tolerance=1e-4)
        >>> LandmarkGapDisplay.from_solution(solution).gaps[-1] <= 1e-4
        np.True_
        """
        if getattr(solution, "on_landmarks", None) is None:
            raise AuclabError(f"a {type(solution).__name__} has no landmarks; solve with kernel=…")
        return cls.from_stages(solution.stages, **options)

    @classmethod
    def from_stages(
        cls,
        stages: Sequence[Stage],
        *,
        tolerance: float | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw stages such as those of a `KernelSolution`.

        Parameters
        ----------
        stages : sequence of Stage
        tolerance : float, optional
            Relative gap that was requested.
        name : str, optional
            Name in the legend.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        curve_kwargs : mapping, optional
            Keyword arguments of the line.

        Raises
        ------
        AuclabError
            `stages` is empty.
        """
        if not stages:
            raise AuclabError("the solve has no stages to draw: it ended before it had a landmark")
        display = cls(
            landmarks=np.array([stage.landmarks for stage in stages], dtype=float),
            gaps=np.array([relative_gap(stage.objective, stage.lower_bound) for stage in stages]),
            seconds=np.array([stage.seconds for stage in stages]),
            tolerance=tolerance,
            name=name,
        )
        return display.plot(ax, curve_kwargs=curve_kwargs)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, curve_kwargs: Mapping[str, Any] | None = None
    ) -> Self:
        """Draw on `ax` or on a new figure."""
        name = self.name if name is None else name
        looks = {"color": BLUE, "marker": "o", "markersize": 3.5, "label": name or "_stages"}
        gaps = np.maximum(self.gaps, SMALLEST_GAP)
        with canvas(ax) as axes:
            (self.line_,) = axes.plot(self.landmarks, gaps, **style(looks, curve_kwargs))
            for x, y, seconds in zip(self.landmarks, gaps, self.seconds, strict=True):
                place = {"textcoords": "offset points", "xytext": (4, 3), "fontsize": "small"}
                axes.annotate(f"{seconds:.2g} s", (x, y), color=INK, **place)  # type: ignore[arg-type]
            if self.tolerance is not None:
                axes.axhline(self.tolerance, color=GREY, linestyle="--", linewidth=0.8, zorder=1, label="tolerance")
            axes.set(yscale="log", xlabel="landmarks", ylabel="relative gap to the optimum")
            axes.margins(x=0.13, y=0.12)
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            despine(axes)
            if name or self.tolerance is not None:
                axes.legend(loc="best")
            return self._drawn(axes)


#: Signs of the name of a column that fit next to its bar.
_LONGEST = 28


def draw_coefficients(
    columns: Sequence[str],
    shares: Sequence[float],
    directions: Sequence[int],
    *,
    deviations: Sequence[float] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a bar for each column, the largest share above.

    `shares`: in [0, 1]. `directions`: 1 where the score rises with the column, −1 where it falls, 0 for categories and
    dates. `deviations`: standard deviations of the shares over splits; NaN draws none. `ax`: axes to draw into; a new
    figure by default.
    """
    size = (COLUMN, 0.7 + 0.17 * max(len(columns), 3))
    places = range(len(columns))
    looks: dict[int, dict[str, Any]] = {
        1: {"color": BLUE, "label": "score rises"},
        -1: {"color": RED, "label": "score falls", "hatch": "////"},
        0: {"color": GREY, "label": "categories, dates"},
    }
    with canvas(ax, size) as axes:
        for direction, look in looks.items():
            own = [place for place in places if directions[place] == direction]
            if own:
                axes.barh(own, [shares[place] for place in own], height=0.7, edgecolor="white", linewidth=0, **look)
        if deviations is not None:
            axes.errorbar(shares, places, xerr=deviations, fmt="none", ecolor=INK, elinewidth=0.7, capsize=1.5)
        axes.set_yticks(list(places), [shortened(name, _LONGEST) for name in columns])
        axes.invert_yaxis()
        axes.set_xlim(0)
        axes.set_xlabel("share of the spread of the scores")
        axes.legend(loc="lower right")
        despine(axes)
        figure = axes.figure
    assert isinstance(figure, Figure)
    return figure


def draw_feature_path(path: FeaturePath, *, ax: Axes | None = None) -> Figure:
    """Draw the best value for each number of features with its proved bound, and the l1 path.

    For `BufferedAUC` the plot shows bAUC, 1 − value; for other programs the value. The band lies between the best point
    and the proved bound: where it has no height, the point is optimal among all choices of features.

    Parameters
    ----------
    path : FeaturePath
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    Figure

    See Also
    --------
    auclab.solvers.integer.solver.feature_path : Computes the path.

    Examples
    --------
    >>> from auclab import RankSVM
    >>> from auclab.solvers.integer.solver import feature_path
    >>> path = feature_path(RankSVM(0.1, "l1"), [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1], [1, 2])
    >>> draw_feature_path(path).axes[0].get_xlabel()
    'number of features'
    """
    is_bauc = path.solutions[0].formulation.name == "bauc"
    sign, offset = (-1.0, 1.0) if is_bauc else (1.0, 0.0)
    best = [offset + sign * each.objective for each in path.solutions]
    proved = [offset + sign * each.lower_bound for each in path.solutions]
    with canvas(ax, (COLUMN, 0.75 * COLUMN)) as axes:
        axes.fill_between(path.counts, best, proved, color=GREY, alpha=0.5, linewidth=0, label="not excluded")
        axes.plot(path.counts, best, color=BLUE, marker="o", markersize=3, label="at most k features")
        if path.l1:
            counts, values = zip(*path.l1, strict=True)
            own = [offset + sign * value for value in values]
            axes.plot(counts, own, color=RED, marker="s", markersize=3, linestyle="--", label="features of the l1 path")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("number of features")
        axes.set_ylabel("bAUC of the training part" if is_bauc else "value")
        axes.legend(loc="lower right" if is_bauc else "upper right")
        despine(axes)
        figure = axes.figure
    assert isinstance(figure, Figure)
    return figure
