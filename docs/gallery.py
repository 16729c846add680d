"""Draw the pictures of docs/gallery.md: run its blocks in order, and save `display` wherever a picture follows.

    python docs/gallery.py [folder]

The pictures go to docs/gallery unless a folder is named.
"""

from __future__ import annotations

import re
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

PAGE = Path(__file__).with_name("gallery.md")
_STEP = re.compile(
    r"^```python\n(?P<code>.*?)^```$|^!\[[^\]]*\]\(gallery/(?P<picture>[^)]+)\)$", re.MULTILINE | re.DOTALL
)


def draw(folder: Path) -> list[Path]:
    """Run the page and write its pictures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures: list[Path] = []
    names: dict[str, object] = {}
    for step in _STEP.finditer(PAGE.read_text(encoding="utf-8")):
        if step["code"] is not None:
            exec(compile(step["code"], str(PAGE), "exec"), names)
        else:
            pictures.append(folder / step["picture"])
            save_figure(names["display"].figure_, pictures[-1])
    return pictures


def save_figure(figure: object, path: Path) -> None:
    """Write a figure with a palette of 256 colours, which halves the file without visible change."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    image = Image.open(buffer).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    for drawn in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.with_suffix("")):
        print(f"{drawn}  {drawn.stat().st_size / 1000:.0f} kB")
