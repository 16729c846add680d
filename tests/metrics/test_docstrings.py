"""Public docstrings of metrics, inference and bounds: related names are there, and they exist."""

import re
from importlib import import_module

import pytest

from auclab import bounds, inference, metrics

PUBLIC = [(module, name) for module in (metrics, inference, bounds) for name in module.__all__ if name != "METRICS"]


def resolve(name, module):
    """An object by a dotted name, or by its name in a module."""
    if not name.startswith("auclab"):
        return getattr(module, name)
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[name for _, name in PUBLIC])
def test_related_names_are_named_and_exist(module, name):
    section = re.search(r"See Also\n\s+-+\n(.*?)(?:\n\s*\n|\Z)", getattr(module, name).__doc__, re.S)
    assert section, f"{module.__name__}.{name} names nothing related"
    for line in section.group(1).strip().splitlines():
        for related in line.split(" : ")[0].split(","):
            assert resolve(related.strip(), module) is not None
