"""Figures of the pages as small files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image


def save_figure(figure: object, path: Path) -> None:
    """Write a figure with a palette of 256 colours, which halves the file without visible change."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    image = Image.open(buffer).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
