"""The command line of `auclab`: help, what it imports, what it refuses. Its commands: tests/runs/compare."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import auclab
from auclab.cli import main as cli
from auclab.runs.compare.paired import TESTS
from composed import REPOSITORY

PAGES = Path(cli.__file__).parent / "pages"
COMMANDS = tuple(cli.all_commands().commands)


def help_of(capsys, *words):
    with pytest.raises(SystemExit) as end:
        cli.main([*words, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "run"])
def test_every_command_has_a_page_with_examples(capsys, command):
    page = help_of(capsys, command)
    assert page.count(f"\n  auclab {command}") >= 2
    assert max(map(len, page.splitlines())) <= 80
    assert "--store" in page or command in ("inspect", "measure")  # which read no store


def test_examples_are_understood():
    """Every line of the pages that starts with ``auclab COMMAND`` is parsed, without what follows two spaces."""
    lines = [line for page in PAGES.glob("*.txt") for line in page.read_text(encoding="utf-8").splitlines()]
    examples = [line.strip().partition("   ")[0].partition(" > ")[0] for line in lines if line.startswith("  auclab ")]
    assert len(examples) > 50
    for name, *rest in (shlex.split(example)[1:] for example in examples):
        assert name == "run" or cli.parse([name, *rest]).command == name


def test_no_command_shows_them_all_in_groups(capsys):
    cli.main([])
    page = capsys.readouterr().out
    assert page == help_of(capsys)
    assert max(map(len, page.splitlines())) <= 80
    listed = re.findall(r"(?m)^  (?!auclab )([a-z]+) +[a-z]", page)
    assert listed == list(COMMANDS)
    assert page.index("first steps:") < page.index("kept runs:") < page.index("models:") < page.index("checks:")


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
    scripts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, name = scripts["auclab"].partition(":")
    assert getattr(import_module(module), name) is cli.program


def test_the_tests_are_those_there_are():
    assert cli.all_commands().parse_args(["compare", "--test", "wilcoxon"]).test == "wilcoxon"
    for name in TESTS:
        assert cli.all_commands().parse_args(["compare", "--test", name]).test == name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("rnus", "invalid choice: 'rnus' (choose from 'run', 'inspect', 'show', "),
        (
            "compare --metrc auc",
            "unrecognized arguments: --metrc auc (did you mean '--metric'?); auclab compare --h",
        ),
        (
            "compare --test sign",
            "argument --test: invalid choice: 'sign' (choose from 'corrected-t', 't', 'wilcoxon'); ",
        ),
        ("compare --test wilcoxn", "'wilcoxn' (choose from 'corrected-t', 't', 'wilcoxon') (did you mean 'wilcoxon'?)"),
        ("ui --prot 9", "(did you mean '--port'?)"),
        ("runs more", "unrecognized arguments: more; auclab runs --help explains all"),
        ("show", "the following arguments are required: RUN; auclab show --help explains all"),
    ],
)
def test_what_is_not_understood_is_one_line_and_code_2(capsys, words, said):
    with pytest.raises(SystemExit) as end:
        cli.main(words.split())
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_the_version_is_shown(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"auclab {auclab.__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        "predict --only score last new.csv --store runs",
        "predict last --store runs new.csv --only score",
        "show --bounds last --store runs",
        "rerun --tolerance 0 last",
        "export --to sql last --out s.sql",
        "evaluate --level 0.9 last new.csv --store runs",
        "evaluate last --level 0.9 new.csv --store runs",
    ],
)
def test_options_stand_before_between_and_after_the_other_words(words):
    typed = words.split()
    parsed = cli.parse(typed)
    assert parsed.command == typed[0]
    if parsed.command == "predict":
        assert (parsed.run, parsed.rows, parsed.only, parsed.store) == ("last", "new.csv", "score", "runs")
    if parsed.command == "evaluate":
        assert (parsed.runs, parsed.rows, parsed.level, parsed.store) == (["last"], "new.csv", 0.9, "runs")
