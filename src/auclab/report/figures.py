"""Figures of a comparison for the page, as pictures inside it: average ranks, and every split."""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.figure import Figure

from auclab.comparison import Table
from auclab.comparison.diagram import draw_critical_difference
from auclab.displays.pairs import MOST_PANELS, draw_pairs

#: Dots of all panels of a figure.
MOST_DOTS = 5000


@dataclass(frozen=True)
class Drawn:
    """A picture with its caption; `source` is the picture itself, as an address."""

    title: str
    text: str
    source: str


def draw_table(table: Table) -> tuple[Drawn, ...]:
    """The critical-difference diagram, where there are ranks, and the values of each split, where there are several."""
    drawn = []
    if table.ranking is not None:
        drawn.append(
            Drawn(
                "Average ranks.",
                f"Critical-difference diagram over {len(table.rows)} rows: rank 1 is best; Nemenyi's test does not "
                "separate the configurations under one bar.",
                picture(draw_critical_difference(table.ranking)),
            )
        )
    values = {name: block for name, block in table.cells.by_row.items() if len(block) > 1 and block.shape[1] > 1}
    if values and sum(block.size for block in values.values()) <= MOST_DOTS:
        rest = f"; the first {MOST_PANELS} of {len(values)} rows" if len(values) > MOST_PANELS else ""
        drawn.append(
            Drawn(
                "Split by split.",
                f"A dot is one split (seed, fold), a grey line joins those of one split, black is the mean{rest}.",
                picture(draw_pairs(values, metric=table.cells.metric)),
            )
        )
    return tuple(drawn)


def picture(figure: Figure) -> str:
    """SVG without time and random names, so that the same runs give the same page."""
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "auclab", "svg.fonttype": "path"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # signs of a name that the font does not have
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{b64encode(buffer.getvalue()).decode()}"
