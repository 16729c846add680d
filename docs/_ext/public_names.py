"""What is public, from the packages' ``__all__``, and the text of its pages; nothing here needs Sphinx."""

from __future__ import annotations

import enum
import inspect
import re
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import auclab

#: Packages in the order of a reader; others follow by name.
ORDER = (
    "auclab",
    "auclab.formulations",
    "auclab.margins",
    "auclab.losses",
    "auclab.regularisers",
    "auclab.solvers",
    "auclab.kernels",
    "auclab.scorecards",
    "auclab.metrics",
    "auclab.inference",
    "auclab.bounds",
    "auclab.estimators",
    "auclab.displays",
    "auclab.datasets",
    "auclab.samples.blocks",
    "auclab.models",
    "auclab.runs",
)
#: Captions of the sidebar, and their packages.
GROUPS = {
    "Solve": (
        *("auclab", "auclab.formulations", "auclab.margins", "auclab.losses", "auclab.regularisers"),
        *("auclab.solvers", "auclab.kernels", "auclab.scorecards", "auclab.models"),
    ),
    "Measure": ("auclab.metrics", "auclab.metrics.summary", "auclab.inference", "auclab.bounds", "auclab.displays"),
    "Estimators and data": ("auclab.estimators", "auclab.datasets", "auclab.samples.blocks"),
    "Runs": ("auclab.runs",),
}
#: Functions that the guide names and that no package exports.
ALSO = (
    "auclab.datasets.artificial.make_artificial",
    "auclab.displays.coefficients.draw_feature_path",
    "auclab.export.formula.scorer_of",
    "auclab.solvers.integer.solver.feature_path",
    "auclab.solvers.path.solve_path",
    "auclab.testing.check_bound",
    "auclab.testing.check_loss",
    "auclab.testing.check_regulariser",
)


def modules() -> list[str]:
    """The packages that say in ``__all__`` what is public."""
    found = {"auclab"}
    for module in walk_packages(auclab.__path__, "auclab."):
        if module.ispkg and getattr(import_module(module.name), "__all__", ()):
            found.add(module.name)
    return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


@cache
def names() -> dict[str, str]:
    """Every public name ``auclab.package.name``, with the one that has its page.

    An object that several packages export has one page, at the first of them.
    """
    pages: dict[int, str] = {}
    found: dict[str, str] = {}
    for module in modules():
        for name in import_module(module).__all__:
            value = getattr(import_module(module), name)
            full = f"{module}.{name}"
            shared = callable(value) and not isinstance(value, ModuleType)
            found[full] = pages.setdefault(id(value), full) if shared else full
    return found | {name: name for name in ALSO}


def named(name: str) -> Any:
    """The object, also if a module of the same folder has its name."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def kind(value: Any) -> str:
    """What autosummary calls the object, which decides its template."""
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isroutine(value) else "data"


def own_members(name: str) -> list[tuple[str, str]]:
    """Public methods and properties that auclab documents, or the members of an enumeration, with their directives.

    What formulations have in common is on the pages of their public bases.
    """
    value = named(name)
    shown_elsewhere = [base for base in value.__mro__[1:] if f"auclab.formulations.{base.__name__}" in names()]
    found = dict.fromkeys(value.__members__, "autoattribute") if issubclass(value, enum.Enum) else {}
    for base in reversed(value.__mro__):
        if base.__module__.partition(".")[0] != "auclab":
            continue
        for key, item in vars(base).items():
            documented = getattr(getattr(item, "__func__", item), "__doc__", None)
            is_method = isinstance(item, classmethod | staticmethod) or inspect.isfunction(item)
            inherited = key != "value" and any(hasattr(elsewhere, key) for elsewhere in shown_elsewhere)
            if not inherited and not key.startswith("_") and documented and (is_method or isinstance(item, property)):
                found[key] = "automethod" if is_method else "autoproperty"
    return [(directive, key) for key, directive in found.items()]


def members() -> dict[str, list[tuple[str, str]]]:
    """`own_members` of every class that has a page; the templates of autosummary read it."""
    pages = set(names().values())
    return {page: own_members(page) for page in sorted(pages) if inspect.isclass(named(page))}


def module_page(module: str) -> str:
    """The page of a package: what it is for, and a table of its names."""
    first, *rest = inspect.getdoc(import_module(module)).split("\n\n", 1)
    own = [name for name, page in names().items() if name.rpartition(".")[0] == module]
    with_page = [name for name in own if names()[name] == name]
    lines = [module, "=" * len(module), "", f".. currentmodule:: {module}", "", first, ""]
    lines += [*rest, ""]
    groups = {"Functions": ("function",), "Classes": ("class", "exception"), "Data": ("data",)}
    for title, kinds in groups.items():
        listed = [name for name in with_page if kind(named(name)) in kinds]
        if listed:
            lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: .", ""]
            lines += [f"   {name.rpartition('.')[2]}" for name in sorted(listed, key=str.lower)] + [""]
    elsewhere = sorted(set(own) - set(with_page), key=str.lower)
    if elsewhere:
        lines += ["Also here", "---------", ""]
        lines += [f"* ``{name.rpartition('.')[2]}``: :obj:`{names()[name]}`" for name in elsewhere] + [""]
    return "\n".join(lines)


def index_page() -> str:
    """The list of packages."""
    lines = ["API reference", "=============", ""]
    lines += ["These names are public: one changes only together with a line in the changelog.", ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for module in modules():
        summary = re.sub(r"^[\w.]+: ", "", inspect.getdoc(import_module(module)).split("\n", 1)[0])
        lines += [f"   * - :doc:`{module} <{module}>`", f"     - {summary}"]
    for caption, listed in groups().items():
        lines += ["", ".. toctree::", "   :hidden:", f"   :caption: {caption}", "", *(f"   {each}" for each in listed)]
    lines += ["", "Functions that are imported from their module:", "", ".. autosummary::", "   :toctree: ."]
    lines += ["   :caption: Functions of single modules", "", *(f"   {name}" for name in ALSO)]
    return "\n".join([*lines, ""])


def groups() -> dict[str, list[str]]:
    """The packages by caption of the sidebar, in the order of a reader; those in no group come last."""
    found: dict[str, list[str]] = {}
    for module in modules():
        caption = next((caption for caption, names in GROUPS.items() if module in names), "More")
        found.setdefault(caption, []).append(module)
    return {caption: found[caption] for caption in (*GROUPS, "More") if caption in found}


def pages() -> dict[str, str]:
    """The pages of the packages and the list of them, by file; those of the names are written by autosummary."""
    return {f"{module}.rst": module_page(module) for module in modules()} | {"index.rst": index_page()}
