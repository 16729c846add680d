"""The examples of the page on scikit-learn are executed."""

import doctest
import re
from pathlib import Path


def test_the_examples_of_the_page_are_right():
    page = Path(__file__).parents[2] / "docs" / "scikit_learn.md"
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    found = doctest.DocTestRunner().run(examples)
    assert found.attempted > 15
    assert found.failed == 0
