"""The command line of `auclab`: its pages of help, what it imports, what it refuses. Its commands: tests/comparison."""

import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

from auclab.cli import main as cli
from auclab.comparison.paired import TESTS
from composed import REPOSITORY

COMMANDS = ("runs", "show", "compare", "rerun", "ui")


def help_of(capsys, *words):
    with pytest.raises(SystemExit) as end:
        cli.main([*words, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_page_with_examples(capsys, command):
    page = help_of(capsys, command)
    assert page.count(f"\n  auclab {command}") >= 2
    assert "--store" in page
    assert max(map(len, page.splitlines())) <= 120


def test_examples_are_understood(capsys):
    """Every line of help that starts with ``auclab COMMAND`` is parsed, without what follows two spaces."""
    import shlex

    parser = cli._parser()
    lines = [line.strip() for command in COMMANDS for line in help_of(capsys, command).splitlines()]
    examples = [line.partition("   ")[0].partition(" > ")[0] for line in lines if line.startswith("auclab ")]
    assert len(examples) > 15
    for example in examples:
        name, *rest = shlex.split(example)[1:]
        assert parser.parse_args([name, *rest]).command == name


def test_no_command_shows_them_all(capsys):
    cli.main([])
    page = capsys.readouterr().out
    assert all(f"    {command} " in page for command in COMMANDS)
    assert page == help_of(capsys)


def test_help_needs_no_library():
    """A page of help loads the standard library and the command line alone."""
    code = (
        "import sys, auclab.cli.main as cli\n"
        "try: cli.main(['compare', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'pandas', 'rich', 'mlflow', 'matplotlib', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_script_is_this_function():
    scripts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, name = scripts["auclab"].partition(":")
    assert getattr(import_module(module), name) is cli.program


def test_the_tests_are_those_there_are():
    assert cli._parser().parse_args(["compare", "--test", "wilcoxon"]).test == "wilcoxon"
    for name in TESTS:
        assert cli._parser().parse_args(["compare", "--test", name]).test == name


def test_what_is_not_understood_is_code_2(capsys):
    for words in (["compare", "--test", "sign"], ["nothing"], ["show"]):
        with pytest.raises(SystemExit) as end:
            cli.main(words)
        assert end.value.code == 2
    assert "invalid choice: 'sign'" in capsys.readouterr().err
