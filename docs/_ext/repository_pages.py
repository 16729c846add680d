"""Pages of the repository that lie outside of docs/ (contributing, changelog, studies) as pages of the site.

They are copied to docs/repository/, which git ignores, with their links rewritten; links of the pages in docs/ to them
are rewritten when the pages are read. Other files, such as scripts and tables, become downloads.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
COPIES = DOCS / "repository"
PATTERNS = ("CONTRIBUTING.md", "CHANGELOG.md", "experiments/*.md", "experiments/*/*.md", "benchmarks/*/README.md")
#: Where the pages of programs are found when the site is built.
GALLERIES = {DOCS / "examples": DOCS / "gallery", DOCS / "tutorials": DOCS / "tutorials_python"}
#: A link whose text is the name of its file: on the site it has the title of the page.
FILE_NAME = re.compile(r"\[(?:\w+/)*\w+\.md\]\(([^)\s#]+\.md)(#[^)\s]*)?\)")
#: A link or an image, but none in a fenced block or a code span.
LINK = re.compile(r"^```.*?^```|`[^`]*`(?!\])|\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)", re.M | re.S)


def pages() -> list[Path]:
    """The pages outside of docs/."""
    return sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern))


def place_of(path: Path) -> Path:
    """Where a file is found when the site is built: copied pages elsewhere, everything else where it lies."""
    return COPIES / path.relative_to(ROOT) if path in set(pages()) else path


def rewritten(text: str, original: Path, place: Path) -> str:
    """`text` of the page `original` with its links as they have to be at `place`."""

    def link(found: re.Match[str]) -> str:
        target = found["target"]
        if target is None or "://" in target or target.startswith("mailto:"):
            return found[0]
        file = (original.parent / target).resolve()
        if file.parent in GALLERIES and file.suffix == ".py":
            file = GALLERIES[file.parent] / file.with_suffix(".rst").name
        if file.suffix == ".png" and place != original:
            copied = COPIES / file.relative_to(ROOT)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copied)
            file = copied
        elif ROOT in file.parents:
            file = place_of(file)
        return f"]({os.path.relpath(file, place.parent)}{found['anchor'] or ''})"

    return LINK.sub(link, FILE_NAME.sub(r"[](\1\2)", text))


def copy_pages(app: Sphinx, config: Config) -> None:
    """Write docs/repository/; a page that has not changed keeps its date, so that it is not read again."""
    kept = set()
    for page in pages():
        place = place_of(page)
        kept.add(place)
        text = rewritten(page.read_text(encoding="utf-8"), page, place)
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    for old in set(COPIES.rglob("*.md")) - kept:
        old.unlink()


def rewrite_links(app: Sphinx, docname: str, source: list[str]) -> None:
    """The links of a page in docs/ to pages outside."""
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md" and COPIES not in page.parents and DOCS in page.parents:
        source[0] = rewritten(source[0], page, page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("config-inited", copy_pages)
    app.connect("source-read", rewrite_links)
    return {"parallel_read_safe": True}
