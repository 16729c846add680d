"""Style of all displays: colours, line styles, sizes for one journal column, labels.

The colours are those of Okabe & Ito (2008), which colour-blind readers can distinguish; every series also has its
own line style, and filled areas differ in lightness, for print in grey.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
from matplotlib import colormaps, rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from auclab.types import Array

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
