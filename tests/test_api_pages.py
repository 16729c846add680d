"""Every public class and function has an example, and names its neighbours."""

import inspect
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))
from public_names import kind, named, names

pytestmark = pytest.mark.lint

PAGES = sorted(page for page in set(names().values()) if kind(named(page)) in ("class", "function"))


@pytest.mark.parametrize("section", [">>> ", "See Also"])
def test_every_page_has_an_example_and_neighbours(section):
    assert [page for page in PAGES if section not in (inspect.getdoc(named(page)) or "")] == []


def test_there_are_pages():
    assert len(PAGES) > 200
