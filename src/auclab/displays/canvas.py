"""What displays share: axes, style, saving.

The colours are those of Okabe & Ito (2008), which colour-blind readers can distinguish; every series also has its
own line style, and filled areas differ in lightness, for print in grey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any, Self
from weakref import WeakSet

import numpy as np
from matplotlib import colormaps, rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure, SubFigure
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.metrics import make_scorer

from auclab._core.base import Array, AuclabError
from auclab._core.validation import finite_vector, positive_mask, weight_vector
from auclab.metrics import ScoredPart

INK, GREY, PALE = "#222222", "#8a8a8a", "#d4d4d4"
BLUE, SKY, RED, GREEN, ORANGE, PURPLE = "#0072b2", "#56b4e9", "#d55e00", "#009e73", "#e69f00", "#aa4499"

#: Width of a column of a journal, in inches.
COLUMN = 3.3
SQUARE, WIDE = (COLUMN, COLUMN), (COLUMN, 2.4)
#: Dots per inch of files: enough for a screen and a page of print; the numbers are kept for larger figures.
DPI = 120
#: Points of a curve, strips of a surface, and where a gap of 0 is drawn on a logarithmic axis.
POINTS, STRIPS, SMALLEST_GAP = 513, 36, 1e-16
#: Characters of a name, or of a legend entry, that fit into one line.
_LONG = 40
#: The style sheet in the folder of this file.
_STYLE = rc_params_from_file(str(Path(__file__).with_name("auclab.mplstyle")), use_default_template=False)
#: Colour and line style of the first, second, … series that have no order; the first is solid.
SERIES: tuple[dict[str, Any], ...] = tuple(_STYLE["axes.prop_cycle"])
#: What is set for a figure; the cycle would change the style of lines whose colour alone is given.
RC_PARAMS: dict[Any, Any] = {key: value for key, value in _STYLE.items() if key != "axes.prop_cycle"}
_SMALL = RC_PARAMS["legend.fontsize"]

#: Figures made by displays: a second display drawn into the axes of a first has the same style.
OWN_FIGURES: WeakSet[object] = WeakSet()


@contextmanager
def canvas(ax: Axes | None, size: tuple[float, float] = WIDE, **options: Any) -> Iterator[Axes]:
    """Axes to draw into: those given, with the caller's style, or those of a new figure with ours.

    A new figure is not registered with pyplot; `options` are passed to ``add_subplot``.
    """
    if ax is not None and ax.figure not in OWN_FIGURES:
        yield ax
        return
    with rc_context(RC_PARAMS):
        if ax is None:
            figure = Figure(figsize=size, layout="constrained")
            OWN_FIGURES.add(figure)
            ax = figure.add_subplot(**options)
            ax.tick_params(labelsize=_SMALL, width=0.6, length=2.5)  # ticks are made later, outside this style
            ax.locator_params(nbins=6)
        yield ax


def despine(ax: Axes) -> None:
    """Hide the frame at the top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)


def panel_above(ax: Axes, label: str) -> Axes:
    """A low panel above the axes that shares their horizontal axis."""
    above = ax.inset_axes((0.0, 1.06, 1.0, 0.2), sharex=ax)
    above.tick_params(labelbottom=False, labelsize=ax.get_yticklabels()[0].get_fontsize(), width=0.6, length=2.5)
    above.set_ylabel(label)
    despine(above)
    return above


def ordered(count: int) -> list[dict[str, Any]]:
    """Styles of an ordered family of series: from dark to light, with different dashes."""
    shades = map(to_hex, colormaps["viridis"](np.linspace(0.0, 0.8, count)))
    return [{**SERIES[(k + 1) % len(SERIES)], "color": shade} for k, shade in enumerate(shades)]


