"""Figures of examples for sphinx-gallery: displays draw without pyplot, so their figures are found by name."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

SAVED: WeakSet[Figure] = WeakSet()


def display_scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any], **_: Any) -> str:
    """Save the figures of displays, and figures themselves, that a block of code has left in its variables."""
    paths = []
    for value in list(block_vars["example_globals"].values()):
        figure = getattr(value, "figure_", value)
        if isinstance(figure, Figure) and getattr(figure, "number", None) is None and figure not in SAVED:
            SAVED.add(figure)
            paths.append(next(block_vars["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=130)
    return figure_rst(paths, gallery_conf["src_dir"])
