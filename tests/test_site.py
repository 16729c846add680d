"""The site has a page for every public name, and every page has its place; `.ci/run` builds it."""

import importlib.util
import re
import shlex
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

from test_documents import PAGES as ALL_PAGES
from test_public_names import CALLS
from test_references import BACKQUOTED

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [path for path in ALL_PAGES if DOCS in path.parents]


def public_names() -> ModuleType:
    """The extension that lists what is public; it needs no Sphinx."""
    if "public_names" not in sys.modules:
        spec = importlib.util.spec_from_file_location("public_names", DOCS / "_ext" / "public_names.py")
        sys.modules["public_names"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["public_names"])
    return sys.modules["public_names"]


def test_every_public_name_has_a_page():
    """By ``__all__``, and by the contract of tests/test_public_names.py."""
    names, pages = public_names().names(), public_names().pages()
    assert len(names) > 150
    for module in public_names().modules():
        for name in import_module(module).__all__:
            page = names[f"{module}.{name}"]
            assert public_names().named(page) is getattr(import_module(module), name)
            listed = pages["index.rst" if page in public_names().ALSO else f"{page.rpartition('.')[0]}.rst"]
            assert re.search(rf"^   {page.rpartition('.')[2]}$", listed, re.MULTILINE), page
    for module, line in CALLS:
        assert f"{module}.{line.partition('(')[0]}" in names


def test_a_name_of_several_packages_has_one_page():
    names = public_names().names()
    assert names["auclab.formulations.RankSVM"] == names["auclab.RankSVM"] == "auclab.RankSVM"
    assert names["auclab.inference.estimate"] == "auclab.estimate"


def test_what_the_pages_mention_has_a_page():
    """Functions and classes in the text of the guide lead somewhere."""
    missing = {}
    for page in PAGES:
        for name in BACKQUOTED.findall(page.read_text(encoding="utf-8")):
            try:
                value = resolve_name(name)
            except (AttributeError, ImportError):
                continue  # a field; test_references.py looks for it
            module = getattr(value, "__module__", None) or ""
            public = callable(value) and module.startswith("auclab.") and name not in public_names().names()
            if public and name.rpartition(".")[0] not in public_names().names():
                missing.setdefault(page.name, []).append(name)
    assert missing == {}


def test_every_page_is_in_the_contents():
    """A page that no list of contents names is found by nobody: add it to user_guide.md, studies.md or another list."""
    listed = {"index"}
    for page in PAGES:
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.M):
            folder = page.parent.relative_to(DOCS)
            for line in (line for line in block.splitlines() if line and not line.startswith(":")):
                listed |= {str(found.relative_to(DOCS).with_suffix("")) for found in DOCS.glob(f"{folder / line}.md")}
    assert [page.name for page in PAGES if str(page.relative_to(DOCS).with_suffix("")) not in listed] == []


def test_links_to_pages_outside_of_docs():
    """CONTRIBUTING.md is a page of the site; its links, and those of the pages to it, are rewritten."""
    pytest.importorskip("sphinx", reason="pip install 'auclab[docs]'")
    spec = importlib.util.spec_from_file_location("repository_pages", DOCS / "_ext" / "repository_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = DOCS / "solvers.md"
    text = (
        "[c](../CONTRIBUTING.md#write), `[c](../CHANGELOG.md)`, [b](bounds.md), [s](../run.py), [w](https://a.org/x.md)"
    )
    assert module.rewritten(text, page, page) == text.replace("(../CONT", "(repository/CONT")
    contributing = DOCS.parent / "CONTRIBUTING.md"
    place = module.place_of(contributing)
    assert module.rewritten("[d](docs/bounds.md), [r](src/x.py)", contributing, place) == (
        "[d](../bounds.md), [r](../../src/x.py)"
    )


def test_long_commands_are_shown_whole():
    """A command that is cut off at the edge of its block cannot be read; the shell takes the lines as one command."""
    pytest.importorskip("sphinx", reason="pip install 'auclab[docs]'")
    spec = importlib.util.spec_from_file_location("terminal", DOCS / "_ext" / "terminal.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    blocks = [re.findall(r"^```\{terminal\}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.M) for page in PAGES]
    lines = [line for found in blocks for block in found for line in block.splitlines()]
    commands = [line for line in lines if line and not line.startswith((":", "#"))]
    shown = {command: module.folded(command) for command in commands}
    assert sum(len(parts) > 1 for parts in shown.values()) > 5
    for command, parts in shown.items():
        assert shlex.split(" ".join(parts).replace("\\ ", "")) == shlex.split(command)
        assert all(len(part) <= module.COLUMNS or len(module.WORDS.findall(part)) <= 2 for part in parts), parts
