"""Tables in narrow terminals: everything is shown, or named."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab.pipeline.screen.console import Screen
from auclab.pipeline.screen.legend import legend
from auclab.pipeline.screen.tables import print_row, print_table

HEAD = ["run", "name", "mean seconds", "auc", "gap"]
LINES = [
    ["04e86a66", "ranksvm λ=0.01 l2² · ionosphere · seed 0", "0.0284", "0.9147 ± 0.0288", "3.2e-11"],
    ["ad2ad967", "bauc · sonar", "7.12", "0.8556", "—"],
]


def shown(width, head=HEAD, lines=LINES, **options):
    console = Screen(file=io.StringIO(), width=width)
    print_table(head, lines, **{"left": (0, 1), **options}, console=console)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 50, 60, 80, 120])
def test_no_number_is_cut_off(width):
    lines = shown(width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for line in LINES:
        assert all(cell in text for cell in line if cell != line[1])
    for word in " ".join(HEAD + [line[1] for line in LINES]).split():
        assert word in text


def test_columns_to_spare_are_left_out_by_name_before_anything_else():
    lines = shown(60, spare=("gap", "mean seconds"))
    assert lines[-1] == "not shown in 60 columns: gap, mean seconds"
    table = "\n".join(lines[:-1])
    assert "0.9147 ± 0.0288" in table
    assert "3.2e-11" not in table
    assert "7.12" not in table
    assert "not shown" not in "\n".join(shown(120, spare=("gap", "mean seconds")))


def test_heads_take_several_lines_before_a_column_is_left_out():
    wide, narrow = shown(110, spare=("gap",)), shown(78, spare=("gap",))
    assert any("mean seconds" in line for line in wide)
    assert not any("mean seconds" in line for line in narrow)
    assert "not shown" not in "\n".join(wide + narrow)


@given(
    st.lists(st.lists(st.text("ab1±", min_size=1, max_size=12), min_size=6, max_size=6), min_size=1, max_size=4),
    st.integers(20, 90),
)
def test_every_cell_of_any_table_is_shown(cells, width):
    """Wherever one column fits beside the first, all cells are there, whole."""
    cells = [[f"r{number}", *line[1:]] for number, line in enumerate(cells)]
    lines = shown(width, ["row", "b", "c", "d", "e", "f"], cells, left=(0,))
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for line in cells:
        assert set(line) <= set(words)


def test_a_cell_wider_than_the_terminal_is_folded():
    lines = shown(20, ["a", "b"], [["x", "1234567890" * 3]], left=(0,))
    assert max(map(len, lines)) <= 20
    assert "".join(re.findall(r"\d+", "\n".join(lines))) == "1234567890" * 3


def test_the_legend_has_what_is_shown_and_nothing_else():
    assert legend(["csvm λ=0.1 l2² · sonar", "auc"]) == "λ: weight of the norm of w · l2: Euclidean norm · ²: squared"
    assert legend(["ecsvm z=-0.1 linf"]) == "z: threshold of bAUC_z · linf: max |w_k|"
    assert legend(["largest gap"]).startswith("gap: ")
    assert legend(["graz", "l20", "bauction"]) == ""


def test_a_long_text_is_wrapped_in_a_terminal_only_and_a_command_nowhere():
    def shown(text, **options):
        console = Screen(file=io.StringIO(), width=30, **options)
        print_row("note", text, 9, console)
        return console.file.getvalue().splitlines()

    text = "filled 210 gaps in 3 columns [a]"
    assert shown(text, force_terminal=True, color_system=None) == [
        "note     filled 210 gaps in 3",
        "         columns [a]",
    ]
    assert shown(text) == [f"note     {text}"]
    command = "auclab evaluate last NEW.csv measures the model"
    assert shown(command, force_terminal=True, color_system=None) == [f"note     {command}"]
