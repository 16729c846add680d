"""Windows and macOS: names, line endings, encodings, processes; what they do differently is simulated.

The suite itself runs on them in `.github/workflows/tests.yml`.
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from auclab._core.words import show_in_any_encoding, write_data
from auclab.runs.config import compose
from auclab.runs.config.compose import compose_experiment
from auclab.runs.report import writer

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
#: What Windows lacks, by the module it is in; a module alone where all of it is lacking.
LACKING = {
    "os": {"fork", "killpg", "getpgrp", "setsid", "geteuid", "getuid", "mkfifo", "wait4"},
    "signal": {"SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "setitimer", "alarm"},
    **{name: set() for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios")},
}
#: Names of devices there, which no file may have.
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
#: A sweep as on Windows and macOS, where processes are not forked.
SPAWNED = """
import sys
import auclab.runs.sweeps.workers as workers
workers.START_METHOD = "spawn"
from auclab.cli.main import program
sys.argv = ["auclab", *sys.argv[1:]]
program()
"""
SMALL = ("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=20", "dataset.n_features=2", "bounds=none")


def versioned():
    """The files that Git knows; all that are not caches where there is no Git."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a checkout of Git")
    return [name for name in listed.decode().split("\0") if name]


def refused_on_windows(name):
    """Whether a path relative to some folder cannot be there under this name."""
    parts = PureWindowsPath(name).parts
    wrong = lambda part: bool(set(part) & set('<>:"|?*')) or part[-1] in ". " or part.split(".")[0].lower() in DEVICES  # noqa: E731
    return len(name) > 180 or "\\" in name or any(map(wrong, parts))


def test_names_fit_every_file_system():
    """No two names differ in case alone, and none is refused by Windows."""
    names = versioned()
    assert len({name.casefold() for name in names}) == len(names)
    assert [name for name in names if refused_on_windows(name)] == []
    assert refused_on_windows("a/aux.py")
    assert refused_on_windows("runs/12:30.csv")


def test_line_endings_are_those_of_the_repository():
    """Bash cannot run a script with other line endings, and the screen's numbers come with hashes of files."""
    rules = (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert "* text=auto eol=lf" in rules
    assert b"\r" not in (ROOT / ".ci" / "run").read_bytes()


def names_that_windows_lacks(tree):
    """Modules that are imported and attributes that are read, of those that Windows lacks."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        yield from (name for name in names if not LACKING.get(name, {""}))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from {f"{node.value.id}.{node.attr}"} if node.attr in LACKING.get(node.value.id, ()) else ()


@pytest.mark.lint
def test_the_package_does_not_use_what_windows_lacks():
    assert [(path.name, *found) for path in SOURCES if (found := [*names_that_windows_lacks(parsed(path))])] == []


@pytest.mark.lint
def test_tests_that_use_what_windows_lacks_are_skipped_there():
    """By the list in conftest.py, a mark or a check of the system. Lines for bash, links and os.kill are such uses."""
    listed, uses, wrong = posix_alone(), set(), []
    looks = ("skipif", "importorskip", "hasattr(os", "getattr(os", "os.name")
    wanting = re.compile(r'os\.kill\(|\["bash", |\.symlink_to\(')
    helpers = {
        "test_portability.py",
        "links.py",
        "runs/report/devtools.py",
        "warm_programs.py",
    }  # checked by their callers
    for path in sorted((ROOT / "tests").rglob("*.py")):
        name, text = path.relative_to(ROOT / "tests").as_posix(), path.read_text(encoding="utf-8")
        if name in helpers:
            continue
        for node in parsed(path).body:
            lines = text.splitlines()[min([node.lineno, *decorators(node)]) - 1 : node.end_lineno]
            if not ([*names_that_windows_lacks(node)] or any(map(wanting.search, lines))):
                continue
            where = {name, f"{name}::{getattr(node, 'name', '')}"} & listed
            uses |= where
            if not where and not any(look in line for line in lines for look in looks):
                wrong.append(f"{name}:{node.lineno}")
    assert wrong == []
    assert {each for each in listed if "::" in each} <= uses  # a test that was renamed is not skipped any more


def posix_alone():
    """The keys of POSIX_ALONE of conftest.py, which cannot be imported a second time."""
    tree = parsed(ROOT / "tests" / "conftest.py")
    (table,) = (
        node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "POSIX_ALONE"
    )
    return set(ast.literal_eval(table))


def decorators(node):
    """Their lines."""
    return [each.lineno for each in getattr(node, "decorator_list", [])]


def parsed(path):
    return ast.parse(path.read_bytes())


@pytest.mark.lint
@pytest.mark.parametrize("folder", ["src", "tests", "experiments", "benchmarks", "docs"])
def test_every_text_file_is_opened_with_its_encoding(folder):
    """The system's is cp1252 on Windows; `open`, `read_text` and `write_text` use it unless another is given."""
    places = {"read_text": 0, "write_text": 1}
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call) or any(keyword.arg in ("encoding", None) for keyword in node.keywords):
                continue
            is_method = isinstance(node.func, ast.Attribute)
            name = node.func.attr if is_method else getattr(node.func, "id", "")
            modes = [arg.value for arg in node.args[0 if is_method else 1 :] if isinstance(arg, ast.Constant)]
            opens_text = name == "open" and (
                modes in (["r"], ["w"], ["a"], ["x"]) if is_method else not any("b" in str(mode) for mode in modes)
            )
            if opens_text or (is_method and name in places and len(node.args) <= places[name]):
                wrong.append(f"{path.relative_to(ROOT).as_posix()}:{node.lineno}")
    assert wrong == []