def style(default: Mapping[str, Any], changes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Keyword arguments of a line: the defaults, updated with the caller's."""
    return {**default, **(changes or {})}


def roc_axes(ax: Axes, pos_label: Any = None, *, chance: bool = True) -> None:
    """Labels, limits and equal scales of ROC space, and the diagonal of chance."""
    if chance and not any(line.get_label() == "_chance" for line in ax.get_lines()):
        ax.plot([0, 1], [0, 1], color=PALE, linewidth=1, zorder=1, label="_chance")
    which = class_note(pos_label)
    ax.set(xlabel=f"false positive rate{which}", ylabel=f"true positive rate{which}")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    ax.set_xticks(np.linspace(0, 1, 6))
    ax.set_yticks(np.linspace(0, 1, 6))
    despine(ax)


def labelled(name: str | None, text: str) -> str:
    """Entry of a legend, preceded by the name of the scorer if there is one."""
    if not name:
        return text
    return f"{name},{' ' if len(name) + len(text) < _LONG else chr(10)}{text}"


def shortened(name: str, most: int = _LONG) -> str:
    """A name that fits into a line, and of which no part is read as a formula, as text between dollars would."""
    return (name if len(name) <= most else f"{name[: most - 1]}…").replace("$", r"\$")


def class_note(pos_label: Any) -> str:
    """The positive class in brackets if its label is a string."""
    return f" ({pos_label})" if isinstance(pos_label, str) else ""


def number(value: float) -> str:
    """Three digits, and a minus sign instead of a hyphen."""
    return f"{value:.3g}".replace("-", "−")


def thinned(x: Array, y: Array, cells: int = 4096) -> tuple[Array, Array]:
    """A curve that rises in both coordinates, with at most 2 · `cells` + 2 of its vertices.

    The length ``x + y`` along the curve is cut into equal cells, and the first and the last vertex of each are kept:
    the curve moves by less than a cell, in ROC space 1/2048, a dot of a journal column printed at 600 dots per inch.
    """
    if x.size <= 2 * cells or (np.diff(x) < 0.0).any() or (np.diff(y) < 0.0).any():
        return x, y
    length = (x - x[0]) + (y - y[0])
    change = np.flatnonzero(np.diff(np.floor(length * (cells / length[-1]))))
    keep = np.unique(np.concatenate(([0], change, change + 1, [x.size - 1])))
    return x[keep], y[keep]


@dataclass(kw_only=True, eq=False, repr=False)
class Display:
    """A figure that holds its numbers.

    `name`: the scorer in the legend. `pos_label`: label of the positive class; named in the figure if it is a string.
    `ax_`, `figure_`: axes and figure of the last `plot`.
    """

    name: str | None = None
    pos_label: Any = None
    ax_: Axes = field(init=False)
    figure_: Figure | SubFigure = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Compute from labels and scores, and draw.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in `auclab.metrics.bauc_score`.
        name : str, optional
            Name of the scorer in the legend.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options
            What the display computes with, and the options of its `plot`.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.bauc_score`, and for options out of range.
        """
        positive, score = positive_mask(y_true, pos_label), finite_vector("y_score", y_score, infinite=True)
        part = ScoredPart(positive, score, weight_vector(sample_weight, score.size))
        return cls.from_scored_part(part, pos_label=pos_label, name=name, ax=ax, **options)

    @classmethod
    def from_scored_part(cls, part: ScoredPart, **options: Any) -> Self:
        """`from_predictions` with scores that are sorted already, of displays that have it.

        Parameters
        ----------
        part : ScoredPart
            Labels and scores of one part of a split.
        **options
            `pos_label`, `name`, `ax` and the others of `from_predictions`.

        Raises
        ------
        AuclabError
            As in `from_predictions`.
        """
        return cls._plotted(part, **options)

    @classmethod
    def _plotted(
        cls, *given: Any, pos_label: Any = None, name: str | None = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw the display of `given`; `options` are those of `_numbers` and of `plot`."""
        own = {key: options.pop(key) for key in signature(cls._numbers).parameters if key in options}
        made: Callable[..., Self] = cls
        return made(**cls._numbers(*given, **own), name=name, pos_label=pos_label).plot(ax, **options)

    @classmethod
    def _numbers(cls, *given: Any, **options: Any) -> dict[str, Any]:
        """The numbers of the display, with the options of `from_predictions` that change them."""
        raise NotImplementedError

    def plot(self, *ax: Any, **options: Any) -> Self:
        """Draw on `ax` or on a new figure; every display has its own options."""
        raise NotImplementedError

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
        """`from_predictions` with the scores that a fitted binary classifier gives to `X`.

        Parameters
        ----------
        estimator : classifier
            Fitted, or a pipeline that ends in one.
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            True labels.
        response_method : {"auto", "decision_function", "predict_proba"}
            Which scores. ``"auto"`` takes `decision_function` where there is one, as `auclab.estimators.bauc_scorer`
            does: buffered AUC depends on the scale of the scores, and probabilities are squeezed at both ends.
        pos_label : optional
            The positive class, ``classes_[1]`` by default.
        name : str, optional
            Name in the legend, the class of the estimator by default.
        **options
            Further arguments of `from_predictions`, such as `sample_weight` and `ax`.

        Raises
        ------
        AuclabError
            Not a fitted binary classifier; what `from_predictions` raises.
        """
        scorer, pos_label = scorer_of(estimator, response_method, pos_label)
        y_score = scorer(estimator, X, y)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, y_score, pos_label=pos_label, name=name, **options)

    def _drawn(self, ax: Axes) -> Self:
        """Set `ax_` and `figure_`."""
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _repr_png_(self) -> bytes | None:
        """Picture for a notebook; None in a figure of the caller, which the notebook shows itself."""
        if self.figure_ not in OWN_FIGURES or not isinstance(self.figure_, Figure):
            return None
        buffer = BytesIO()
        self.figure_.savefig(buffer, format="png")
        return buffer.getvalue()


def check_bins(bins: int) -> None:
    """Refuse a number of bins below 1."""
    if bins < 1:
        raise AuclabError(f"bins must be at least 1, got {bins}")


def scorer_of(estimator: Any, response_method: str, pos_label: Any) -> tuple[Callable[..., Any], Any]:
    """The function of estimator, X and y that gives the scores, and the label of the positive class."""
    classes: Any = getattr(estimator, "classes_", ())
    if not is_classifier(estimator) or len(classes) != 2:
        raise AuclabError(f"{type(estimator).__name__} is not a fitted binary classifier; fit it to two classes first")
    methods = ("decision_function", "predict_proba") if response_method == "auto" else response_method
    pos_label = classes[1] if pos_label is None else pos_label
    return make_scorer(_scores, response_method=methods, pos_label=pos_label), pos_label


def _scores(y_true: ArrayLike, y_score: ArrayLike, *, pos_label: Any) -> ArrayLike:
    """Score function that hands back the scores: `make_scorer` computes them as for every scikit-learn scorer."""
    return y_score
