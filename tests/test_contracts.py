"""Contracts of the layout that import-linter (``lint-imports``, pyproject.toml) cannot express."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

from test_documents import GENERATED

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "auclab"
MODULES = sorted(SOURCE.rglob("*.py"))
SCRIPTS = sorted(
    path
    for folder in ("experiments", "benchmarks", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if not GENERATED & set(path.parents)
)


@cache
def parsed(path: Path) -> ast.Module:
    """A file, parsed once for all rules."""
    return ast.parse(path.read_text(encoding="utf-8"))


def module_name(path: Path) -> str:
    """``auclab.metrics.cost`` for ``src/auclab/metrics/cost.py``; a package is named by its folder."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(path) for path in MODULES}


def package_of(module: str) -> str:
    """``auclab.metrics`` for ``auclab.metrics.cost`` and for ``auclab.metrics``."""
    return module if (SOURCE.parent / module.replace(".", "/")).is_dir() else module.rpartition(".")[0]


def imported_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Dotted names a file imports, ``module.name`` for ``from module import name``, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def private_imports(tree: ast.AST, *, package: str) -> list[str]:
    """Imports of underscored names of auclab whose own package is not `package`; `_core` belongs to all of auclab."""
    found = []
    for name, line in imported_names(tree):
        parts = name.replace("auclab._core", "auclab.core").split(".")
        private = [k for k, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")]
        if parts[0] == "auclab" and private and package_of(".".join(parts[: private[0]])) != package:
            found.append(f"line {line}: {name}")
    return found


def private_attributes(tree: ast.AST) -> list[str]:
    """Underscored attributes of imported modules of auclab, ``metrics._errors``."""
    modules = {name.rpartition(".")[2] for name, _ in imported_names(tree) if name in NAMES}
    return [
        f"line {node.lineno}: {node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
    ]


@pytest.mark.parametrize(
    ("line", "package", "allowed"),
    [
        ("from auclab.metrics.cost import _hull", "auclab.metrics", True),
        ("from auclab.metrics.cost import _hull", "auclab.solvers", False),
        ("from auclab.metrics._cost import hull", "auclab.solvers", False),
        ("from auclab.solvers.solution import _Raw", "auclab.solvers.newton", False),
        ("from auclab import __version__", "auclab.solvers", True),
        ("from sklearn.utils._response import x", "auclab.solvers", True),
    ],
)
def test_the_rule_on_underscored_names(line: str, package: str, allowed: bool):
    assert (private_imports(ast.parse(line), package=package) == []) is allowed


@pytest.mark.slow
def test_no_underscored_name_is_imported_across_packages():
    found = {}
    for path in [*MODULES, *SCRIPTS, ROOT / "run.py"]:
        tree = parsed(path)
        package = package_of(module_name(path)) if path.is_relative_to(SOURCE) else ""
        if names := private_imports(tree, package=package) + private_attributes(tree):
            found[str(path.relative_to(ROOT))] = names
    assert not found


@pytest.mark.slow
def test_no_circles_between_files():
    """File by file, `__init__` included, which lint-imports takes for the package as a whole."""
    graph = {}
    for path in MODULES:
        names = {name for name, _ in imported_names(parsed(path))}
        # `from auclab.metrics import cost` imports a module, `from auclab.metrics import auc_score` the package.
        graph[module_name(path)] = {
            module for name in names if (module := name if name in NAMES else name.rpartition(".")[0]) in NAMES
        }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.slow
def test_what_is_imported_is_declared():
    """A library that comes along with another one may stop coming."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = {re.split(r"[\[<>=!~; ]", line)[0].lower().replace("_", "-") for line in declared}
    declared |= {"dask"}  # dask and distributed are one release
    declared |= {"auclab-scorer"}  # the copy of export/scorer.py in the folder of a model
    provides = packages_distributions()
    for path in sorted((ROOT / "src").rglob("*.py")):
        for name, line in imported_names(parsed(path)):
            top = name.partition(".")[0]
            if top in sys.stdlib_module_names or top in ("auclab", "experiments", "hydra_plugins"):
                continue
            distributions = {found.lower().replace("_", "-") for found in provides.get(top, [top])}
            assert distributions & declared, f"{path.name}, line {line}: {top}"
