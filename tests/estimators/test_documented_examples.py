"""The examples of the page on scikit-learn are executed."""

import doctest
from pathlib import Path


def test_the_examples_of_the_page_are_right():
    page = Path(__file__).parents[2] / "docs" / "scikit_learn.md"
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.attempted > 15
    assert found.failed == 0
