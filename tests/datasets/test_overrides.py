"""Settings as messages print them, typed into a shell."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hydra.errors import OverrideParseException
from omegaconf import OmegaConf

from auclab.datasets.labels import override
from auclab.runs.config.compose import Experiment, compose_experiment
from auclab.runs.config.typed_words import in_words, quoted_where_needed
from composed import composed

#: Names of columns, each with something that bash, Hydra's language or OmegaConf reads as something else.
NAMES = (
    "plain",
    "two words",
    "Größe [cm]",
    "income (€, year)",
    "a=b",
    "it's",
    'say "x"',
    "'x'",
    '"x"',
    "${x}",
    "$HOME",
    "`ls`",
    "!x",
    "100",
    "1e5",
    "-1",
    "null",
    "True",
    "back\\slash",
    "ends\\",
    'ends\\"',
    "\\\\",
    "a: {b}",
    "[x]",
    "a;b|c&d",
    "#1",
    "~x",
    "*",
    "a\tb",
    "interval(0,1)",
    "choice(a,b)",
    "/data/my-table.csv",
    "../../data/x.csv",
    "./x.csv",
    "a/1e5",
    "a//b",
)


def typed(words: str) -> list[str]:
    """The words of a command after bash has read them."""
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


def settings(words: list[str], compose: Callable[[list[str]], Experiment] = compose_experiment) -> dict[str, object]:
    experiment = compose(["dataset=file", "dataset.path=x.csv", *quoted_where_needed(words)])
    found = OmegaConf.to_container(experiment.config.dataset, resolve=True)
    assert isinstance(found, dict)
    return {str(key): value for key, value in found.items()}


@pytest.mark.slow
def test_what_is_printed_is_what_is_read() -> None:
    for name in NAMES:
        words = [override("dataset.target", name), override("dataset.drop", [name, "other"])]
        found = settings(typed(" ".join(words)), composed)
        assert (found["target"], found["drop"]) == (name, [name, "other"])
    every = typed(override("dataset.nominal", NAMES))
    assert settings(every)["nominal"] == list(NAMES)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("dataset.target=Größe [cm]", "Größe [cm]"),
        ("dataset.drop=[Größe [cm],m0]", ["Größe [cm]", "m0"]),
        ("dataset.drop=[income (€),two words]", ["income (€)", "two words"]),
    ],
)
def test_brackets_and_umlauts_need_no_quotes_of_hydra(word: str, value: object) -> None:
    assert settings([word])[word.partition("=")[0].removeprefix("dataset.")] == value


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("dataset.target=done [0/1], =?", "done [0/1], =?"),
        ("dataset.target=it's", "it's"),
        ("dataset.drop=[it's,b c]", ["it's", "b c"]),
        ('dataset.nominal=[say "x"]', ['say "x"']),
    ],
)
def test_a_word_that_cannot_be_read_is_printed_as_it_can(word: str, value: object) -> None:
    with pytest.raises(OverrideParseException) as refused:
        compose_experiment([word])
    line = in_words(refused.value, [word])
    found = re.fullmatch(r".* cannot be read; put .* in quotes: (.*)", line)
    assert found is not None, line
    assert settings(typed(found[1]))[word.partition("=")[0].removeprefix("dataset.")] == value


@pytest.mark.weekly
def test_the_printed_command_runs(tmp_path: Path) -> None:
    """Every advice of the messages, one after the other, until the run ends well."""
    names = ["x", "Größe [cm]", "income (€, year)", 'said "no"', "done [0/1], =?"]
    rows = [[k % 7, 170 + k, f"name {k}", f"{k} of 9 said, it's", "ja" if k % 3 else "nein"] for k in range(80)]
    text = "\n".join(";".join(f'"{str(cell).replace(chr(34), 2 * chr(34))}"' for cell in row) for row in [names, *rows])
    (tmp_path / "my.csv").write_text(text, encoding="utf-8")
    command = f"{shlex.quote(sys.executable)} -m auclab run dataset=file dataset.path=my.csv tracking=none"
    command += " formulation=bauc bounds=none decision.probability=none " + override("dataset.target", names[-1])

    def run(words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-c", words], cwd=tmp_path, capture_output=True, text=True, check=False)

    first = run(command)
    positive = re.search(r"Give dataset.positive, such as (\S+);", first.stderr)
    assert positive is not None, first.stderr
    second = run(f"{command} {positive[1]}")
    dropped = re.search(r"Drop them with (.*), take them", second.stderr)
    assert dropped is not None, second.stderr
    third = run(f"{command} {positive[1]} {dropped[1]}")
    assert third.returncode == 0, third.stderr
    assert "80 rows × 2 columns" in third.stdout
