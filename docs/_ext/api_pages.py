"""The API reference: docs/api/, which git ignores, with a page for every public name, and links to these pages."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, resolve_name
from typing import Any

from docutils import nodes
from public_names import modules, named, names, pages
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.nodes import make_refnode

API = Path(__file__).parents[1] / "api"


def keep_equations(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Indented paragraphs before the first section of a docstring are equations: keep their lines and characters."""
    ruled = (k for k, line in enumerate(lines) if k and re.fullmatch(r" *-{3,}", line))
    end = next(ruled, len(lines) + 1) - 1
    for k in range(end - 1, 0, -1):
        before = next((line for line in reversed(lines[:k]) if line.strip()), "")
        starts = lines[k].startswith("    ") and not lines[k - 1].strip() and not before.startswith((" ", "*"))
        if starts and not before.endswith("::"):
            lines[k:k] = ["::", ""]


def write_pages(app: Sphinx, config: Config) -> None:
    """Write docs/api/, before files are looked for; pages of names that are gone are removed."""
    API.mkdir(exist_ok=True)
    wanted = pages()
    for name, text in wanted.items():
        if not (API / name).exists() or (API / name).read_text(encoding="utf-8") != text:
            (API / name).write_text(text, encoding="utf-8")
    kept = {*wanted, *(f"{page}.rst" for page in names().values())}
    for old in API.glob("*.rst"):
        if old.name not in kept:
            old.unlink()


def resolve(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement) -> Any:
    """A reference by another public name of an object that has its page elsewhere, or by its last part alone.

    What exists and has no page, such as a helper of the same module, is not a link.
    """
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py":
        return None
    if target in modules():
        return make_refnode(app.builder, node["refdoc"], f"api/{target}", "", content)
    ends = [name for name in names() if name.endswith(f".{target}")]
    page = names().get(target) or (names()[ends[0]] if ends else page_of_object(target))
    if page is None:
        return content if exists(target, node.get("py:module")) else None
    domain = env.domains.python_domain
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", page, node, content)


def page_of_object(target: str) -> str | None:
    """The public name of an object that is mentioned by the module where it is written."""
    module, _, last = target.rpartition(".")
    try:
        value = getattr(import_module(module), last)
    except (AttributeError, ImportError, ValueError):
        return None
    pages = sorted({page for page in names().values() if page.rpartition(".")[2] == last})
    return next((page for page in pages if callable(value) and named(page) is value), None)


@cache
def comments(module: str) -> dict[tuple[str, str], list[str]]:
    """The ``#:`` comments above the constants of a module and of the next ones."""
    found: dict[tuple[str, str], list[str]] = {}
    package = import_module(module)
    for each in [module, *(part.name for part in iter_modules(package.__path__, f"{module}."))]:
        found |= ModuleAnalyzer.for_module(each).find_attr_docs()
    return found


def describe_constants(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """A constant that a package takes from one of its modules has the comment above it there."""
    module, _, last = name.rpartition(".")
    if what == "data" and module in modules():
        lines[:] = comments(module).get(("", last), lines)


def exists(target: str, module: str | None) -> bool:
    """Whether there is such a name, in full or in `module`."""
    for name in (target, f"{module}.{target}"):
        try:
            resolve_name(name)
        except (AttributeError, ImportError, ValueError):
            continue
        return True
    return False


def link_code_spans(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """``auclab.solve`` in a code span leads to its page, if it has one."""
    domain = app.env.domains.python_domain
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.reference) or "auclab." not in literal.astext():
            continue
        target = re.fullmatch(r"(auclab(?:\.\w+)+)(\(.*\))?", literal.astext(), re.DOTALL)
        if target is None:
            continue
        name = names().get(target[1], target[1])
        if name in domain.objects or name in domain.modules:
            xref = addnodes.pending_xref("", reftarget=name, reftype="obj", refdomain="py", refdoc=docname)
            link = domain.resolve_xref(app.env, docname, app.builder, "obj", name, xref, literal.deepcopy())
            if link is not None:
                literal.replace_self(link)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", describe_constants, priority=90)
    app.connect("autodoc-process-docstring", keep_equations, priority=100)  # before numpydoc
    app.connect("missing-reference", resolve)
    app.connect("doctree-resolved", link_code_spans)
    return {"parallel_read_safe": True}
