"""Helpers of the figures of studies: panels in the style of the displays, summaries of results, small files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

from auclab._core.base import AuclabError
from auclab.displays.canvas import RC_PARAMS
from experiments.study import VALUE, read


class Summary(NamedTuple):
    """Mean, standard deviation (0 for one) and number of the values of a claim in one variant."""

    mean: float
    sd: float
    number: int


def summaries(path: Path) -> dict[tuple[str, str], Summary]:
    """Summaries of a file of results, by claim and variant."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in read(path)[2]:
        values.setdefault((row.claim_id, row.variant), []).append(row.value)
    return {key: Summary(fmean(v), stdev(v) if len(v) > 1 else 0.0, len(v)) for key, v in values.items()}


def sizes(found: Mapping[tuple[str, str], Summary], claim: str) -> dict[int, Summary]:
    """The summaries of the variants ``n=…`` of a raw value, by n."""
    name = VALUE + claim
    return {int(variant[2:]): found[key, variant] for key, variant in found if key == name and variant[:2] == "n="}


def panels(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """A new figure with axes in the style of the displays; `options` are passed to ``subplots``."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def draw(figures: Mapping[str, Callable[[], Figure]], folder: Path) -> None:
    """Draw every figure into ``folder/<name>.png``, with a palette of 256 colours; one without its data is skipped."""
    folder.mkdir(exist_ok=True)
    for name, make in figures.items():
        with rc_context(RC_PARAMS):
            try:
                figure = make()
            except AuclabError as error:
                print(f"{name}: not drawn, {error}")
                continue
            buffer = BytesIO()
            figure.savefig(buffer, format="png", dpi=160)
        path = folder / f"{name}.png"
        Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"{path.name}  {path.stat().st_size / 1000:.0f} kB")
