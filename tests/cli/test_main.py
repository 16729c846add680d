"""The command line of `auclab`: its pages of help, what it imports, what it refuses. Its commands: tests/comparison."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

import auclab
from auclab.cli import main as cli
from auclab.comparison.paired import TESTS
from composed import REPOSITORY
from pseudo_terminal import in_terminal

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


@pytest.mark.parametrize("width", [60, 80, 110])
def test_examples_are_understood(capsys, monkeypatch, width):
    """Every line of help that starts with ``auclab COMMAND`` is parsed, without what follows two spaces."""
    import shlex

    monkeypatch.setenv("COLUMNS", str(width))
    parser = cli.all_commands()
    pages = [help_of(capsys, command) for command in COMMANDS]
    lines = [line.strip() for page in pages for line in re.sub(r" \\\n +", " ", page).splitlines()]
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
        ("rnus", "there is no command 'rnus' (did you mean 'runs'?); choose from run, runs, show, "),
        (
            "compare --metrc auc",
            "unrecognized arguments: --metrc auc (did you mean '--metric'?); auclab compare --h",
        ),
        ("compare --test sign", "--test is 'sign'; choose from corrected-t, t, wilcoxon; "),
        ("compare --test wilcoxn", "--test is 'wilcoxn' (did you mean 'wilcoxon'?)"),
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


@pytest.mark.parametrize("columns", [72, 80, 100])
@pytest.mark.parametrize("command", [*COMMANDS, "frontier", "check", "predict"])
def test_help_fits_the_terminal(capsys, monkeypatch, command, columns):
    """No line is longer than the terminal is wide, and no word is lost."""
    monkeypatch.setenv("COLUMNS", "110")
    wide = help_of(capsys, command)
    monkeypatch.setenv("COLUMNS", str(columns))
    page = help_of(capsys, command)
    assert all(len(line) <= columns for line in page.splitlines())
    usage, _, rest = wide.partition("\n\n")
    assert page.partition("\n\n")[2].replace(" \\\n", "\n").split() == rest.split()
    assert sorted(page.partition("\n\n")[0].split()) == sorted(usage.split())


@pytest.mark.slow
def test_the_settings_of_a_run_fit_the_terminal(tmp_path):
    """Hydra's page, with a line of 1,600 characters for the experiments."""
    lines, code = in_terminal(80, "-m", "auclab", "run", "--help", cwd=tmp_path)
    assert code == 0
    assert all(len(line) <= 80 for line in lines)
    words = " ".join(lines).replace(",", " ").split()
    assert {"wine_quality_white", "ratigan_cowen_formulas", "cutting_plane", "formulation.norm=l1"} <= set(words)


def test_the_version_is_shown(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"auclab {auclab.__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        "frontier --points 3 dataset.target=y split=none",
        "frontier dataset.target=y --points 3 split=none",
        "frontier --levels 0.5 0.9 dataset.target=y --points 3 split=none",
        "predict --only score last new.csv --store runs",
        "predict last --store runs new.csv --only score",
        "show --bounds last --store runs",
        "rerun --tolerance 0 last",
        "export --to sql last --out s.sql",
        "push --store runs all",
    ],
)
def test_options_stand_before_between_and_after_the_other_words(words):
    typed = words.split()
    parsed = cli._parse(cli.all_commands(), typed)
    assert parsed.command == typed[0]
    if parsed.command == "frontier":
        assert [*parsed.settings, *parsed.more_settings] in (
            ["dataset.target=y", "split=none"],
            ["split=none", "dataset.target=y"],
        )
        assert parsed.points == 3
        assert parsed.levels == ([0.5, 0.9] if "--levels" in typed else None)
    if parsed.command == "predict":
        assert (parsed.run, parsed.rows, parsed.only, parsed.store) == ("last", "new.csv", "score", "runs")


@pytest.mark.parametrize(
    ("words", "out"),
    [
        ("compare --save a.md --out b.csv", ["a.md", "b.csv"]),
        ("frontier --save a.csv", ["a.csv"]),
        ("report --output a.html", "a.html"),
    ],
)
def test_names_of_options_of_0_2_go_on_with_a_hint(capsys, words, out):
    assert cli._parse(cli.all_commands(), words.split()).out == out
    assert capsys.readouterr().err == f"note: {words.split()[1]} is now --out; both work in 0.3\n"
    assert cli._parse(cli.all_commands(), ["compare", "--out", "a.md"]).out == ["a.md"]
    assert capsys.readouterr().err == ""


def test_a_level_that_is_no_number_is_one_line(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["frontier", "--levels", "half"])
    assert end.value.code == 2
    assert "numbers are needed, got half; auclab frontier --help" in capsys.readouterr().err
