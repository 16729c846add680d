"""Tests that check stored runs are slow: the runs are made first, which takes seconds."""

from pathlib import Path

import pytest

#: The fixtures that make them.
RUNS = {"made", "over_kernels"}


def pytest_collection_modifyitems(items):
    """Marks them; those of this folder alone, as the hook is given all tests."""
    for item in items:
        if item.path.parent == Path(__file__).parent and RUNS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
