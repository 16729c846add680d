"""Equations of plain characters become MathML: well-formed, without `_` and `^`, and with their roots and indices."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.lint

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "docs" / "_ext"))

equations = pytest.importorskip("equations", reason="sphinx is not installed", exc_type=ImportError)


def blocks(text: str) -> list[str]:
    """Indented paragraphs outside fences that are equations."""
    plain = re.sub(r"^( *)(`{3,}).*?^\1\2 *$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"(?<=\n\n)(?: {4}\S.*\n?)+", plain)
    return [block for block in found if equations.is_equation(block)]


BLOCKS = {
    f"{path.name}-{k}": block
    for path in sorted((ROOT / "docs").glob("*.md"))
    for k, block in enumerate(blocks(path.read_text(encoding="utf-8")))
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_every_equation_of_a_page_is_translated(block):
    tree = ElementTree.fromstring(equations.mathml(block))
    for marked in tree.iter("mover"):
        marked.remove(marked[1])  # the hat
    texts = ["".join(each.itertext()) for each in tree.iter() if len(each) == 0]
    left = {text for text in texts if re.search(r"[_^√]", text)}
    assert left <= set(equations.WHOLE.split("|"))


def test_pages_have_equations():
    assert len(BLOCKS) > 25


def shape(text: str) -> str:
    """Tags and texts of one line, without attributes and spaces."""
    html = re.sub(r"<mspace[^>]*></mspace>|</?mrow>", "", equations.Line(text).row())
    return re.sub(r"<(\w+)[^>]*>", r"<\1>", html)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x_i⁺", "<msubsup><mi>x</mi><mi>i</mi><mo>+</mo></msubsup>"),
        ("2⁻⁵", "<msup><mn>2</mn><mo>−</mo><mn>5</mn></msup>"),
        ("min_{a≥0}", "<munder><mi>min</mi><mi>a</mi><mo>≥</mo><mn>0</mn></munder>"),
        ("√((a + 1)/2)", "<msqrt><mo>(</mo><mi>a</mi><mo>+</mo><mn>1</mn><mo>)</mo><mo>/</mo><mn>2</mn></msqrt>"),
        ("‖g‖_*", "<mo>‖</mo><mi>g</mi><msub><mo>‖</mo><mo>*</mo></msub>"),
        ("½", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        ("R̂_a", "<msub><mover><mi>R</mi><mo>^</mo></mover><mi>a</mi></msub>"),
        ("zS", "<mi>z</mi><mi>S</mi>"),
        ("max_fpr", "<mi>max_fpr</mi>"),
    ],
)
def test_signs_are_translated(text, expected):
    assert shape(text) == expected


@pytest.mark.parametrize("text", ["    pip install auclab", "    x = f(a=1)", "    │ a ≤ b │", "    total  rows ½ ██"])
def test_screens_and_programs_are_no_equations(text):
    assert not equations.is_equation(text)


@pytest.mark.parametrize(("text", "indexed"), [("the Σ_k q_k of w", ["Σ_k", "q_k"]), ("cutting_plane, n_jobs", [])])
def test_names_with_an_index_in_a_sentence(text, indexed):
    assert equations.INDEXED.findall(text) == indexed
