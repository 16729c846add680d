"""Every message of messages.csv is printed in its situation, and is not printed in a second one.

The table grows: the number of messages in the source that it lacks may only fall.
"""

import csv
from pathlib import Path

import pytest

from auclab.types import AuclabError
from messages.situations import NAMES
from messages.source_messages import pattern_of, source_messages

with (Path(__file__).parent / "messages.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))
#: Messages in the source without an entry in the table: lower it with every entry.
WITHOUT_ENTRY = 690


@pytest.mark.parametrize("entry", TABLE, ids=[f"{entry['module']}: {entry['message'][:50]}" for entry in TABLE])
def test_a_message_is_printed_in_its_situation_and_not_in_another(entry):
    with pytest.raises(AuclabError) as caught:
        eval(entry["printed by"], dict(NAMES))
    assert pattern_of(entry["message"]).match(str(caught.value)), str(caught.value)
    eval(entry["not by"], dict(NAMES))  # which raises nothing


def test_entries_are_messages_of_the_source():
    known = source_messages()
    assert [entry for entry in TABLE if (entry["module"], entry["message"]) not in known] == []


def test_the_number_of_messages_without_an_entry_does_not_rise():
    entries = {(entry["module"], entry["message"]) for entry in TABLE}
    assert len(set(source_messages()) - entries) <= WITHOUT_ENTRY


def test_a_pattern_takes_any_values():
    assert pattern_of("level must lie in (0, 1), got …").match("level must lie in (0, 1), got 2")
    assert not pattern_of("level must lie in (0, 1), got …").match("level=2")
