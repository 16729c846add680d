"""Every dotted name of the package that a docstring or a page mentions exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.lint

ROOT = Path(__file__).parents[1]
# The changelog speaks of earlier names too.
PAGES = [path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")] if path.name != "CHANGELOG.md"]
FILES = sorted([*PAGES, ROOT / "docs" / "papers.csv", *(ROOT / "src" / "auclab").rglob("*.py")])
#: A name in backquotes, with or without a call after it; the pattern ends at a space, so that commands are left out.
BACKQUOTED = re.compile(r"`(auclab(?:\.\w+)+)(?:\([^`]*\))?`")
#: A line of a See Also section: one name or several, then a colon.
SEE_ALSO = re.compile(r"^\s+(auclab\.[\w.]+(?:, auclab\.[\w.]+)*)(?: :|$)", re.MULTILINE)


def references(text):
    """The dotted names that a text mentions."""
    listed = (name for names in SEE_ALSO.findall(text) for name in names.split(", "))
    return sorted({*BACKQUOTED.findall(text), *listed})


def exists(name):
    """Whether a dotted name is a module, or an attribute of one, at any depth."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            if part in getattr(found, "__dataclass_fields__", {}):
                return True
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


WITH_REFERENCES = [path for path in FILES if references(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", WITH_REFERENCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_exist(path):
    assert [name for name in references(path.read_text(encoding="utf-8")) if not exists(name)] == []


def test_what_counts_as_a_reference():
    text = """`auclab.solve`, `auclab.solvers.solve_path(a, b)`; `auclab run x=1`, auclab.py

    See Also
    --------
    auclab.RankSVM, auclab.CSVM : Two.
    """
    assert references(text) == ["auclab.CSVM", "auclab.RankSVM", "auclab.solve", "auclab.solvers.solve_path"]
    assert [name for name in references(text) if not exists(name)] == ["auclab.solvers.solve_path"]
    assert exists("auclab.Solution.history")
