"""Every shell line of the pages runs: page by page, in one folder, as bash understands it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import warnings
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest

from auclab.datasets.catalogue import VARIABLE
from documented import BLOCKS, ELSEWHERE
from shell_lines import LINES, NEEDS, OTHERWISE, SAYS, SERVERS, Needs
from test_documents import ROOT
from waiting import wait_until
from warm_programs import plain, warm_programs

#: What a line needs that is an extra.
EXTRAS = {"engine=dask": "distributed", "sweeper=optuna": "optuna"}
#: Pages of many programs; what their commands do, other tests check in this process.
LONG = ("comparing", "sweeps", "kernels", "models", "groups_and_times_files", "choose_formulation")


def marks_of(page):
    """The tables that a page needs, and its tier."""
    tables, is_long = NEEDS.get(page, Needs()).tables, Path(page).stem in LONG
    return [pytest.mark.needs_tables(*tables)] * bool(tables) + [pytest.mark.weekly] * is_long


PAGES = [pytest.param(page, marks=marks_of(page)) for page in LINES]
#: Pages whose Python reads what their lines wrote.
WITH_PYTHON = {
    page: [block.text for block in BLOCKS if (block.page, block.language) == (page, "python")]
    for page, test in ELSEWHERE.items()
    if test == "tests/test_documented_shell.py"
}
GENERATED = ("_build", "api", "drawn", "gallery", "repository", "tutorials_python", "__pycache__", "*.pyc", "outputs")


@pytest.fixture(scope="module")
def shell():
    """The environment in which lines run."""
    tables = {key: folder for key, folder in os.environ.items() if key == VARIABLE}
    quiet = {"NO_COLOR": "1", "MLFLOW_DISABLE_TELEMETRY": "true"}
    return plain() | tables | quiet | warm_programs()


def folder_of(page, folder):
    """What of a clone the lines of a page name."""
    shutil.copy(ROOT / "run.py", folder)
    if re.search(r" (experiments|benchmarks)[/.]| experiment=", " ".join(LINES[page])):
        for name in ("experiments", "benchmarks", "docs"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*GENERATED))
    if page == "CONTRIBUTING.md":
        shutil.copy(ROOT / ".pre-commit-config.yaml", folder)
    for block in BLOCKS:
        if block.page == page and block.language == "yaml":
            (folder / block.text.splitlines()[0].removeprefix("# ")).write_text(block.text, encoding="utf-8")
    NEEDS.get(page, Needs()).files(folder)
    return folder


def missing(line):
    """Why a line cannot be run on this machine; empty if it can."""
    for word, module in EXTRAS.items():
        if word in line and not find_spec(module):
            return f"{module} is not installed"
    return ""


def run(line, folder, shell, code=0, says=()):
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=shell, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    print(f"code {done.returncode}: {line}")
    assert done.returncode == code, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    assert all(text in done.stdout for text in says), f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done


@contextmanager
def serving(line, folder, shell, path):
    """The server of a line on a port that is free, until it is no longer needed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / f"{port}.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            ["bash", "-c", f"{line} --port {port}"], cwd=folder, env=shell, stdout=log, stderr=log,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            wait_until(lambda: answers(f"http://127.0.0.1:{port}{path}"), process)
            yield str(port)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def answers(address):
    try:
        return urlopen(address, timeout=5).status == 200
    except OSError:
        return False


def python_of(page, folder, monkeypatch):
    """Run the Python of a page that reads what its lines wrote; what of it cannot be run here."""
    monkeypatch.chdir(folder)
    found, left_out = {}, []
    for block in WITH_PYTHON.get(page, []):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of other packages
                exec(compile(block, page, "exec"), found)
        except ModuleNotFoundError as error:
            left_out.append(f"{error.name} is not installed")
    return left_out


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_lines_of_a_page_run(page, shell, tmp_path, monkeypatch):
    needs = NEEDS.get(page, Needs())
    folder, shell = folder_of(page, tmp_path), dict(shell)
    left_out = []
    with ExitStack() as servers:
        real = {}

        def do(line, code=0):
            says = [text for words, text in SAYS.items() if words in line]
            for shown, value in needs.real.items():
                line = line.replace(shown, value(folder)) if shown in line else line
            for shown, value in real.items():
                line = line.replace(shown, value)
            start = next((path for words, path in SERVERS.items() if words in line), None)
            if line.startswith("export "):  # for the lines that follow, each of which has a shell of its own
                name, _, value = line.removeprefix("export ").partition("=")
                shell[name] = value
            elif start:
                real[":5000"] = ":" + servers.enter_context(serving(line, folder, shell, start))
            else:
                run(line, folder, shell, code, says)

        lines = [(line, OTHERWISE.get((page, line))) for line in LINES[page]]
        if needs.servers_first:
            lines.sort(key=lambda pair: not any(words in pair[0] for words in SERVERS))
        for number, (line, otherwise) in enumerate(lines):
            if line == needs.at or (number == 0 and not needs.at):
                for first, code in needs.before:
                    do(first, code)
            for each in (line,) if otherwise is None else otherwise.runs:
                if reason := missing(each):
                    left_out.append(f"{each}: {reason}")
                else:
                    do(each)
    left_out += python_of(page, folder, monkeypatch)
    if left_out:
        pytest.skip("; ".join(left_out))


def test_nothing_is_said_of_lines_that_are_gone():
    assert [key for key in OTHERWISE if key[1] not in LINES[key[0]]] == []
    assert set(NEEDS) <= set(LINES)


@pytest.mark.slow
def test_the_first_screen_is_that_of_a_run(tmp_path, shell):
    """The block of the README and of the first page, but for the id of the run; times are left out there."""
    done = run("auclab run dataset=breast_cancer", tmp_path, shell)
    words = " ".join(re.sub(r"^seconds .*$", "", done.stdout, flags=re.MULTILINE).split())
    (name,) = set(re.findall(r"auclab show (\w{8})", words))
    for page in ("README.md", "docs/index.md"):
        (block,) = re.findall(r"```text\n(model .*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
        assert " ".join(block.split()).replace("efa945be", name) in words
