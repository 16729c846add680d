"""Formulations state programs and solve none: they import no solver, no model and nothing above them."""

import ast
from pathlib import Path

import pytest

import auclab.formulations

FILES = sorted(Path(auclab.formulations.__file__).parent.glob("*.py"))
ALLOWED = (
    "auclab.margins",
    "auclab._core",
    "auclab.losses",
    "auclab.formulations",
    "auclab.regularisers",
    "auclab.samples",
)
SOLVERS = ("clarabel", "cvxpy", "highspy", "pyomo", "scipy.optimize")


def imported(path):
    """Every module that a file imports, inside functions too, and whatever it imports by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def below(name, packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_formulations_import_what_is_below_them(path):
    names = set(imported(path))
    assert [name for name in names if below(name, SOLVERS)] == []
    assert [name for name in names if below(name, ["auclab"]) and not below(name, ALLOWED)] == []
    assert "import_module" not in path.read_text(encoding="utf-8")
