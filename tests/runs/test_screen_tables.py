"""Tables and facts in narrow terminals: nothing is cut off, and a command can be copied."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab.runs.screen import console as tables
from auclab.runs.screen.console import Screen


def shown(show, **options):
    """The lines that `show` prints on a screen with these options."""
    console, before = Screen(file=io.StringIO(), **options), tables.out
    tables.out = console
    try:
        show()
    finally:
        tables.out = before
    return console.file.getvalue().splitlines()


@given(
    st.lists(st.lists(st.text("ab1±", min_size=1, max_size=12), min_size=6, max_size=6), min_size=1, max_size=4),
    st.integers(40, 90),
)
def test_every_cell_of_any_table_is_shown(cells, width):
    """Whole, or over several lines of its column."""
    lines = shown(lambda: tables.print_table(["row", "b", "c", "d", "e", "f"], cells, left=(0,)), width=width)
    assert max(map(len, lines)) <= width
    signs = sorted(sign for line in lines[3:] for sign in line if sign in "ab1±")
    assert signs == sorted("".join(map("".join, cells)))


def test_a_file_has_tables_in_their_natural_width():
    head = ["name", *(f"column {k}" for k in range(40))]
    lines = shown(lambda: tables.print_table(head, [["x", *("0.9147 ± 0.0288" for _ in head[1:])]]))
    assert sum("0.9147" in line for line in lines) == 1
    assert max(map(len, lines)) < 1000


@pytest.mark.parametrize("terminal", [True, False])
def test_a_long_text_is_wrapped_in_a_terminal_only_and_a_command_nowhere(terminal):
    options = {"force_terminal": True, "color_system": None, "width": 30} if terminal else {}
    text, command = "filled 210 gaps in 3 columns [a]", "auclab evaluate last NEW.csv measures the model"
    lines = [line.rstrip() for line in shown(lambda: tables.print_row("note", text, 9), **options)]
    assert lines == (["note     filled 210 gaps in 3", "         columns [a]"] if terminal else [f"note     {text}"])
    assert shown(lambda: tables.print_row("note", command, 9), **options) == [f"note     {command}"]
