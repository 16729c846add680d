"""Level curves of a scorer of two features, the landmarks of a kernel and the pairs at the kink of the hinge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from numpy.typing import ArrayLike, NDArray

from auclab.displays.base import Display, scorer_of
from auclab.displays.style import BLUE, COLUMN, INK, POINTS, RED, canvas, class_note, despine
from auclab.forms import as_rows, column_names
from auclab.solvers.solution import Solution
from auclab.types import Array, AuclabError
from auclab.validation import positive_mask


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionContourDisplay(Display):
    """Level curves of a scorer over the plane of its two features.

    Darker shades are larger scores. A level curve is labelled with its false positive rate on the sample, the share of
    negatives with a larger score, so that scorers on different scales can be compared.

    For a solution, the landmarks of a kernel scorer are drawn, and the pairs at the kink: those whose margin ``h(x⁺) −
    h(x⁻)`` is closest to ``1 − z‖h‖``, where the hinge begins. Pairs with a smaller margin are active with full weight,
    pairs with a larger margin are inactive.

    Parameters
    ----------
    first, second : arrays of shape (n_grid,)
        Values of the two features.
    scores : array of shape (n_grid, n_grid)
        ``scores[i, j]`` is that of ``(first[j], second[i])``.
    X : array of shape (n_samples, 2)
    positive : boolean array of shape (n_samples,)
    sample_scores : array of shape (n_samples,)
    rates : sequence of float in (0, 1)
        False positive rates of the level curves.
    landmarks : array of shape (n_landmarks,), optional
        Row numbers.
    pairs : array of shape (n_pairs, 2), optional
        Row numbers of the positive and the negative.
    columns : tuple of str
        Names of the features.
    name, pos_label : optional
        Name of the scorer, above the legend; label of the positive class.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last `plot`.

    See Also
    --------
    auclab.displays.LandmarkGapDisplay : How a kernel solution was found.

    Examples
    --------
    >>> import auclab
    >>> X, y = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, 3.0]], [0, 0, 1, 1]
    >>> solution = auclab.solve(auclab.RankSVM(0.1), X, y)
    >>> display = DecisionContourDisplay.from_solution(solution, X, y)
    >>> display.scores.shape == (display.second.size, display.first.size)
    True
    """

    first: Array
    second: Array
    scores: Array
    X: Array
    positive: NDArray[np.bool_]
    sample_scores: Array
    rates: tuple[float, ...] = (0.05, 0.2, 0.5)
    landmarks: NDArray[np.intp] | None = None
    pairs: NDArray[np.intp] | None = None
    columns: tuple[str, str] = ("first feature", "second feature")

    @classmethod
    def from_solution(
        cls, solution: Solution, X: Any, y: ArrayLike, *, n_pairs: int = 15, pos_label: Any = None, **options: Any
    ) -> Self:
        """Draw a solution of `auclab.solve` on its training sample.

        Parameters
        ----------
        solution : Solution
            A linear or a kernel solution.
        X : array or DataFrame of shape (n_samples, 2)
            The training sample.
        y : array of shape (n_samples,)
        n_pairs : int
            Number of pairs at the kink to draw, each negative at most once; none for programs over points.
        pos_label : optional
            The positive class.
        **options
            ``rates``, ``resolution`` (points of the grid along a feature, 100), ``name``, ``ax``.

        Raises
        ------
        AuclabError
            Not two features.

        Examples
        --------
        >>> import auclab
        >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
        >>> solution = auclab.solve(auclab.RankSVM(0.01, squared=True), X, y, kernel="rbf", tolerance=1e-6)
        >>> display = DecisionContourDisplay.from_solution(solution, X, y, n_pairs=2)
        >>> len(display.landmarks), display.pairs.shape
        (4, (2, 2))
        """
        positive, scores = positive_mask(y, pos_label), solution.decision_function(_plane(X))
        found: dict[str, Any] = {}
        if (kernel := solution.on_landmarks) is not None:
            found["landmarks"] = kernel.landmarks
        if solution.formulation.comparisons.name == "pairs":
            found["pairs"] = pairs_at_kink(scores, positive, kink=_kink(solution), most=n_pairs)
        return cls._from_scorer(
            solution.decision_function, X, positive, scores, pos_label=pos_label, **(found | options)
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the scores of a fitted binary classifier of two features; no landmarks and no pairs.

        Parameters
        ----------
        estimator : classifier
            Fitted, or a pipeline that ends in one.
        X : array or DataFrame of shape (n_samples, 2)
        y : array of shape (n_samples,)
        response_method, pos_label, name
            As in `BufferedROCDisplay.from_estimator`.
        **options
            As in `from_solution`.

        Raises
        ------
        AuclabError
            Not a fitted binary classifier, or not two features.
        """
        import pandas as pd

        scorer, pos_label = scorer_of(estimator, response_method, pos_label)
        names = column_names(X)

        def scores_of(rows: Array) -> Array:
            given = rows if names is None else pd.DataFrame(rows, columns=list(names))
            return np.asarray(scorer(estimator, given, np.resize(np.asarray(y), len(rows))), dtype=float)

        name = type(estimator).__name__ if name is None else name
        positive = positive_mask(y, pos_label)
        return cls._from_scorer(scores_of, X, positive, scores_of(_plane(X)), pos_label=pos_label, name=name, **options)

    @classmethod
    def _from_scorer(
        cls,
        scores_of: Callable[[Array], Array],
        X: Any,
        positive: NDArray[np.bool_],
        sample_scores: Array,
        *,
        resolution: int = 100,
        rates: Sequence[float] = (0.05, 0.2, 0.5),
        ax: Axes | None = None,
        **found: Any,
    ) -> Self:
        plane = _plane(X)
        if plane.shape[0] != positive.size:
            raise AuclabError(f"lengths differ: X has {plane.shape[0]} rows, y {positive.size}")
        if not all(0 < rate < 1 for rate in rates):
            raise AuclabError(f"rates must be numbers between 0 and 1, got {list(rates)}")
        low, high = plane.min(axis=0), plane.max(axis=0)
        wider = 0.06 * np.where(high > low, high - low, 1.0)
        first, second = (np.linspace(low[k] - wider[k], high[k] + wider[k], resolution) for k in (0, 1))
        grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
        columns = column_names(X) or ("first feature", "second feature")
        display = cls(
            first=first,
            second=second,
            scores=scores_of(grid).reshape(resolution, resolution),
            X=plane,
            positive=positive,
            sample_scores=sample_scores,
            rates=tuple(rates),
            columns=columns,  # type: ignore[arg-type]
            **found,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Self:
        """Draw on `ax` or on a new figure."""
        with canvas(ax, (COLUMN, 1.12 * COLUMN)) as axes:
            self._draw_levels(axes)
            for mask, colour, label, sign, size in (
                (~self.positive, BLUE, "negatives", ".", 14.0),
                (self.positive, RED, f"positives{class_note(self.pos_label)}", "+", 12.0),
            ):
                rows = self.X[mask][:: max(1, -(-int(mask.sum()) // POINTS))]
                axes.scatter(
                    rows[:, 0], rows[:, 1], s=size, c=colour, marker=sign, label=label, linewidths=0.6, zorder=3
                )
            if self.pairs is not None and len(self.pairs):
                lines = LineCollection(list(self.X[self.pairs]), colors=INK, linewidths=0.5, label="pairs at the kink")
                axes.add_collection(lines)
            if self.landmarks is not None:
                ring: dict[str, Any] = {"s": 24, "facecolors": "none", "edgecolors": INK, "linewidths": 0.7}
                label = f"{len(self.landmarks)} landmarks"
                axes.scatter(self.X[self.landmarks, 0], self.X[self.landmarks, 1], label=label, zorder=5, **ring)
            axes.set(xlabel=self.columns[0], ylabel=self.columns[1])
            axes.set(xlim=(self.first[0], self.first[-1]), ylim=(self.second[0], self.second[-1]))
            despine(axes)
            title = self.name if name is None else name
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, title=title)
            return self._drawn(axes)

    def _draw_levels(self, axes: Axes) -> None:
        negatives = self.sample_scores[~self.positive]
        low, high = float(self.scores.min()), float(self.scores.max())
        if low == high:
            return
        filled = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9])  # false positive rates
        edges = np.unique(np.clip(np.quantile(negatives, 1.0 - filled), low, high))
        edges = np.unique(np.r_[low, edges, high])
        shades = [to_hex(colormaps["Greys"](shade)) for shade in np.linspace(0.04, 0.42, edges.size - 1)]
        axes.contourf(self.first, self.second, self.scores, edges, colors=shades, zorder=1)
        levels = {float(np.quantile(negatives, 1.0 - rate)): f"FPR {rate:g}" for rate in self.rates}
        drawn = sorted(level for level in levels if low < level < high)
        if drawn:
            looks: dict[str, Any] = {"colors": INK, "linewidths": 0.9, "linestyles": "solid", "zorder": 2}
            lines = axes.contour(self.first, self.second, self.scores, drawn, **looks)
            axes.clabel(lines, fmt=levels, fontsize=7)


def pairs_at_kink(scores: Array, positive: NDArray[np.bool_], *, kink: float, most: int) -> NDArray[np.intp]:
    """Row numbers of the pairs whose margin is closest to `kink`, each negative at most once; O(m log m)."""
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    pos = pos[np.argsort(scores[pos], kind="stable")]
    place = np.searchsorted(scores[pos], scores[neg] + kink)
    above, below = pos[np.minimum(place, pos.size - 1)], pos[np.maximum(place - 1, 0)]
    off_above, off_below = (abs(scores[partner] - scores[neg] - kink) for partner in (above, below))
    partner, off = np.where(off_below < off_above, below, above), np.minimum(off_below, off_above)
    return np.column_stack([partner, neg])[np.argsort(off, kind="stable")[:most]]


def _kink(solution: Solution) -> float:
    """``1 − z‖h‖``."""
    program = solution.formulation
    if not program.threshold:
        return 1.0
    kernel = solution.on_landmarks
    length = program.regulariser.norm(solution.coef) if kernel is None else kernel.length
    return float(1.0 - program.threshold * length)


def _plane(X: Any) -> Array:
    """The rows as an array with two columns."""
    rows = as_rows(X)
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    if rows.shape[1] != 2:
        raise AuclabError(f"a plane has two features, and X has the shape {rows.shape}; solve with two columns")
    return rows