def test_a_checkout_with_other_line_endings(tmp_path, monkeypatch):
    """Settings are composed to the same values, and the page has the script whose hash it names."""
    here = compose_experiment(["dataset=breast_cancer"]).configuration
    for path in (ROOT / "conf").rglob("*.yaml"):
        copy = tmp_path / path.relative_to(ROOT / "conf")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    monkeypatch.setattr(compose, "conf_folder", lambda: tmp_path)
    assert compose_experiment(["dataset=breast_cancer"]).configuration == here

    class Windows:
        def get_source(self, environment, name):
            return "let a = 1;\r\nlet b = 2;\r\n", None, None

    assert writer._read(Windows(), None, "main.js") == "let a = 1;\nlet b = 2;\n"


def test_data_are_written_in_utf_8_and_the_screen_loses_no_line(tmp_path, monkeypatch):
    for name in ("screen.txt", "data.csv"):
        with (tmp_path / name).open("w", encoding="cp1252") as stream:
            monkeypatch.setattr(sys, "stdout", stream)
            show_in_any_encoding()
            write_data("größe,λ\n") if name == "data.csv" else print("λ = 0.5 ± 0.1")
    assert (tmp_path / "data.csv").read_bytes().decode("utf-8") == "größe,λ\n"
    assert (tmp_path / "screen.txt").read_text(encoding="cp1252") == "? = 0.5 ± 0.1\n"


@pytest.mark.skipif(
    not f"{sys.prefix}{ROOT}".isascii(),
    reason="Python itself cannot start in ASCII where it or the package is elsewhere",
)
def test_a_folder_that_cannot_be_read_as_text(tmp_path):
    """With LC_ALL=C and without UTF-8 names of files are ASCII; SQLAlchemy and Arrow cannot take others."""
    folder = tmp_path / "Größe"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "auclab", "run", *SMALL], cwd=folder, capture_output=True,
        env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )  # fmt: skip
    if sys.platform == "linux":
        assert done.returncode == 1
        assert b"cannot be read as text in ascii" in done.stderr
        assert done.stderr.count(b"\n") == 1
        assert list(folder.iterdir()) == []


@pytest.mark.weekly
@pytest.mark.slow
def test_a_sweep_of_spawned_processes_on_a_cp1252_screen_in_a_folder_with_spaces_and_umlauts(tmp_path):
    """A whole sweep in processes of its own is what is simulated: 12 s of CPU, in five processes."""
    folder = tmp_path / "Größe und Maß"
    folder.mkdir()
    words = (
        "-m",
        "hydra/launcher=processes",
        "hydra.launcher.workers=2",
        *SMALL,
        "formulation=ranksvm,csvm",  # both have a λ, whichever ends last
        "solver=newton",
    )
    done = subprocess.run(
        [sys.executable, "-c", SPAWNED, "run", *words], cwd=folder, capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LANG": "C"},
    )  # fmt: skip
    shown = done.stdout.decode("cp1252")
    assert done.returncode == 0, done.stderr.decode("cp1252")
    assert done.stderr == b""
    assert shown.splitlines()[-1] == "sweep: 2 finished, 0 skipped, 0 failed, 0 killed"
    written = [path.relative_to(folder).as_posix() for path in folder.rglob("*")]
    assert len({name.casefold() for name in written}) == len(written)
    assert [name for name in written if refused_on_windows(name)] == []
    table = subprocess.run(
        [sys.executable, "-m", "auclab", "show", "last"], cwd=folder, capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "cp1252"},
    )  # fmt: skip
    assert table.returncode == 0, table.stderr
    assert "penalty" in table.stdout.decode("cp1252")
