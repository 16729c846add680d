"""What a plain run imports and in which order it works: a small solve should not wait for libraries it does not use."""

import subprocess
import sys
import time

import pytest

from run_command import SMALL, command, run

#: A plain run imported 3,900 modules when this was written, most of them of MLflow, SciPy, scikit-learn and pandas.
MOST_MODULES = 4_500
#: Commands that look for the store as `runs` does.
OTHERS_OF_THE_STORE = ("compare", "show last", "report", "ui")


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    run(folder, *SMALL, "solver=highs")  # makes the store, which takes other modules
    answer = subprocess.run(
        [sys.executable, "-X", "importtime", *command(*SMALL, "solver=highs")[1:]],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line.rpartition("|")[2].strip() for line in answer.stderr.splitlines() if line.startswith("import time")]


@pytest.mark.slow
def test_a_plain_run_imports_no_more_than_it_needs(imported):
    assert len(imported) < MOST_MODULES
    unused = {
        "cvxpy",
        "pyomo",
        "dask",
        "distributed",
        "sklearn.ensemble",
        "sklearn.utils.estimator_checks",
    }
    assert not unused & set(imported)


@pytest.mark.slow
def test_the_solution_does_not_wait_for_the_model(imported):
    """What writes the model and draws the figures is imported after the solver and the screen."""
    assert imported.index("auclab.runs.screen.result_screen") < imported.index("matplotlib")
    assert imported.index("auclab.runs.screen.result_screen") < imported.index("skops.io")
    assert imported.index("highspy") < imported.index("skops.io")


def test_a_command_does_not_begin_before_its_process():
    """The clock of the shell, which starts the process, never says less than the line with the seconds."""
    program = "from auclab.cli.process import begun, run_as_program; run_as_program(lambda: print(begun()))"
    before = time.monotonic()
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert before <= float(answer.stdout) <= time.monotonic()


@pytest.mark.parametrize(("code", "expected"), [("pass", 0), ("raise SystemExit(3)", 3), ("raise SystemExit", 0)])
def test_the_exit_code_is_that_of_the_work(code, expected):
    script = f"from auclab.cli.process import run_as_program\ndef work():\n    print('done')\n    {code}\n"
    answer = subprocess.run(
        [sys.executable, "-c", f"{script}run_as_program(work)"], capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stdout) == (expected, "done\n")


def test_exit_handlers_run_and_errors_are_shown():
    script = (
        "import atexit\nfrom auclab.cli.process import run_as_program\n"
        "def work():\n    atexit.register(print, 'handler')\n    raise ZeroDivisionError('shown')\n"
        "run_as_program(work)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert answer.stdout == "handler\n"
    assert "ZeroDivisionError: shown" in answer.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "runs --store nowhere",
        "check last --store nowhere",
        "compare --out table.doc",
        "run dataset=file dataset.path=gone.csv dataset.target=y",
        *(pytest.param(f"{command} --store nowhere", marks=pytest.mark.weekly) for command in OTHERS_OF_THE_STORE),
    ],
)
def test_a_mistake_is_refused_before_libraries_are_imported(words, tmp_path):
    """MLflow, scikit-learn, the compiled loops and figures take seconds, a refusal needs none of them."""
    script = (
        "import sys\nfrom auclab.cli.main import main\n"
        f"try:\n    main({words.split()})\nexcept SystemExit as end:\n    print(end.code)\n"
        "heavy = ('mlflow', 'sklearn', 'numba', 'matplotlib', 'scipy.stats')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.stdout.splitlines()[-1] == "[]"
    assert answer.stdout.splitlines()[-2] == ("2" if words.startswith("check") else "1")
    assert list(tmp_path.iterdir()) == []
