"""Every command in the text and the terminals of the pages exists: experiments compose, commands of `auclab` parse.

Those of ``bash`` blocks are run by tests/test_documented_shell.py.
"""

import re
import shlex
from itertools import chain
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from auclab.cli.arguments import all_commands
from auclab.runs.config.compose import compose_experiment
from test_documents import PAGES as ALL_PAGES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(page for page in ALL_PAGES if ROOT / "docs" in page.parents)]
#: Metavariables, for which a reader puts something else.
PLACEHOLDERS = re.compile(r"[<…]|\b[A-Z]{3,}\b|\.\.\.")


def commands_of(page: Path) -> list[str]:
    """Commands in the terminals and the code spans of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```\{terminal\}\n(.*?)```", text, re.DOTALL)
    fenced = chain.from_iterable(block.splitlines() for block in blocks)
    spans = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    lines = [" ".join(command.split()) for command in [*fenced, *spans]]
    return [part.partition(" > ")[0].strip() for line in lines for part in line.split("&&")]


COMMANDS = sorted({command for page in PAGES for command in commands_of(page) if not PLACEHOLDERS.search(command)})
EXPERIMENTS = [command for command in COMMANDS if re.match(r"(python run\.py|auclab run) (-m )?[a-z'+]", command)]
OTHERS = [command for command in COMMANDS if re.match(r"auclab (?!run\b)[a-z]", command)]


def test_the_pages_have_commands():
    assert len(EXPERIMENTS) >= 6
    assert len(OTHERS) >= 4


@pytest.mark.parametrize("command", EXPERIMENTS)
def test_an_experiment_composes(command: str):
    overrides = [word for word in shlex.split(command, comments=True)[2:] if not word.startswith("-")]
    first = []
    for override in OverridesParser.create().parse_overrides(overrides):
        if override.is_interval_sweep():
            first.append(f"{override.get_key_element()}={override.value().end}")
        elif override.is_sweep_override():
            first.append(f"{override.get_key_element()}={next(iter(override.sweep_string_iterator()))}")
        else:
            first.append(override.input_line)
    compose_experiment(first)


@pytest.mark.parametrize("command", OTHERS)
def test_a_command_parses(command: str, capsys: pytest.CaptureFixture[str]):
    try:
        all_commands().parse_args(shlex.split(command, comments=True)[1:])
    except SystemExit:  # help, or an option that is named in the text without its value
        assert not re.search("unrecognized|choose from|ambiguous|required", capsys.readouterr().err)
