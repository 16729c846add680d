"""Every message of the tables is printed in its situation, and is not printed in a second one.

Each package has a table, tables/PACKAGE.csv; modules.csv has the modules beside the packages. The expressions in it use
the names of situations/__init__.py and, where there is one, of situations/PACKAGE.py.
"""

import csv
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

from messages.heard import heard
from messages.source_messages import package_of, pattern_of, source_messages

FOLDER = Path(__file__).parent
#: The modules that say a text.
SAID_BY: defaultdict[str, list[str]] = defaultdict(list)
for _module, _text in source_messages():
    SAID_BY[_text].append(_module)


def _entries() -> list[dict[str, str]]:
    entries = []
    for path in sorted((FOLDER / "tables").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            entries += [{**entry, "package": path.stem} for entry in csv.DictReader(file)]
    return entries


ENTRIES = _entries()


def names_for(package: str) -> dict[str, object]:
    """What the expressions of a package's table may use."""
    own = f"messages.situations.{package}" if (FOLDER / "situations" / f"{package}.py").exists() else None
    names = vars(import_module("messages.situations"))
    return {**names, **vars(import_module(own))} if own else dict(names)


#: Packages whose situations are runs, which Hydra composes in a tenth of a second each.
WITH_RUNS = {"cli", "runs"}
CASES = [
    pytest.param(
        entry,
        id=f"{entry['module']}: {entry['message'][:50]}",
        marks=[pytest.mark.slow] if entry["package"] in WITH_RUNS else [],
    )
    for entry in ENTRIES
]


@pytest.mark.parametrize("entry", CASES)
def test_a_message_is_printed_in_its_situation_and_not_in_another(entry):
    names, pattern = names_for(entry["package"]), pattern_of(entry["message"])
    shown = heard(entry["printed by"], names)
    assert any(map(pattern.match, shown.texts)), shown
    if shown.error is not None and SAID_BY[entry["message"]] != [entry["module"]]:  # another module says the same
        assert any(file.endswith(entry["module"]) for file in shown.modules), shown.modules
    silent = heard(entry["not by"], names)
    assert silent.error is None, silent
    assert not any(map(pattern.match, silent.texts)), silent


def test_entries_are_messages_of_the_source():
    known = source_messages()
    strangers = [entry for entry in ENTRIES if (entry["module"], entry["message"]) not in known]
    assert strangers == []
    assert [entry for entry in ENTRIES if entry["package"] != package_of(entry["module"])] == []


def test_no_second_situation_is_empty():
    assert [entry for entry in ENTRIES if entry["not by"] in ("None", "")] == []


def test_a_pattern_takes_any_values():
    assert pattern_of("level must lie in (0, 1), got …").match("level must lie in (0, 1), got 2")
    assert not pattern_of("level must lie in (0, 1), got …").match("level=2")
