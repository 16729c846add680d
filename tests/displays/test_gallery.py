"""The page docs/gallery.md: its blocks run, and its pictures are there and small."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"


def test_the_page_draws_its_pictures(tmp_path):
    spec = importlib.util.spec_from_file_location("gallery", PAGE.with_suffix(".py"))
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    drawn = gallery.draw(tmp_path)
    shown = re.findall(r"\(gallery/([^)]*)\)", PAGE.read_text(encoding="utf-8"))
    kept = {path.name for path in PAGE.with_suffix("").glob("*.png")}
    assert [path.name for path in drawn] == shown
    assert kept == set(shown)
    assert len(shown) <= 12
    for path in drawn:
        assert 3_000 < path.stat().st_size < 60_000
        assert (PAGE.parent / "gallery" / path.name).stat().st_size < 60_000
